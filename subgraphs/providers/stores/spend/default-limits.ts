import type { Sequelize, Transaction } from 'sequelize'
import { lockingStatement, rows, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import { type SpendLimitRow, spendLimits } from './limit.ts'

// Limits on credentials of the platform that follow a setting until somebody sets them: one of each organization, made with its first such call.

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

const digitsOf = (micros: bigint | null): string | null => (micros === null ? null : `${micros}`)

/** The statements of limits that follow a setting. */
export const defaultLimits = {
  /** Makes the limit of an organization unless it has one on credentials of the platform. @param since where its month begins */
  async make(sequelize: Sequelize, limit: { readonly id: string; readonly organizationId: string; readonly micros: bigint }, since: Date, now: Date) {
    await rows(sequelize, make, [limit.id, limit.organizationId, digitsOf(limit.micros), since, now])
  },

  /** Ids of limits made under another setting than this one, at most `limit`. @param micros null: the setting limits nothing */
  async outdated(sequelize: Sequelize, micros: bigint | null, limit: number): Promise<readonly string[]> {
    return (await rows<{ id: string }>(sequelize, outdated, [digitsOf(micros), limit])).map(({ id }) => id)
  },

  /** Locks a limit. @returns null if it was deleted, or changed by a person since */
  async lock(sequelize: Sequelize, id: string, transaction: Transaction): Promise<SpendLimitRow | null> {
    return (await rows<SpendLimitRow>(sequelize, lock, [id], transaction))[0] ?? null
  },

  /** Writes a limit's amount and figures. */
  async adapt(sequelize: Sequelize, limit: SpendLimitRow, now: Date, transaction: Transaction): Promise<void> {
    const figures = [limit.hardLimitMicros, limit.spentMicros, limit.reservedMicros, limit.overdrawnMicros].map(digitsOf)
    const [hard, spent, reserved, overdrawn] = figures
    await rows(sequelize, adapt, [limit.id, hard, limit.since, spent, reserved, overdrawn, JSON.stringify(limit.alerts), limit.attention, now], transaction)
  },

  /** Removes a limit. */
  async remove(sequelize: Sequelize, id: string, transaction: Transaction): Promise<void> {
    await rows(sequelize, remove, [id], transaction)
  },
}
