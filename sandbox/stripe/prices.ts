import { amountIn, checkAmount, currencyIn } from './amounts.ts'
import type { Form } from './form.ts'
import type { Objects, StripeObject } from './objects.ts'
import { invalid } from './problems.ts'

const intervals = ['day', 'week', 'month', 'year'] as const

export function createProduct(objects: Objects, form: Form): StripeObject {
  const fields = { name: form.need('name'), description: form.text('description') ?? null, metadata: form.names('metadata') ?? {} }
  form.end()
  return objects.add('product', { ...fields, active: true, default_price: null, images: [], type: 'service', updated: objects.now() })
}

const recurringIn = (form: Form | undefined) => {
  if (!form) return null
  const interval = form.oneOf('interval', intervals)
  if (!interval) throw invalid('Missing required param: recurring[interval].', 'recurring[interval]', 'parameter_missing')
  return { interval, interval_count: form.whole('interval_count', 1) ?? 1, meter: null, trial_period_days: null, usage_type: 'licensed' }
}

/** The product that a price is of: named, or made beside it. Exactly one of the two. */
function productIn(objects: Objects, form: Form): string {
  const [named, data] = [form.text('product'), form.part('product_data')]
  if (named && data) throw invalid('You may only specify one of these parameters: product, product_data.', 'product_data')
  if (named) return objects.find('product', named, 'product').id
  if (!data) throw invalid('You must specify either `product` or `product_data` when creating a price.', 'product', 'parameter_missing')
  const fields = { name: data.need('name'), description: data.text('description') ?? null, metadata: data.names('metadata') ?? {} }
  data.end()
  return objects.add('product', { ...fields, active: true, default_price: null, images: [], type: 'service', updated: objects.now() }).id
}

const priceOf = (product: string, currency: string, amount: number, recurring: ReturnType<typeof recurringIn>, metadata: object) => ({
  product,
  currency,
  recurring,
  metadata,
  active: true,
  billing_scheme: 'per_unit',
  custom_unit_amount: null,
  lookup_key: null,
  nickname: null,
  tax_behavior: 'unspecified',
  tiers_mode: null,
  transform_quantity: null,
  type: recurring ? 'recurring' : 'one_time',
  unit_amount: amount,
  unit_amount_decimal: String(amount),
})

export function createPrice(objects: Objects, form: Form): StripeObject {
  const currency = currencyIn(form)
  const amount = form.whole('unit_amount')
  if (amount === undefined) throw invalid('Missing required param: unit_amount.', 'unit_amount', 'parameter_missing')
  checkAmount(amount, currency, 'unit_amount')
  const recurring = recurringIn(form.part('recurring'))
  const metadata = form.names('metadata') ?? {}
  const product = productIn(objects, form)
  form.end()
  return objects.add('price', priceOf(product, currency, amount, recurring, metadata))
}

/** What a line asks for: a price that there is, or one that is written beside it. */
export function priceIn(objects: Objects, form: Form): StripeObject {
  const [named, data] = [form.text('price'), form.part('price_data')]
  if (named) return objects.find('price', named, form.at('price'))
  if (!data) throw invalid(`You must specify either ${form.at('price')} or ${form.at('price_data')}.`, form.at('price'), 'parameter_missing')
  const currency = currencyIn(data)
  const amount = amountIn(data, 'unit_amount', currency)
  return objects.add('price', { ...priceOf(productIn(objects, data), currency, amount, recurringIn(data.part('recurring')), {}), active: false })
}
