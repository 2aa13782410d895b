import type { Form } from './form.ts'
import type { Objects } from './objects.ts'

/** What the account has, by currency: what was paid and not given back, and what was moved to others. Nothing waits to be had. */
export function balanceOf(objects: Objects, form: Form): object {
  form.end()
  const sums = new Map<string, number>([['usd', 0]])
  const book = (currency: string, amount: number) => sums.set(currency, (sums.get(currency) ?? 0) + amount)
  for (const { currency, amount_captured: taken, amount_refunded: given } of objects.all('charge')) book(currency, taken - given)
  for (const { currency, net } of objects.all('balance_transaction')) book(currency, net)
  const available = [...sums].map(([currency, amount]) => ({ amount, currency, source_types: { card: amount } }))
  return { object: 'balance', available, livemode: false, pending: [] }
}
