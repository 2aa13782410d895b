import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../platform/limit.ts'
import { statement } from '../../platform/sql/statement.ts'
import type { Table } from '../../platform/sql/table.ts'
import type { Rows } from './store.ts'

/**
 * How many rows a caller has written within a day. Beyond the `most` newest they are not counted: once the oldest of these is a day old,
 * there is room for another.
 */
export type CountByCaller = (createdBy: string, now: Date, most: number, transaction: Transaction) => Promise<Usage>

/** Counts what callers write into a table, along its index on (created_by, created_at). */
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
