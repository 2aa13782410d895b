import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { apiVersion } from '../../sandbox/stripe/stripe.ts'
import { type Stage, send, stage } from './stage.ts'

/** The official client, as its documentation has it for another host; the twin stands below a path. */
const clientOf = (
  { sandbox }: Stage,
  { key = 'sk_test_of_a_test', maxNetworkRetries = 0, version }: { key?: string; maxNetworkRetries?: number; version?: string } = {},
) =>
  new Stripe(undefined as unknown as string, {
    ...{ host: 'localhost', port: sandbox.port, protocol: 'http', maxNetworkRetries, telemetry: false, timeout: 5000 },
    ...(version && { apiVersion: version as typeof apiVersion }),
    authenticator: async request => {
      request.headers.Authorization = `Bearer ${key}`
      request.path = `/stripe${request.path}`
    },
  })

const tell = ({ sandbox }: Stage, path: string, body: object) =>
  send(`${sandbox.origin}/_control/${path}`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'stripe', ...body }) },
  })
const received = async ({ sandbox }: Stage) => (await send(`${sandbox.origin}/_control/received?network=stripe`)).body
const caught = (work: Promise<unknown>): Promise<Stripe.errors.StripeError> =>
  work.then(
    () => expect.unreachable(),
    error => error,
  )
