import type { FastifyRequest } from 'fastify'
import { neighbourhoodOf } from '../../platform/caller/address.ts'
import type { Clock } from '../../platform/clock.ts'
import { Refusal } from '../../platform/errors.ts'
import { createLimit } from '../../platform/limit.ts'
import type { ForwardRow } from './row.ts'

/** How many calls of rows that ask for no credentials one client address may send within how many ms, and how many addresses are remembered. */
const most = 1_000
const windowMs = 15 * 60_000
const capacity = 100_000

/** Whether calls of a row are counted: those by which identity makes accounts, sends mails or takes codes, for whoever asks. */
export const isCounted = ({ access, to }: Pick<ForwardRow, 'access' | 'to'>, method: string): boolean =>
  'public' in access && to === 'identity' && method === 'POST'

/**
 * A hook that counts calls by the caller's address, alike for all of them: nothing is looked at before, so who is over the limit learns
 * nothing. Each router counts for itself.
 */
export function createPublicPosts(clock: Clock): (request: FastifyRequest) => Promise<void> {
  const limit = createLimit({ most, windowMs, capacity })
  return async ({ ip }) => {
    const [address, now] = [neighbourhoodOf(ip), clock.now()]
    const waitMs = limit.wait(address, now)
    if (waitMs > 0)
      throw new Refusal('RATE_LIMITED', 'Too much comes from your address that nobody has signed in for: wait for a while, then go on.', {
        retryAfter: Math.ceil(waitMs / 1000),
      })
    limit.add(address, now)
  }
}
