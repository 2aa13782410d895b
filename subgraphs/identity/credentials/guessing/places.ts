import { LRUCache } from 'lru-cache'

/** How many places are remembered; those that were longest unused are forgotten. */
const mostPlaces = 20_000

/** How many failures an account may have from one place before a delay is put before each further attempt from there. */
const mostFailuresFromOnePlace = 30
/** That delay doubles from a second to this, in ms. */
const mostDelayMs = 60_000

/** How long a place that has not failed waits before it is let in to an account whose count is full, in ms; each failure doubles it. */
const leastPatienceMs = 30_000

/** What happened at one account from one address: a place. It is forgotten after `windowMs` without anything. */
interface Past {
  readonly failures: number
  /** Since when it has to wait: its last failure, or the first time that it was sent away from a full account. */
  readonly since: number
}

/** Remembers failures by place, and says how long the next attempt from there has to wait. */
export function createPlaces(windowMs: number) {
  const places = new LRUCache<string, Past>({ max: mostPlaces })
  const pastOf = (place: string, now: Date): Past | undefined => {
    const past = places.get(place)
    return past && now.getTime() - past.since < windowMs ? past : undefined
  }
  return {
    /** Milliseconds that whoever failed too often from here has to wait, with a right password too; 0 when an attempt may be made now. */
    delay(place: string, now: Date): number {
      const past = pastOf(place, now)
      if (!past || past.failures < mostFailuresFromOnePlace) return 0
      const delay = Math.min(mostDelayMs, 1000 * 2 ** (past.failures - mostFailuresFromOnePlace))
      return Math.max(0, past.since + delay - now.getTime())
    },
    /** Milliseconds until an attempt from here is let in although the account's count is full; the waiting begins with the first question. */
    patience(place: string, now: Date): number {
      const past = pastOf(place, now)
      if (!past) places.set(place, { failures: 0, since: now.getTime() })
      const { failures, since } = past ?? { failures: 0, since: now.getTime() }
      return Math.max(0, since + leastPatienceMs * 2 ** failures - now.getTime())
    },
    fail(place: string, now: Date): void {
      places.set(place, { failures: (pastOf(place, now)?.failures ?? 0) + 1, since: now.getTime() })
    },
    clear(place: string): void {
      places.delete(place)
    },
  }
}