const confirmed = { confirm: true, automatic_payment_methods: { enabled: true, allow_redirects: 'never' } } as const
const charge = (stripe: Stripe, more: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
  stripe.paymentIntents.create({ amount: 2500, currency: 'eur', payment_method: 'pm_card_visa', ...confirmed, ...more })

describe('the official client of Stripe', () => {
  test('speaks to the version that is played', async () => {
    expect(apiVersion).toBe(Stripe.API_VERSION)
    await using world = await stage()
    const { lastResponse } = await clientOf(world).customers.create({})
    expect(lastResponse).toMatchObject({ statusCode: 200, apiVersion, requestId: expect.stringMatching(/^req_/) })
    expect(await caught(clientOf(world, { version: '2020-08-27' }).customers.create({}))).toMatchObject({
      statusCode: 400,
      message: expect.stringMatching('version'),
    })
    expect(await caught(clientOf(world, { key: 'sk_live_of_somebody' }).customers.create({}))).toBeInstanceOf(Stripe.errors.StripeAuthenticationError)
  })

  test('creates prices of an existing product, or a new one, and never of both or neither', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const price = { currency: 'eur', unit_amount: 1500, recurring: { interval: 'month' } } as const
    const first = await stripe.prices.create({ ...price, product_data: { name: 'Seats' }, metadata: { plan: 'team' } })
    expect(first).toMatchObject({
      object: 'price',
      currency: 'eur',
      unit_amount: 1500,
      type: 'recurring',
      metadata: { plan: 'team' },
      recurring: { interval: 'month', interval_count: 1 },
    })
    expect((await stripe.prices.create({ ...price, product: first.product as string })).product).toBe(first.product)
    expect((await stripe.products.retrieve(first.product as string)).name).toBe('Seats')
    expect(await caught(stripe.prices.create(price))).toMatchObject({ code: 'parameter_missing' })
    expect(await caught(stripe.prices.create({ ...price, product: first.product as string, product_data: { name: 'x' } }))).toMatchObject({
      param: 'product_data',
    })
    expect(await caught(stripe.prices.create({ ...price, product: 'prod_none' }))).toMatchObject({
      statusCode: 400,
      code: 'resource_missing',
      param: 'product',
    })
    expect(await caught(stripe.prices.create({ ...price, product_data: { name: 'x', colour: 'red' } as never }))).toMatchObject({
      code: 'parameter_unknown',
      param: 'product_data[colour]',
    })
  })

  test('changes a subscription’s quantity, and previews the cost', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const { body } = await tell(world, 'objects', { object: 'subscription', quantity: 3 })
    const before = await stripe.subscriptions.retrieve(body.id)
    expect(before).toMatchObject({
      customer: body.customerId,
      status: 'active',
      items: { data: [{ id: body.itemId, quantity: 3, price: { id: body.priceId } }] },
    })
    const items = [{ id: body.itemId as string, quantity: 5 }]
    const preview = await stripe.invoices.createPreview({ subscription: body.id, subscription_details: { items } })
    expect(preview).toMatchObject({ amount_due: 7500, subtotal: 7500, total: 7500, currency: 'eur', lines: { data: [{ amount: 7500, quantity: 5 }] } })
    expect((await stripe.subscriptions.retrieve(body.id)).items.data[0]!.quantity).toBe(3)
    const after = await stripe.subscriptions.update(body.id, { items, proration_behavior: 'none' })
    expect(after.items.data.map(({ id, quantity }) => [id, quantity])).toEqual([[body.itemId, 5]])
    expect(await caught(stripe.subscriptions.update(body.id, { items: [{ id: 'si_none', quantity: 1 }] }))).toMatchObject({
      code: 'resource_missing',
      param: 'items[0][id]',
    })
    expect((await tell(world, 'objects', { object: 'invoice' })).status).toBe(400)
  })

  test('stores cards for customers, and reports a declined card', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const [{ id: customer }, { id: other }] = [await stripe.customers.create({ email: 'a@example.test' }), await stripe.customers.create({ name: 'B' })]
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer })
    expect(method).toMatchObject({ customer, type: 'card', card: { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2044 } })
    expect(await charge(stripe, { customer, payment_method: method.id })).toMatchObject({ status: 'succeeded', amount_received: 2500, customer })
    expect(await caught(charge(stripe, { customer: other, payment_method: method.id }))).toMatchObject({ statusCode: 400, param: 'payment_method' })
    expect(await caught(stripe.paymentMethods.attach('pm_card_visa_chargeDeclined', { customer }))).toBeInstanceOf(Stripe.errors.StripeCardError)
    const declined = await caught(charge(stripe, { payment_method: 'pm_card_visa_chargeDeclinedInsufficientFunds' }))
    expect(declined).toMatchObject({ type: 'StripeCardError', statusCode: 402, code: 'card_declined', decline_code: 'insufficient_funds' })
    expect(declined.payment_intent).toMatchObject({ status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } })
    expect((await stripe.paymentMethods.update(method.id, { metadata: { main: 'true' } })).metadata).toEqual({ main: 'true' })
    expect((await stripe.paymentMethods.detach(method.id)).customer).toBeNull()
    expect(await caught(stripe.paymentMethods.detach(method.id))).toMatchObject({ code: 'payment_method_unexpected_state' })
  })

  test('authorizes money, captures a part, cancels, and refunds no more than was captured', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const held = await charge(stripe, { capture_method: 'manual', transfer_group: 'one' })
    expect(held).toMatchObject({ status: 'requires_capture', amount_capturable: 2500, amount_received: 0, transfer_group: 'one' })
    expect(await caught(stripe.paymentIntents.capture(held.id, { amount_to_capture: 2501 }))).toMatchObject({ code: 'amount_too_large' })
    expect(await stripe.paymentIntents.capture(held.id, { amount_to_capture: 2000 })).toMatchObject({
      status: 'succeeded',
      amount_received: 2000,
      amount_capturable: 0,
    })
    expect(await caught(stripe.paymentIntents.cancel(held.id))).toMatchObject({ code: 'payment_intent_unexpected_state' })
    const other = await charge(stripe, { capture_method: 'manual' })
    expect(await stripe.paymentIntents.cancel(other.id)).toMatchObject({ status: 'canceled', amount_capturable: 0 })
    expect(await stripe.refunds.create({ payment_intent: held.id, amount: 1500, reason: 'duplicate' })).toMatchObject({
      status: 'succeeded',
      amount: 1500,
      reason: 'duplicate',
    })
    expect(await caught(stripe.refunds.create({ payment_intent: held.id, amount: 501 }))).toMatchObject({ statusCode: 400, param: 'amount' })
    expect((await stripe.refunds.create({ payment_intent: held.id })).amount).toBe(500)
    expect(await caught(stripe.refunds.create({ payment_intent: held.id }))).toMatchObject({ code: 'charge_already_refunded' })
    const waits = await charge(stripe, { payment_method: undefined as never, confirm: false })
    expect(waits).toMatchObject({ status: 'requires_payment_method', client_secret: expect.stringMatching(`^${waits.id}_secret_`) })
    expect((await stripe.paymentIntents.confirm(waits.id, { payment_method: 'pm_card_visa' })).status).toBe('succeeded')
  })

  test('reports slow refunds, and one that fails later', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const [slow, bad] = [await charge(stripe, { payment_method: 'pm_card_pendingRefund' }), await charge(stripe, { payment_method: 'pm_card_refundFail' })]
    const refunds = [await stripe.refunds.create({ payment_intent: slow.id }), await stripe.refunds.create({ payment_intent: bad.id })]
    expect(refunds.map(({ status }) => status)).toEqual(['pending', 'succeeded'])
    world.clock.set(new Date(world.clock.now().getTime() + 3000))
    const later = await Promise.all(refunds.map(({ id }) => stripe.refunds.retrieve(id)))
    expect(later.map(({ status }) => status)).toEqual(['succeeded', 'failed'])
    expect(later[1]!.failure_reason).toBe('expired_or_canceled_card')
    expect((await stripe.refunds.create({ payment_intent: bad.id })).amount).toBe(2500)
  })

  test('reads the balance: payments without refunds and transfers', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    expect(await stripe.balance.retrieve()).toMatchObject({ object: 'balance', available: [{ amount: 0, currency: 'usd' }], pending: [] })
    const { id } = await charge(stripe)
    await stripe.refunds.create({ payment_intent: id, amount: 500 })
    await stripe.transfers.create({ amount: 300, currency: 'eur', destination: 'acct_demo' })
    expect((await stripe.balance.retrieve()).available.find(({ currency }) => currency === 'eur')).toMatchObject({ amount: 1700 })
  })

  test('moves money to the connected account and back, and finds reversals in the books of the balance', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const transfer = await stripe.transfers.create({ amount: 1000, currency: 'eur', destination: 'acct_demo', metadata: { batch: '7' } })
    expect(await caught(stripe.transfers.create({ amount: 1000, currency: 'eur', destination: 'acct_none' }))).toMatchObject({ param: 'destination' })
    const reversal = await stripe.transfers.createReversal(transfer.id, { amount: 400 })
    expect(reversal).toMatchObject({ object: 'transfer_reversal', amount: 400, transfer: transfer.id })
    expect(await caught(stripe.transfers.createReversal(transfer.id, { amount: 601 }))).toMatchObject({ code: 'amount_too_large' })
    expect(await stripe.transfers.retrieve(transfer.id)).toMatchObject({ amount_reversed: 400, reversed: false, reversals: { data: [{ id: reversal.id }] } })
    const books = await stripe.balanceTransactions.list({ type: 'transfer_refund', expand: ['data.source'] })
    expect(books.data).toMatchObject([{ type: 'transfer_refund', amount: 400, source: { id: reversal.id, transfer: transfer.id } }])
  })

  test('lists the newest first, page by page, within bounds of time', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const start = Math.floor(world.clock.now().getTime() / 1000)
    const made: string[] = []
    for (let count = 0; count < 7; count += 1) {
      made.unshift((await charge(stripe, count === 3 ? { payment_method: 'pm_card_createDispute' } : {})).id)
      if (count % 2) world.clock.set(new Date(world.clock.now().getTime() + 1000))
    }
    const seen: string[] = []
    for await (const { id } of stripe.paymentIntents.list({ limit: 2 })) seen.push(id)
    expect(seen).toEqual(made)
    expect((await stripe.paymentIntents.list({ created: { gte: start + 1, lt: start + 3 } })).data.map(({ id }) => id)).toEqual(made.slice(1, 5))
    expect((await stripe.paymentIntents.list({ ending_before: made[3]!, limit: 2 })).data.map(({ id }) => id)).toEqual(made.slice(1, 3))
    expect(await caught(stripe.paymentIntents.list({ limit: 101 }))).toMatchObject({ param: 'limit' })
    expect((await stripe.disputes.list()).data).toMatchObject([{ payment_intent: made[3], status: 'needs_response', amount: 2500 }])
  })

  test('opens a payment page whose object is created when it is paid; one is closed, one expires', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const lines = [{ price_data: { currency: 'eur', unit_amount: 900, product_data: { name: 'Lamp' } }, quantity: 2 }]
    const addresses = { success_url: 'https://shop.example.test/done?id={CHECKOUT_SESSION_ID}', cancel_url: 'https://shop.example.test' }
    const open = () =>
      stripe.checkout.sessions.create({
        mode: 'payment',
        line_items: lines,
        ...addresses,
        payment_intent_data: { metadata: { order: '1' }, capture_method: 'manual' },
      })
    const session = await open()
    expect(session).toMatchObject({
      status: 'open',
      amount_total: 1800,
      payment_intent: null,
      url: expect.stringMatching(`^${world.sandbox.origin}/stripe/checkout/cs_test_`),
    })
    expect(await send(session.url!)).toMatchObject({ status: 200 })
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('open')
    expect((await send(`${session.url}?sandbox_approve=1`)).status).toBe(303)
    const paid = await stripe.checkout.sessions.retrieve(session.id)
    expect(paid).toMatchObject({ status: 'complete', payment_status: 'paid', url: null })
    expect(await stripe.paymentIntents.retrieve(paid.payment_intent as string)).toMatchObject({
      status: 'requires_capture',
      amount: 1800,
      metadata: { order: '1' },
    })
    const [closed, forgotten] = [await open(), await open()]
    expect(await stripe.checkout.sessions.expire(closed.id)).toMatchObject({ status: 'expired', url: null })
    expect(await caught(stripe.checkout.sessions.expire(closed.id))).toMatchObject({ statusCode: 400 })
    world.clock.set(new Date(world.clock.now().getTime() + 25 * 3600 * 1000))
    expect((await stripe.checkout.sessions.retrieve(forgotten.id)).status).toBe('expired')
    const { id: customer } = await stripe.customers.create({})
    const portal = await stripe.billingPortal.sessions.create({ customer, return_url: 'https://shop.example.test' })
    expect(portal).toMatchObject({ object: 'billing_portal.session', customer, url: expect.stringMatching('/stripe/portal/') })
    expect(await caught(stripe.checkout.sessions.create({ mode: 'payment', line_items: lines, ...addresses, expires_at: 1 }))).toMatchObject({
      param: 'expires_at',
    })
  })

  test('gets an error for impossible amounts', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const amount = (value: number, currency: string) => charge(stripe, { amount: value, currency })
    expect((await amount(500, 'jpy')).amount).toBe(500)
    expect((await amount(1234, 'kwd')).amount).toBe(1234)
    const wrong = [
      [150, 'isk'],
      [1, 'ugx'],
      [100_000_000, 'eur'],
      [0, 'eur'],
      [1.5, 'eur'],
      [100, 'xxx'],
    ] as const
    for (const [value, currency] of wrong) expect(await caught(amount(value, currency))).toMatchObject({ statusCode: 400 })
  })
})

