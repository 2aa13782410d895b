import { record, type WriteTransaction } from '../../../store/books.ts'
import { addressOfLink, openLink } from '../../engines/checkout/link.ts'
import { linkDays } from '../../engines/checkout/rules.ts'
import type { CheckoutWork } from '../../engines/checkout/work.ts'
import { closeSessionsAndLinks } from '../../engines/payment/checkouts.ts'
import type { OrderRow } from '../../stores/order.ts'

/** An order that can be paid on a page. */
export interface OpenPage {
  readonly order: OrderRow
  readonly paymentUrl: string
}

const dayMs = 86_400_000

/**
 * Has an order wait to be paid on a page, for as long as a link may be open, in the caller's transaction, which holds the order.
 * @throws CONFLICT, reason ILLEGAL_MOVE, OUTCOME_UNKNOWN or MERCHANT_SUSPENDED
 */
export async function openPage(work: CheckoutWork, order: OrderRow, unit: WriteTransaction): Promise<OpenPage> {
  const expiresAt = new Date(unit.now.getTime() + linkDays.max * dayMs)
  const opened = await openLink(work, order, { expiresAt }, unit)
  return { order: opened.order, paymentUrl: addressOfLink(work.publicUrl, opened.link) }
}

/** Cancels an order that no money was taken for, in the caller's transaction, which holds the order. Its pages close with it. */
export async function cancelWithPages(work: CheckoutWork, order: OrderRow, unit: WriteTransaction): Promise<OrderRow> {
  const { id, merchantId, version } = order
  await closeSessionsAndLinks(work, order, unit)
  const cancelled = await work.orders.update(order, { status: 'CANCELLED', version: version + 1, updatedAt: unit.now }, unit.transaction)
  await record(work, { tenantId: merchantId, action: 'order.cancelled', subjectId: id }, unit)
  return cancelled
}
