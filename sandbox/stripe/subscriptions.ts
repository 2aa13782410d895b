import type { Form } from './form.ts'
import { addInvoice, invoiceFields } from './invoices.ts'
import type { Objects, StripeObject } from './objects.ts'
import { invalid, missing } from './problems.ts'

interface Item {
  readonly id: string
  readonly price: StripeObject
  readonly quantity: number
}

const day = 24 * 3600
/** Length of a period, in seconds. */
const periods: Readonly<Record<string, number>> = { day, week: 7 * day, month: 30 * day, year: 365 * day }
const periodOf = ({ recurring }: StripeObject): number => (periods[recurring?.interval] ?? 30 * day) * (recurring?.interval_count ?? 1)
const prorations = ['always_invoice', 'create_prorations', 'none'] as const

const itemOf = (objects: Objects, subscription: string, { id, price, quantity }: Item) => ({
  ...{ id, object: 'subscription_item', created: objects.now(), subscription, quantity, price, metadata: {}, discounts: [], tax_rates: [] },
  ...{ current_period_start: objects.now(), current_period_end: objects.now() + periodOf(price), billing_thresholds: null },
})

const listed = (id: string, data: readonly object[]) => ({
  object: 'list',
  data,
  has_more: false,
  total_count: data.length,
  url: `/v1/subscription_items?subscription=${id}`,
})

/** A subscription as it is made by calls, by sessions that somebody has paid, and by the address for tests. */
export function makeSubscription(objects: Objects, customer: string, items: readonly Omit<Item, 'id'>[], metadata: object): StripeObject {
  const id = objects.id('sub')
  const data = items.map(item => itemOf(objects, id, { id: objects.id('si'), ...item }))
  const subscription = objects.add('subscription', {
    ...{ id, customer, currency: items[0]!.price.currency, items: listed(id, data), metadata, status: 'active' },
    ...{ billing_cycle_anchor: objects.now(), start_date: objects.now(), cancel_at: null, cancel_at_period_end: false, canceled_at: null, ended_at: null },
    ...{
      collection_method: 'charge_automatically',
      default_payment_method: null,
      latest_invoice: objects.id('in'),
      trial_end: null,
      trial_start: null,
      discounts: [],
    },
  })
  addInvoice(objects, subscription, { id: subscription.latest_invoice, isPaid: true, reason: 'subscription_create' })
  return subscription
}

export function createSubscription(objects: Objects, form: Form): StripeObject {
  const customer = objects.find('customer', form.need('customer'), 'customer')
  const items = form
    .parts('items')
    .map(item => ({ price: objects.find('price', item.need('price'), item.at('price')), quantity: item.whole('quantity', 1) ?? 1 }))
  const metadata = form.names('metadata') ?? {}
  form.pass('payment_behavior', 'default_payment_method')
  form.end()
  if (items.length === 0) throw invalid('Missing required param: items.', 'items', 'parameter_missing')
  return makeSubscription(objects, customer.id, items, metadata)
}

/** The items of a subscription as a call would have them: by id others than before, without id more. */
function itemsIn(objects: Objects, parts: readonly Form[], before: readonly Item[]): readonly Item[] {
  const items = new Map(before.map(item => [item.id, item]))
  for (const part of parts) {
    const id = part.text('id') ?? null
    const known = id === null ? undefined : items.get(id)
    if (id !== null && !known) throw missing('subscription_item', id, part.at('id'))
    const named = part.text('price')
    const price = named ? objects.find('price', named, part.at('price')) : known?.price
    if (!price) throw invalid(`Missing required param: ${part.at('price')}.`, part.at('price'), 'parameter_missing')
    const item = { id: id ?? objects.id('si'), price, quantity: part.whole('quantity', 0) ?? known?.quantity ?? 1 }
    if (part.flag('deleted')) items.delete(item.id)
    else items.set(item.id, item)
  }
  return [...items.values()]
}

export function changeSubscription(objects: Objects, id: string, form: Form): StripeObject {
  const subscription = objects.find('subscription', id, null)
  const items = itemsIn(objects, form.parts('items'), subscription.items.data)
  const metadata = form.names('metadata')
  const atEnd = form.flag('cancel_at_period_end') ?? subscription.cancel_at_period_end
  form.oneOf('proration_behavior', prorations)
  form.end()
  const data = items.map(item => ({ ...itemOf(objects, id, item), ...subscription.items.data.find((each: Item) => each.id === item.id), ...item }))
  return objects.change(subscription, {
    ...{ items: listed(id, data), cancel_at_period_end: atEnd },
    ...(metadata && { metadata: { ...subscription.metadata, ...metadata } }),
  })
}

/** What the next invoice would say: a line an item, no tax. */
export function previewInvoice(objects: Objects, form: Form): object {
  const named = form.text('subscription')
  const subscription = named ? objects.find('subscription', named, 'subscription') : null
  const customer = form.text('customer') ? objects.find('customer', form.need('customer'), 'customer').id : subscription?.customer
  if (!customer) throw invalid('You must pass `customer`, or a `subscription`.', 'customer', 'parameter_missing')
  if (subscription && subscription.customer !== customer) throw missing('subscription', named!, 'subscription')
  const details = form.part('subscription_details')
  const items = itemsIn(objects, details?.parts('items') ?? [], subscription?.items.data ?? [])
  details?.oneOf('proration_behavior', prorations)
  form.end()
  if (items.length === 0) throw invalid('Nothing to invoice for customer', undefined, 'invoice_upcoming_none')
  const id = objects.id('upcoming_in')
  return {
    ...{ id, object: 'invoice', customer, created: objects.now(), livemode: false, status: 'draft', billing_reason: 'upcoming' },
    ...invoiceFields(objects, 'upcoming', items),
  }
}
