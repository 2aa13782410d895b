import { DomainError } from '../../../../platform/errors.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { OrderRow } from '../../stores/order.ts'
import type { PaymentWork } from './work.ts'

type CheckoutRows = Pick<PaymentWork, 'checkoutSessions' | 'paymentLinks'>
type WaitingRows = CheckoutRows & Pick<PaymentWork, 'invoices'>

/**
 * Whether something still leads payers to an order, which is locked, besides the session or the link that is named: another one that is open,
 * or an invoice that is to be paid.
 */
export async function hasMoreOpen(
  { checkoutSessions, paymentLinks, invoices }: WaitingRows,
  orderId: string,
  besides: { readonly session?: string; readonly link?: string },
  { transaction }: WriteTransaction,
): Promise<boolean> {
  const open = await checkoutSessions.openOf(orderId, transaction)
  if (open && open.id !== besides.session) return true
  if (await paymentLinks.hasOpen(orderId, besides.link ?? null, transaction)) return true
  return (await invoices.lockOfOrder(orderId, transaction))?.status === 'FINALIZED'
}

/**
 * Closes whatever leads payers to an order, which is locked: nobody can pay for it any more. Its page at the processor is closed by
 * whoever looks at the session next, within seconds; money that comes all the same goes back. The order's own status is the caller's.
 */
export async function closeSessionsAndLinks(work: CheckoutRows, { id: orderId }: Pick<OrderRow, 'id'>, { now, transaction }: WriteTransaction): Promise<void> {
  const open = await work.checkoutSessions.openOf(orderId, transaction)
  if (open) await work.checkoutSessions.update(open, { status: 'CLOSED', nextLookAt: now, version: open.version + 1, updatedAt: now }, transaction)
  await work.paymentLinks.endAll(orderId, 'CLOSED', now, transaction)
}

/** Ends the links of an order that was paid: what follows its payment (`engines/payment/paid.ts`). */
export async function completeLinks(
  { paymentLinks }: Pick<PaymentWork, 'paymentLinks'>,
  { id }: OrderRow,
  { now, transaction }: WriteTransaction,
): Promise<void> {
  await paymentLinks.endAll(id, 'COMPLETED', now, transaction)
}

/** The refusal of what an open session stands in the way of. */
export const sessionOpen = (sessionId: string): DomainError =>
  new DomainError('CONFLICT', 'A checkout session of this order is open: wait until it is paid or over, or close it.', { reason: 'SESSION_OPEN', sessionId })
