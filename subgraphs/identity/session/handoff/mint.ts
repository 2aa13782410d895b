import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { write } from '../../../store/write.ts'
import type { Context } from '../../context.ts'
import { codeLives } from '../../stores/code.ts'
import type { HandoffDetails } from '../../stores/credentials/handoff.ts'
import type { ServiceEntryRow } from '../../stores/service-entry.ts'
import { type Bearer, callbackUrlOf, mostAMinute, readReturnTo, requireLaunchable } from './rules.ts'

/** A new handoff. */
export interface MadeHandoff {
  readonly code: string
  readonly expiresAt: Date
  readonly callbackUrl: string
  readonly service: ServiceEntryRow
}

const minuteMs = 60_000

/**
 * Creates a handoff.
 * @throws BAD_USER_INPUT, NOT_FOUND, CONFLICT (reasons NOT_LAUNCHABLE, CONTEXT), RATE_LIMITED
 */
export async function mintHandoff(context: Context, bearer: Bearer, wanted: { readonly service: unknown; readonly returnTo?: unknown }): Promise<MadeHandoff> {
  const { userId, organizationId, sessionId, isNamed = false } = bearer
  const returnTo = readReturnTo(wanted.returnTo)
  const entries = await context.serviceEntries.manyBy('environment').load(context.environment)
  const service = entries.find(({ slug }) => slug === wanted.service)
  const callback = requireLaunchable(service, bearer.context)
  const { id: serviceId, slug, icon } = service!
  const tenantId = organizationId ?? userId
  return write(context, {
    async run(unit) {
      if (isNamed && !(await context.accounts.hasSession(sessionId!, userId, unit)))
        throw new DomainError('BAD_USER_INPUT', 'The session is over, or is not of the person on whose behalf you ask: ask them to sign in again.', {
          field: 'sessionId',
        })
      const { made, since } = await context.handoffs.madeLately(userId, unit)
      if (made >= mostAMinute) {
        const retryAfter = Math.max(1, Math.ceil((since!.getTime() + minuteMs - unit.now.getTime()) / 1000))
        throw new DomainError('RATE_LIMITED', `You have made ${mostAMinute} handoffs within a minute: try again in ${retryAfter} seconds.`, { retryAfter })
      }
      const details: HandoffDetails = { handoffId: newId(unit.now), serviceId, organizationId, sessionId, returnTo }
      const code = await context.codes.issue('handoff', userId, { ...unit, details, others: 'stay' })
      const handoff = {
        code,
        expiresAt: new Date(unit.now.getTime() + codeLives.handoff),
        callbackUrl: callbackUrlOf(callback, { code, icon }),
        service: service!,
      }
      return { handoff, details }
    },
    audit: ({ details }) => ({ tenantId, personId: userId, action: 'handoff.created', subjectId: details.handoffId, details: { service: slug } }),
  }).then(({ handoff }) => handoff)
}
