import { requireId } from '../../../../platform/ids.ts'
import { type Hold, makeHeld } from '../../../store/claim.ts'
import { change } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { lookAfterSession } from '../../engines/checkout/look.ts'
import { openPage, recordSession } from '../../engines/checkout/open.ts'
import { readMinutes, readReturnAddress, releaseOf, requireOpen } from '../../engines/checkout/rules.ts'
import { announceOrder } from '../../engines/payment/announce.ts'
import { hasMoreOpen } from '../../engines/payment/checkouts.ts'
import type { CloseCheckoutSessionInput, CreateCheckoutSessionInput, Resolvers } from '../../resolvers.generated.ts'
import type { CheckoutSessionRow } from '../../stores/checkout/session.ts'
import type { OrderRow } from '../../stores/order.ts'

/** Opens a session and its page at the processor, once for each key. */
async function createSession(context: Context, input: CreateCheckoutSessionInput): Promise<CheckoutSessionRow> {
  const tenantId = activeOrganization(context.viewer, 'Checkout sessions')
  const orderId = requireId(input.orderId, 'orderId')
  const addresses = { successUrl: readReturnAddress(input.successUrl, 'successUrl'), cancelUrl: readReturnAddress(input.cancelUrl, 'cancelUrl') }
  const minutes = readMinutes(input.expiresInMinutes, (await context.settings.of(tenantId)).checkoutMinutes)
  await context.orders.require(orderId, 'orderId')
  const job = context.jobFor(actorOf(context.viewer))
  const find = (id: string) => job.checkoutSessions.byId.load(id)
  const { row } = await makeHeld<CheckoutSessionRow>(context, {
    ...{ what: 'createCheckoutSession', tenantId, once: input, find },
    async make({ id, isResumed }: Hold) {
      // A process that died had recorded it: the same call to the processor opens the same page.
      const isRecorded = isResumed && (await find(id)) !== null
      if (!isRecorded) await recordSession(context, { id, orderId, minutes, ...addresses })
      await job.underway.run(() => openPage(job, id))
      return (await find(id))!
    },
  })
  return row
}

/** Closes a session here, once for each key, then at the processor. */
async function closeSession(context: Context, input: CloseCheckoutSessionInput): Promise<CheckoutSessionRow> {
  const { checkoutSessions, orders, viewer, events } = context
  const { id, orderId } = await checkoutSessions.require(input.id)
  let order: OrderRow | null = null
  const closed = await change(context, {
    ...{ of: checkoutSessions, id, once: { what: 'closeCheckoutSession', tenantId: activeOrganization(viewer, 'Checkout sessions'), input } },
    async before({ transaction }) {
      order = await orders.lock(orderId, transaction)
    },
    async decide(session, unit) {
      requireOpen(session, 'checkout session')
      const changes = (await hasMoreOpen(context, orderId, { session: id }, unit)) ? {} : releaseOf(order!)
      order = await orders.update(order!, { ...changes, version: order!.version + 1, updatedAt: unit.now }, unit.transaction)
      return { status: 'CLOSED' as const, nextLookAt: unit.now }
    },
    audit: ({ after }) => ({ tenantId: after.merchantId, action: 'checkout_session.closed', subjectId: id, details: { orderId } }),
    announce: () => announceOrder(events, order!),
  })
  const job = context.jobFor(actorOf(viewer))
  // Whoever is due next closes the page where this one does not get that far.
  void job.underway.run(() => lookAfterSession(job, id))
  return closed
}

export const checkoutSessionResolvers: Resolvers = {
  Query: {
    checkoutSession: (_, { id }, { checkoutSessions }) => checkoutSessions.require(id),
  },
  Mutation: {
    createCheckoutSession: (_, { input }, context) => createSession(context, input),
    closeCheckoutSession: (_, { input }, context) => closeSession(context, input),
  },
  Order: {
    checkoutSession: ({ checkoutSessionId }, _, { checkoutSessions }) => checkoutSessions.find(checkoutSessionId),
  },
  CheckoutSession: {
    __resolveReference: ({ id }, { checkoutSessions }) => checkoutSessions.byId.load(id),
    order: ({ orderId }, _, { orders }) => orders.byId.load(orderId),
    url: ({ status, url }) => (status === 'OPEN' ? url : null),
  },
}
