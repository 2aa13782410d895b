import { describe, expect, test } from 'vitest'
import { shared } from '../../../kit/shared.ts'
import { eur, newKey, processorStage, secret, service } from './stage.ts'

const price = { unitAmount: eur(1500), recurring: { interval: 'MONTH' } }
const money = '{ amountMinor currency }'
const intent = `id status amount ${money} amountCapturable ${money} amountReceived ${money} clientSecret failure { code declineCode message }`
const pay = { amount: eur(2500), paymentMethodId: 'pm_card_visa', confirm: true }

describe('G-08 prices and subscriptions', () => {
  test('a price belongs to an existing or a new product, and to exactly one', async () => {
    await using stage = await processorStage()
    const selection = `id productId unitAmount ${money} recurring { interval intervalCount } active`
    const first = await stage.change('createProcessorPrice', { ...price, productData: { name: 'Seats' }, metadata: { plan: 'team', seats: 3 } }, selection)
    expect(first).toEqual({ id: first.id, productId: first.productId, unitAmount: eur(1500), recurring: { interval: 'MONTH', intervalCount: 1 }, active: true })
    const second = await stage.change('createProcessorPrice', { unitAmount: eur(0), productId: first.productId }, selection)
    expect(second).toMatchObject({ productId: first.productId, recurring: null, unitAmount: eur(0) })
    for (const wrong of [{ productId: first.productId, productData: { name: 'x' } }, {}])
      expect(await stage.refused('createProcessorPrice', { ...price, ...wrong })).toMatchObject({ code: 'BAD_USER_INPUT', field: 'productId' })
    expect(await stage.refused('createProcessorPrice', { ...price, productId: 'prod_none' })).toMatchObject({ code: 'NOT_FOUND', processorParam: 'product' })
  })

  test('a subscription is read, its next invoice previewed, and its quantity changed', async () => {
    await using stage = await processorStage()
    const made = await stage.control<Record<string, string>>('objects', { object: 'subscription', quantity: 3 })
    const selection = 'id customerId status items { id priceId quantity } currentPeriodEnd cancelAtPeriodEnd metadata'
    const before = await stage.read('processorSubscription', made.id!, selection)
    expect(before).toEqual({
      ...{ id: made.id, customerId: made.customerId, status: 'ACTIVE', cancelAtPeriodEnd: false, metadata: {} },
      ...{ items: [{ id: made.itemId, priceId: made.priceId, quantity: 3 }], currentPeriodEnd: expect.stringMatching(/T/) },
    })
    const input = { customerId: made.customerId, subscriptionId: made.id, items: [{ itemId: made.itemId, priceId: made.priceId, quantity: 7 }] }
    const asked = `query($input: ProcessorInvoicePreviewInput!) { processorInvoicePreview(input: $input) {
      subtotal ${money} tax ${money} total ${money} amountDue ${money} lines { description quantity amount ${money} } } }`
    const preview = (await stage.graph.execute(asked, { input }, { as: stage.payments })).data().processorInvoicePreview
    expect(preview).toEqual({
      ...{ subtotal: eur(10_500), tax: eur(0), total: eur(10_500), amountDue: eur(10_500) },
      lines: [{ description: '7 × Seats', quantity: 7, amount: eur(10_500) }],
    })
    const change = { subscriptionId: made.id, itemId: made.itemId, quantity: 5, prorationBehavior: 'NONE', metadata: { by: 'a test' } }
    const after = await stage.change('changeProcessorSubscriptionQuantity', change, selection)
    expect(after).toEqual({ ...before, items: [{ id: made.itemId, priceId: made.priceId, quantity: 5 }], metadata: { by: 'a test' } })
    expect(await stage.record()).toMatchObject([
      { action: 'processor_subscription.updated', processor_id: made.id, details: { itemId: made.itemId, quantity: 5 } },
    ])
  })
})

