import { LRUCache } from 'lru-cache'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { tell, type Unit, type Writing } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { inTransaction } from '../../../store/write.ts'
import type { PlatformOrganization } from '../../stores/credential/platform.ts'
import { defaultLimits } from '../../stores/spend/default-limits.ts'
import { type SpendLimitRow, sinceOf } from '../../stores/spend/limit.ts'
import { changed, monotonicNow } from './booking.ts'

// What organizations may spend with credentials of the platform where nobody has set it for them: a limit of each, made with its first such call.

export interface DefaultLimitsGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
  /** By the setting, in whole micro-dollars a month; null: as much as they like. */
  readonly micros: bigint | null
  readonly platformOrganization: Pick<PlatformOrganization, 'find'>
  /** The job context, created anew for each piece of work. */
  job(): Writing
  /** The facts of a limit's change from one state to another; null if it was deleted. */
  factsOf(before: SpendLimitRow, after: SpendLimitRow | null, at: Date): readonly NewFact[]
  announce(limits: readonly string[], organizationId: string | null): void
}

export interface DefaultLimits {
  /** Makes the limit of an organization where it has none on credentials of the platform, before it calls with one. */
  ensure(organizationId: string): Promise<void>
  /** Brings limits that were made under another setting to the present one. Any number of processes may do so at the same time. */
  follow(): Promise<void>
}

/** For how long it is remembered that an organization has such a limit, in ms, and of how many; how many follow the setting in one round. */
const [keptMs, maxKept, maxFollowing] = [10_000, 20_000, 200]

/** Opens the limits that follow the setting. */
export function createDefaultLimits({ sequelize, clock, micros, platformOrganization, job, factsOf, announce }: DefaultLimitsGround): DefaultLimits {
  const known = new LRUCache<string, number>({ max: maxKept })

  /** @returns whether there was anything to do: somebody else may have done it */
  async function followOne(id: string, { transaction, now: present }: Unit): Promise<boolean> {
    const before = await defaultLimits.lock(sequelize, id, transaction)
    if (!before || before.hardLimitMicros === micros) return false
    const now = monotonicNow(present, [before])
    const after = micros === null ? null : changed(before, { hardLimitMicros: micros }, now)
    if (after) await defaultLimits.adapt(sequelize, after, now, transaction)
    else await defaultLimits.remove(sequelize, id, transaction)
    const facts = factsOf(before, after, now)
    if (facts.length > 0) await tell(job(), facts, { transaction, now })
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
