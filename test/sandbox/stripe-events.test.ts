import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { send, stage } from './stage.ts'

/** A service that takes Stripe's webhooks, each verified by the official client. */
async function receiver() {
  const taken: { readonly event: Stripe.Event; readonly signature: string; readonly body: string }[] = []
  const forged: string[] = []
  const answers: number[] = []
  let verify: (body: string, signature: string) => Stripe.Event = () => expect.unreachable()
  const server = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request as AsyncIterable<Buffer>)).join('')
    const signature = String(request.headers['stripe-signature'])
    const status = answers.shift() ?? 200
    try {
      const event = verify(body, signature)
      taken.push({ event, signature, body })
      response.writeHead(status).end('{"received":true}')
    } catch {
      forged.push(body)
      response.writeHead(400).end()
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    ...{ taken, forged, answers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` },
    types: () => taken.map(({ event }) => event.type),
    verifyBy: (by: typeof verify) => {
      verify = by
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function eventStage() {
  const payments = await receiver()
  const launcher = await receiver()
  const world = await stage('2026-03-01T12:00:00.000Z', { endpoints: { 'stripe-payments': { url: payments.url }, 'stripe-launcher': { url: launcher.url } } })
  const { sandbox, clock } = world
  const stripe = new Stripe(undefined as unknown as string, {
    ...{ host: 'localhost', port: sandbox.port, protocol: 'http', maxNetworkRetries: 0, telemetry: false },
    authenticator: async request => {
      request.headers.Authorization = 'Bearer sk_test_of_a_test'
      request.path = `/stripe${request.path}`
    },
  })
  for (const [taking, name] of [
    [payments, 'stripe-payments'],
    [launcher, 'stripe-launcher'],
  ] as const) {
    const { secret } = sandbox.endpoints[name]
    taking.verifyBy((body, signature) => stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, clock.now().getTime()))
  }
  return {
    ...{ world, payments, launcher, stripe, clock },
    control: (path: string, body: object) =>
      send(`${sandbox.origin}/_control/${path}`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ network: 'stripe', ...body }) },
      }),
    charge: (more: Partial<Stripe.PaymentIntentCreateParams> = {}, key?: string) =>
      stripe.paymentIntents.create(
        {
          ...{ amount: 2500, currency: 'eur', payment_method: 'pm_card_visa', confirm: true, metadata: { order_id: 'o1' } },
          ...{ automatic_payment_methods: { enabled: true, allow_redirects: 'never' }, ...more },
        },
        key === undefined ? {} : { idempotencyKey: key },
      ),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await payments[Symbol.asyncDispose]()
      await launcher[Symbol.asyncDispose]()
    },
  }
}

const session = {
  ...{ mode: 'payment', success_url: 'https://shop.example.test/done?id={CHECKOUT_SESSION_ID}', cancel_url: 'https://shop.example.test/back' },
  line_items: [{ price_data: { currency: 'eur', unit_amount: 900, product_data: { name: 'Lamp' } }, quantity: 2 }],
} satisfies Stripe.Checkout.SessionCreateParams

describe('events of the sandbox’s Stripe', () => {
  it('are sent to both endpoints, each signed with its own secret, and can be read again', async () => {
    await using stage = await eventStage()
    const intent = await stage.charge({}, 'key-1')
    await expect.poll(() => [stage.payments.types(), stage.launcher.types()]).toEqual([['payment_intent.succeeded'], ['payment_intent.succeeded']])
    const { event } = stage.payments.taken[0]!
    expect(event).toMatchObject({
      ...{ object: 'event', api_version: Stripe.API_VERSION, livemode: false, pending_webhooks: 2, request: { idempotency_key: 'key-1' } },
      data: { object: { id: intent.id, status: 'succeeded', metadata: { order_id: 'o1' } } },
    })
    expect(stage.launcher.taken[0]!.event.id).toBe(event.id)
    expect(await stage.stripe.events.retrieve(event.id)).toMatchObject({ id: event.id, type: event.type })
    expect(stage.payments.forged).toEqual([])
  })

  it('report captures, refunds, declined cards, cancellations and transfers', async () => {
    await using stage = await eventStage()
    const { stripe, payments } = stage
    const held = await stage.charge({ capture_method: 'manual' })
    await stripe.paymentIntents.capture(held.id, { amount_to_capture: 2000 })
    await stripe.refunds.create({ payment_intent: held.id, amount: 500 })
    await stripe.paymentIntents.cancel((await stage.charge({ capture_method: 'manual' })).id)
    await expect(stage.charge({ payment_method: 'pm_card_chargeDeclined' })).rejects.toThrow(Stripe.errors.StripeCardError)
    const transfer = await stripe.transfers.create({ amount: 300, currency: 'eur', destination: 'acct_demo_second' })
    await stripe.transfers.createReversal(transfer.id)
    const types = [
      ...['payment_intent.amount_capturable_updated', 'payment_intent.succeeded', 'charge.refunded', 'refund.created'],
      ...['payment_intent.amount_capturable_updated', 'payment_intent.canceled', 'payment_intent.payment_failed', 'transfer.created', 'transfer.reversed'],
    ]
    await expect.poll(() => payments.types().sort()).toEqual([...types].sort())
    const { body } = await send(`${stage.world.sandbox.origin}/_control/received?network=stripe`)
    expect(body.map(({ moved }: { moved: number }) => moved)).toEqual([0, 2000, -500, 0, 0, -300, 0])
    expect(body[0].metadata).toEqual({ order_id: 'o1' })
  })

  it('are sent when a refund fails and a session expires, without a call', async () => {
    await using stage = await eventStage()
    const open = await stage.stripe.checkout.sessions.create(session)
    const { id } = await stage.charge({ payment_method: 'pm_card_refundFail' })
    await stage.stripe.refunds.create({ payment_intent: id })
    await expect.poll(() => stage.payments.types()).toHaveLength(3)
    stage.clock.advance(24 * 3600 * 1000)
    await expect.poll(() => stage.payments.types().slice(3).sort()).toEqual(['checkout.session.expired', 'refund.failed'])
    expect(stage.payments.taken.find(({ event }) => event.type === 'checkout.session.expired')!.event.data.object).toMatchObject({ id: open.id, url: null })
  })

  it('are tried three times', async () => {
    await using stage = await eventStage()
    stage.payments.answers.push(500, 503, 500)
    await stage.charge()
    await expect.poll(() => stage.payments.types()).toHaveLength(1)
    for (const count of [2, 3]) {
      await expect
        .poll(() => {
          stage.clock.advance(1000)
          return stage.payments.types().length
        })
        .toBe(count)
    }
    expect(new Set(stage.payments.taken.map(({ event }) => event.id)).size).toBe(1)
    stage.clock.advance(60_000)
    await stage.charge()
    await expect.poll(() => stage.payments.types()).toHaveLength(4)
    expect(new Set(stage.payments.taken.map(({ event }) => event.id)).size).toBe(2)
  })

  it('are duplicated, forged, lost, or reordered by a fault', async () => {
    await using stage = await eventStage()
    const { payments } = stage
    await stage.control('faults', { fault: 'webhook-twice' })
    await stage.charge()
    await expect.poll(() => payments.types()).toHaveLength(2)
    expect(payments.taken[0]!.event.id).toBe(payments.taken[1]!.event.id)
    await stage.control('faults', { fault: 'webhook-bad-signature' })
    await stage.charge()
    await expect.poll(() => payments.forged.length).toBeGreaterThan(0)
    await stage.control('faults', { fault: 'webhook-lost' })
    const lost = await stage.charge()
    await stage.control('faults', { fault: 'webhook-late', delayMs: 60_000 })
    const late = await stage.charge()
    const soon = await stage.charge()
    const seen = () => payments.taken.slice(2).map(({ event }) => (event.data.object as { id: string }).id)
    await expect.poll(seen).toEqual([soon.id])
    stage.clock.advance(60_000)
    await expect.poll(seen).toEqual([soon.id, late.id])
    expect(seen()).not.toContain(lost.id)
  })

  it('come fifteen seconds later when the call that made them is never answered', async () => {
    await using stage = await eventStage()
    const { payments, clock, stripe } = stage
    await stage.control('faults', { fault: 'timeout-after-accept' })
    const paying = stripe.paymentIntents.create(
      { amount: 900, currency: 'eur', payment_method: 'pm_card_visa', confirm: true, automatic_payment_methods: { enabled: true, allow_redirects: 'never' } },
      { timeout: 200 },
    )
    await expect(paying).rejects.toMatchObject({ type: 'StripeConnectionError' })
    const known = await stage.charge()
    const ids = () => payments.taken.map(({ event }) => (event.data.object as { id: string }).id)
    await expect.poll(ids).toEqual([known.id])
    clock.advance(15_000)
    await expect.poll(ids).toHaveLength(2)
  })
})

describe('a dispute at the sandbox’s Stripe', () => {
  it('blocks refunds, is under review with its evidence, and is decided by it', async () => {
    await using stage = await eventStage()
    const { stripe, payments } = stage
    const { id: intent } = await stage.charge({ payment_method: 'pm_card_createDispute' })
    await expect.poll(() => payments.types()).toEqual(['payment_intent.succeeded', 'charge.dispute.created'])
    const [dispute] = (await stripe.disputes.list({ payment_intent: intent })).data as [Stripe.Dispute]
    expect(dispute).toMatchObject({ status: 'needs_response', amount: 2500, evidence_details: { submission_count: 0, past_due: false } })
    await expect(stripe.refunds.create({ payment_intent: intent })).rejects.toMatchObject({ code: 'charge_disputed' })
    await stripe.disputes.update(dispute.id, { evidence: { uncategorized_text: 'winning_evidence' }, submit: false })
    expect(await stripe.disputes.update(dispute.id, { submit: true })).toMatchObject({ status: 'under_review', evidence_details: { submission_count: 1 } })
    await expect(stripe.disputes.update(dispute.id, { evidence: { uncategorized_text: 'more' } })).rejects.toMatchObject({ statusCode: 400 })
    await expect(stripe.disputes.close(dispute.id)).rejects.toMatchObject({ statusCode: 400 })
    stage.clock.advance(3000)
    await expect.poll(() => payments.types().at(-1)).toBe('charge.dispute.closed')
    expect(payments.types().filter(type => type === 'charge.dispute.updated')).toHaveLength(2)
    expect(payments.taken.at(-1)!.event.data.object).toMatchObject({ id: dispute.id, status: 'won' })
    expect((await stripe.refunds.create({ payment_intent: intent })).amount).toBe(2500)
  })

  it('is lost when it is accepted, and when the bank decides so', async () => {
    await using stage = await eventStage()
    const opened = async () => {
      const { id } = await stage.charge({ payment_method: 'pm_card_createDispute' })
      return (await stage.stripe.disputes.list({ payment_intent: id })).data[0]!.id
    }
    expect((await stage.stripe.disputes.close(await opened())).status).toBe('lost')
    const other = await opened()
    const { status, body } = await stage.control('emit', { event: 'charge.dispute.updated', id: other, status: 'under_review' })
    expect([status, body.status, body.event.data.object.status]).toEqual([200, 200, 'under_review'])
    expect((await stage.control('emit', { event: 'charge.dispute.closed', id: other, status: 'lost' })).body.event.type).toBe('charge.dispute.closed')
    expect((await stage.control('emit', { event: 'charge.dispute.closed', id: other, status: 'won' })).status).toBe(400)
  })
})

describe('a requested event', () => {
  it('is sent at once, repeated, and with an old timestamp; a forged one changes nothing', async () => {
    await using stage = await eventStage()
    const { id } = await stage.charge()
    const refund = await stage.stripe.refunds.create({ payment_intent: id })
    const forged = await stage.control('emit', { event: 'refund.failed', id: refund.id, signature: 'bad' })
    expect(forged.body).toMatchObject({ status: 400, event: { type: 'refund.failed' } })
    expect((await stage.stripe.refunds.retrieve(refund.id)).status).toBe('succeeded')
    const { body } = await stage.control('emit', { event: 'refund.failed', id: refund.id, times: 2 })
    expect(body).toMatchObject({ status: 200, body: '{"received":true}', event: { data: { object: { id: refund.id, status: 'failed' } } } })
    expect(stage.payments.taken.filter(({ event }) => event.id === body.event.id)).toHaveLength(2)
    expect((await stage.control('emit', { id: body.event.id })).body.status).toBe(200)
    expect((await stage.control('emit', { id: body.event.id, ageSeconds: 600 })).body.status).toBe(400)
    for (const wrong of [
      { event: 'refund.failed', id: refund.id },
      { event: 'refund.eaten', id: refund.id },
      { event: 'refund.failed', id: 're_none' },
      { id: 1 },
    ])
      expect((await stage.control('emit', wrong)).status).toBe(400)
  })

  it('includes subscription events, and changes the subscription without one on request', async () => {
    await using stage = await eventStage()
    const { launcher } = stage
    const { body: made } = await stage.control('objects', { object: 'subscription', quantity: 3 })
    await expect.poll(() => launcher.types()).toEqual(['customer.subscription.created', 'invoice.paid'])
    expect((await stage.control('objects', { object: 'subscription', id: made.id, quantity: 1 })).body).toEqual(made)
    expect((await stage.stripe.subscriptions.retrieve(made.id)).items.data[0]!.quantity).toBe(1)
    const failed = await stage.control('emit', { event: 'invoice.payment_failed', id: made.id, status: 'past_due' })
    expect(failed.body.event.data.object).toMatchObject({ status: 'open', parent: { subscription_details: { subscription: made.id } } })
    await stage.control('emit', { event: 'customer.subscription.updated', id: made.id, status: 'active' })
    await stage.control('emit', { event: 'customer.subscription.deleted', id: made.id })
    await expect
      .poll(() => launcher.types().slice(2).sort())
      .toEqual(['customer.subscription.deleted', 'customer.subscription.updated', 'customer.subscription.updated', 'invoice.payment_failed'])
    expect((await stage.control('emit', { event: 'customer.subscription.deleted', id: made.id })).status).toBe(400)
  })
})

describe('the hosted page', () => {
  it('shows the amount, can be cancelled, declines a card, and pays once', async () => {
    await using stage = await eventStage()
    const { stripe, payments } = stage
    const { id, url } = await stripe.checkout.sessions.create({ ...session, payment_intent_data: { metadata: { order_id: 'o2' } } })
    expect(await send(url!)).toMatchObject({ status: 200, body: expect.stringContaining('1800 EUR') })
    const back = await send(`${url}?sandbox_approve=0`)
    expect([back.status, back.headers.get('location')]).toEqual([303, 'https://shop.example.test/back'])
    expect(await send(`${url}?sandbox_approve=1&sandbox_card=pm_card_chargeDeclined`)).toMatchObject({ status: 402 })
    expect((await stripe.checkout.sessions.retrieve(id)).status).toBe('open')
    const paid = await send(`${url}?sandbox_approve=1`)
    expect([paid.status, paid.headers.get('location')]).toEqual([303, `https://shop.example.test/done?id=${id}`])
    expect((await send(`${url}?sandbox_approve=1`)).status).toBe(410)
    expect((await send(`${url}0`)).status).toBe(404)
    await expect.poll(() => payments.types()).toEqual(['payment_intent.payment_failed', 'payment_intent.succeeded', 'checkout.session.completed'])
    const { body } = await send(`${stage.world.sandbox.origin}/_control/received?network=stripe`)
    expect(body.at(-1)).toMatchObject({ path: `/checkout/${id}`, metadata: { order_id: 'o2' }, moved: 1800 })
  })

  it('stores a card in mode setup, starts a subscription, and has a portal that ends it', async () => {
    await using stage = await eventStage()
    const { stripe } = stage
    const { id: customer } = await stripe.customers.create({ email: 'a@example.test' })
    const success_url = 'https://shop.example.test/kept'
    const setup = await stripe.checkout.sessions.create({ mode: 'setup', customer, success_url, currency: 'eur' })
    await send(`${setup.url}?sandbox_approve=1`)
    const kept = await stripe.checkout.sessions.retrieve(setup.id, { expand: ['setup_intent.payment_method'] })
    const { payment_method } = kept.setup_intent as Stripe.SetupIntent
    expect(payment_method).toMatchObject({ object: 'payment_method', customer, card: { last4: '4242' } })
    expect(payment_method).not.toHaveProperty('played')
    await expect(stripe.checkout.sessions.retrieve(setup.id, { expand: ['colour'] })).rejects.toMatchObject({ statusCode: 400 })
    const price_data = { currency: 'usd', unit_amount: 1500, recurring: { interval: 'month' }, product_data: { name: 'Seats' } } as const
    const begun = await stripe.checkout.sessions.create({ mode: 'subscription', customer, success_url, line_items: [{ price_data, quantity: 4 }] })
    expect((await send(`${begun.url}?sandbox_approve=1`)).status).toBe(303)
    const { subscription } = await stripe.checkout.sessions.retrieve(begun.id)
    expect(await stripe.invoices.retrieve((await stripe.subscriptions.retrieve(subscription as string)).latest_invoice as string)).toMatchObject({
      ...{ status: 'paid', amount_paid: 6000, billing_reason: 'subscription_create' },
    })
    const portal = await stripe.billingPortal.sessions.create({ customer, return_url: 'https://shop.example.test/settings' })
    expect(await send(portal.url)).toMatchObject({ status: 200, body: expect.stringContaining(String(subscription)) })
    expect((await send(`${portal.url}?sandbox_cancel=1`)).headers.get('location')).toBe('https://shop.example.test/settings')
    expect((await stripe.subscriptions.retrieve(subscription as string)).cancel_at_period_end).toBe(true)
  })
})
