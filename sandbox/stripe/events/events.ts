import type { Deps } from '../../network.ts'
import { shownMethod } from '../cards.ts'
import { decided } from '../disputes/disputes.ts'
import { sessionNow, shownSession } from '../hosted/checkout.ts'
import type { Kind, Objects, StripeObject } from '../objects.ts'
import { refundNow, shownTransfer } from '../refunds.ts'
import { type Deliveries, openDeliveries, receivers } from './deliveries.ts'
import { eventsOf } from './types.ts'

/** What happens to objects by itself, and when. */
interface Due {
  readonly kind: Kind
  readonly id: string
  /** Seconds since 1970. */
  readonly at: number
}

/** The events of the account: each is kept, sent to the endpoints, and readable at `/v1/events`. */
export interface Events {
  /** Makes the events of a change. */
  changed(before: StripeObject | null, after: StripeObject): void
  /** Runs work under an idempotency key, which its events name. */
  under<Result>(key: string | null, work: () => Result): Result
  /** Runs work whose events are sent later, after so many ms. */
  later<Result>(ms: number, work: () => Result): Result
  /** Runs work that makes no events. */
  silently<Result>(work: () => Result): Result
  /** Runs work and returns the events of it, which are not sent. */
  captured(work: () => void): readonly StripeObject[]
  /** Has an event sent. */
  queue(event: StripeObject): void
  readonly deliveries: Deliveries
  /** Lets happen what is due, and sends. */
  tick(): void
}

/** After how many seconds a refund is settled, and a dispute decided. */
const settlesAfter = 2

/** An object as clients see it: without what the twin alone knows. */
function shown(objects: Objects, object: StripeObject): object {
  if (object.object === 'checkout.session') return shownSession(object)
  if (object.object === 'transfer') return shownTransfer(objects, object)
  return object.object === 'payment_method' ? shownMethod(object) : object
}

const later: Readonly<Partial<Record<Kind, (objects: Objects, object: StripeObject) => object>>> = {
  refund: refundNow,
  'checkout.session': sessionNow,
  dispute: decided,
}

function dueAt({ object, status, created, expires_at }: StripeObject, now: number): number | null {
  if (object === 'checkout.session') return status === 'open' ? expires_at : null
  if (object === 'refund') return ['pending', 'succeeded'].includes(status) ? created + settlesAfter : null
  return object === 'dispute' && status === 'under_review' ? now + settlesAfter : null
}

const bodyOf = (event: StripeObject): string => JSON.stringify(event, null, 2)

/** @param objects whose changes cause the events; called when the first one is made */
export function openEvents(name: string, apiVersion: string, deps: Deps, objects: () => Objects): Events {
  const deliveries = openDeliveries(name, deps)
  const due = deps.state.collection<Due>(`${name}.due`, 20_000)
  let mode: 'sent' | 'silent' | StripeObject[] = 'sent'
  let key: string | null = null
  let afterMs = 0

  const queue = (event: StripeObject): void => deliveries.add(bodyOf(event), afterMs)

  const make = (type: string, before: StripeObject | null, after: StripeObject): StripeObject => {
    const previous = before && Object.fromEntries(Object.keys(after).flatMap(field => (before[field] === after[field] ? [] : [[field, before[field]]])))
    return objects().add('event', {
      ...{ api_version: apiVersion, type, pending_webhooks: receivers.filter(each => deps.endpoints[each].url !== null).length },
      data: { object: shown(objects(), after), ...(previous && type.endsWith('.updated') && { previous_attributes: previous }) },
      request: { id: null, idempotency_key: key },
    })
  }

  const within = <Result>(wanted: typeof mode, work: () => Result): Result => {
    const former = mode
    mode = wanted
    try {
      return work()
    } finally {
      mode = former
    }
  }

  return {
    deliveries,
    queue,
    changed(before, after) {
      const at = dueAt(after, objects().now())
      if (at !== null && before?.status !== after.status) due.set(after.id, { kind: after.object, id: after.id, at })
      if (mode === 'silent') return
      for (const type of eventsOf(before, after)) {
        const event = make(type, before, after)
        if (mode === 'sent') queue(event)
        else mode.push(event)
      }
    },
    under(wanted, work) {
      key = wanted
      try {
        return work()
      } finally {
        key = null
      }
    },
    later(ms, work) {
      afterMs = ms
      try {
        return work()
      } finally {
        afterMs = 0
      }
    },
    silently: work => within('silent', work),
    captured(work) {
      const made: StripeObject[] = []
      within(made, work)
      return made
    },
    tick() {
      for (const { kind, id, at } of [...due.values()]) {
        if (at > objects().now()) continue
        due.delete(id)
        later[kind]!(objects(), objects().find(kind, id, null))
      }
      deps.state.commit()
      deliveries.sendDue()
    },
  }
}
