import type { Noun } from '../../wiring/define.ts'
import { linkExpiry } from '../engines/checkout/link.ts'
import { sessionLooks } from '../engines/checkout/look.ts'
import { disputeAsks } from '../engines/dispute/ask.ts'
import { resyncOrders } from '../engines/payment/announce.ts'
import { janitor, lapses } from '../engines/payment/janitor.ts'
import { checkoutSessionResolvers } from '../order/checkout-session/resolvers.ts'
import { paymentLinkResolvers } from '../order/payment-link/resolvers.ts'
import { orderResolvers } from '../order/resolvers.ts'
import { refundResolvers } from '../refund/resolvers.ts'
import { disputeResolvers } from '../transaction/dispute/resolvers.ts'
import { transactionResolvers } from '../transaction/resolvers.ts'
import type { At } from './services.ts'

/** For how long calls that are under way are waited for at the end, in ms: others find what is left. */
const lastMs = 5_000

/** Orders, what is paid for them, and what goes back. */
export const payingNouns: Readonly<Record<string, Noun<At>>> = {
  order: {
    resolvers: orderResolvers,
    resync: ({ foundation: { events }, job }) => resyncOrders(events, (organizationId, since) => job('events').orders.changedSince(organizationId, since)),
  },
  transaction: {
    resolvers: transactionResolvers,
    sweeps: ({ job }) => [janitor(() => job('janitor')), lapses(() => job('janitor'))],
    stop: ({ services: { underway } }) => underway.ended(lastMs),
  },
  'transaction/dispute': { resolvers: disputeResolvers, sweeps: ({ job }) => [disputeAsks(() => job('evidence'))] },
  refund: { resolvers: refundResolvers },
  'order/checkout-session': { resolvers: checkoutSessionResolvers, sweeps: ({ job }) => [sessionLooks(() => job('checkout'))] },
  'order/payment-link': { resolvers: paymentLinkResolvers, sweeps: ({ job }) => [linkExpiry(() => job('checkout'))] },
}
