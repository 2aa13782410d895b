import { LRUCache } from 'lru-cache'
import { Refusal } from '../../platform/errors.ts'
import { isKeyName } from '../access/callers/claim.ts'
import type { Shares } from './shares.ts'

/** Operations a minute of one caller; null: as many as it likes. */
export interface RateLimits {
  /** Of a person, of a program, or of the anonymous of one address. */
  readonly each: number | null
  /** Of an API key. @default as the others */
  readonly keys?: number | null | undefined
}

/** Says whether a caller may ask so often. */
export interface Rates {
  /** Counts one operation. @throws Refusal RATE_LIMITED, with the seconds after which the next one may come */
  count(caller: string): void
}

const minuteMs = 60_000
/** How many callers are remembered; beyond that the longest idle one starts anew. */
const mostCallers = 100_000

/**
 * Allows each caller so many operations a minute, in a burst or spread evenly; used ones are refilled evenly.
 * @param now milliseconds since some beginning
 */
export function createRates({ each, keys = null }: RateLimits, now: () => number = () => performance.now()): Rates {
  /** When all that a caller used will have come back (generic cell rate algorithm). */
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
        throw new Refusal('RATE_LIMITED', `At most ${limit} operations a minute are answered for one caller: ask again later.`, {
          retryAfter: Math.ceil(early / 1000),
        })
      whole.set(caller, next)
    },
  }
}

/** Shares that count what enters. What waits was counted when it came. */
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
