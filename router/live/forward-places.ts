import type { Claim } from '../access/callers/claim.ts'
import { createShares, forwardShare, type ShareLimits, slowForwardShare } from './shares.ts'

/** Limits concurrent forwarded requests. */
export interface ForwardPlaces {
  /**
   * Runs work in a slot of the caller.
   * @param signal aborts when the caller has left
   * @throws RATE_LIMITED when too many requests of the caller wait, or when no slot is free in time
   */
  run<Result>(claim: Claim, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

/**
 * Creates the limits. A slow request waits for someone else, such as a model's vendor or a client that uploads a video.
 * It moves to a slot of a second kind, of which there are more, so that it does not delay requests that the process
 * itself could serve.
 * @param slowAfterMs milliseconds after which a request counts as slow
 */
export function createForwardPlaces(
  quickLimits: ShareLimits = forwardShare,
  slowLimits: Pick<ShareLimits, 'each' | 'ofOrganization' | 'all'> = slowForwardShare,
  slowAfterMs = 100,
): ForwardPlaces {
  const quick = createShares(quickLimits)
  const slow = createShares({ ...slowLimits, waiting: Number.POSITIVE_INFINITY, timeoutMs: Number.POSITIVE_INFINITY })
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
