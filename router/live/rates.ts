import { LRUCache } from 'lru-cache'
import { DomainError } from '../../platform/errors.ts'
import { isKeyName } from '../access/callers/claim.ts'
import type { Shares } from './shares.ts'

/** Operations a minute of one caller; null for no limit. */
export interface RateLimits {
  /** Limit of a person, of a program, or of all anonymous callers of one address. */
  readonly each: number | null
  /** Limit of an API key. @default as the others */
  readonly keys?: number | null | undefined
}

/** Limits how often a caller may send operations. */
export interface Rates {
  /** Counts one operation. @throws DomainError RATE_LIMITED, with the seconds after which the next one may come */
  count(caller: string): void
}

const minuteMs = 60_000
/** Maximum number of remembered callers; beyond it the longest idle one starts anew. */
const mostCallers = 100_000

/**
 * Allows each caller a number of operations a minute, in a burst or spread evenly; used ones are refilled evenly.
 * @param now monotonic clock in ms
 */
export function createRates({ each, keys = null }: RateLimits, now: () => number = () => performance.now()): Rates {
  /** When a caller's whole allowance will be refilled (generic cell rate algorithm). */
  const whole = new LRUCache<string, number>({ max: mostCallers })
  return {
    count(caller) {
      const limit = isKeyName(caller) ? (keys ?? each) : each
      if (limit === null) return
      const at = now()
      const next = Math.max(at, whole.get(caller) ?? 0) + minuteMs / limit
      const early = next - at - minuteMs
      // Floating-point sums are inexact: a difference below a thousandth is ignored.
      if (early > 0.001)
        throw new DomainError('RATE_LIMITED', `At most ${limit} operations a minute are answered for one caller: ask again later.`, {
          retryAfter: Math.ceil(early / 1000),
        })
      whole.set(caller, next)
    },
  }
}

/** Adds a rate limit to a concurrency limiter. Operations are counted when they arrive, before they wait. */
export const rated = (shares: Shares, rates: Rates): Shares => ({
  ...shares,
  enter(claim, signal) {
    rates.count(claim.caller)
    return shares.enter(claim, signal)
  },
  async run(claim, work, signal) {
    rates.count(claim.caller)
    return shares.run(claim, work, signal)
  },
})
