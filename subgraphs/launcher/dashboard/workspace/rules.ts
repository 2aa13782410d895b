import { DomainError } from '../../../../platform/errors.ts'
import { readText } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../viewer.ts'
import { slugPattern } from '../../stores/catalog-entry.ts'
import type { OnboardingRow } from '../../stores/dashboard/onboarding.ts'
import { isManager } from '../place.ts'

/** Maximum apps, people and characters of an onboarding. */
export const max = { apps: 20, teamSize: 1_000_000, useCase: 500 } as const

/** What decides how far an onboarding is. */
export interface Progress {
  /** Whether the person can get back to a lost account. */
  readonly isRecoverable: boolean
  /** Whether the active organization has completed its onboarding. */
  readonly isCompleted: boolean
  /** Id of the dashboard's own service. */
  readonly serviceId: string
}

/** Returns how far the onboarding of a person is: the recovery address comes first, in every context. */
export function onboardingOf(viewer: Pick<Viewer, 'organizationId' | 'roles'>, { isRecoverable, isCompleted, serviceId }: Progress): OnboardingRow {
  const isToComplete = viewer.organizationId !== null && isManager(viewer) && !isCompleted
  const state = !isRecoverable ? 'RECOVERY_EMAIL' : isToComplete ? 'SERVICE' : 'DONE'
  return { state, serviceId, next: state === 'DONE' ? '/dashboard' : '/onboarding', canComplete: state === 'SERVICE' }
}

/** What an onboarding says of an organization. */
export interface GivenOnboarding {
  readonly apps?: readonly string[] | null | undefined
  readonly teamSize?: number | null | undefined
  readonly useCase?: string | null | undefined
}

/** Checks what an onboarding says. Apps are sorted, so that two at once lock them in one order. @throws BAD_USER_INPUT with the field that is wrong */
export function readOnboarding({ apps, teamSize, useCase }: GivenOnboarding) {
  const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })
  const slugs = [...(apps ?? [])].sort()
  if (slugs.length > max.apps) throw mistake('apps', `apps has ${slugs.length} entries: the maximum is ${max.apps}.`)
  if (!slugs.every(app => slugPattern.test(app))) throw mistake('apps', "apps names an app by something that is no slug: take the app's `app`.")
  if (new Set(slugs).size < slugs.length) throw mistake('apps', 'apps names an app twice: name each once.')
  if (typeof teamSize === 'number' && (teamSize < 1 || teamSize > max.teamSize))
    throw mistake('teamSize', `teamSize is ${teamSize}: it takes 1 to ${max.teamSize}.`)
  return { apps: slugs, teamSize: teamSize ?? null, useCase: readText(useCase, 'useCase', max.useCase) }
}

/**
 * Checks that a person may complete the onboarding of the active organization now.
 * @throws BAD_USER_INPUT for another service; CONFLICT, reason RECOVERY_EMAIL; FORBIDDEN for who is no owner or admin
 */
export function requireMayComplete(viewer: Pick<Viewer, 'roles'>, { isRecoverable, serviceId }: Progress, given: string): void {
  if (given !== serviceId)
    throw new DomainError('BAD_USER_INPUT', `serviceId is ${given}: onboarding belongs to the dashboard's own service, ${serviceId}.`, { field: 'serviceId' })
  if (!isManager(viewer)) throw new DomainError('FORBIDDEN', 'Owners and admins complete the onboarding of an organization: ask one of them.')
  if (!isRecoverable)
    throw new DomainError('CONFLICT', 'Your recovery address is not verified yet: open the link in the mail that was sent to it first.', {
      reason: 'RECOVERY_EMAIL',
    })
}
