import { describe, expect, it } from 'vitest'
import { until } from '../../../kit/launch.ts'
import { openShop, type Shop } from '../payment/stage.ts'
import { eventsOf } from './stage.ts'

const open = async () => {
  const shop = await openShop()
  return Object.assign(shop, { events: eventsOf(shop.graph) })
}
const euros = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
const paymentOf = (order: { transactions: { nodes: { processorId: string }[] } }) => order.transactions.nodes.at(-1)!.processorId
const statuses = (order: { transactions: { nodes: { type: string; status: string }[] } }) => order.transactions.nodes.map(each => `${each.type} ${each.status}`)
const refunds = async (shop: Shop, id: string) =>
  (
    await shop.graph.execute('query($id: ID!) { order(id: $id) { refunds { status origin reason amount { amountMinor } } } }', { id }, { as: shop.owner })
  ).data().order.refunds
const balanced = async (shop: Shop, id: string) => [await shop.booked(id, 'processor'), await shop.booked(id, 'merchant')]

describe('a payment whose answer is lost', () => {
  it('is booked once by its event, and the answer of the repeated call changes nothing', async () => {
    await using shop = await open()
    const { id } = await shop.order()
    await shop.arm('status-after-accept', { status: 503 })
    expect(await shop.pay(id)).toMatchObject({ paymentPhase: 'UNKNOWN' })
    const [event] = (await shop.events.made()).filter(({ type }) => type === 'payment_intent.succeeded')
    expect(await shop.events.take(event!)).toMatchObject({ status: 'PROCESSED', organization_id: shop.organizationId, order_id: id })
    expect(await shop.read(id)).toMatchObject({ status: 'PAID', paymentPhase: 'NONE', captured: euros(1000) })
    await shop.pass(60_000)
    expect(await shop.read(id)).toMatchObject({ status: 'PAID', captured: euros(1000) })
    expect(await balanced(shop, id)).toEqual([1000, -1000])
    expect((await shop.facts()).filter(({ kind }) => kind === 'order.paid')).toHaveLength(1)
  })

  it('fails with the reason of the decline that its event tells', async () => {
    await using shop = await open()
    const { id } = await shop.order()
    await shop.arm('status-after-accept', { status: 503 })
    await shop.pay(id, { paymentMethodToken: 'pm_card_chargeDeclinedInsufficientFunds' })
    const [event] = (await shop.events.made()).filter(({ type }) => type === 'payment_intent.payment_failed')
    expect(await shop.events.take(event!)).toMatchObject({ status: 'PROCESSED' })
    expect(await shop.read(id)).toMatchObject({ status: 'FAILED', failure: { code: 'INSUFFICIENT_FUNDS' } })
  })
})

describe('an event that comes late', () => {
  it('is STALE when the payment has got further, and changes nothing', async () => {
    await using shop = await open()
    const order = await shop.paid()
    const object = { id: paymentOf(order), object: 'payment_intent', status: 'requires_payment_method', metadata: { order_id: order.id } }
    const hourAgo = Math.floor(shop.graph.clock.now().getTime() / 1000) - 3_600
    const event = shop.events.event('payment_intent.payment_failed', object, { created: hourAgo })
    expect(await shop.events.take(event)).toMatchObject({ status: 'IGNORED', reason: 'STALE' })
    expect(await shop.read(order.id)).toMatchObject({ status: 'PAID' })
  })

  it('is STALE within the same second when it would lead backwards', async () => {
    await using shop = await open()
    const order = await shop.paid()
    const object = { id: paymentOf(order), object: 'payment_intent', status: 'requires_payment_method', metadata: { order_id: order.id } }
    expect(await shop.events.take(shop.events.event('payment_intent.payment_failed', object))).toMatchObject({ status: 'IGNORED', reason: 'STALE' })
    expect(await shop.read(order.id)).toMatchObject({ status: 'PAID' })
  })
})

