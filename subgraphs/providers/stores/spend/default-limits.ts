import type { Sequelize, Transaction } from 'sequelize'
import { lockingStatement, rows, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import { type SpendLimitRow, spendLimits } from './limit.ts'

// Limits on the platform's credentials that follow a setting until a platform admin sets them: one for each
// organization, created with its first such call.

// The figures start at zero; the sweep that counts every new limit counts them.
const make = lockingStatement(
  `insert into providers.spend_limits
     (id, level, tenant_id, scope_type, scope_value, period, hard_limit_micros, since, is_counted, is_default, has_allowance, created_at, updated_at, created_by)
   select $1::uuid, 'PLATFORM', $2::uuid, 'PLATFORM_CREDENTIALS', $2::uuid::text, 'MONTH', case when allowance.it then $3::bigint else 0 end, $4::timestamptz,
          false, true, allowance.it, $5::timestamptz, $5::timestamptz, 'setting'
     from (select coalesce((select has_allowance from providers.organizations where organization_id = $2::uuid), true) as it) allowance
    where not exists (
      select from providers.spend_limits
       where owner_id = '00000000-0000-0000-0000-000000000000' and scope_type = 'PLATFORM_CREDENTIALS' and scope_value = $2::uuid::text)
   on conflict do nothing`,
)
const outdated = statement(
  `select id from providers.spend_limits
    where is_default and (hard_limit_micros <> case when has_allowance then $1::bigint else 0 end or $1::bigint is null) limit $2`,
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
  /**
   * Creates the limit of an organization, unless it has a limit on the platform's credentials. @param since start of
   * the present month
   */
  async make(sequelize: Sequelize, limit: { readonly id: string; readonly organizationId: string; readonly micros: bigint }, since: Date, now: Date) {
    await rows(sequelize, make, [limit.id, limit.organizationId, digitsOf(limit.micros), since, now])
  },

  /**
   * Returns ids of limits created under another setting, at most `limit`. @param micros null: the setting is unlimited
   */
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
