import type { Events } from '../../../../platform/events.ts'
import type { FactBody, NewFact } from '../../../store/fact-kinds.ts'
import { widgetTopic } from '../../../subgraph.ts'
import type { OrderRow } from '../../stores/order.ts'
import type { RefundRow } from '../../stores/refund.ts'
import type { TransactionRow } from '../../stores/transaction.ts'

/** The topic on which changes of an organization's orders are announced. An event carries ids; whoever listens reads the row. */
export const orderTopic = (organizationId: string): string => `payments.order.${organizationId}`

type Announced = Pick<OrderRow, 'id' | 'merchantId' | 'organizationId' | 'version'>

/** What is announced of an order, and what tells that it was. */
const eventOf = ({ id, merchantId, version }: Announced) => [{ orderId: id, merchantId }, String(version)] as const

/** Tells screens, after the commit, that an order was written or changed: those that follow it, and the widget that counts it. */
export function announceOrder(events: Events, order: Announced): void {
  events.announce(orderTopic(order.organizationId), ...eventOf(order))
  events.announce(widgetTopic('payments', order.organizationId), { app: 'payments' })
}

/** Has orders that somebody follows looked at again, for events may be lost between processes. */
export const resyncOrders = (events: Events, changedSince: (organizationId: string, since: Date) => Promise<readonly Announced[]>): void =>
  events.resync(orderTopic(''), async (organizationId, since) =>
    (await changedSince(organizationId, since)).map(order => {
      const [ids, mark] = eventOf(order)
      return { ids, mark }
    }),
  )

/** What a fact says of money that moved for an order. */
const movedOf = ({ id: orderId, organizationId, merchantId, currency }: OrderRow, amountMinor: bigint, at: Date): FactBody<'order.paid'> => ({
  ...{ orderId, organizationId, merchantId, currency },
  // An order is worth at most 999,999,999,999 minor units, which a number holds exactly.
  amountMinor: Number(amountMinor),
  at: at.toISOString(),
})

/** The fact that an order was paid. @param amountMinor what was captured */
export const paidFact = (order: OrderRow, amountMinor: bigint, at: Date): NewFact => ({ kind: 'order.paid', body: movedOf(order, amountMinor, at) })

/** The fact that a refund of an order succeeded. @param amountMinor of that refund */
export const refundedFact = (order: OrderRow, amountMinor: bigint, at: Date): NewFact => ({ kind: 'order.refunded', body: movedOf(order, amountMinor, at) })

/** Under which key managers are to see to a transaction whose outcome nobody knows. */
const unknownKey = (transactionId: string): string => `payment_unknown:${transactionId}`

/** What managers are told of a transaction that has become, or is no longer, unknown; nothing where that has not changed. */
export function unknownFacts(order: OrderRow, before: TransactionRow, after: TransactionRow | null, publicUrl: string, at: Date): readonly NewFact[] {
  const [was, is] = [before.status === 'UNKNOWN', after?.status === 'UNKNOWN']
  const key = unknownKey(before.id)
  if (was && !is) return [{ kind: 'attention.closed', body: { key } }]
  if (was || !is) return []
  const body: FactBody<'attention.opened'> = {
    ...{ key, kind: 'PAYMENT_UNKNOWN', organizationId: order.organizationId, subjectId: before.id, audience: 'managers', severity: 'HIGH' },
    title: `Order ${order.number}: nobody knows whether its ${before.type.toLowerCase()} went through`,
    url: `${publicUrl}/payments/api/transactions/${before.id}`,
    at: at.toISOString(),
  }
  return [{ kind: 'attention.opened', body }]
}

/** Under which key managers are to decide on a refund. */
const approvalKey = (refundId: string): string => `refund_approval:${refundId}`

/** What managers are told of a refund that has begun to wait for approval, or no longer does. */
export function approvalFacts(order: OrderRow, before: RefundRow | null, after: RefundRow | null, publicUrl: string): readonly NewFact[] {
  const [was, is] = [before?.status === 'AWAITING_APPROVAL', after?.status === 'AWAITING_APPROVAL']
  if (was && !is) return [{ kind: 'attention.closed', body: { key: approvalKey(before!.id) } }]
  if (was || !is) return []
  const { id, organizationId, createdAt } = after!
  const body: FactBody<'attention.opened'> = {
    ...{ key: approvalKey(id), kind: 'REFUND_APPROVAL', organizationId, subjectId: id, audience: 'managers' },
    title: `A refund of order ${order.number} waits for a second person`,
    url: `${publicUrl}/payments/api/refunds/${id}`,
    at: createdAt.toISOString(),
  }
  return [{ kind: 'attention.opened', body }]
}
