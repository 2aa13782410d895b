import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../platform/limit.ts'
import { statement } from '../../platform/sql/statement.ts'
import type { Table } from '../../platform/sql/table.ts'
import type { Rows } from './store.ts'

/**
 * Counts the rows that a caller created within a day, up to `most`: when the oldest of the `most` newest is a day old,
 * another one is allowed.
 */
export type CountByCaller = (createdBy: string, now: Date, most: number, transaction: Transaction) => Promise<Usage>

/** Counts the rows that callers create in a table, along its index on (created_by, created_at). */
export function countByCaller(table: Table): (rows: Pick<Rows<Table>, 'read'>) => CountByCaller {
  const written = statement(
    `select count(*)::int as today, min(created_at) as since from (
       select created_at from ${table.name} where created_by = $1 and created_at > $2 order by created_at desc limit $3) made`,
  )
  return rows => async (createdBy, now, most, transaction) => {
    const [made] = await rows.read<{ today: number; since: Date | null }>(written, [createdBy, dayBefore(now), most], transaction)
    return { inAll: 0, today: made!.today, todaySince: made!.since }
  }
}
