import type { Objects, StripeObject } from './objects.ts'

const month = 30 * 24 * 3600

/** An item that an invoice has a line for. */
export interface Invoiced {
  readonly price: StripeObject
  readonly quantity: number
}

const lineOf = (objects: Objects, { price, quantity }: Invoiced) => ({
  ...{ id: objects.id('il_tmp'), object: 'line_item', amount: price.unit_amount * quantity, subtotal: price.unit_amount * quantity },
  ...{ currency: price.currency, quantity, discountable: true, discounts: [], taxes: [], metadata: {} },
  description: `${quantity} × ${objects.find('product', price.product, null).name}`,
  period: { start: objects.now(), end: objects.now() + month },
  pricing: { type: 'price_details', price_details: { price: price.id, product: price.product } },
})

/** What an invoice of these items says: a line an item, no tax. */
export function invoiceFields(objects: Objects, id: string, items: readonly Invoiced[]) {
  const data = items.map(item => lineOf(objects, item))
  const total = data.reduce((sum, { amount }) => sum + amount, 0)
  return {
    ...{ currency: items[0]!.price.currency, subtotal: total, total, amount_due: total, amount_paid: 0, amount_remaining: total },
    ...{ total_taxes: [], discounts: [] },
    lines: { object: 'list', data, has_more: false, total_count: data.length, url: `/v1/invoices/${id}/lines` },
  }
}

/** Adds the invoice of a subscription's period, as it was paid or could not be. */
export function addInvoice(
  objects: Objects,
  { id: subscription, customer, metadata, items }: StripeObject,
  { id, isPaid, reason }: { readonly id: string; readonly isPaid: boolean; readonly reason: 'subscription_create' | 'subscription_cycle' },
): StripeObject {
  const fields = invoiceFields(objects, id, items.data)
  return objects.add('invoice', {
    ...{ id, customer, ...fields, metadata: {}, attempted: true, attempt_count: 1, auto_advance: true, billing_reason: reason },
    ...(isPaid ? { status: 'paid', amount_paid: fields.total, amount_remaining: 0 } : { status: 'open' }),
    ...{ collection_method: 'charge_automatically' },
    parent: { type: 'subscription_details', quote_details: null, subscription_details: { subscription, metadata } },
  })
}
