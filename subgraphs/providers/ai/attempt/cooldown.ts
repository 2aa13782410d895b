import { LRUCache } from 'lru-cache'

/** Candidates that rest after a failure, by credential and model. Each process knows its own: one more attempt of another one costs little. */
export interface Cooldowns {
  /** Until when a candidate rests, in ms, and whether because of a limit; null when it does not. */
  restOf(key: string, now: number): Rest | null
  /** It has to rest for so many milliseconds: its provider said so. */
  limited(key: string, ms: number, now: number): void
  /** It failed in another way: the third time in a row within a minute it rests for 15 s. */
  failed(key: string, now: number): void
  worked(key: string): void
}

export interface Rest {
  readonly until: number
  readonly isLimit: boolean
}

interface Known {
  rest: Rest | null
  /** Failures in a row, and when the first of them was. */
  failures: number
  since: number
}

const inARow = 3
const withinMs = 60_000
const restMs = 15_000

/** How many candidates are remembered: beyond, those that failed longest ago are forgotten. */
const most = 10_000

export const candidateKey = (credentialId: string, model: string): string => `${credentialId} ${model}`

export function createCooldowns(): Cooldowns {
  const known = new LRUCache<string, Known>({ max: most })
  const rest = (key: string, given: Rest) => {
    const present = known.get(key)?.rest
    // A shorter rest does not end a longer one: a call that began before may come back later.
    known.set(key, { rest: present && present.until > given.until ? present : given, failures: 0, since: 0 })
  }
  return {
    restOf(key, now) {
      const found = known.get(key)?.rest ?? null
      return found && found.until > now ? found : null
    },
    limited: (key, ms, now) => rest(key, { until: now + ms, isLimit: true }),
    failed(key, now) {
      const before = known.get(key)
      const isRow = before !== undefined && before.failures > 0 && now - before.since < withinMs
      const failures = isRow ? before.failures + 1 : 1
      if (failures >= inARow) rest(key, { until: now + restMs, isLimit: false })
      else known.set(key, { rest: before?.rest ?? null, failures, since: isRow ? before.since : now })
    },
    worked: key => void known.delete(key),
  }
}
