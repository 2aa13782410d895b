import type { WriteTransaction } from '../../../store/books.ts'
import type { Changed } from '../../../store/write.ts'
import type { OrderRow } from '../../stores/order.ts'
import { settleInvoice } from '../invoicing/paid.ts'
import { completeLinks } from './checkouts.ts'
import { announcePaid } from './records.ts'
import type { PaymentWork } from './work.ts'

/** What one other record does when an order becomes PAID. What it throws undoes the whole conclusion, so it throws nothing that may be expected. */
export type PaidFollower = (work: PaymentWork, order: OrderRow, unit: WriteTransaction) => Promise<void>

/** What follows when an order becomes PAID, in this order. Each writes in the transaction that records the payment, under the lock of the order. */
const onOrderPaid: readonly PaidFollower[] = [settleInvoice, completeLinks, announcePaid]

/** Has everything follow that an order's first money leads to; nothing follows a change that leaves it unpaid, or finds it paid. */
export async function followPaid(work: PaymentWork, { before, after }: Changed<OrderRow>, unit: WriteTransaction): Promise<void> {
  if (before.paidAt !== null || after.paidAt === null) return
  for (const follow of onOrderPaid) await follow(work, after, unit)
}
