import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, type Writing, writing } from '../../../store/books.ts'
import type { LedgerEntries, NewEntry } from '../../stores/ledger.ts'
import type { Booking } from './movements.ts'

/** What posting works with. */
export interface LedgerWriting extends Writing {
  readonly ledgerEntries: Pick<LedgerEntries, 'post'>
}

/** One movement to post. */
export interface Movement extends Booking {
  readonly currency: string
  readonly orderId?: string | null
  readonly settlementBatchId?: string | null
}

/** Whose ledger is written. */
export interface LedgerOwner {
  readonly merchantId: string
  readonly organizationId: string
}

/**
 * Posts movements of one merchant, in the transaction that changes the records which they are of: both are written, or neither. Call it last
 * in that transaction, because the next posting of the merchant waits from here on. The database refuses a movement that does not balance.
 * @param movements in the order in which their entries follow each other; none posts nothing
 * @returns the ids of the movements
 */
export async function post(
  context: LedgerWriting,
  { merchantId, organizationId }: LedgerOwner,
  movements: readonly Movement[],
  { transaction, now }: WriteTransaction,
): Promise<readonly string[]> {
  if (movements.length === 0) return []
  const entries: NewEntry[] = []
  const ids: string[] = []
  for (const { kind, legs, currency, orderId = null, settlementBatchId = null } of movements) {
    const movementId = newId(now)
    ids.push(movementId)
    for (const leg of legs) entries.push({ ...leg, id: newId(now), movementId, currency, kind, orderId, settlementBatchId })
  }
  await context.ledgerEntries.post({ merchantId, organizationId, postedAt: now }, entries, context[writing].actor, transaction)
  return ids
}
