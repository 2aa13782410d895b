import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Clock } from '../clock.ts'
import type { Sweep } from './queue.ts'

/** Rows of one table that go when they are old. Every part but the days is SQL of the program, never of a caller. */
export interface Aging {
  /** With its schema: `publishing.audit_entries`. One table, not a partitioned one: rows are removed by where they lie in it. */
  readonly table: string
  /** For how many days such rows are kept. */
  readonly days: number
  /** Which rows `o` of the table are old: `$1` is the moment that lies so many days back. An index has to find them. */
  readonly old: string
  /** The oldest first: `o.at`. */
  readonly order: string
  /** A setting that tells the table, for one transaction, before which moment it is to let go of rows that it holds on to. */
  readonly permit?: string
}

const dayMs = 86_400_000
/** How often what is old is looked for, in ms, and how many rows of each table one round removes: 1.4 million a day. */
const everyMs = 300_000
const atOnce = 5_000

/** What retention needs. */
export interface RetentionGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
}

/** Removes what is older than it is to be kept, a bounded number of rows a round. Any number of processes may do so at the same time. */
export const retention = ({ sequelize, clock }: RetentionGround, tables: readonly Aging[]): Sweep => ({
  name: 'what is old',
  everyMs,
  async run() {
    for (const { table, days, old, order, permit } of tables) {
      const ends = new Date(clock.now().getTime() - days * dayMs)
      const clear = (transaction: Transaction | null) =>
        sequelize.query(
          // Deletes by physical position (ctid), because the rows are locked: finding each by its key again takes four times as long.
          `delete from ${table} where ctid = any(array(
           select o.ctid from ${table} o where ${old} order by ${order} limit $2 for update of o skip locked))`,
          { bind: [ends, atOnce], type: QueryTypes.RAW, transaction },
        )
      if (permit === undefined) await clear(null)
      else
        await sequelize.transaction(async transaction => {
          await sequelize.query('select set_config($1, $2, true)', { bind: [permit, ends.toISOString()], type: QueryTypes.SELECT, transaction })
          await clear(transaction)
        })
    }
  },
})