describe('an idempotency key of the official client', () => {
  const idempotencyKey = 'a-key'

  test('creates one object however often it is sent, and is rejected for other content', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const make = (email = 'a@example.test') => stripe.customers.create({ email }, { idempotencyKey })
    const made = await Promise.all(Array.from({ length: 10 }, () => make()))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(made.filter(({ lastResponse }) => lastResponse.headers['idempotent-replayed'] === 'true')).toHaveLength(9)
    expect(await received(world)).toEqual([
      {
        receivedAt: world.clock.now().toISOString(),
        id: made[0]!.id,
        object: 'customer',
        path: '/v1/customers',
        text: 'a@example.test',
        idempotencyKey,
        metadata: {},
        moved: 0,
      },
    ])
    expect(await caught(make('b@example.test'))).toBeInstanceOf(Stripe.errors.StripeIdempotencyError)
    expect(await caught(stripe.products.create({ name: 'x' }, { idempotencyKey }))).toMatchObject({
      type: 'StripeIdempotencyError',
      message: expect.stringMatching('endpoint'),
    })
    world.clock.set(new Date(world.clock.now().getTime() + 25 * 3600 * 1000))
    expect((await make('b@example.test')).id).not.toBe(made[0]!.id)
  })

  test('requires authentication of a card that always needs it', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const intent = await stripe.paymentIntents.create({
      amount: 1200,
      currency: 'eur',
      confirm: true,
      payment_method: 'pm_card_authenticationRequired',
      automatic_payment_methods: { enabled: true },
      return_url: 'https://example.com/back',
    })
    expect(intent.status).toBe('requires_action')
  })

  test('returns a declined card’s error again, and allows correcting an invalid request', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const pay = (payment_method: string, key: string) =>
      stripe.paymentIntents.create({ amount: 100, currency: 'eur', payment_method, ...confirmed }, { idempotencyKey: key })
    const refusals = [await caught(pay('pm_card_visa_chargeDeclined', 'one')), await caught(pay('pm_card_visa_chargeDeclined', 'one'))]
    expect(refusals.map(({ payment_intent }) => (payment_intent as Stripe.PaymentIntent).id)).toEqual(
      Array(2).fill((refusals[0]!.payment_intent as Stripe.PaymentIntent).id),
    )
    expect(await caught(pay('pm_none', 'two'))).toMatchObject({ code: 'resource_missing' })
    expect((await pay('pm_card_visa', 'two')).status).toBe('succeeded')
  })

  test('is in use while its first call has not been answered', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    await tell(world, 'faults', { fault: 'slow', delayMs: 400 })
    const make = (client = stripe) => client.customers.create({ email: 'a@example.test' }, { idempotencyKey })
    const first = make()
    await expect.poll(async () => (await received(world)).length).toBe(1)
    expect(await caught(make())).toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' })
    expect((await make(clientOf(world, { maxNetworkRetries: 5 }))).id).toBe((await first).id)
    expect(await received(world)).toHaveLength(1)
  })
})

