import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, type Writing, writing } from '../../../store/books.ts'
import type { OrderRow } from '../../stores/order.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { answerMs } from './processor.ts'
import type { PaymentWork } from './work.ts'

/** For how long a process that calls the processor keeps others from it, in ms: longer than any answer takes. */
export const leaseMs = answerMs + 6_000

/** Writes that the processor is about to be called; whoever dies before the outcome is known leaves it to be found after the lease. */
export const recordIntention = (
  context: Pick<PaymentWork, 'transactions'> & Writing,
  order: OrderRow,
  intention: Pick<TransactionRow, 'id' | 'type' | 'amountMinor'> & Partial<TransactionRow>,
  { now, transaction }: WriteTransaction,
): Promise<TransactionRow> => {
  const { id: orderId, merchantId, organizationId, currency } = order
  const stamps = { createdAt: now, updatedAt: now, createdBy: context[writing].actor }
  const place = { merchantId, organizationId, orderId, currency, attempts: 1, nextAttemptAt: new Date(now.getTime() + leaseMs) }
  return context.transactions.insert({ ...place, ...intention, ...stamps }, transaction)
}

/** What people read of a refund that a rule began. */
const note = 'The money came when the order could not take it any more.'

/**
 * Has late money go back whole, in the transaction that records it: what was taken by a refund of origin AUTOMATIC, what is only held by a
 * release. Whoever looks for transactions without an outcome calls the processor for it, within seconds.
 */
export async function returnLate(
  work: PaymentWork,
  order: OrderRow,
  { isLate, type, amountMinor, processorId }: TransactionRow,
  unit: WriteTransaction,
): Promise<void> {
  if (!isLate || (type !== 'PURCHASE' && type !== 'AUTHORIZE')) return
  const { now, transaction } = unit
  const intention = { id: newId(now), amountMinor, paymentId: processorId, isLate: type === 'AUTHORIZE', attempts: 0, nextAttemptAt: now }
  if (type === 'AUTHORIZE') {
    await recordIntention(work, order, { ...intention, type: 'VOID' }, unit)
    return
  }
  const { merchantId, organizationId, id: orderId, currency } = order
  const stamps = { createdAt: now, updatedAt: now, createdBy: work[writing].actor }
  const what = { amountMinor, currency, reason: 'OTHER', note, status: 'PENDING', origin: 'AUTOMATIC' } as const
  const refund = await work.refunds.insert({ id: newId(now), merchantId, organizationId, orderId, ...what, ...stamps }, transaction)
  await recordIntention(work, order, { ...intention, type: 'REFUND', refundId: refund.id }, unit)
}
