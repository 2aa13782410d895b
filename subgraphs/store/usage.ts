import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../platform/limit.ts'
import { transactionLock } from '../../platform/sql/lock.ts'
import { statement } from '../../platform/sql/statement.ts'
import type { Table } from '../../platform/sql/table.ts'
import type { Rows } from './store.ts'

/**
 * Counts the rows that a caller created within a day, up to `most`: when the oldest of the `most` newest is a day old,
 * another one is allowed. Near `most` it waits for the caller's other transactions that have counted, and they for this
 * one's end, so that all of them together stay within it.
 */
export type CountByCaller = (createdBy: string, now: Date, most: number, transaction: Transaction) => Promise<Usage>

/** More transactions than one caller has under way at once: a database has fewer connections. */
const transactionsAtOnce = 1_000

/**
 * Counts the rows that callers create in a table, along its index on (created_by, created_at). Create it once for each table.
 * @param rowsAtOnce maximum rows that one transaction creates after it has counted
 */
export function countByCaller(table: Table, { rowsAtOnce = 1 }: { readonly rowsAtOnce?: number } = {}): (rows: Pick<Rows<Table>, 'read'>) => CountByCaller {
  const lock = transactionLock(`${table.name}.by_caller`)
  const written = statement(
    `select count(*)::int as today, min(created_at) as since from (
       select created_at from ${table.name} where created_by = $1 and created_at > $2 order by created_at desc limit $3) made`,
  )
  const uncounted = transactionsAtOnce * rowsAtOnce
  return rows => async (createdBy, now, most, transaction) => {
    const count = async () => {
      const [made] = await rows.read<{ today: number; since: Date | null }>(written, [createdBy, dayBefore(now), most], transaction)
      return { inAll: 0, today: made!.today, todaySince: made!.since }
    }
    // Far from the limit, what others have not committed yet cannot lead past it.
    const before = most > uncounted ? await count() : null
    if (before && before.today + uncounted < most) return before
    // A separate statement, so that of two concurrent calls the second counts the first one's rows.
    await rows.read(lock, [createdBy], transaction)
    return count()
  }
}
