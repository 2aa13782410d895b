import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import { type KnownRest, rests } from '../../stores/model/rests.ts'

/** A candidate with the credential and the calling organization. */
export interface Rester {
  readonly credentialId: string
  readonly model: string
  readonly organizationId: string
}

/**
 * Candidates in cooldown after a failure, by credential, model and organization. A failure met by one organization
 * applies to its own calls; once the cooldowns of two organizations overlap, the candidate is in cooldown for all
 * (docs/decisions/0087-cooldowns-of-an-organization.md). A report takes effect once its promise has resolved.
 */
export interface Cooldowns {
  /**
   * Returns until when a candidate is in cooldown for this caller, in ms, and whether because of a limit; null when it
   * is not.
   */
  restOf(who: Rester, now: number): Rest | null
  /** Reports a cooldown of a number of ms, as the provider requested. */
  limited(who: Rester, ms: number, now: number): Promise<void> | void
  /** Reports another failure: the third in a row within a minute causes a cooldown of 15 s. */
  failed(who: Rester, now: number): Promise<void> | void
  worked(who: Rester): Promise<void> | void
}

export interface Rest {
  readonly until: number
  readonly isLimit: boolean
}

interface Known {
  rest: Rest | null
  /** Number of consecutive failures, and the time of the first. */
  failures: number
  since: number
}

const patience = { inARow: 3, withinMs: 60_000, restMs: 15_000 } as const

/** Number of organizations with a concurrent cooldown of a candidate from which it applies to all. */
const witnesses = 2

/**
 * Maximum number of remembered pairs of organization and candidate; beyond it those of the candidate that failed
 * longest ago are dropped.
 */
const maxKnown = 10_000
/** Maximum number of remembered organizations of one candidate. */
const maxOrganizations = 1_000

const keyOf = ({ credentialId, model }: Pick<Rester, 'credentialId' | 'model'>): string => `${credentialId} ${model}`

/**
 * Returns the cooldown that applies to an organization: its own, or one that enough organizations share.
 * @param found cooldowns by organization; ended ones do not count
 */
export function restFor(organizationId: string, found: Iterable<readonly [string, Rest | null]>, now: number): Rest | null {
  const present: Rest[] = []
  let own: Rest | null = null
  for (const [organization, rest] of found) {
    if (rest === null || rest.until <= now) continue
    present.push(rest)
    if (organization === organizationId) own = rest
  }
  const longest = present.sort((one, other) => other.until - one.until).slice(0, witnesses)
  const last = longest.at(-1)
  if (longest.length < witnesses || !last || (own && own.until >= last.until)) return own
  return { until: last.until, isLimit: longest.every(({ isLimit }) => isLimit) }
}

/** Cooldowns that one process has observed itself. */
export function createCooldowns(): Cooldowns {
  const known = new LRUCache<string, Map<string, Known>>({ maxSize: maxKnown, sizeCalculation: each => each.size })
  const of = (who: Rester) => known.get(keyOf(who))?.get(who.organizationId)
  const note = (who: Rester, what: Known) => {
    const all = new Map(known.get(keyOf(who)))
    all.delete(who.organizationId)
    all.set(who.organizationId, what)
    for (const oldest of all.keys()) {
      if (all.size <= maxOrganizations) break
      all.delete(oldest)
    }
    known.set(keyOf(who), all)
  }
  const rest = (who: Rester, given: Rest) => {
    const present = of(who)?.rest
    // A shorter rest does not end a longer one: a call that began before may come back later.
    note(who, { rest: present && present.until > given.until ? present : given, failures: 0, since: 0 })
  }
  return {
    restOf: (who, now) => restFor(who.organizationId, rested(known.get(keyOf(who)) ?? []), now),
    limited: (who, ms, now) => rest(who, { until: now + ms, isLimit: true }),
    failed(who, now) {
      const before = of(who)
      const isRow = before !== undefined && before.failures > 0 && now - before.since < patience.withinMs
      const failures = isRow ? before.failures + 1 : 1
      if (failures >= patience.inARow) rest(who, { until: now + patience.restMs, isLimit: false })
      else note(who, { rest: before?.rest ?? null, failures, since: isRow ? before.since : now })
    },
    worked(who) {
      const all = new Map(known.get(keyOf(who)))
      if (!all.delete(who.organizationId)) return
      if (all.size > 0) known.set(keyOf(who), all)
      else known.delete(keyOf(who))
    },
  }
}

function* rested(found: Iterable<readonly [string, Known]>): Generator<readonly [string, Rest | null]> {
  for (const [organizationId, { rest }] of found) yield [organizationId, rest]
}

export interface SharedCooldownsOptions {
  readonly sequelize: Sequelize
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Shared cooldowns for one call: read when it begins, and written for other processes. When the database is
 * unavailable, the call continues without: other processes then make one more attempt.
 * @param found cooldowns when the call began, of the caller and of other organizations
 */
export function createSharedCooldowns(found: readonly KnownRest[], { sequelize, log }: SharedCooldownsOptions): Cooldowns {
  const known = Map.groupBy(found, keyOf)
  const others = (who: Rester) => (known.get(keyOf(who)) ?? []).filter(({ organizationId }) => organizationId !== who.organizationId)
  const note = async (who: Rester, write: () => Promise<KnownRest | null>) => {
    try {
      const now = await write()
      known.set(keyOf(who), [...others(who), ...(now ? [now] : [])])
    } catch (error) {
      log.warn({ err: error, credential: who.credentialId, model: who.model }, 'outcome of a model call could not be shared with other processes')
    }
  }
  const { inARow, withinMs, restMs } = patience
  return {
    restOf(who, now) {
      const all = (known.get(keyOf(who)) ?? []).map(
        ({ organizationId, until, isLimit }) => [organizationId, until === null ? null : { until, isLimit }] as const,
      )
      return restFor(who.organizationId, all, now)
    },
    limited: (who, ms, now) => note(who, () => rests.limited(sequelize, who, new Date(now + ms))),
    failed: (who, now) => note(who, () => rests.failed(sequelize, who, new Date(now), { inARow, withinMs, restMs })),
    // Most have never failed: then there is nothing to note.
    worked: who =>
      known.get(keyOf(who))?.some(({ organizationId }) => organizationId === who.organizationId)
        ? note(who, () => rests.worked(sequelize, who).then(() => null))
        : undefined,
  }
}
