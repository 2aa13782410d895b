import type { WriteTransaction } from '../../../store/books.ts'
import { writeFacts } from '../../../store/books.ts'
import { inTransaction } from '../../../store/write.ts'
import { books, counts } from '../../stores/spend/books.ts'
import { doubts } from '../../stores/spend/doubts.ts'
import type { SpendLimitRow } from '../../stores/spend/limit.ts'
import { alerted, asOf, monotonicNow, overdrawn } from './booking.ts'
import type { CallKey, Entry } from './decide.ts'
import { endedRow, nothing } from './rows.ts'
import type { LedgerGround, LedgerWriter } from './writer.ts'

/** Maximum unended calls, and limits, handled in one round. */
const mostExpired = 200

/** Creates the work that the ledger needs from time to time. Any number of processes may run each at the same time. */
export function createUpkeep({ sequelize, clock, job, factsOf, announce }: LedgerGround, writer: Pick<LedgerWriter, 'write'>) {
  return {
    /**
     * Releases reservations of overdue calls, and of those whose provider can hardly charge any more.
     */
    async expire(): Promise<void> {
      await each(books.expired, key => ({ kind: 'end', ended: { ...endedRow(key, nothing, clock.now()), expired: true }, unclear: [] }))
      await each(books.pending, call => ({ kind: 'release', call }))
    },

    /** Withdraws the attention for a model without impossible usage for a while. */
    async forgetDoubts(): Promise<void> {
      await inTransaction(job(), async unit => {
        const facts = await doubts.close(sequelize, unit)
        if (facts.length > 0) await writeFacts(job(), facts, unit)
      })
    },

    /** Closes attention of limits whose period is over, and completes the figures of new limits. */
    async lookAfter(): Promise<void> {
      const waiting = await books.waiting(sequelize, clock.now(), mostExpired)
      for (const limit of waiting) {
        if (!limit.isCounted) await inTransaction(job(), unit => count(limit, unit))
        else await inTransaction(job(), unit => rollOver(limit, unit))
        announce([limit.id], null)
      }
    },

    count,
  }

  /** Writes an entry for each call of a list, until the list is empty. */
  async function each(list: typeof books.expired, entryOf: (call: CallKey) => Entry): Promise<void> {
    for (;;) {
      const found = await list(sequelize, clock.now(), mostExpired)
      await Promise.all(found.map(call => writer.write(call.organizationId, entryOf(call))))
      if (found.length < mostExpired) return
    }
  }

  async function rollOver({ id }: SpendLimitRow, { transaction }: WriteTransaction): Promise<void> {
    const [before] = await books.lockLimits(sequelize, [id], [], transaction)
    if (!before) return
    const now = monotonicNow(clock.now(), [before])
    const after = alerted(asOf(before, now), now)
    if (after !== before) await keep(before, after, { transaction, now })
  }

  /** Writes one limit with its consequences. */
  async function keep(before: SpendLimitRow, after: SpendLimitRow, unit: WriteTransaction): Promise<void> {
    await books.write(sequelize, { limits: [after], begun: [], ended: [] }, unit.transaction)
    const facts = factsOf(before, after, unit.now)
    if (facts.length > 0) await writeFacts(job(), facts, unit)
  }

  /**
   * Adds the spending before a limit's creation to its figures, to the last call; running calls are added at their end.
   * @param unit a transaction of its own
   * @returns the limit after the change; null if it was deleted
   */
  async function count(limit: SpendLimitRow, { transaction }: WriteTransaction): Promise<SpendLimitRow | null> {
    await counts.mark(sequelize, limit, transaction)
    const [before] = await books.lockLimits(sequelize, [limit.id], [], transaction)
    if (!before) return null
    const now = monotonicNow(clock.now(), [before])
    const present = asOf(before, now)
    const spentMicros = present.period === 'TOTAL' ? present.spentMicros : await counts.spent(sequelize, present, transaction)
    const after = alerted(overdrawn({ ...present, spentMicros, isCounted: true }), now)
    await keep(before, after, { transaction, now })
    return after
  }
}
