import { readId, requireId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { change, create } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { addressOfLink, newLink, releaseLink } from '../../engines/checkout/link.ts'
import { lookAfterSession } from '../../engines/checkout/look.ts'
import { readLinkExpiry, requireOpen } from '../../engines/checkout/rules.ts'
import { announceOrder } from '../../engines/payment/announce.ts'
import type { ClosePaymentLinkInput, CreatePaymentLinkInput, Resolvers } from '../../resolvers.generated.ts'
import type { PaymentLinkRow } from '../../stores/checkout/link.ts'
import type { OrderRow } from '../../stores/order.ts'

const line = (action: string, { id, merchantId, orderId }: PaymentLinkRow) => ({ tenantId: merchantId, action, subjectId: id, details: { orderId } })

/** Makes a link, once for each key. */
async function createLink(context: Context, input: CreatePaymentLinkInput): Promise<PaymentLinkRow> {
  const { orders, paymentLinks, viewer, events, clock } = context
  const tenantId = activeOrganization(viewer, 'Payment links')
  const orderId = requireId(input.orderId, 'orderId')
  const expiresAt = readLinkExpiry(input.expiresAt, clock.now())
  await orders.require(orderId, 'orderId')
  let order: OrderRow | null = null
  const { row } = await create(context, {
    ...{ of: paymentLinks, once: input, tenantId },
    async run(unit, id) {
      const opened = await newLink(context, (await orders.lock(orderId, unit.transaction))!, { id, expiresAt }, unit)
      order = opened.order
      return opened.link
    },
    audit: link => line('payment_link.created', link),
    announce: () => announceOrder(events, order!),
  })
  return row
}

/** Closes a link, once for each key, and the session that it has opened. */
async function closeLink(context: Context, input: ClosePaymentLinkInput): Promise<PaymentLinkRow> {
  const { orders, paymentLinks, viewer, events } = context
  const { id, orderId } = await paymentLinks.require(input.id)
  let order: OrderRow | null = null
  let sessionId: string | null = null
  const closed = await change(context, {
    ...{ of: paymentLinks, id, once: { what: 'closePaymentLink', tenantId: activeOrganization(viewer, 'Payment links'), input } },
    async before({ transaction }) {
      order = await orders.lock(orderId, transaction)
    },
    async decide(link, unit) {
      requireOpen(link, 'payment link')
      sessionId = await closeSessionOf(context, link, unit)
      order = await releaseLink(context, order!, id, unit)
      return { status: 'CLOSED' as const }
    },
    audit: ({ after }) => line('payment_link.closed', after),
    announce: () => announceOrder(events, order!),
  })
  const job = context.jobFor(actorOf(viewer))
  // Whoever is due next closes the page where this one does not get that far.
  if (sessionId) void job.underway.run(() => lookAfterSession(job, sessionId!))
  return closed
}

/** Closes the open session that a link has opened. @returns its id; null where none is open */
async function closeSessionOf({ checkoutSessions }: Context, { id, orderId }: PaymentLinkRow, { now, transaction }: WriteTransaction): Promise<string | null> {
  const open = await checkoutSessions.openOf(orderId, transaction)
  if (open?.linkId !== id) return null
  await checkoutSessions.update(open, { status: 'CLOSED', nextLookAt: now, version: open.version + 1, updatedAt: now }, transaction)
  return open.id
}

export const paymentLinkResolvers: Resolvers = {
  Query: {
    paymentLinks: async (_, { orderId, ...page }, { viewer, paymentLinks }) => {
      activeOrganization(viewer, 'Payment links')
      return paymentLinks.filtered({ orderId: readId(orderId, 'orderId') }, page)
    },
  },
  Mutation: {
    createPaymentLink: (_, { input }, context) => createLink(context, input),
    closePaymentLink: (_, { input }, context) => closeLink(context, input),
  },
  PaymentLink: {
    __resolveReference: ({ id }, { paymentLinks }) => paymentLinks.byId.load(id),
    order: ({ orderId }, _, { orders }) => orders.byId.load(orderId),
    url: (link, _, { publicUrl }) => addressOfLink(publicUrl, link),
  },
}
