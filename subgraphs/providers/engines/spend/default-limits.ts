import { LRUCache } from 'lru-cache'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, type Writing, writeFacts } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { inTransaction } from '../../../store/write.ts'
import type { PlatformOrganization } from '../../stores/credential/platform.ts'
import { defaultLimits } from '../../stores/spend/default-limits.ts'
import { type SpendLimitRow, sinceOf } from '../../stores/spend/limit.ts'
import { changed, monotonicNow } from './booking.ts'

// Default limits on what organizations may spend with the platform's credentials. Each organization gets one with its
// first such call, until a platform admin sets another.

export interface DefaultLimitsGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
  /** Configured amount, in whole micro-dollars a month; null for no limit. */
  readonly micros: bigint | null
  readonly platformOrganization: Pick<PlatformOrganization, 'find'>
  /** The job context, created anew for each piece of work. */
  job(): Writing
  /** Returns the facts of a limit's change; null for a deleted one. */
  factsOf(before: SpendLimitRow, after: SpendLimitRow | null, at: Date): readonly NewFact[]
  announce(limits: readonly string[], organizationId: string | null): void
}

export interface DefaultLimits {
  /** Creates an organization's limit of platform credentials, if missing, before its first call with one. */
  ensure(organizationId: string): Promise<void>
  /** Applies the present setting to limits of a former one. Any number of processes may run it at the same time. */
  follow(): Promise<void>
}

/**
 * Time in ms for which an organization's limit is remembered, maximum organizations, and maximum limits updated in one
 * round.
 */
const [keptMs, maxKept, maxFollowing] = [10_000, 20_000, 200]

/** Opens the limits that follow the setting. */
export function createDefaultLimits({ sequelize, clock, micros, platformOrganization, job, factsOf, announce }: DefaultLimitsGround): DefaultLimits {
  const known = new LRUCache<string, number>({ max: maxKept })

  /** @returns whether there was anything to do: another process may have done it */
  async function followOne(id: string, { transaction, now: present }: WriteTransaction): Promise<boolean> {
    const before = await defaultLimits.lock(sequelize, id, transaction)
    if (!before) return false
    const due = micros !== null && !before.hasAllowance ? 0n : micros
    if (before.hardLimitMicros === due) return false
    const now = monotonicNow(present, [before])
    const after = due === null ? null : changed(before, { hardLimitMicros: due }, now)
    if (after) await defaultLimits.adapt(sequelize, after, now, transaction)
    else await defaultLimits.remove(sequelize, id, transaction)
    const facts = factsOf(before, after, now)
    if (facts.length > 0) await writeFacts(job(), facts, { transaction, now })
    return true
  }

  return {
    async ensure(organizationId) {
      if (micros === null) return
      const now = clock.now()
      if ((known.get(organizationId) ?? 0) > now.getTime()) return
      if ((await platformOrganization.find()) !== organizationId)
        await defaultLimits.make(sequelize, { id: newId(now), organizationId, micros }, sinceOf('MONTH', now, now), now)
      known.set(organizationId, now.getTime() + keptMs)
    },

    async follow() {
      for (const id of await defaultLimits.outdated(sequelize, micros, maxFollowing))
        if (await inTransaction(job(), unit => followOne(id, unit))) announce([id], null)
    },
  }
}
