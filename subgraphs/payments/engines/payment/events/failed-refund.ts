import { step } from '../../../../store/write.ts'
import type { TransactionRow } from '../../../stores/transaction.ts'
import { bookings } from '../../ledger/movements.ts'
import { post } from '../../ledger/post.ts'
import { announceOrder } from '../announce.ts'
import { statusWithMoney } from '../moves.ts'
import type { Failure } from '../outcome.ts'
import { announceRefundFailed } from '../records.ts'
import type { PaymentWork } from '../work.ts'

/** Takes back a refund that had succeeded and whose money the payer's bank returned: it may go back again. It changes nothing the second time. */
export async function giveUpRefund(job: PaymentWork, { id, orderId, refundId, amountMinor, currency }: TransactionRow, failure: Failure): Promise<void> {
  const { orders, transactions, refunds, events } = job
  await step(job, {
    of: orders,
    hold: orderId!,
    async decide(order, unit) {
      const { now, transaction } = unit
      const before = await transactions.lock(id, transaction)
      if (before?.status !== 'SUCCEEDED') return null
      const refund = refundId ? await refunds.lock(refundId, transaction) : null
      const changes = { status: 'FAILED', failureCode: failure.code, failureMessage: failure.message, updatedAt: now } as const
      await transactions.update(before, { ...changes, version: before.version + 1 }, transaction)
      const failed = refund && (await refunds.update(refund, { ...changes, version: refund.version + 1 }, transaction))
      const late = refund?.origin === 'AUTOMATIC' ? amountMinor : 0n
      const amounts = {
        refundedMinor: order.refundedMinor - amountMinor,
        lateReturnedMinor: order.lateReturnedMinor - late,
        lateKeptMinor: order.lateKeptMinor + late,
      }
      const along = async () => {
        if (failed) await announceRefundFailed(job, failed, unit)
        await post(job, order, [{ ...bookings.refundFailed(amountMinor), currency, orderId: order.id }], unit)
      }
      return { changes: { ...amounts, status: statusWithMoney({ ...order, ...amounts }) }, isNews: true, along }
    },
    audit: ({ after: { merchantId } }) => ({
      tenantId: merchantId,
      action: 'refund.failed',
      subjectId: refundId ?? id,
      details: { transactionId: id, orderId, amountMinor: String(amountMinor), failure: failure.code },
    }),
    announce: ({ after }) => announceOrder(events, after),
  })
}
