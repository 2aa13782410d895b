import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Clock } from '../clock.ts'
import type { Sweep } from './queue.ts'

/** Retention of one table's rows. Every part but the days is SQL of the program, never of a caller. */
export interface RetentionRule {
  /**
   * Table with its schema: `publishing.audit_entries`. It must not be partitioned: rows are removed by their physical
   * position.
   */
  readonly table: string
  /** Days after which the rows are deleted. */
  readonly days: number
  /**
   * Condition that selects old rows `o` of the table: `$1` is the moment that lies the number of days back. It needs an
   * index.
   */
  readonly old: string
  /** The oldest first: `o.at`. */
  readonly order: string
  /** A setting, for one transaction, that lets a protected table release rows older than a moment. */
  readonly permit?: string
}

const dayMs = 86_400_000
/** Interval of the removal in ms, and maximum rows of each table removed in one run: 1.4 million a day. */
const everyMs = 300_000
const atOnce = 5_000

/** Dependencies of retention. */
export interface RetentionGround {
  readonly sequelize: Sequelize
  readonly clock: Clock
}

/**
 * Removes rows that are older than their retention, a bounded number in each run. Any number of processes may run it at
 * the same time.
 */
export const retention = ({ sequelize, clock }: RetentionGround, tables: readonly RetentionRule[]): Sweep => ({
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