describe('G-08 customers and pages', () => {
  test('a card is stored for a customer and removed; a billing portal is opened', async () => {
    await using stage = await processorStage()
    const { id: customerId } = await stage.change('createProcessorCustomer', { email: 'a@example.test', name: 'Ada' })
    const method = await stage.change(
      'attachProcessorPaymentMethod',
      { customerId, paymentMethodId: 'pm_card_amex', metadata: { main: true } },
      'id brand last4 expMonth expYear',
    )
    expect(method).toEqual({ id: method.id, brand: 'AMEX', last4: '0005', expMonth: 12, expYear: expect.any(Number) })
    expect(await stage.refused('attachProcessorPaymentMethod', { customerId, paymentMethodId: 'pm_card_visa_chargeDeclined' })).toMatchObject({
      ...{ code: 'CONFLICT', reason: 'CARD_REFUSED', processorCode: 'card_declined', declineCode: 'generic_decline' },
    })
    expect((await stage.change('detachProcessorPaymentMethod', { id: method.id })).id).toBe(method.id)
    const portal = await stage.change('createProcessorPortalSession', { customerId, returnUrl: 'https://shop.example.test/back' }, 'id url')
    expect(portal.url).toMatch('/stripe/portal/')
    expect((await stage.record()).map(({ action }) => action).sort()).toEqual([
      ...['processor_customer.created', 'processor_payment_method.attached', 'processor_payment_method.detached', 'processor_portal_session.created'],
    ])
  })

  test('a payment page is opened and closed; its results carry its metadata', async () => {
    await using stage = await processorStage()
    const selection = 'id url status expiresAt paymentIntentId subscriptionId'
    const input = {
      ...{ mode: 'PAYMENT', lineItems: [{ name: 'Lamp', unitAmount: eur(900), quantity: 2 }], captureMethod: 'MANUAL', metadata: { order: '7' } },
      ...{ successUrl: 'https://shop.example.test/done?id={CHECKOUT_SESSION_ID}', cancelUrl: 'https://shop.example.test', clientReferenceId: 'order-7' },
      expiresAt: new Date(stage.graph.clock.now().getTime() + 3_600_000).toISOString(),
    }
    const session = await stage.change('createProcessorCheckoutSession', input, selection)
    expect(session).toMatchObject({ status: 'OPEN', expiresAt: input.expiresAt, paymentIntentId: null, subscriptionId: null })
    await fetch(`${session.url}?sandbox_approve=1`, { redirect: 'manual' })
    const paid = await stage.read('processorCheckoutSession', session.id, selection)
    expect(paid).toMatchObject({ status: 'COMPLETE', url: null })
    expect(await stage.read('processorPaymentIntent', paid.paymentIntentId, intent)).toMatchObject({ status: 'REQUIRES_CAPTURE', amountCapturable: eur(1800) })
    const until = new Date(stage.graph.clock.now().getTime() + 1000).toISOString()
    const found = await stage.graph.execute(
      `{ processorRecords(since: "2020-01-01T00:00:00Z", until: "${until}") { nodes { type metadata } } }`,
      {},
      { as: stage.payments },
    )
    expect(found.data().processorRecords.nodes).toEqual([{ type: 'PAYMENT_INTENT', metadata: { order: '7' } }])
    const other = await stage.change('createProcessorCheckoutSession', { ...input, expiresAt: null })
    expect(await stage.change('expireProcessorCheckoutSession', { id: other.id }, selection)).toMatchObject({ status: 'EXPIRED', url: null })
    expect(await stage.refused('expireProcessorCheckoutSession', { id: other.id })).toMatchObject({
      code: 'CONFLICT',
      processorCode: 'checkout_session_unexpected_state',
    })
    const { id: priceId } = await stage.change('createProcessorPrice', { ...price, productData: { name: 'Seats' } })
    const addresses = { successUrl: input.successUrl }
    const subscribing = await stage.change(
      'createProcessorCheckoutSession',
      { ...addresses, mode: 'SUBSCRIPTION', lineItems: [{ priceId }], metadata: { order: '8' } },
      selection,
    )
    await fetch(`${subscribing.url}?sandbox_approve=1`, { redirect: 'manual' })
    const { subscriptionId } = await stage.read('processorCheckoutSession', subscribing.id, selection)
    expect(await stage.read('processorSubscription', subscriptionId, 'metadata')).toEqual({ metadata: { order: '8' } })
    const setup = await stage.change('createProcessorCheckoutSession', { ...addresses, mode: 'SETUP' }, `${selection} url paymentMethodId`)
    expect(setup).toMatchObject({ status: 'OPEN', paymentMethodId: null })
    await fetch(`${setup.url}?sandbox_approve=1`, { redirect: 'manual', signal: AbortSignal.timeout(10_000) })
    const left = await stage.read('processorCheckoutSession', setup.id, 'status paymentMethodId')
    expect(left).toEqual({ status: 'COMPLETE', paymentMethodId: expect.stringMatching('^pm_') })
    for (const wrong of [
      { mode: 'SETUP', lineItems: input.lineItems },
      { mode: 'PAYMENT' },
      { mode: 'SETUP', captureMethod: 'MANUAL' },
      { mode: 'PAYMENT', lineItems: [{ priceId, name: 'both', unitAmount: eur(1) }] },
      { mode: 'PAYMENT', lineItems: [{ name: 'neither' }] },
      { mode: 'PAYMENT', lineItems: input.lineItems, successUrl: 'javascript:alert(1)' },
    ])
      expect(await stage.refused('createProcessorCheckoutSession', { ...addresses, ...wrong })).toMatchObject({ code: 'BAD_USER_INPUT' })
  })
})

