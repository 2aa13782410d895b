import { LRUCache } from 'lru-cache'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import type { CallRow } from '../../stores/call.ts'
import { books, type Place } from '../../stores/spend/books.ts'
import type { SpendLimitRow } from '../../stores/spend/limit.ts'
import { monotonicNow } from './booking.ts'
import { type Decided, decide, type EndEntry, type Entry, isAt, type LaterEntry, type Outcome, placesOfEnd, placesOfEntry } from './decide.ts'

export interface AloneGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
  /** Whether a change causes facts: then it is not written here. */
  isNews(before: SpendLimitRow, after: SpendLimitRow, at: Date): boolean
}

/** Entries that can be written without a batch. */
export type LoneEntry = Exclude<Entry, LaterEntry | { kind: 'refused' }> | EndEntry

/** Result of an entry that was written alone. */
export interface Alone {
  readonly outcome: Outcome
  readonly changed: readonly string[]
  readonly isLimited: Decided['isLimited']
}

/**
 * Maximum cached limits and organizations, maximum cached limits of one, and time in ms without caching for one where
 * other processes write too.
 */
const most = { limits: 20_000, organizations: 20_000, ofOne: 50 } as const
const restMs = 1_000

/**
 * Writes single entries without holding a lock between read and write: rules use the limits as last seen by this
 * process, and one statement writes if all of them are unchanged. Otherwise they are read once.
 */
export function createAlone({ sequelize, clock, isNews }: AloneGround) {
  /** Limits as last seen, by id. Outdated ones are detected when writing. */
  const seen = new LRUCache<string, SpendLimitRow>({ max: most.limits })
  /** Limits that calls of an organization have met. */
  const met = new LRUCache<string, readonly string[]>({ max: most.organizations })
  /** Until when an organization's limits are read each time, because other processes write them too. */
  const busy = new LRUCache<string, number>({ max: most.organizations })

  /** Returns the limits for an entry as last seen; null if any is unknown. */
  function recall(organizationId: string, held: readonly string[], places: readonly Place[]): SpendLimitRow[] | null {
    const ids = met.get(organizationId)
    if (!ids || (busy.get(organizationId) ?? 0) > clock.now().getTime()) return null
    const limits: SpendLimitRow[] = []
    for (const id of new Set([...held, ...ids])) {
      const limit = seen.get(id)
      if (!limit) return null
      if (held.includes(id) || isAt(limit, places)) limits.push(limit)
    }
    return limits
  }

  function learn(organizationId: string, limits: readonly SpendLimitRow[]): void {
    for (const limit of limits) seen.set(limit.id, limit)
    const ids = new Set([...(met.get(organizationId) ?? []), ...limits.map(({ id }) => id)])
    met.set(organizationId, ids.size > most.ofOne ? limits.map(({ id }) => id) : [...ids])
  }

  /**
   * Writes with limits as seen.
   * @param isRecalled whether they are cached: then all of them have to change, because the statement only checks
   * changed ones
   * @returns null when they are outdated; undefined when the entry cannot be written alone. Nothing is written then
   */
  async function tryWith(entry: LoneEntry, running: readonly CallRow[], places: readonly Place[], before: readonly SpendLimitRow[], isRecalled: boolean) {
    const now = monotonicNow(clock.now(), before)
    const { outcomes, changes, begun, ended, isLimited } = decide([entry], before, running, now)
    const [outcome] = outcomes
    if (!outcome || 'refused' in outcome || changes.some(change => isNews(change.before, change.after, now))) return undefined
    if (isRecalled && changes.length < before.length) return null
    const one = ended[0] ? { ended: ended[0] } : begun[0] && { begun: begun[0] }
    const applying = before.filter(limit => isAt(limit, places)).length
    if (one && !(await books.writeIf(sequelize, { changes, places, applying, ...one }))) return null
    const after = new Map(changes.map(change => [change.before.id, change.after]))
    return { outcome, changed: [...after.keys()], isLimited, limits: before.map(limit => after.get(limit.id) ?? limit) }
  }

  return {
    /**
     * Writes the result of an entry if the limits are unchanged.
     * @param running the call to be ended
     * @returns null when they have changed, or when facts are needed: nothing is written then
     */
    async keep(organizationId: string, entry: LoneEntry, running: readonly CallRow[]): Promise<Alone | null> {
      const places = entry.kind === 'end' ? running.flatMap(call => placesOfEnd(call, entry)) : placesOfEntry(entry)
      const held = running.flatMap(call => call.held.map(({ limitId }) => limitId))
      const recalled = recall(organizationId, held, places)
      let kept = recalled && (await tryWith(entry, running, places, recalled, true))
      if (recalled && kept === null) {
        busy.set(organizationId, clock.now().getTime() + restMs)
        // One of the limits may have been deleted.
        met.delete(organizationId)
      }
      if (kept === null) kept = await tryWith(entry, running, places, await books.readLimits(sequelize, held, places), false)
      if (!kept) return null
      learn(organizationId, kept.limits)
      return kept
    },

    /** Removes limits from the cache: they were written in another way. */
    forget(limitIds: readonly string[]): void {
      for (const id of limitIds) seen.delete(id)
    },
  }
}