describe('a fault of the sandbox’s Stripe', () => {
  const idempotencyKey = 'a-key'
  const make = (stripe: Stripe) => stripe.customers.create({ email: 'a@example.test' }, { idempotencyKey })

  test.each<readonly [string, object, object, number]>([
    ['status', { status: 500 }, { statusCode: 500, type: 'StripeAPIError' }, 0],
    ['status', { status: 429 }, { statusCode: 429, type: 'StripeRateLimitError' }, 0],
    ['status-after-accept', { status: 503 }, { statusCode: 503 }, 1],
    ['malformed', {}, { type: 'StripeAPIError', message: expect.stringMatching('Invalid JSON') }, 1],
    ['wrong-type', {}, { type: 'StripeAPIError' }, 1],
    ['reset-mid-stream', {}, { type: 'StripeConnectionError' }, 1],
  ])('%s %j is seen by the official client, and what was taken is told again under its key', async (fault, more, said, taken) => {
    await using world = await stage()
    const stripe = clientOf(world)
    await tell(world, 'faults', { fault, ...more })
    expect(await caught(make(stripe))).toMatchObject(said)
    expect(await received(world)).toHaveLength(taken)
    const { id } = await make(stripe)
    expect(await received(world)).toMatchObject([{ id }])
  })

  test('a cut connection is retried by the official client: the key prevents a duplicate', async () => {
    await using world = await stage()
    await tell(world, 'faults', { fault: 'accept-then-reset' })
    const { id, lastResponse } = await make(clientOf(world))
    expect(lastResponse.headers['idempotent-replayed']).toBe('true')
    expect(await received(world)).toMatchObject([{ id }])
  })

  test('an answer is missing, and reads use up no fault', async () => {
    await using world = await stage()
    const stripe = clientOf(world)
    const { id } = await stripe.customers.create({})
    await tell(world, 'faults', { fault: 'timeout-after-accept' })
    expect((await stripe.customers.retrieve(id)).id).toBe(id)
    expect(await caught(stripe.customers.create({ email: 'a@example.test' }, { idempotencyKey, timeout: 200 }))).toMatchObject({
      type: 'StripeConnectionError',
    })
    expect(await received(world)).toHaveLength(2)
  })
})