describe('G-08 money', () => {
  test('is authorized, partly captured and refunded; a refund that fails later says why', async () => {
    await using stage = await processorStage()
    const held = await stage.change('createProcessorPaymentIntent', { ...pay, captureMethod: 'MANUAL', transferGroup: 'one', metadata: { order: '7' } }, intent)
    expect(held).toMatchObject({ status: 'REQUIRES_CAPTURE', amount: eur(2500), amountCapturable: eur(2500), amountReceived: eur(0), failure: null })
    expect(await stage.change('captureProcessorPaymentIntent', { id: held.id, amount: eur(2000) }, intent)).toMatchObject({
      status: 'SUCCEEDED',
      amountReceived: eur(2000),
    })
    expect(
      await stage.change(
        'createProcessorRefund',
        { paymentIntentId: held.id, amount: eur(500), reason: 'REQUESTED_BY_CUSTOMER' },
        `status amount ${money} failureReason`,
      ),
    ).toEqual({
      ...{ status: 'SUCCEEDED', amount: eur(500), failureReason: null },
    })
    expect(await stage.refused('cancelProcessorPaymentIntent', { id: held.id })).toMatchObject({
      code: 'CONFLICT',
      processorCode: 'payment_intent_unexpected_state',
    })
    const other = await stage.change('createProcessorPaymentIntent', { ...pay, captureMethod: 'MANUAL' })
    expect(await stage.change('cancelProcessorPaymentIntent', { id: other.id }, intent)).toMatchObject({ status: 'CANCELED', amountCapturable: eur(0) })
    const failing = await stage.change('createProcessorPaymentIntent', { ...pay, paymentMethodId: 'pm_card_refundFail' })
    const refund = await stage.change('createProcessorRefund', { paymentIntentId: failing.id })
    await stage.graph.clock.advance(3000)
    expect(await stage.read('processorRefund', refund.id, 'status failureReason')).toEqual({ status: 'FAILED', failureReason: 'expired_or_canceled_card' })
  })

  test('is moved to a connected account and back', async () => {
    await using stage = await processorStage()
    const transfer = await stage.change('createProcessorTransfer', { amount: eur(1000), destinationAccountId: 'acct_demo', metadata: { batch: '7' } })
    const reversal = await stage.change('reverseProcessorTransfer', { id: transfer.id, amount: eur(400) }, `id amount ${money}`)
    expect(reversal.amount).toEqual(eur(400))
    expect(await stage.read('processorTransfer', transfer.id, `amount ${money} amountReversed ${money} destinationAccountId`)).toEqual({
      ...{ amount: eur(1000), amountReversed: eur(400), destinationAccountId: 'acct_demo' },
    })
    expect(await stage.record()).toMatchObject([
      { actor: 'service:app_payments', action: 'processor_transfer.created', processor_id: transfer.id, details: { amountMinor: '1000', currency: 'EUR' } },
      { actor: 'service:app_payments', action: 'processor_transfer.reversed', processor_id: reversal.id, details: { transferId: transfer.id } },
    ])
  })

  test('declined by a card is CONFLICT with the processor’s message', async () => {
    await using stage = await processorStage()
    const declined = await stage.refused('createProcessorPaymentIntent', { ...pay, paymentMethodId: 'pm_card_visa_chargeDeclinedInsufficientFunds' })
    expect(declined).toMatchObject({ code: 'CONFLICT', reason: 'CARD_REFUSED', processorCode: 'card_declined', declineCode: 'insufficient_funds' })
    expect(await stage.read('processorPaymentIntent', declined.paymentIntentId, intent)).toMatchObject({
      ...{
        status: 'REQUIRES_PAYMENT_METHOD',
        failure: { code: 'card_declined', declineCode: 'insufficient_funds', message: 'Your card has insufficient funds.' },
      },
    })
    expect(await stage.refused('createProcessorPaymentIntent', { ...pay, paymentMethodId: 'pm_card_chargeDeclinedExpiredCard' })).toMatchObject({
      ...{ processorCode: 'expired_card', declineCode: null },
    })
  })

  test('in another currency than the whole is rejected, not converted one to one', async () => {
    await using stage = await processorStage()
    const { id } = await stage.change('createProcessorPaymentIntent', { ...pay, captureMethod: 'MANUAL' })
    const transfer = await stage.change('createProcessorTransfer', { amount: eur(1000), destinationAccountId: 'acct_demo' })
    const amount = { amountMinor: 500, currency: 'JPY' }
    for (const [name, input] of [
      ['captureProcessorPaymentIntent', { id, amount }],
      ['createProcessorRefund', { paymentIntentId: id, amount }],
      ['reverseProcessorTransfer', { id: transfer.id, amount }],
    ] as const)
      expect(await stage.refused(name, input)).toMatchObject({ code: 'BAD_USER_INPUT', field: 'amount.currency' })
  })
})

