import { randomBytes } from 'node:crypto'
import { newId } from '../../../../platform/ids.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import type { NewRow } from '../../../../platform/sql/table.ts'
import { type WriteTransaction, writing } from '../../../store/books.ts'
import { write } from '../../../store/write.ts'
import type { PaymentLinkRow, paymentLinks } from '../../stores/checkout/link.ts'
import type { OrderRow } from '../../stores/order.ts'
import { announceOrder } from '../payment/announce.ts'
import { hasMoreOpen } from '../payment/checkouts.ts'
import { requireCheckout, toPending } from './open.ts'
import { releaseOf } from './rules.ts'
import type { CheckoutWork } from './work.ts'

/** Returns the address of a link. @param publicUrl origin of the platform */
export const addressOfLink = (publicUrl: string, { token }: Pick<PaymentLinkRow, 'token'>): string => `${publicUrl}/payments/pay/${token}`

/** A link that was opened, and its order as it stands then. */
export interface OpenedLink {
  readonly link: PaymentLinkRow
  readonly order: OrderRow
}

/** Returns a link to write for a locked order, which payers may be led to then. @throws CONFLICT as `requireCheckout` */
export async function newLink(
  work: CheckoutWork,
  order: OrderRow,
  { id, expiresAt }: { readonly id: string; readonly expiresAt: Date },
  unit: WriteTransaction,
): Promise<{ readonly link: NewRow<typeof paymentLinks>; readonly order: OrderRow }> {
  await requireCheckout(work, order, unit)
  const { merchantId, organizationId, id: orderId } = order
  const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: work[writing].actor }
  const link = { id, merchantId, organizationId, orderId, token: randomBytes(24).toString('base64url'), expiresAt, ...stamps }
  return { link, order: await toPending(work, order, {}, unit) }
}

/**
 * Opens a link to an order, which is locked, in the transaction of whatever needs it; the order is PENDING then.
 * @throws CONFLICT, reason ILLEGAL_MOVE, OUTCOME_UNKNOWN or MERCHANT_SUSPENDED
 */
export async function openLink(work: CheckoutWork, order: OrderRow, { expiresAt }: { readonly expiresAt: Date }, unit: WriteTransaction): Promise<OpenedLink> {
  const opened = await newLink(work, order, { id: newId(unit.now), expiresAt }, unit)
  return { link: await work.paymentLinks.insert(opened.link, unit.transaction), order: opened.order }
}

/** Ends a link of a locked order, which is released with the last that is open. @returns the order as it stands then */
export async function releaseLink(work: CheckoutWork, order: OrderRow, linkId: string, unit: WriteTransaction): Promise<OrderRow> {
  if (await hasMoreOpen(work, order.id, { link: linkId }, unit)) return order
  const changes = releaseOf(order)
  if (Object.keys(changes).length === 0) return order
  return work.orders.update(order, { ...changes, version: order.version + 1, updatedAt: unit.now }, unit.transaction)
}

/** How often links are looked for whose time is over, in ms, and how many one round ends. */
const [everyMs, atOnce] = [30_000, 100]

/** Ends links whose time is over. */
export const linkExpiry = (job: () => CheckoutWork): Sweep => ({
  name: 'payment links that expire',
  everyMs,
  async run() {
    const work = job()
    for (const id of await work.paymentLinks.expired(work.clock.now(), atOnce)) await expireLink(work, id)
  },
})

async function expireLink(work: CheckoutWork, id: string): Promise<void> {
  const known = await work.paymentLinks.byId.load(id)
  if (!known) return
  await write(work, {
    async run(unit): Promise<OrderRow | null> {
      const order = await work.orders.lock(known.orderId, unit.transaction)
      const link = await work.paymentLinks.lock(id, unit.transaction)
      if (!order || link?.status !== 'OPEN' || link.expiresAt > unit.now) return null
      await work.paymentLinks.update(link, { status: 'EXPIRED', version: link.version + 1, updatedAt: unit.now }, unit.transaction)
      return releaseLink(work, order, id, unit)
    },
    audit: order => ({ tenantId: order.merchantId, action: 'payment_link.expired', subjectId: id, details: { orderId: order.id } }),
    announce: order => announceOrder(work.events, order),
  })
}
