import { newId } from '../../../../../platform/ids.ts'
import { type WriteTransaction, writing } from '../../../../store/books.ts'
import type { OrderRow } from '../../../stores/order.ts'
import type { TransactionRow } from '../../../stores/transaction.ts'
import type { Effect } from '../../webhook/event.ts'
import { concludeHeld } from '../conclude.ts'
import type { PaymentWork } from '../work.ts'

/** Writes a transaction of something that was done at the processor itself: its outcome follows in the same database transaction. */
export function insertForeign(
  job: PaymentWork,
  order: OrderRow,
  made: Pick<TransactionRow, 'type' | 'amountMinor' | 'processorId'> & Partial<TransactionRow>,
  { now, transaction }: WriteTransaction,
): Promise<TransactionRow> {
  const { id: orderId, merchantId, organizationId, currency } = order
  const stamps = { createdAt: now, updatedAt: now, createdBy: job[writing].actor }
  return job.transactions.insert({ id: newId(now), merchantId, organizationId, orderId, currency, nextAttemptAt: now, ...made, ...stamps }, transaction)
}

/** Takes in a capture or a release that somebody made at the processor itself: what is held for the order is taken, or free. */
export async function takeIn(
  job: PaymentWork,
  orderId: string,
  made: { readonly type: 'CAPTURE' | 'VOID'; readonly amountMinor: bigint; readonly processorId: string },
): Promise<Effect> {
  let effect: Effect = 'NOT_YET'
  const hold = async (order: OrderRow, unit: WriteTransaction) => {
    // Somebody here may have begun to capture or void it meanwhile: what becomes of that comes first.
    if (order.paymentPhase !== 'AUTHORIZED' || order.processorPaymentId !== made.processorId) return null
    if (made.amountMinor < 1n || made.amountMinor > order.authorizedMinor) return null
    effect = 'DONE'
    return { before: await insertForeign(job, order, made, unit), refundBefore: null }
  }
  await concludeHeld(job, orderId, hold, { kind: 'SUCCEEDED', processorId: made.processorId })
  return effect
}
