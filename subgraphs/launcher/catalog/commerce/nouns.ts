import type { Noun } from '../../../wiring/define.ts'
import type { At } from '../../context.ts'
import { reconcileOld } from '../../engines/commerce/reconcile.ts'
import { giveDueSeats } from '../../engines/commerce/seats.ts'
import { billingCheckoutResolvers } from '../billing-checkout/resolvers.ts'
import { billingPlanResolvers } from '../billing-plan/resolvers.ts'
import { billingSubscriptionResolvers } from '../billing-subscription/resolvers.ts'
import { seatResolvers } from '../seat/resolvers.ts'
import { billingHandlers } from './handlers.ts'

/** Days for which events of the processor, checkouts and ended subscriptions are kept. */
const [eventDays, checkoutDays, endedDays] = [90, 90, 3650]

/** How often organizations are looked for that were not compared with the processor for a day, in ms. */
const reconciledMs = 600_000

/** What is paid for: bundles, verifications of free workspaces, and seats. */
export const commerceNouns: Readonly<Record<string, Noun<At>>> = {
  'billing-plan': { resolvers: billingPlanResolvers, handlers: billingHandlers },
  'billing-subscription': {
    resolvers: billingSubscriptionResolvers,
    sweeps: ({ job, services: { billingAlarm, billingEvents }, settings: { billing } }) => [
      billingAlarm.sweep({ name: 'events of subscriptions' }, () => billingEvents.start(() => job('processor'), billing.isLive)),
    ],
    stop: ({ services: { billingEvents } }) => billingEvents.ended(),
    retention: () => [
      { table: 'launcher.processor_events', days: eventDays, old: 'o.created_at < $1', order: 'o.created_at' },
      { table: 'launcher.billing_subscriptions', days: endedDays, old: 'o.ended_at < $1', order: 'o.ended_at' },
      { table: 'launcher.workspace_verifications', days: endedDays, old: 'o.ended_at < $1', order: 'o.ended_at' },
    ],
  },
  'billing-checkout': {
    resolvers: billingCheckoutResolvers,
    retention: () => [{ table: 'launcher.billing_checkouts', days: checkoutDays, old: 'o.created_at < $1', order: 'o.created_at' }],
  },
  seat: {
    resolvers: seatResolvers,
    sweeps: ({ job, services: { seatAlarm } }) => [
      seatAlarm.sweep({ name: 'seats', asksOthers: true }, () => giveDueSeats(() => job('seats'))),
      { name: 'reconciliation of subscriptions', everyMs: reconciledMs, asksOthers: true, run: () => reconcileOld(() => job('reconciliation')) },
    ],
  },
}
