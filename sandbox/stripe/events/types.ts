import type { Kind, StripeObject } from '../objects.ts'

/** The kinds of events that the endpoints of the account have enabled (https://docs.stripe.com/api/events/types). */
export const eventTypes = [
  'checkout.session.completed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'payment_intent.amount_capturable_updated',
  'charge.refunded',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'transfer.created',
  'transfer.reversed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'invoice.paid',
  'invoice.payment_failed',
] as const

export type EventType = (typeof eventTypes)[number]

/** Statuses with which a dispute is over. */
export const closedDisputes = ['won', 'lost', 'warning_closed'] as const

type Rule = (before: StripeObject | null, after: StripeObject) => readonly (EventType | false)[]

const rules: Readonly<Partial<Record<Kind, Rule>>> = {
  'checkout.session': (before, { status }) => [
    status === 'complete' && before?.status !== status && 'checkout.session.completed',
    status === 'expired' && before?.status !== status && 'checkout.session.expired',
  ],
  payment_intent: (before, { status, last_payment_error }) => [
    status === 'succeeded' && before?.status !== status && 'payment_intent.succeeded',
    status === 'requires_capture' && before?.status !== status && 'payment_intent.amount_capturable_updated',
    status === 'canceled' && before?.status !== status && 'payment_intent.canceled',
    last_payment_error !== null && before?.last_payment_error !== last_payment_error && 'payment_intent.payment_failed',
  ],
  charge: (before, after) => [before !== null && after.amount_refunded > before.amount_refunded && 'charge.refunded'],
  refund: (before, { status }) => [
    before === null && 'refund.created',
    before !== null && before.status !== status && (status === 'failed' ? 'refund.failed' : 'refund.updated'),
  ],
  dispute: (before, after) => [
    before === null
      ? 'charge.dispute.created'
      : before.status !== after.status && closedDisputes.includes(after.status)
        ? 'charge.dispute.closed'
        : 'charge.dispute.updated',
  ],
  // A new transfer is updated once, when its balance transaction is known.
  transfer: (before, after) => [
    before?.balance_transaction === null && after.balance_transaction !== null && 'transfer.created',
    before !== null && after.amount_reversed > before.amount_reversed && 'transfer.reversed',
  ],
  subscription: (before, after) => [before === null ? 'customer.subscription.created' : subscriptionChange(before, after)],
  invoice: (before, { status, attempt_count }) => [
    status === 'paid' && before?.status !== status && 'invoice.paid',
    status === 'open' && attempt_count > (before?.attempt_count ?? 0) && 'invoice.payment_failed',
  ],
}

function subscriptionChange(before: StripeObject, after: StripeObject): EventType {
  if (after.status === 'canceled') return 'customer.subscription.deleted'
  if (after.status === 'paused' && before.status !== 'paused') return 'customer.subscription.paused'
  return before.status === 'paused' && after.status !== 'paused' ? 'customer.subscription.resumed' : 'customer.subscription.updated'
}

/** Returns the events that a change of an object makes. @param before null: the object is new */
export const eventsOf = (before: StripeObject | null, after: StripeObject): readonly EventType[] =>
  (rules[after.object]?.(before, after) ?? []).filter(type => type !== false)
