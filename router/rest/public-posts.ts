import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { neighbourhoodOf } from '../../platform/caller/address.ts'
import type { Clock } from '../../platform/clock.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Authority } from '../../subgraphs/authority.ts'
import type { ForwardRow } from './row.ts'

/** How many addresses that are over the limit are remembered, so that more from them asks nobody. */
const mostFull = 20_000

/** Whether calls of a row are counted: those by which identity makes accounts, sends mails or takes codes, for whoever asks. */
export const isCounted = ({ access, to }: Pick<ForwardRow, 'access' | 'to'>, method: string): boolean =>
  'public' in access && to === 'identity' && method === 'POST'

/**
 * A hook that counts calls by the caller's address, alike for all of them: nothing is looked at before, so who is over the limit learns
 * nothing. Identity counts for all routers together; while it cannot be asked, none of these calls goes on.
 */
export function createPublicPosts({ countPublicPost }: Pick<Authority, 'countPublicPost'>, clock: Clock): (request: FastifyRequest) => Promise<void> {
  const fullUntil = new LRUCache<string, number>({ max: mostFull })
  return async ({ ip }) => {
    const [address, now] = [neighbourhoodOf(ip), clock.now().getTime()]
    const known = (fullUntil.get(address) ?? 0) - now
    const waitMs = known > 0 ? known : await countPublicPost(address)
    if (waitMs <= 0) return
    fullUntil.set(address, now + waitMs)
    throw new Refusal('RATE_LIMITED', 'Too much comes from your address that nobody has signed in for: wait for a while, then go on.', {
      retryAfter: Math.ceil(waitMs / 1000),
    })
  }
}
