import { describe, expect, it } from 'vitest'
import { addresses, openCheckoutShop, sessionFields } from './stage.ts'

const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
const minuteMs = 60_000

describe('createCheckoutSession', () => {
  it('opens the processor’s page for all that is due, and the order is PENDING', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order(3300)
    const session = await shop.session(id, { expiresInMinutes: 45 })
    expect(session).toMatchObject({ status: 'OPEN', order: { id, status: 'PENDING', paymentPhase: 'NONE' } })
    expect(Date.parse(session.expiresAt) - shop.graph.clock.now().getTime()).toBe(45 * minuteMs)
    const [sent] = await shop.received(id, 'checkout/sessions')
    expect(sent).toMatchObject({ idempotencyKey: session.id, metadata: { order_id: id, transaction_id: session.id } })
    expect((await shop.read(id)).transactions.nodes).toEqual([])
  })

  it('opens one page for a key, however often and at once it is sent', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const input = { orderId: id, ...addresses, idempotencyKey: 'k' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => shop.change('createCheckoutSession', input, shop.owner, 'id')))
    expect(new Set(answers.map(answer => answer.id)).size).toBe(1)
    expect(await shop.received(id, 'checkout/sessions')).toHaveLength(1)
    const other = await shop.ask('createCheckoutSession', { ...input, expiresInMinutes: 31 }, shop.owner, 'id')
    expect(other.refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  it('opens one of fifty that are asked for at once', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const answers = await Promise.all(Array.from({ length: 50 }, () => shop.ask('createCheckoutSession', { orderId: id, ...addresses }, shop.owner, 'id')))
    const lost = answers.filter(({ error }) => error)
    expect(lost).toHaveLength(49)
    expect(new Set(lost.map(({ error }) => error!.extensions.reason))).toEqual(new Set(['SESSION_OPEN']))
    const payment = await shop.ask('payOrder', { orderId: id, paymentMethodToken: 'pm_card_visa' })
    expect(payment.refused('CONFLICT').extensions.reason).toBe('SESSION_OPEN')
  })

  it.each([
    ['successUrl', { successUrl: 'javascript:alert(1)' }],
    ['cancelUrl', { cancelUrl: 'shop' }],
    ['expiresInMinutes', { expiresInMinutes: 29 }],
    ['expiresInMinutes', { expiresInMinutes: 1441 }],
  ])('refuses a wrong %s by its name', async (field, wrong) => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    expect(
      (await shop.ask('createCheckoutSession', { orderId: id, ...addresses, ...wrong }, shop.owner, 'id')).refused('BAD_USER_INPUT').extensions.field,
    ).toBe(field)
  })

  it('changes nothing when the processor cannot be reached, and the key is free again', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const input = { orderId: id, ...addresses, idempotencyKey: 'k' }
    const away = await shop.graph.x.away()
    expect((await shop.ask('createCheckoutSession', input, shop.owner, 'id')).refused('UPSTREAM_FAILED').extensions.reason).toBe('NOT_SENT')
    await away[Symbol.asyncDispose]()
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'DRAFT' })
    expect(await shop.change('createCheckoutSession', input, shop.owner, 'status')).toEqual({ status: 'OPEN' })
  })

  it('is refused for a paid order, and for one of a suspended merchant', async () => {
    await using shop = await openCheckoutShop()
    const paid = await shop.paid()
    const asked = await shop.ask('createCheckoutSession', { orderId: paid.id, ...addresses }, shop.owner, 'id')
    expect(asked.refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'PAID', verb: 'checkout' })
    const { id, merchantId } = await shop.order()
    await shop.change('suspendMerchant', { id: merchantId }, shop.owner, 'status')
    const suspended = await shop.ask('createCheckoutSession', { orderId: id, ...addresses }, shop.owner, 'id')
    expect(suspended.refused('CONFLICT').extensions.reason).toBe('MERCHANT_SUSPENDED')
  })

  it('is brought to its end by others when its process dies before the page is open', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const job = shop.graph.platform.payments.job('test')
    const { recordSession } = await import('../../../../subgraphs/payments/engines/checkout/open.ts')
    const { newId } = await import('../../../../platform/ids.ts')
    const session = newId(shop.graph.clock.now())
    await recordSession(job, { id: session, orderId: id, minutes: 60, ...addresses })
    expect(await shop.seen(session)).toMatchObject({ status: 'OPEN', url: null })
    await shop.soon(() => shop.seen(session)).toMatchObject({ status: 'OPEN', url: expect.stringContaining('/checkout/') })
  })
})

