import { expect } from 'vitest'
import { seedCredential } from '../../subgraphs/providers/credential/seed.ts'
import type { Exchange, Exchanges } from './exchange.ts'

/** The payment processor: payments asks it as a service, and nobody else is let in. */
export const processor: Exchanges = world => {
  let count = 0
  let kept: Promise<unknown> | undefined
  const base = '/providers/api/payments'
  const nextKey = () => {
    count += 1
    return { 'idempotency-key': `order-${count}` }
  }
  const amount = { amountMinor: 2500, currency: 'EUR' }
  const held = { amount, paymentMethodId: 'pm_card_visa', confirm: true, captureMethod: 'manual' }
  const transfer = { amount, destinationAccountId: 'acct_demo' }
  const price = { unitAmount: { amountMinor: 1500, currency: 'EUR' }, recurring: { interval: 'month' }, productData: { name: 'Seats' } }
  const page = { mode: 'payment', lineItems: [{ name: 'Lamp', unitAmount: { amountMinor: 900, currency: 'EUR' }, quantity: 2 }] }
  const session = { ...page, successUrl: 'https://shop.example.com/thanks', cancelUrl: 'https://shop.example.com', metadata: { order: '000042' } }
  /** Makes one by its route. The platform keeps a credential from the first on. */
  const make = async (path: string, body: object): Promise<string> => {
    kept ??= seedCredential(world().graph, { organizationId: null, provider: 'stripe', name: 'Stripe', secret: 'sk_test_of_these_tests_alone' })
    await kept
    return (await world().ask('service', 'POST', `${base}/${path}`, body, nextKey())).json.id
  }
  const customer = () => make('customers', { email: 'ada@example.com' })
  /** A subscription as the processor has one, and its item. */
  let subscribed: { readonly id: string; readonly itemId: string; readonly customerId: string }
  const subscription = async () => {
    await customer()
    const body = JSON.stringify({ network: 'stripe', object: 'subscription', quantity: 3 })
    const answer = await fetch(`${world().graph.x.origin}/_control/objects`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    subscribed = (await answer.json()) as typeof subscribed
    return subscribed.id
  }
  const row = (answers: Exchange['answers'], more: Omit<Exchange, 'answers' | 'forbidden' | 'by'>): Exchange => ({
    forbidden: 'owner',
    by: 'service',
    answers,
    ...more,
  })
  const read = (path: string, made: () => Promise<string>): Record<string, Exchange> => ({
    [`GET ${base}/${path}/:id`]: row(id => ({ status: 200, json: { id } }), { path: id => `${base}/${path}/${id}`, make: made }),
  })
  const write = (path: string, body: () => object, made: () => Promise<string> = customer): Record<string, Exchange> => ({
    [`POST ${base}/${path}`]: row(() => ({ status: 201, json: { id: expect.stringMatching(/_/) } }), {
      ...{ path: id => `${base}/${path.replace(':id', id)}`, make: made, body, headers: nextKey },
    }),
  })
  const pay = async () => make('payment-intents', { ...held, captureMethod: 'automatic' })
  /** A dispute that a bank opened. */
  const disputed = async () => {
    const id = await make('payment-intents', { ...held, captureMethod: 'automatic', paymentMethodId: 'pm_card_createDispute' })
    const headers = { authorization: 'Bearer sk_test_of_these_tests_alone' }
    const answer = await fetch(`${world().graph.x.origin}/stripe/v1/disputes?payment_intent=${id}`, { headers, signal: AbortSignal.timeout(10_000) })
    const { data } = (await answer.json()) as { data: readonly [{ readonly id: string }] }
    return data[0].id
  }
  return {
    ...read('payment-intents', () => make('payment-intents', held)),
    ...read('subscriptions', subscription),
    ...read('checkout-sessions', () => make('checkout-sessions', session)),
    ...read('refunds', async () => make('refunds', { paymentIntentId: await pay() })),
    ...read('transfers', () => make('transfers', transfer)),
    [`GET ${base}/records`]: row(() => ({ status: 200, json: { records: expect.any(Array) } }), {
      path: () => `${base}/records?since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z&types=refund`,
      make: async () => make('refunds', { paymentIntentId: await pay() }),
    }),
    [`PUT ${base}/subscriptions/:id`]: row(id => ({ status: 200, json: { id, items: [{ quantity: 5 }] } }), {
      ...{ path: id => `${base}/subscriptions/${id}`, make: subscription, headers: nextKey },
      body: () => ({ itemId: subscribed.itemId, quantity: 5, prorationBehavior: 'none' }),
    }),
    [`POST ${base}/invoice-previews`]: row(() => ({ status: 200, json: { amountDue: { amountMinor: 10_500, currency: 'EUR' } } }), {
      ...{ path: () => `${base}/invoice-previews`, make: subscription },
      body: () => ({ subscriptionId: subscribed.id, items: [{ itemId: subscribed.itemId, quantity: 7 }] }),
    }),
    ...write('prices', () => price),
    ...write('customers', () => ({ email: 'ada@example.com', name: 'Ada' })),
    ...write('customers/:id/payment-methods', () => ({ paymentMethodId: 'pm_card_visa' })),
    ...write('checkout-sessions', () => session),
    ...write(
      'checkout-sessions/:id/expire',
      () => ({}),
      () => make('checkout-sessions', session),
    ),
    ...write('portal-sessions', () => ({ customerId: subscribed.customerId, returnUrl: 'https://shop.example.com/account' }), subscription),
    ...write('payment-intents', () => held),
    ...write(
      'payment-intents/:id/capture',
      () => ({ amount }),
      () => make('payment-intents', held),
    ),
    ...write(
      'payment-intents/:id/cancel',
      () => ({}),
      () => make('payment-intents', held),
    ),
    ...write(
      'refunds',
      () => ({ paymentIntentId: paid, amount, reason: 'requested_by_customer' }),
      async () => (paid = await pay()),
    ),
    ...write('transfers', () => transfer),
    ...write('files', () => ({ name: 'receipt.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF-1.4').toString('base64') })),
    [`PUT ${base}/disputes/:id`]: row(id => ({ status: 200, json: { id } }), {
      ...{ path: id => `${base}/disputes/${id}`, make: disputed, headers: nextKey },
      body: () => ({ text: 'It was delivered on time.' }),
    }),
    [`POST ${base}/disputes/:id/close`]: row(id => ({ status: 200, json: { id, status: 'LOST' } }), {
      ...{ path: id => `${base}/disputes/${id}/close`, make: disputed, headers: nextKey },
      body: () => ({}),
    }),
    ...write(
      'transfers/:id/reversals',
      () => ({ amount }),
      () => make('transfers', transfer),
    ),
  }
}

let paid = ''
