import type { WriteTransaction } from '../../../store/books.ts'
import type { Changed } from '../../../store/write.ts'
import type { OrderRow } from '../../stores/order.ts'
import type { RefundRow } from '../../stores/refund.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { type Announcing, announceToWebhooks } from '../outgoing/announce.ts'
import { lineRecords, lower, moneyOf } from '../outgoing/record.ts'
import { dueOf, refundableOf } from './moves.ts'
import { failureOf, isRetryable } from './outcome.ts'

const failure = ({ failureCode: code, failureMessage: message }: Pick<OrderRow, 'failureCode' | 'failureMessage'>) =>
  code && { code: lower(code), message: message ?? failureOf(code).message, retryable: isRetryable(code) }

/** An order as REST shows it. */
export function orderRecord(order: OrderRow): object {
  const { currency, status, paymentPhase } = order
  const money = (amountMinor: bigint | string) => moneyOf(amountMinor, currency)
  return {
    ...{ id: order.id, number: order.number, status: lower(status), currency },
    lines: lineRecords(order.lines, currency),
    ...{ subtotal: money(order.subtotalMinor), tax: money(order.taxMinor), discount: money(order.discountMinor), total: money(order.totalMinor) },
    ...{ description: order.description, reference: order.reference, merchantId: order.merchantId, customerId: order.customerId, venueId: order.venueId },
    ...{ metadata: order.metadata, paymentPhase: lower(paymentPhase), captured: money(order.capturedMinor), refunded: money(order.refundedMinor) },
    ...{ refundable: money(refundableOf(order)), due: money(dueOf(order)) },
    failure: status === 'FAILED' || paymentPhase === 'AUTHORIZED' ? failure(order) : null,
    ...{ organizationId: order.organizationId, createdById: order.userId, createdAt: order.createdAt, updatedAt: order.updatedAt },
    version: order.version,
  }
}

/** A refund as REST shows it. */
export const refundRecord = (refund: RefundRow): object => ({
  ...{ id: refund.id, orderId: refund.orderId, amount: moneyOf(refund.amountMinor, refund.currency), reason: lower(refund.reason) },
  ...{
    note: refund.note,
    metadata: refund.metadata,
    status: lower(refund.status),
    requestedById: refund.requestedBy,
    decidedById: refund.decidedBy,
    decidedAt: refund.decidedAt,
  },
  ...{ origin: lower(refund.origin), failure: failure(refund), createdAt: refund.createdAt, version: refund.version },
})

/** What a conclusion changed beside its order. */
interface Concluded {
  readonly before: TransactionRow
  readonly after: TransactionRow | null
  readonly refundAfter: RefundRow | null
}

/** Announces to webhooks what has become of an order by the outcome of a transaction: each decline, each refund that succeeded or failed. */
export async function announceOutcome(
  work: Announcing,
  { after: order }: Changed<OrderRow>,
  { before, after, refundAfter }: Concluded,
  unit: WriteTransaction,
): Promise<void> {
  const { organizationId, id: entityId } = order
  const isPayment = before.type === 'PURCHASE' || before.type === 'AUTHORIZE'
  if (isPayment && after?.status === 'FAILED')
    await announceToWebhooks(work, { event: 'order.failed', organizationId, entityId, data: orderRecord(order) }, unit)
  if (!refundAfter || !after) return
  if (after.status === 'SUCCEEDED') {
    const data = { ...orderRecord(order), refundId: refundAfter.id }
    await announceToWebhooks(work, { event: 'order.refunded', organizationId, entityId, data }, unit)
  }
  if (after.status === 'FAILED') await announceRefundFailed(work, refundAfter, unit)
}

/** Announces to webhooks that the money of a refund did not go back. */
export const announceRefundFailed = (work: Announcing, refund: RefundRow, unit: WriteTransaction): Promise<void> =>
  announceToWebhooks(work, { event: 'refund.failed', organizationId: refund.organizationId, entityId: refund.id, data: refundRecord(refund) }, unit)

/** Announces to webhooks that an order was paid. */
export const announcePaid = (work: Announcing, order: OrderRow, unit: WriteTransaction): Promise<void> =>
  announceToWebhooks(work, { event: 'order.paid', organizationId: order.organizationId, entityId: order.id, data: orderRecord(order) }, unit)
