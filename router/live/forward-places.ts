import type { Claim } from '../access/callers/claim.ts'
import { createShares, forwardShare, type ShareLimits, slowForwardShare } from './shares.ts'

/** Places for forwarded requests. */
export interface ForwardPlaces {
  /**
   * Does work in a place of the caller's.
   * @param signal aborts when nobody waits any more
   * @throws RATE_LIMITED when too much of the caller waits, or when no place is free in time
   */
  run<Result>(claim: Claim, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

/**
 * Makes the places. A request that takes long waits for somebody else, such as a model or a client that sends a film. It moves to a place of
 * another kind, of which there are more, so that it holds up nothing that the process itself could do.
 * @param slowAfterMs after how long a request takes long
 */
export function createForwardPlaces(
  quickLimits: ShareLimits = forwardShare,
  slowLimits: Pick<ShareLimits, 'each' | 'ofOrganization' | 'all'> = slowForwardShare,
  slowAfterMs = 100,
): ForwardPlaces {
  const quick = createShares(quickLimits)
  const slow = createShares({ ...slowLimits, waiting: Number.POSITIVE_INFINITY, patienceMs: Number.POSITIVE_INFINITY })
  return {
    async run(claim, work, signal) {
      const place = quick.enter(claim, signal)
      if (place) await place
      let held = quick
      const ended = new AbortController()
      const move = async () => {
        await slow.enter(claim, ended.signal)
        if (ended.signal.aborted) return slow.leave(claim)
        quick.leave(claim)
        held = slow
      }
      // If the call ends before it moved, its place stays where it was.
      const timer = setTimeout(() => void move().catch(() => {}), slowAfterMs)
      try {
        return await work()
      } finally {
        clearTimeout(timer)
        ended.abort()
        held.leave(claim)
      }
    },
  }
}
