import type { Sequelize, Transaction } from 'sequelize'
import { lockingStatement, rows, statement } from './statement.ts'

/** What may happen how often: `max` in a window that begins with the first. */
export interface Rate {
  readonly key: string
  readonly max: number
  readonly windowMs: number
}

/**
 * Counts one occurrence.
 * @returns 0 when it is allowed; else how long the window still lasts, in ms, and nothing is counted
 */
export type TakeRate = (sequelize: Sequelize, rate: Rate, now: Date, transaction?: Transaction) => Promise<number>

/**
 * Counts over all processes of a service, exactly: two occurrences at the same moment follow each other at the row.
 * Create it once, when the file is loaded.
 * @param table with its schema, and the columns `key`, `count` and `ends_at`: unlogged, because a window is short
 */
export function ratesIn(table: string): TakeRate {
  const take = lockingStatement(
    `insert into ${table} as r (key, count, ends_at) values ($1, 1, $4)
     on conflict (key) do update
       set count = case when r.ends_at <= $3 then 1 else r.count + 1 end, ends_at = case when r.ends_at <= $3 then $4 else r.ends_at end
       where r.ends_at <= $3 or r.count < $2
     returning count`,
  )
  const endOf = statement(`select ends_at as at from ${table} where key = $1`)
  return async (sequelize, { key, max, windowMs }, now, transaction) => {
    const ends = new Date(now.getTime() + windowMs)
    if ((await rows(sequelize, take, [key, max, now, ends], transaction)).length > 0) return 0
    const [found] = await rows<{ at: Date }>(sequelize, endOf, [key], transaction)
    return Math.max(1, (found?.at ?? ends).getTime() - now.getTime())
  }
}

/** Retention of a table of counts: a window that is over counts nothing. */
export const agingOfRates = (table: string) => ({ table, days: 1, old: 'o.ends_at < $1', order: 'o.ends_at' })
