import { LRUCache } from 'lru-cache'
import type { Sequelize } from 'sequelize'
import type { Clock } from '../../../../platform/clock.ts'
import { newId } from '../../../../platform/ids.ts'
import { lockingStatement, rows, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import { tell, type Unit, type Writing } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { inTransaction } from '../../../store/write.ts'
import type { PlatformOrganization } from '../credential/platform.ts'
import { changed, nowBeside, sinceOf } from './booking.ts'
import { type SpendLimitRow, spendLimits } from './limit.ts'

// What organizations may spend with credentials of the platform where nobody has set it for them: a limit of each, made with its first such call.

export interface DefaultLimitsGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
  /** By the setting, in whole micro-dollars a month; null: as much as they like. */
  readonly micros: bigint | null
  readonly platformOrganization: Pick<PlatformOrganization, 'find'>
  /** Whose rows they are and who is told: made anew for each piece of work. */
  job(): Writing
  /** What others are told when a limit has come from one state into another; null: it is gone. */
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

// Figures begin at nothing, and are counted by the sweep that counts those of every new limit.
const make = lockingStatement(
  `insert into providers.spend_limits
     (id, level, tenant_id, scope_type, scope_value, period, hard_limit_micros, since, is_counted, is_default, created_at, updated_at, created_by)
   select $1::uuid, 'PLATFORM', $2::uuid, 'PLATFORM_CREDENTIALS', $2::uuid::text, 'MONTH', $3::bigint, $4::timestamptz, false, true, $5::timestamptz, $5::timestamptz, 'setting'
    where not exists (
      select from providers.spend_limits
       where owner_id = '00000000-0000-0000-0000-000000000000' and scope_type = 'PLATFORM_CREDENTIALS' and scope_value = $2::uuid::text)
   on conflict do nothing`,
)
const outdated = statement(
  `select id from providers.spend_limits
    where is_default and (hard_limit_micros < $1::bigint or hard_limit_micros > $1::bigint or $1::bigint is null) limit $2`,
)
const lock = statement(`select ${selectList(spendLimits, 't')} from providers.spend_limits t where t.id = $1 and t.is_default for no key update of t`)
const adapt = statement(
  `update providers.spend_limits
      set hard_limit_micros = $2::bigint, since = $3, spent_micros = $4::bigint, reserved_micros = $5::bigint, overdrawn_micros = $6::bigint,
          alerts = $7::jsonb, attention = $8, version = version + 1, updated_at = $9
    where id = $1`,
)
const remove = statement('delete from providers.spend_limits where id = $1')

/** Opens the limits that follow the setting. */
export function createDefaultLimits({ sequelize, clock, micros, platformOrganization, job, factsOf, announce }: DefaultLimitsGround): DefaultLimits {
  const known = new LRUCache<string, number>({ max: maxKept })

  /** @returns whether there was anything to do: somebody else may have done it */
  async function followOne(id: string, { transaction, now: present }: Unit): Promise<boolean> {
    const [before] = await rows<SpendLimitRow>(sequelize, lock, [id], transaction)
    if (!before || before.hardLimitMicros === micros) return false
    const now = nowBeside(present, [before])
    const after = micros === null ? null : changed(before, { hardLimitMicros: micros }, now)
    if (after) {
      const figures = [after.since, after.spentMicros, after.reservedMicros, after.overdrawnMicros].map(value =>
        typeof value === 'bigint' ? `${value}` : value,
      )
      await rows(sequelize, adapt, [id, `${micros}`, ...figures, JSON.stringify(after.alerts), after.attention, now], transaction)
    } else await rows(sequelize, remove, [id], transaction)
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
        await rows(sequelize, make, [newId(now), organizationId, `${micros}`, sinceOf('MONTH', now, now), now])
      known.set(organizationId, now.getTime() + keptMs)
    },

    async follow() {
      const found = await rows<{ id: string }>(sequelize, outdated, [micros === null ? null : `${micros}`, maxFollowing])
      for (const { id } of found) if (await inTransaction(job(), unit => followOne(id, unit))) announce([id], null)
    },
  }
}
