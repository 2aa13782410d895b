import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { requireId } from '../../../../platform/ids.ts'
import { write } from '../../../store/write.ts'
import { actorOf, requirePerson } from '../../../viewer.ts'
import { AccountOfPersonDocument, OnboardingOfPersonDocument } from '../../ask.generated.ts'
import { requireEntry } from '../../catalog/entry/rules.ts'
import { announceInstalled, type Installed, install } from '../../catalog/installation/install.ts'
import type { Context } from '../../context.ts'
import { registration } from '../../registration.ts'
import type { CompleteServiceOnboardingInput } from '../../resolvers.generated.ts'
import type { OnboardingRow } from '../../stores/dashboard/onboarding.ts'
import { requireOrganization } from '../place.ts'
import { onboardingOf, type Progress, readOnboarding, requireMayComplete } from './rules.ts'

const unanswered = () => new DomainError('UPSTREAM_FAILED', 'The registry does not know the dashboard yet: try again in a moment.')

/** Reads how far the viewer is. @throws UPSTREAM_FAILED before the dashboard is registered; FORBIDDEN for who is no person */
async function progressOf({ ask, viewer, leaving, onboardings }: Context): Promise<Progress> {
  const [{ accountOf, service }, completed] = await Promise.all([
    ask(OnboardingOfPersonDocument, { userId: requirePerson(viewer) }, { appId: registration.appId, viewer, signal: leaving }),
    onboardings.find(viewer.organizationId),
  ])
  if (!accountOf || !service) throw unanswered()
  return { isRecoverable: accountOf.isRecoverable, isCompleted: completed !== null, serviceId: service.id }
}

/** Returns what the viewer has yet to do in the active context. */
export const readProgress = async (context: Context): Promise<OnboardingRow> => onboardingOf(context.viewer, await progressOf(context))

/** Returns the same together with what identity shows of the viewer's account. */
export async function readAccount({ ask, viewer, leaving, onboardings }: Context): Promise<{ readonly profile: unknown; readonly onboarding: OnboardingRow }> {
  const variables = { userId: requirePerson(viewer), sessionId: viewer.sessionId }
  const [{ accountOf, service }, completed] = await Promise.all([
    ask(AccountOfPersonDocument, variables, { appId: registration.appId, viewer, signal: leaving }),
    onboardings.find(viewer.organizationId),
  ])
  if (!accountOf || !service) throw unanswered()
  const { isRecoverable, profile } = accountOf
  return { profile, onboarding: onboardingOf(viewer, { isRecoverable, isCompleted: completed !== null, serviceId: service.id }) }
}

/** Completes the onboarding of the active organization, once. @throws as `requireMayComplete`, `readOnboarding` and `install` do */
export async function complete(context: Context, { serviceId, idempotencyKey, ...input }: CompleteServiceOnboardingInput): Promise<OnboardingRow> {
  const { viewer, onboardings, catalogEntries, installations } = context
  const organizationId = requireOrganization(viewer, 'Onboardings')
  const [userId, actor] = [requirePerson(viewer), actorOf(viewer)]
  readIdempotency({ idempotencyKey })
  const { apps, teamSize, useCase } = readOnboarding(input)
  const progress = await progressOf(context)
  requireMayComplete(viewer, progress, requireId(serviceId, 'serviceId'))
  // Read before the lock, because waiting for it holds a connection.
  const entries = progress.isCompleted ? [] : await Promise.all(apps.map(async app => requireEntry(await catalogEntries.ofApp(app), app)))
  await write(context, {
    async run(unit) {
      const { transaction, now } = unit
      if (await onboardings.lockOf(organizationId, transaction)) return null
      const installed: Installed[] = []
      for (const entry of entries) installed.push(await install(context, entry, { owner: { organizationId, userId: null }, userId, actor }, unit))
      const stamps = { completedAt: now, createdAt: now, updatedAt: now, createdBy: actor }
      await onboardings.insert({ id: organizationId, apps, teamSize, useCase, ...stamps }, transaction)
      return installed
    },
    audit: () => ({ tenantId: organizationId, action: 'onboarding.completed', subjectId: organizationId, details: { apps, teamSize } }),
    announce(installed) {
      for (const each of installed) announceInstalled(context, each)
    },
  })
  installations.forget()
  return onboardingOf(viewer, { ...progress, isCompleted: true })
}
