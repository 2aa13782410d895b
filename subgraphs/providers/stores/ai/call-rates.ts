import type { Sequelize } from 'sequelize'
import type { RetentionRule } from '../../../../platform/jobs/retention.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'

/** A concurrent statement waits for the row and sees the other one's loan. */
const lend = statement(
  `insert into providers.ai_call_rates as r (organization_id, minute, lent, granted) values ($1, $2, least($3::int, $4::int), least($3::int, $4::int))
     on conflict (organization_id) do update set
       granted = case when r.minute < excluded.minute then excluded.lent else least($3::int, $4::int - r.lent) end,
       lent = case when r.minute < excluded.minute then excluded.lent else least($4::int, r.lent + $3::int) end,
       minute = greatest(r.minute, excluded.minute)
     returning granted`,
)

/**
 * Lends a process calls of the present minute, in one statement.
 * @param want requested number
 * @param most maximum number in a minute, for all processes
 * @returns the number that the process may make
 */
export async function lendCalls(sequelize: Sequelize, organizationId: string, minute: Date, want: number, most: number): Promise<number> {
  const [found] = await rows<{ granted: number }>(sequelize, lend, [organizationId, minute, want, most])
  return found?.granted ?? 0
}

/** Loans are valid for a minute and are deleted after a day. */
export const agingOfCallRates: RetentionRule = {
  table: 'providers.ai_call_rates',
  days: 1,
  old: 'o.minute < $1',
  order: 'o.minute',
}