describe('what is done at the processor itself', () => {
  it('takes in a capture of a part', async () => {
    await using shop = await open()
    const order = await shop.pay((await shop.order()).id, { capture: false })
    await shop.pass(2_000)
    await shop.events.act(`/payment_intents/${paymentOf(order)}/capture`, { amount_to_capture: '400' })
    const [event] = (await shop.events.made()).filter(({ type }) => type === 'payment_intent.succeeded')
    expect(await shop.events.take(event!)).toMatchObject({ status: 'PROCESSED' })
    const after = await shop.read(order.id)
    expect(after).toMatchObject({ status: 'PAID', captured: euros(400) })
    expect(statuses(after)).toEqual(['CAPTURE SUCCEEDED', 'AUTHORIZE SUCCEEDED'])
    expect(await balanced(shop, order.id)).toEqual([400, -400])
  })

  it('takes in a release', async () => {
    await using shop = await open()
    const order = await shop.pay((await shop.order()).id, { capture: false })
    await shop.events.act(`/payment_intents/${paymentOf(order)}/cancel`)
    const [event] = (await shop.events.made()).filter(({ type }) => type === 'payment_intent.canceled')
    expect(await shop.events.take(event!)).toMatchObject({ status: 'PROCESSED' })
    expect(await shop.read(order.id)).toMatchObject({ status: 'DRAFT', paymentPhase: 'NONE' })
  })

  it('takes in a refund once, whichever of its events comes first', async () => {
    await using shop = await open()
    const order = await shop.paid()
    await shop.pass(2_000)
    await shop.events.act('/refunds', { payment_intent: paymentOf(order), amount: '300', reason: 'duplicate' })
    const [event] = (await shop.events.made()).filter(({ type }) => type === 'refund.created')
    await shop.events.take(event!)
    await shop.events.take({ ...event!, id: 'evt_the_same_by_another_name' })
    expect(await shop.read(order.id)).toMatchObject({ status: 'PARTIALLY_REFUNDED', refunded: euros(300), refundable: euros(700) })
    expect(await refunds(shop, order.id)).toEqual([{ status: 'SUCCEEDED', origin: 'PROCESSOR', reason: 'DUPLICATE', amount: { amountMinor: 300 } }])
    expect(await balanced(shop, order.id)).toEqual([700, -700])
  })

  it('frees what refunds hold that wait for approval when the processor has given back more than is left', async () => {
    await using shop = await open()
    const order = await shop.paid(300_000)
    await shop.change('refundOrder', { orderId: order.id, amountMinor: 200_000, reason: 'OTHER' }, shop.owner, 'id')
    await shop.events.act('/refunds', { payment_intent: paymentOf(order), amount: '250000' })
    const [event] = (await shop.events.made()).filter(({ type }) => type === 'refund.created')
    expect(await shop.events.take(event!)).toMatchObject({ status: 'PROCESSED' })
    expect(await shop.read(order.id)).toMatchObject({ refunded: euros(250_000), refundable: euros(50_000) })
    expect((await refunds(shop, order.id)).map(({ status }: { status: string }) => status).sort()).toEqual(['FAILED', 'SUCCEEDED'])
    const attention = (await shop.facts()).filter(({ kind }) => kind.startsWith('attention.')).map(({ kind }) => kind)
    expect(attention).toEqual(['attention.opened', 'attention.closed'])
  })
})

