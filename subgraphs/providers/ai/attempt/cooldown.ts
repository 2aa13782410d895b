import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Sequelize } from 'sequelize'
import { type KnownRest, rests } from '../../stores/model/rests.ts'

/** A candidate, with the credential that it is called with and the organization that calls. */
export interface Rester {
  readonly credentialId: string
  readonly model: string
  readonly organizationId: string
}

/**
 * Candidates that rest after a failure, by credential, model and organization. What one organization met holds for its own calls;
 * once two organizations' rests overlap, the candidate rests for everybody (docs/decisions/0087-cooldowns-of-an-organization.md).
 * What was noted counts once its promise has resolved.
 */
export interface Cooldowns {
  /** Returns until when a candidate rests for this caller, in ms, and whether because of a limit; null when it does not. */
  restOf(who: Rester, now: number): Rest | null
  /** Notes that it has to rest for so many milliseconds: its provider said so. */
  limited(who: Rester, ms: number, now: number): Promise<void> | void
  /** Notes another failure: the third in a row within a minute makes it rest for 15 s. */
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

/** How many organizations have to find a candidate resting at the same time until it rests for all of them. */
const witnesses = 2

/** How many histories of an organization with a candidate are remembered; beyond, those of the candidate that failed longest ago go. */
const maxKnown = 10_000
/** How many organizations are remembered of one candidate. */
const maxOrganizations = 1_000

const keyOf = ({ credentialId, model }: Pick<Rester, 'credentialId' | 'model'>): string => `${credentialId} ${model}`

/**
 * Returns the rest that holds for an organization: its own, or the one that as many organizations as are needed have in common.
 * @param found rests by organization; those that are over do not count
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

/** The cooldowns that one process has seen itself. */
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
 * The shared cooldowns as one call uses them: read when it begins, and written for the other processes. Where the database takes
 * nothing, the call goes on without: the others make one more attempt.
 * @param found how the candidates stood when the call began, for the caller and for as many others as are needed
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
