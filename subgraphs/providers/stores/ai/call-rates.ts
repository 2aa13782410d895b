import type { Sequelize } from 'sequelize'
import type { Aging } from '../../../../platform/jobs/retention.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'

/** Whoever comes at the same moment waits for the row, and finds what the other one was lent. */
const lend = statement(
  `insert into providers.ai_call_rates as r (organization_id, minute, lent, granted) values ($1, $2, least($3::int, $4::int), least($3::int, $4::int))
     on conflict (organization_id) do update set
       granted = case when r.minute < excluded.minute then excluded.lent else least($3::int, $4::int - r.lent) end,
       lent = case when r.minute < excluded.minute then excluded.lent else least($4::int, r.lent + $3::int) end,
       minute = greatest(r.minute, excluded.minute)
     returning granted`,
)

/**
 * Lends calls of a minute to a process, in one statement.
 * @param want how many it would like
 * @param most how many there are in a minute
 * @returns how many it may make
 */
export async function lendCalls(sequelize: Sequelize, organizationId: string, minute: Date, want: number, most: number): Promise<number> {
  const [found] = await rows<{ granted: number }>(sequelize, lend, [organizationId, minute, want, most])
  return found?.granted ?? 0
}

/** What was lent goes after a day: it counts for a minute. */
export const agingOfCallRates: Aging = {
  table: 'providers.ai_call_rates',
  days: 1,
  old: 'o.minute < $1',
  order: 'o.minute',
}
