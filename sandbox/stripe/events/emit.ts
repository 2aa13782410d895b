import type { Control } from '../../network.ts'
import { openDispute } from '../disputes/disputes.ts'
import { addInvoice } from '../invoices.ts'
import type { Kind, Objects, StripeObject } from '../objects.ts'
import { StripeProblem } from '../problems.ts'
import { failRefund } from '../refunds.ts'
import type { EndpointAnswer, Receiver } from './deliveries.ts'
import type { Events } from './events.ts'
import { closedDisputes, type EventType, eventTypes } from './types.ts'

/** What an event that can be asked for does to the object that the request names. @returns a sentence when the object cannot do that */
interface Emitted {
  readonly of: Kind
  /** The statuses of which the request names one; absent: none is named. */
  readonly statuses?: readonly string[]
  apply(objects: Objects, object: StripeObject, status: string): string | undefined
}

const subscriptionStatuses = ['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete', 'canceled'] as const
const openDisputes = ['needs_response', 'under_review', 'warning_needs_response', 'warning_under_review']

const emitted: Readonly<Partial<Record<EventType, Emitted>>> = {
  'charge.dispute.created': {
    of: 'payment_intent',
    apply(objects, intent) {
      const charge = intent.latest_charge && objects.find('charge', intent.latest_charge, null)
      if (!charge?.captured) return `${intent.id} has taken nothing that could be disputed.`
      if (charge.disputed) return `${intent.id} has a dispute.`
      openDispute(objects, charge)
    },
  },
  'charge.dispute.updated': {
    ...{ of: 'dispute', statuses: openDisputes },
    apply: (objects, dispute, status) => changeDispute(objects, dispute, status),
  },
  'charge.dispute.closed': {
    ...{ of: 'dispute', statuses: closedDisputes },
    apply: (objects, dispute, status) => changeDispute(objects, dispute, status),
  },
  'refund.failed': {
    of: 'refund',
    apply(objects, refund) {
      if (refund.status === 'failed') return `${refund.id} has failed.`
      failRefund(objects, refund)
    },
  },
  'customer.subscription.updated': {
    ...{ of: 'subscription', statuses: subscriptionStatuses.filter(each => !['paused', 'canceled'].includes(each)) },
    apply(objects, subscription, status) {
      if (subscription.status === 'canceled') return `${subscription.id} is canceled.`
      if (subscription.status === 'paused') return `${subscription.id} is paused.`
      objects.change(subscription, { status })
    },
  },
  'customer.subscription.deleted': {
    of: 'subscription',
    apply(objects, subscription) {
      if (subscription.status === 'canceled') return `${subscription.id} is canceled.`
      objects.change(subscription, { status: 'canceled', canceled_at: objects.now(), ended_at: objects.now() })
    },
  },
  'invoice.payment_failed': {
    ...{ of: 'subscription', statuses: ['active', 'past_due', 'unpaid'] },
    apply(objects, subscription, status) {
      if (subscription.status === 'canceled') return `${subscription.id} is canceled.`
      const { id } = addInvoice(objects, subscription, { id: objects.id('in'), isPaid: false, reason: 'subscription_cycle' })
      objects.change(subscription, { status, latest_invoice: id })
    },
  },
}

function changeDispute(objects: Objects, dispute: StripeObject, status: string): string | undefined {
  if (!openDisputes.includes(dispute.status)) return `${dispute.id} is ${dispute.status}.`
  objects.change(dispute, { status })
}

interface Wish {
  readonly event: string
  readonly id: string
  readonly status: string | undefined
  readonly isForged: boolean
  readonly times: number
  readonly age: number
}

function readWish(input: Readonly<Record<string, unknown>>): Wish | string {
  const { event, id, status, signature = 'good', times = 1, ageSeconds = 0, ...others } = input
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) return `${unknown} is not known here: an event has event, id, status, signature, times and ageSeconds.`
  if (typeof id !== 'string') return 'id has to name what the event is about, or an event (evt_…) that is sent again.'
  if (id.startsWith('evt_') ? event !== undefined : !eventTypes.some(each => each === event && emitted[each]))
    return `event is ${JSON.stringify(event)}: expected one of ${Object.keys(emitted).join(', ')}; none with an event that is sent again.`
  if (status !== undefined && typeof status !== 'string') return 'status has to be a text.'
  if (signature !== 'good' && signature !== 'bad') return `signature is ${JSON.stringify(signature)}: expected "good" or "bad".`
  if (!isWhole(times, 1, 100)) return `times is ${JSON.stringify(times)}: expected a whole number from 1 to 100.`
  if (!isWhole(ageSeconds, -86_400, 86_400)) return `ageSeconds is ${JSON.stringify(ageSeconds)}: expected whole seconds from -86400 to 86400.`
  return { event: String(event ?? ''), id, status, isForged: signature === 'bad', times, age: ageSeconds }
}

const isWhole = (value: unknown, from: number, to: number): value is number => Number.isInteger(value) && Number(value) >= from && Number(value) <= to

/** Makes the event that is wished for. A forged one changes nothing: nobody at Stripe has made it. @returns it, or a sentence */
function eventOf(objects: Objects, events: Events, { event, id, status, isForged }: Wish): StripeObject | string {
  if (id.startsWith('evt_')) return objects.find('event', id, null)
  const { of, statuses, apply } = emitted[event as EventType]!
  if (statuses ? !statuses.includes(status ?? '') : status !== undefined)
    return statuses ? `status is ${JSON.stringify(status)}: expected one of ${statuses.join(', ')}.` : `status does not go with ${event}.`
  const object = objects.find(of, id, null)
  if (isForged) {
    const fields = { ...object, ...(status !== undefined && { status }) }
    return { ...{ id: objects.id('evt'), object: 'event', created: objects.now(), livemode: false, type: event }, data: { object: fields } }
  }
  let mistake: string | undefined
  const made = events.captured(() => {
    mistake = apply(objects, object, status ?? '')
  })
  if (mistake !== undefined) return mistake
  for (const other of made) if (other.type !== event) events.queue(other)
  return made.find(({ type }) => type === event) ?? `${id} is that already.`
}

/**
 * `{ event, id, status, signature, times, ageSeconds }` has Stripe make an event and send it at once, `times` in a row, to every endpoint; with the
 * id of an event that one is sent again as it was. Answers the event, and what the endpoint that it is meant for answered last.
 */
export const emitting =
  (objects: Objects, events: Events, commit: () => void): Control =>
  async input => {
    const wish = readWish(input)
    if (typeof wish === 'string') return wish
    try {
      const event = eventOf(objects, events, wish)
      if (typeof event === 'string') return event
      commit()
      const meant: Receiver = /^(?:customer\.subscription|invoice)\./.test(event.type) ? 'stripe-launcher' : 'stripe-payments'
      const other: Receiver = meant === 'stripe-launcher' ? 'stripe-payments' : 'stripe-launcher'
      let last: EndpointAnswer = { status: null, body: null }
      for (let count = 0; count < wish.times; count += 1) {
        const body = JSON.stringify(event, null, 2)
        const answers = await Promise.all([meant, other].map(receiver => events.deliveries.send(receiver, body, wish)))
        last = answers.find(({ status }) => status !== null) ?? last
      }
      return { ...last, event }
    } catch (error) {
      if (error instanceof StripeProblem) return error.message
      throw error
    }
  }
