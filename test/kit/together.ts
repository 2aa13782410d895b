import pg from 'pg'
import { expect } from 'vitest'

/**
 * Lets works come as far as to what they write into a table, or to where one of them waits for another, and does something while all of them
 * wait: what happens when they meet is no matter of luck then.
 * @param url of the database, in which nothing else waits for a lock meanwhile
 * @param meanwhile is told by `waiting` where those that wait are found: `select pid ${waiting}`
 * @returns what each has come to, thrown errors included
 */
export async function heldUp<Result>(
  url: string,
  table: string,
  works: readonly (() => Promise<Result>)[],
  meanwhile: (holder: pg.Client, waiting: string) => Promise<unknown>,
): Promise<(Result | Error)[]> {
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  try {
    await holder.query(`begin; lock table ${table} in share row exclusive mode`)
    const ended = works.map(work => work().catch((error: Error) => error))
    const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    const count = async () => (await holder.query(`select pg_stat_clear_snapshot(), pid ${waiting}`)).rowCount
    await expect.poll(count).toBe(works.length)
    await meanwhile(holder, waiting)
    return await Promise.all(ended)
  } finally {
    await holder.end()
  }
}

/** Works that all have begun before the first of them is through with what it writes into the table. */
export const together = <Result>(url: string, table: string, ...works: readonly (() => Promise<Result>)[]): Promise<(Result | Error)[]> =>
  heldUp(url, table, works, holder => holder.query('commit'))