describe('a checkout session', () => {
  it('is COMPLETED and its order PAID once, when somebody has paid on its page and its events are lost', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order(3300)
    const session = await shop.session(id)
    expect(await shop.visit(session.url)).toEqual([303, 'https://shop.example/done'])
    await shop.soon(() => shop.seen(session.id)).toMatchObject({ status: 'COMPLETED', url: null })
    await shop
      .soon(() => shop.read(id))
      .toMatchObject({
        ...{ status: 'PAID', paymentPhase: 'NONE', captured: eur(3300), refundable: eur(3300), due: eur(0) },
        transactions: { nodes: [{ id: session.id, type: 'PURCHASE', status: 'SUCCEEDED' }] },
      })
    expect([await shop.booked(id, 'processor'), await shop.booked(id, 'merchant')]).toEqual([3300, -3300])
    expect((await shop.facts()).map(({ kind }) => kind)).toEqual(['order.paid'])
    expect((await shop.change('refundOrder', { orderId: id, reason: 'OTHER' }, shop.owner, 'status')).status).toBe('SUCCEEDED')
  })

  it('holds the money where the settings say MANUAL, until it is captured', async () => {
    await using shop = await openCheckoutShop()
    await shop.change('updatePaymentSettings', { captureMode: 'MANUAL' }, shop.owner, 'version')
    const { id } = await shop.order()
    const session = await shop.session(id)
    await shop.visit(session.url)
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'PENDING', paymentPhase: 'AUTHORIZED', captured: eur(0) })
    expect(await shop.booked(id, 'processor')).toBe(0)
    expect(await shop.change('captureOrder', { orderId: id })).toMatchObject({ status: 'PAID', captured: eur(1000) })
  })

  it('stays open when a card is declined on its page', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id)
    expect((await shop.visit(session.url, { sandbox_approve: '1', sandbox_card: 'pm_card_chargeDeclined' }))[0]).toBe(402)
    await shop.soon(() => shop.seen(session.id)).toMatchObject({ status: 'OPEN', order: { status: 'PENDING' } })
  })

  it('is EXPIRED when its time is over, and its order is a draft again', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id, { expiresInMinutes: 30 })
    await shop.pass(31 * minuteMs)
    await shop.soon(() => shop.seen(session.id)).toMatchObject({ status: 'EXPIRED', url: null, order: { status: 'DRAFT' } })
    expect(await shop.session(id)).toMatchObject({ status: 'OPEN' })
  })

  it('is recorded once when twenty processes hear of its payment at once', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id)
    await shop.visit(session.url)
    const { lookAfterPage } = await import('../../../../subgraphs/payments/engines/checkout/look.ts')
    const [row] = await shop.graph.rows<{ processor_id: string }>('select processor_id from payments.checkout_sessions')
    const heard = await Promise.all(Array.from({ length: 20 }, () => lookAfterPage(shop.graph.platform.payments.job('test'), row!.processor_id)))
    expect(new Set(heard)).toEqual(new Set([true]))
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'PAID', captured: eur(1000), transactions: { nodes: [{ status: 'SUCCEEDED' }] } })
    expect(await shop.booked(id, 'processor')).toBe(1000)
    expect(await lookAfterPage(shop.graph.platform.payments.job('test'), 'cs_of_others')).toBe(false)
  })
})

describe('closeCheckoutSession', () => {
  const close = { name: 'closeCheckoutSession' }

  it('closes the page at the processor too, and the order is a draft again', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id)
    expect(await shop.change(close.name, { id: session.id }, shop.owner, sessionFields)).toMatchObject({
      status: 'CLOSED',
      url: null,
      order: { status: 'DRAFT' },
    })
    await shop.soon(async () => (await shop.visit(session.url, {}))[0]).toBe(410)
    const again = await shop.ask(close.name, { id: session.id }, shop.owner, 'id')
    expect(again.refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'CLOSED', verb: 'close', possible: [] })
  })

  it('gives money back whole that had come before the page was closed at the processor', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id)
    await shop.visit(session.url)
    await shop.change(close.name, { id: session.id }, shop.owner, 'status')
    await shop.soon(() => shop.refunds(id)).toEqual([{ status: 'SUCCEEDED', origin: 'AUTOMATIC', amount: { amountMinor: 1000 } }])
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'REFUNDED', captured: eur(1000), refunded: eur(1000), refundable: eur(0) })
    expect([await shop.booked(id, 'processor'), await shop.booked(id, 'merchant')]).toEqual([0, 0])
    expect((await shop.facts()).map(({ kind }) => kind)).toEqual(['order.refunded'])
    expect(await shop.seen(session.id)).toMatchObject({ status: 'CLOSED' })
  })

  it('releases money at the processor that was only held by then', async () => {
    await using shop = await openCheckoutShop()
    await shop.change('updatePaymentSettings', { captureMode: 'MANUAL' }, shop.owner, 'version')
    const { id } = await shop.order()
    const session = await shop.session(id)
    await shop.visit(session.url)
    await shop.change(close.name, { id: session.id }, shop.owner, 'status')
    const ended = [
      { type: 'VOID', status: 'SUCCEEDED' },
      { type: 'AUTHORIZE', status: 'SUCCEEDED' },
    ]
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'DRAFT', transactions: { nodes: ended } })
    expect(await shop.refunds(id)).toEqual([])
    expect(await shop.pay(id)).toMatchObject({ status: 'PAID' })
  })
})

describe('money that comes for an order that cannot take it', () => {
  it('goes back whole when the order was cancelled', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id)
    await shop.visit(session.url)
    expect(await shop.change('cancelOrder', { id })).toMatchObject({ status: 'CANCELLED' })
    await shop.soon(() => shop.refunds(id)).toMatchObject([{ status: 'SUCCEEDED', origin: 'AUTOMATIC' }])
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'REFUNDED', captured: eur(1000), refunded: eur(1000) })
    expect(await shop.booked(id, 'processor')).toBe(0)
  })

  it('goes back whole when the order was paid meanwhile, which stays PAID', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id)
    await shop.visit(session.url)
    const away = await shop.graph.x.away()
    await shop.change('closeCheckoutSession', { id: session.id }, shop.owner, 'status')
    await away[Symbol.asyncDispose]()
    expect(await shop.pay(id)).toMatchObject({ status: 'PAID' })
    await shop.soon(() => shop.refunds(id)).toMatchObject([{ status: 'SUCCEEDED', origin: 'AUTOMATIC' }])
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'PAID', captured: eur(2000), refunded: eur(1000), refundable: eur(1000) })
    expect(await shop.booked(id, 'processor')).toBe(1000)
  })

  it('cancels the open session with the order, and its page', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const session = await shop.session(id)
    await shop.change('cancelOrder', { id })
    expect(await shop.seen(session.id)).toMatchObject({ status: 'CLOSED' })
    await shop.soon(async () => (await shop.visit(session.url, {}))[0]).toBe(410)
  })
})
