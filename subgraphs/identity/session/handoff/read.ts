import { codeOf } from '../../../../platform/errors.ts'
import type { Context } from '../../context.ts'
import type { Code } from '../../stores/code.ts'
import type { HandoffDetails } from '../../stores/credentials/handoff.ts'
import type { MadeHandoff } from './mint.ts'
import { callbackUrlOf } from './rules.ts'

/** Returns the handoff of a code that could be exchanged now; null for any other code. Nothing is locked or used up. */
export async function findHandoff(context: Context, code: string): Promise<MadeHandoff | null> {
  const { codes, handoffs, serviceEntries, clock, environment } = context
  const now = clock.now()
  const held = await codes.find('handoff', code, now).catch((error: unknown): Code | null => {
    if (codeOf(error) === 'BAD_USER_INPUT') return null
    throw error
  })
  if (!held) return null
  const details = held.details as HandoffDetails
  const entries = await serviceEntries.manyBy('environment').load(environment)
  const service = entries.find(({ id, lifecycle }) => id === details.serviceId && lifecycle !== 'retired')
  const callback = service?.addresses.callback
  if (!service || callback === undefined || !(await handoffs.stands(held.subject, details, now))) return null
  return { code, expiresAt: held.expiresAt, callbackUrl: callbackUrlOf(callback, { code, icon: service.icon }), service }
}