describe('G-08 an idempotency key', () => {
  test('creates one object of ten concurrent requests, and is passed on unchanged', async () => {
    await using stage = await processorStage()
    const idempotencyKey = 'as it is: 7/8 "ß"'.replace('ß', 's')
    const input = { ...price, productData: { name: 'Seats' }, idempotencyKey }
    const made = await Promise.all(Array.from({ length: 10 }, () => stage.change('createProcessorPrice', input)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await stage.received()).toMatchObject([{ object: 'price', id: made[0].id, idempotencyKey }])
    expect(await stage.refused('createProcessorPrice', { ...input, unitAmount: eur(1) })).toMatchObject({
      code: 'CONFLICT',
      reason: 'KEY_REUSED',
      field: 'idempotencyKey',
    })
    const record = await stage.record()
    expect(record.map(({ action, processor_id }) => [action, processor_id])).toEqual(Array(10).fill(['processor_price.created', made[0].id]))
    expect(record.filter(({ details }) => details.repeated)).toHaveLength(9)
  })

  test('of a call in progress makes a repetition wait', async () => {
    await using stage = await processorStage()
    await stage.arm('slow', { delayMs: 500 })
    const input = { email: 'a@example.test', idempotencyKey: newKey() }
    const first = stage.change('createProcessorCustomer', input)
    await expect.poll(async () => (await stage.received()).length).toBe(1)
    expect((await stage.change('createProcessorCustomer', input)).id).toBe((await first).id)
    expect((await stage.calls()).map(({ status, cost_micros }) => [status, Number(cost_micros)])).toEqual(Array(2).fill(['SUCCEEDED', 100]))
  })

  const refusing = shared(() => processorStage())
  test('that is missing causes an error', async () => {
    expect((await refusing().refused('createProcessorCustomer', { idempotencyKey: '' })).message).toContain('missing')
  })

  test.each(['', ' blank', 'ü', 'a\nb', 'x'.repeat(256)])('that no header can carry is refused, and nothing is sent: %j', async idempotencyKey => {
    const stage = refusing()
    expect(await stage.refused('createProcessorCustomer', { idempotencyKey })).toMatchObject({ code: 'BAD_USER_INPUT', field: 'idempotencyKey' })
    expect(stage.graph.sent.filter(line => line.includes('stripe'))).toEqual([])
  })
})

describe('G-08 rights', () => {
  test('belong to services whose clients have them: transfers have an operation of their own, and people and keys have none', async () => {
    await using stage = await processorStage()
    const { organizationId, owner } = stage
    const launcher = service(organizationId, ['PAYMENTS', 'EMAIL'], 'app_launcher')
    const agents = service(organizationId, ['COMPLETIONS', 'EMAIL'], 'app_agents')
    const transfer = { amount: eur(100), destinationAccountId: 'acct_demo' }
    await stage.change('createProcessorCustomer', {}, 'id', launcher)
    for (const [as, name, input] of [
      [launcher, 'createProcessorTransfer', transfer],
      [launcher, 'reverseProcessorTransfer', { id: 'tr_1' }],
      [agents, 'createProcessorCustomer', {}],
      [owner, 'createProcessorCustomer', {}],
      // What is wrong with it is nobody's to know who may not send it.
      [owner, 'createProcessorCustomer', { idempotencyKey: '' }],
    ] as const)
      expect((await stage.refused(name, input, as)).code).toBe('FORBIDDEN')
    const readable = await stage.graph.execute('{ processorTransfer(id: "tr_1") { id } }', {}, { as: launcher })
    readable.refused('FORBIDDEN')
    expect(stage.graph.sent.filter(line => line.includes('stripe'))).toHaveLength(1)
  })
})

describe('G-08 each call', () => {
  test('is logged with its price and caller, and limited; no secret of the processor appears anywhere', async () => {
    await using stage = await processorStage()
    const { organizationId } = stage
    await stage.change('createProcessorCustomer', { email: 'a@example.test' }, 'id', { ...stage.payments, onBehalfOf: null, userId: null })
    expect(await stage.calls()).toMatchObject([
      {
        organization_id: organizationId,
        family: 'PAYMENTS',
        operation: 'createProcessorCustomer',
        status: 'SUCCEEDED',
        app_id: 'app_payments',
        provider: 'stripe',
        model: null,
      },
    ])
    const [{ cost_micros, units, attempts }] = (await stage.calls()) as [Record<string, unknown>]
    expect([Number(cost_micros), units, attempts]).toMatchObject([100, 1, [{ provider: 'stripe', status: 200, failure: null }]])
    const text = JSON.stringify([await stage.calls(), await stage.record(), stage.graph.log])
    expect(text).not.toContain(secret)
  })

  test.each<readonly [string, object, string, number, string | null]>([
    ['accept-then-reset', {}, 'unknown', 100, 'processor_call.unanswered'],
    ['status-after-accept', { status: 503 }, 'unknown', 100, 'processor_call.unanswered'],
    ['malformed', {}, 'unknown', 100, 'processor_call.unanswered'],
    ['wrong-type', {}, 'unknown', 100, 'processor_call.unanswered'],
    ['reset-mid-stream', {}, 'unknown', 100, 'processor_call.unanswered'],
    ['status', { status: 500 }, 'unknown', 100, 'processor_call.unanswered'],
    ['status', { status: 429 }, 'refused', 100, null],
    ['status', { status: 403 }, 'refused', 100, null],
  ])('that meets %s %j is %s, is sent once, and can be sent again under its key', async (fault, more, outcome, cost, action) => {
    await using stage = await processorStage()
    const input = { email: 'a@example.test', idempotencyKey: newKey() }
    await stage.arm(fault, more)
    expect(await stage.refused('createProcessorCustomer', input)).toMatchObject({ code: 'UPSTREAM_FAILED', outcome })
    expect(stage.graph.sent.filter(line => line.includes('stripe'))).toHaveLength(1)
    expect((await stage.calls()).map(({ status, cost_micros }) => [status, Number(cost_micros)])).toEqual([['FAILED', cost]])
    expect((await stage.record()).map(line => line.action)).toEqual(action ? [action] : [])
    const { id } = await stage.change('createProcessorCustomer', input)
    expect(await stage.received()).toMatchObject([{ id }])
  })

  test('that cannot reach the processor was not sent, and costs nothing', async () => {
    await using stage = await processorStage()
    const away = await stage.graph.x.away()
    expect(await stage.refused('createProcessorCustomer', {})).toMatchObject({ code: 'UPSTREAM_FAILED', outcome: 'not_sent' })
    await away[Symbol.asyncDispose]()
    expect((await stage.calls()).map(({ status, cost_micros }) => [status, Number(cost_micros)])).toEqual([['FAILED', 0]])
    expect(await stage.record()).toEqual([])
  })

  test('without a credential is refused before anything is written', async () => {
    await using stage = await processorStage()
    await stage.graph.rows('delete from providers.credentials')
    await stage.graph.clock.advance(2000)
    expect(await stage.refused('createProcessorCustomer', {})).toMatchObject({ code: 'CONFLICT', reason: 'NO_CREDENTIAL' })
    expect(await stage.calls()).toEqual([])
  })
})
