import { hashOfSecret } from '../../../platform/cipher.ts'
import { DomainError } from '../../../platform/errors.ts'
import { create, findEarlier } from '../../store/write.ts'
import { actorOf, requirePerson } from '../../viewer.ts'
import { LaunchHandoffDocument } from '../ask.generated.ts'
import { maintainedUntil, requireEntry } from '../catalog/entry/rules.ts'
import type { Context } from '../context.ts'
import { hasSeats } from '../engines/commerce/seats.ts'
import { registration } from '../registration.ts'
import type { CatalogEntryRow, MobileBuild } from '../stores/catalog-entry.ts'
import { isEntitled, needsBundle } from '../stores/commerce/entitlement.ts'
import type { LaunchPlatform, LaunchRow, LaunchSource } from '../stores/launch.ts'
import { addressOfApp, type Failure, failed, failureOf, handoffFailure, inOtherContext, minuteMs, type Step, stepsWithCode, tooMany } from './rules.ts'

/** An app that a person wants to open. */
export interface Wanted {
  readonly app: string
  /** Path of the app; null: the app decides. */
  readonly returnTo: string | null
  readonly source: LaunchSource
  readonly platform: LaunchPlatform
}

/** A launch, with its steps in the answer that makes it. */
export type Launched = LaunchRow & { readonly steps?: readonly Step[] }

/** A launch before it is written. */
interface Plan {
  readonly app: string
  readonly title: string
  readonly failure: Failure | null
  readonly steps: readonly Step[]
  /** What is kept of the code; null without one. */
  readonly code: Pick<LaunchRow, 'serviceId' | 'codeHash' | 'expiresAt'> | null
}

const failing = ({ app, title }: Pick<CatalogEntryRow, 'app' | 'title'>, failure: Failure): Plan => ({ app, title, failure, steps: [], code: null })

/**
 * Opens an app for the viewer. What keeps it from being opened is part of the launch.
 * @param once the input: its `idempotencyKey` identifies repetitions, which are answered without steps
 * @throws NOT_FOUND for an unknown app; RATE_LIMITED as `tooMany` does; CONFLICT, reason KEY_REUSED
 */
export async function launch(context: Context, wanted: Wanted, once: { readonly idempotencyKey?: string | null | undefined }): Promise<Launched> {
  const { viewer, launches } = context
  const userId = requirePerson(viewer)
  const { organizationId } = viewer
  const tenantId = organizationId ?? userId
  const earlier = await findEarlier(context, { of: launches, once, tenantId })
  if (earlier) return earlier
  const plan = await planned(context, wanted)
  const { row, repeated } = await create(context, {
    of: launches,
    once,
    tenantId,
    async run({ transaction, now }, id) {
      const lately = await launches.countLately(userId, new Date(now.getTime() - minuteMs), transaction)
      const { app, title } = plan
      const failure = tooMany(lately, now) ?? plan.failure
      const { source, platform } = wanted
      const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
      const outcome = failure ? failedAs(failure) : ({ status: 'READY', ...plan.code } as const)
      return { id, userId, organizationId, app, title, source, platform, ...outcome, ...stamps }
    },
  })
  return repeated || row.status === 'FAILED' ? row : { ...row, steps: plan.steps }
}

const failedAs = ({ code, message, retryable, retryAt }: Failure) =>
  ({ status: 'FAILED', failureCode: code, failureMessage: message, retryable, retryAt }) as const

/** Judges whether an app can be opened, and makes its code if it needs one. @throws NOT_FOUND for an unknown app */
async function planned(context: Context, wanted: Wanted): Promise<Plan> {
  const { viewer, catalogEntries, installations, entitlements, clock } = context
  const { app } = wanted
  const found = await catalogEntries.ofApp(app)
  const elsewhere = !found && (await catalogEntries.isElsewhere(app)) ? await catalogEntries.iconOf(app) : undefined
  if (elsewhere) return failing(elsewhere, inOtherContext(elsewhere.title, viewer.context))
  const entry = requireEntry(found, app)
  const rights = await entitlements.rights()
  const failure = failureOf(entry, {
    isInstalled: app === registration.slug || (await installations.standing()).has(app),
    isEntitled: isEntitled(entry, rights),
    hasSeat: !needsBundle(entry) || viewer.organizationId === null || !hasSeats(rights) || (await context.seats.isHeld()),
    maintainedUntil: maintainedUntil(entry, clock.now()),
  })
  if (failure) return failing(entry, failure)
  return entry.origin === 'PLATFORM' ? withCode(context, entry, wanted) : withoutCode(context, entry, wanted)
}

function withoutCode({ publicUrl }: Context, entry: CatalogEntryRow, { returnTo }: Wanted): Plan {
  const url = addressOfApp(entry, returnTo, publicUrl)
  if (url === null) return failing(entry, failed('NOT_LAUNCHABLE', `${entry.title} has no address to be opened at: tell its publisher.`))
  return { app: entry.app, title: entry.title, failure: null, steps: [{ kind: 'WEB', url }], code: null }
}

async function withCode(context: Context, entry: CatalogEntryRow, { returnTo, platform }: Wanted): Promise<Plan> {
  const { ask, viewer, leaving, clock, log, dashboardUrl } = context
  const { app, title } = entry
  try {
    const variables = { service: app, returnTo, sessionId: viewer.sessionId }
    const { createHandoff: handoff } = await ask(LaunchHandoffDocument, variables, { appId: registration.appId, viewer, signal: leaving })
    if (!handoff?.service) throw new DomainError('UPSTREAM_FAILED', 'identity made no handoff')
    const { code, callbackUrl, expiresAt } = handoff
    const { id: serviceId } = handoff.service
    const build = (entry.mobileApps as readonly MobileBuild[]).find(each => each.platform === platform)
    return {
      ...{ app, title, failure: null },
      steps: stepsWithCode({ serviceId, code, callbackUrl }, build, dashboardUrl),
      code: { serviceId, codeHash: hashOfSecret(code), expiresAt: new Date(expiresAt) },
    }
  } catch (error) {
    leaving.throwIfAborted()
    const failure = handoffFailure(error, title, viewer.context, clock.now())
    if (failure.code === 'HANDOFF_FAILED') log.warn({ err: error, app }, 'handoff failed')
    return failing(entry, failure)
  }
}
