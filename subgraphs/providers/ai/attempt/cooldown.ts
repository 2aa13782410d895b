import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import { type KnownRest, rests } from '../../stores/model/rests.ts'

/** A candidate, with what it is called. */
export interface Rester {
  readonly credentialId: string
  readonly model: string
}

/** Candidates that rest after a failure, by credential and model. What is told is known to whoever asks once it has resolved. */
export interface Cooldowns {
  /** Until when a candidate rests, in ms, and whether because of a limit; null when it does not. */
  restOf(who: Rester, now: number): Rest | null
  /** It has to rest for so many milliseconds: its provider said so. */
  limited(who: Rester, ms: number, now: number): Promise<void> | void
  /** It failed in another way: the third time in a row within a minute it rests for 15 s. */
  failed(who: Rester, now: number): Promise<void> | void
  worked(who: Rester): Promise<void> | void
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

const patience = { inARow: 3, withinMs: 60_000, restMs: 15_000 } as const

/** How many candidates are remembered: beyond, those that failed longest ago are forgotten. */
const most = 10_000

const keyOf = ({ credentialId, model }: Rester): string => `${credentialId} ${model}`

/** What one process knows by itself. */
export function createCooldowns(): Cooldowns {
  const known = new LRUCache<string, Known>({ max: most })
  const rest = (key: string, given: Rest) => {
    const present = known.get(key)?.rest
    // A shorter rest does not end a longer one: a call that began before may come back later.
    known.set(key, { rest: present && present.until > given.until ? present : given, failures: 0, since: 0 })
  }
  return {
    restOf(who, now) {
      const found = known.get(keyOf(who))?.rest ?? null
      return found && found.until > now ? found : null
    },
    limited: (who, ms, now) => rest(keyOf(who), { until: now + ms, isLimit: true }),
    failed(who, now) {
      const key = keyOf(who)
      const before = known.get(key)
      const isRow = before !== undefined && before.failures > 0 && now - before.since < patience.withinMs
      const failures = isRow ? before.failures + 1 : 1
      if (failures >= patience.inARow) rest(key, { until: now + patience.restMs, isLimit: false })
      else known.set(key, { rest: before?.rest ?? null, failures, since: isRow ? before.since : now })
    },
    worked: who => void known.delete(keyOf(who)),
  }
}

export interface SharedCooldownsOptions {
  readonly sequelize: Sequelize
  readonly log: Pick<Logger, 'warn'>
}

/**
 * What all processes know together, as one call meets it: what it found when it began, and what it tells the others. Where the database takes
 * nothing, the call goes on without: the others make one more attempt.
 * @param found how the candidates stood when the call began
 */
export function createSharedCooldowns(found: readonly KnownRest[], { sequelize, log }: SharedCooldownsOptions): Cooldowns {
  const known = new Map(found.map(each => [keyOf(each), each]))
  const told = async (who: Rester, write: () => Promise<KnownRest | null>) => {
    try {
      const now = await write()
      if (now) known.set(keyOf(who), now)
      else known.delete(keyOf(who))
    } catch (error) {
      log.warn({ err: error, credential: who.credentialId, model: who.model }, 'how a candidate fared could not be told to other processes')
    }
  }
  return {
    restOf(who, now) {
      const { until = null, isLimit = false } = known.get(keyOf(who)) ?? {}
      return until !== null && until > now ? { until, isLimit } : null
    },
    limited: (who, ms, now) => told(who, () => rests.limited(sequelize, who.credentialId, who.model, new Date(now + ms))),
    failed: (who, now) => told(who, () => rests.failed(sequelize, who.credentialId, who.model, new Date(now), patience)),
    // Most have never failed: then there is nothing to tell.
    worked: who => (known.has(keyOf(who)) ? told(who, () => rests.worked(sequelize, who.credentialId, who.model).then(() => null)) : undefined),
  }
}