describe('a refund that fails after it succeeded', () => {
  it('books its money back, and may be tried again', async () => {
    await using shop = await open()
    const order = await shop.pay((await shop.order()).id, { paymentMethodToken: 'pm_card_refundFail' })
    await shop.change('refundOrder', { orderId: order.id, amountMinor: 300, reason: 'OTHER' }, shop.owner, 'id status')
    expect(await shop.read(order.id)).toMatchObject({ status: 'PARTIALLY_REFUNDED' })
    await shop.pass(3_000)
    const event = await until('the refund has failed', async () => (await shop.events.made()).find(({ type }) => type === 'refund.failed'))
    expect(await shop.events.take(event)).toMatchObject({ status: 'PROCESSED' })
    expect(await shop.events.take({ ...event, id: 'evt_again' })).toMatchObject({ status: 'PROCESSED' })
    expect(await shop.read(order.id)).toMatchObject({ status: 'PAID', refunded: euros(0), refundable: euros(1000) })
    expect(await balanced(shop, order.id)).toEqual([1000, -1000])
  })

  it('books its money back when its answer was lost and all its events come at once', async () => {
    await using shop = await open()
    const order = await shop.paid()
    for (let count = 0; count < 8; count += 1) {
      await shop.arm('status-after-accept', { status: 503 })
      await shop.change('refundOrder', { orderId: order.id, amountMinor: 10, reason: 'OTHER' }, shop.owner, 'id')
    }
    for (const { id } of (await shop.events.at('/refunds?limit=100')).data) await shop.events.emit('refund.failed', id)
    const events = (await shop.events.made()).filter(({ type }) => type.startsWith('refund.'))
    expect(events).toHaveLength(16)
    // One round takes them all, in no order.
    for (const event of events) await shop.events.deliver(event)
    for (const event of events) await shop.events.tried(event, 1)
    expect(await shop.read(order.id)).toMatchObject({ status: 'PAID', refunded: euros(0), refundable: euros(1000) })
    expect(await balanced(shop, order.id)).toEqual([1000, -1000])
  })

  it('needs no room of its order where it was made at the processor and failed there', async () => {
    await using shop = await open()
    const order = await shop.paid()
    await shop.events.act('/refunds', { payment_intent: paymentOf(order), amount: '700' })
    const [made] = (await shop.events.at('/refunds?limit=100')).data
    await shop.events.emit('refund.failed', made.id)
    await shop.change('refundOrder', { orderId: order.id, amountMinor: 600, reason: 'OTHER' }, shop.owner, 'id')
    const events = (await shop.events.made()).filter(({ type, data }) => type.startsWith('refund.') && data.object.id === made.id)
    const failed = events.find(({ type }) => type === 'refund.failed')!
    expect(await shop.events.take(failed)).toMatchObject({ status: 'PROCESSED' })
    expect(await shop.events.take(events.find(({ type }) => type === 'refund.created')!)).toMatchObject({ status: 'IGNORED', reason: 'STALE' })
    expect(await shop.read(order.id)).toMatchObject({ refunded: euros(600), refundable: euros(400) })
    expect(await balanced(shop, order.id)).toEqual([400, -400])
  })
})

describe('an event whose record is not here yet', () => {
  it('is tried again by its schedule, is DEAD at last and tells managers, until a person replays it', async () => {
    await using shop = await open()
    const { id } = await shop.order()
    const object = { id: 'pi_of_a_session', object: 'payment_intent', status: 'succeeded', metadata: { order_id: id } }
    const event = shop.events.event('payment_intent.succeeded', object)
    expect(await shop.events.take(event)).toMatchObject({ status: 'FAILED', attempts: 1, organization_id: shop.organizationId })
    for (const [index, pause] of [5, 30, 120, 600, 1_800, 3_600, 10_800].entries()) {
      await shop.graph.clock.advance(pause * 1000)
      expect(await shop.events.tried(event, index + 2)).toMatchObject({ status: index === 6 ? 'DEAD' : 'FAILED' })
    }
    const dead = await shop.events.kept(event)
    expect(await shop.facts()).toContainEqual({ kind: 'attention.opened', body: expect.objectContaining({ kind: 'WEBHOOK_DEAD', subjectId: dead.id }) })
    const replayed = await shop.change('replayWebhookEvent', { id: dead.id }, shop.owner, 'id status attempts')
    expect(replayed).toEqual({ id: dead.id, status: 'RECEIVED', attempts: 0 })
    expect((await shop.facts()).at(-1)).toMatchObject({ kind: 'attention.closed' })
    expect(await shop.events.tried(event, 1)).toMatchObject({ status: 'FAILED' })
    const audit = (await shop.graph.execute('{ paymentAuditLog(action: "replayWebhookEvent") { nodes { entityId } } }', {}, { as: shop.owner })).data()
    expect(audit.paymentAuditLog.nodes).toEqual([{ entityId: dead.id }])
  })

  it('cannot be replayed once it is PROCESSED', async () => {
    await using shop = await open()
    const order = await shop.paid()
    const [event] = (await shop.events.made()).filter(({ type }) => type === 'payment_intent.succeeded')
    const { id } = await shop.events.take(event!)
    expect(await shop.read(order.id)).toMatchObject({ captured: euros(1000) })
    expect((await shop.ask('replayWebhookEvent', { id }, shop.owner, 'id')).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
  })
})
