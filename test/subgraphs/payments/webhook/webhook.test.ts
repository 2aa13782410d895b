import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { dies } from '../../../kit/dies.ts'
import { until } from '../../../kit/launch.ts'
import { eventsOf } from '../events/stage.ts'
import { seedCustomer } from '../parties/customer/seed.ts'
import { openShop } from '../payment/stage.ts'
import { batchOf, openSettlement } from '../settlement/stage.ts'

// biome-ignore lint/suspicious/noExplicitAny: a request has the shape that the sandbox keeps
type Any = any

/** A shop with an address of the sandbox that receives events. */
async function open(events: readonly string[], options?: Parameters<typeof openShop>[0]) {
  const shop = await openShop(options)
  const url = `${shop.graph.x.origin}/hooks/shop`
  const { webhook, secret } = await shop.change('createPaymentWebhook', { url, events }, shop.owner, 'secret webhook { id version }')
  const received = async (): Promise<Any[]> => {
    const answer = await fetch(`${shop.graph.x.origin}/_control/received?network=hooks`)
    return ((await answer.json()) as Any[]).map(item => ({ ...item, event: JSON.parse(item.body) }))
  }
  /** What has arrived once it is so much; nothing more is on its way then. */
  const arrived = async (count: number): Promise<Any[]> =>
    until(`${count} events have arrived`, async () => {
      await shop.pass(1_000)
      const found = await received()
      const [waiting] = await shop.graph.rows<{ left: number }>(`select count(*)::int as left from payments.webhook_deliveries where status = 'PENDING'`)
      return waiting!.left === 0 && found.length >= count && found
    })
  const deliveries = async () =>
    (
      await shop.graph.execute(
        'query($id: ID!) { paymentWebhook(id: $id) { active disabledReason deliveries { nodes { id event entityId attempts status responseStatus } } } }',
        { id: webhook.id },
        { as: shop.owner },
      )
    ).data().paymentWebhook
  return Object.assign(shop, { webhook, secret, arrived, received, deliveries, events: eventsOf(shop.graph) })
}
const isSignedBy = (item: Any, secret: string): boolean => {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = item.headers
  return signatures.split(' ').includes(new Webhook(secret).sign(id, new Date(Number(time) * 1000), item.body))
}

const examples = JSON.parse(readFileSync('schema/rest-examples.json', 'utf8')) as Readonly<Record<string, { readonly body: object }>>
const keysOf = (record: object): readonly string[] => Object.keys(record).sort()
/** The fields that a REST route answers with, as its recorded example has them. */
const shownAt = (route: string): readonly string[] => keysOf(examples[route]!.body)

describe('a webhook', () => {
  it('gets order.paid signed, with the order as it was paid, under one id after a failure', async () => {
    await using shop = await open(['order.paid'])
    await fetch(`${shop.graph.x.origin}/_control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ network: 'hooks', fault: 'status', status: 500, times: 1 }),
    })
    const { id } = await shop.paid(2_300)
    const [item, ...more] = await shop.arrived(1)
    expect(more).toEqual([])
    expect(item.event).toMatchObject({ type: 'order.paid', data: { id, status: 'paid', captured: { amountMinor: 2_300, currency: 'EUR' }, version: 3 } })
    expect(isSignedBy(item, shop.secret)).toBe(true)
    expect((await shop.deliveries()).deliveries.nodes).toMatchObject([
      { id: item.headers['webhook-id'], event: 'order.paid', entityId: id, attempts: 2, status: 'DELIVERED', responseStatus: 204 },
    ])
  })

  it('gets invoice.paid, with the invoice as REST shows it, when its order is paid', async () => {
    await using shop = await open(['invoice.paid'])
    const { id: customerId } = await seedCustomer(shop.graph, { organizationId: shop.organizationId, name: 'Ada', email: 'ada@example.com' })
    const lines = [{ name: 'Ticket', unitAmountMinor: 1000 }]
    const draft = await shop.change('createInvoice', { customerId, currency: 'EUR', lines }, shop.owner, 'id')
    const { orderId } = await shop.change('finalizeInvoice', { id: draft.id }, shop.owner, 'orderId')
    await shop.pay(orderId, { paymentMethodToken: 'pm_card_visa' })
    const [{ event }] = await shop.arrived(1)
    expect(event.data).toMatchObject({ id: draft.id, status: 'paid', orderId, customerId, amountDue: { amountMinor: 0, currency: 'EUR' }, paymentUrl: null })
    expect(event.data.mails.map(({ kind }: Any) => kind).sort()).toEqual(['invoice', 'receipt'])
    expect(keysOf(event.data)).toEqual(shownAt('GET /payments/api/invoices/:id'))
  })

  it('gets settlement_batch.settled once, with the batch as REST shows it', async () => {
    await using settlement = await openSettlement()
    const { shop } = settlement
    const url = `${shop.graph.x.origin}/hooks/settled`
    await shop.change('createPaymentWebhook', { url, events: ['settlement_batch.settled'] }, shop.owner, 'secret')
    const { id } = (await settlement.submit(batchOf([1200, 3400]))).data().submitSettlementBatch
    await settlement.settled(id, 'SETTLED')
    const told = await until('the event has arrived', async () => {
      await shop.pass(1_000)
      const all = (await (await fetch(`${shop.graph.x.origin}/_control/received?network=hooks`)).json()) as Any[]
      return all.length > 0 && all.map(({ body }) => JSON.parse(body))
    })
    expect(told).toMatchObject([{ type: 'settlement_batch.settled', data: { id, status: 'settled', settledTotal: { amountMinor: 4600, currency: 'EUR' } } }])
    expect(keysOf(told[0].data)).toEqual(shownAt('GET /payments/api/settlement-batches/:id'))
  })

  it('gets orders and refunds with the fields that REST shows', async () => {
    await using shop = await open(['order.paid', 'order.refunded'])
    const { id } = await shop.paid(2_300)
    await shop.change('refundOrder', { orderId: id, amountMinor: 300, reason: 'OTHER' }, shop.owner, 'id')
    const events = (await shop.arrived(2)).map(({ event }) => event)
    const dataOf = (type: string) => events.find(event => event.type === type).data
    expect(keysOf(dataOf('order.paid'))).toEqual(shownAt('GET /payments/api/orders/:id'))
    expect(keysOf(dataOf('order.refunded'))).toEqual([...shownAt('GET /payments/api/orders/:id'), 'refundId'].sort())
  })

  it('gets each decline and each refund, and no event that it does not subscribe to', async () => {
    await using shop = await open(['order.failed', 'order.refunded', 'refund.failed'])
    const order = await shop.pay((await shop.order()).id, { paymentMethodToken: 'pm_card_refundFail' })
    const refund = await shop.change('refundOrder', { orderId: order.id, amountMinor: 300, reason: 'OTHER' }, shop.owner, 'id')
    const declined = await shop.pay((await shop.order()).id, { paymentMethodToken: 'pm_card_chargeDeclined' })
    await shop.pass(3_000)
    const event = await until('the refund has failed', async () => (await shop.events.made()).find(({ type }) => type === 'refund.failed'))
    await shop.events.take(event)
    const seen = (await shop.arrived(3)).map(({ event: { type, data } }) => [type, data.id, data.status, data.refundId])
    expect(new Set(seen)).toEqual(
      new Set([
        ['order.refunded', order.id, 'partially_refunded', refund.id],
        ['order.failed', declined.id, 'failed', undefined],
        ['refund.failed', refund.id, 'failed', undefined],
      ]),
    )
  })

  it('is signed by both secrets after a rotation, and gets a redelivery under its id', async () => {
    await using shop = await open(['order.paid'])
    const rotated = await shop.change('rotatePaymentWebhookSecret', { id: shop.webhook.id }, shop.owner, 'secret webhook { version }')
    const tested = await shop.change('testPaymentWebhook', { id: shop.webhook.id }, shop.owner, 'id event status')
    expect(tested).toMatchObject({ event: 'webhook.test', status: 'PENDING' })
    const [item] = await shop.arrived(1)
    expect([isSignedBy(item, shop.secret), isSignedBy(item, rotated.secret)]).toEqual([true, true])
    await shop.change('redeliverPaymentWebhook', { id: tested.id }, shop.owner, 'id')
    expect((await shop.arrived(2)).map(each => each.headers['webhook-id'])).toEqual([tested.id, tested.id])
  })

  it.each([
    ['webhook-claimed', 1],
    ['webhook-answered', 2],
  ])('gets the event of a payment under one id when a process dies at %s', async (point, requests) => {
    await using shop = await open(['order.paid'])
    const { outgoing } = shop.graph.platform.payments.job('webhooks')
    let id = ''
    // Tries run beside the sweep, and what they die of is logged.
    await dies(point, async () => {
      id = (await shop.paid()).id
      await outgoing.sweep.run()
      await outgoing.ended()
    })
    const [{ id: deliveryId }] = (await shop.deliveries()).deliveries.nodes
    expect((await shop.deliveries()).deliveries.nodes).toMatchObject([{ status: 'PENDING', attempts: 1 }])
    await shop.graph.clock.advance(33_000)
    const items = await shop.arrived(requests)
    expect(items.map(({ headers, event }) => [headers['webhook-id'], event.data.id])).toEqual(Array(requests).fill([deliveryId, id]))
    expect((await shop.deliveries()).deliveries.nodes).toMatchObject([{ id: deliveryId, status: 'DELIVERED', attempts: 2 }])
  })

  it('is given up when its address answers 410', async () => {
    await using shop = await open(['order.paid'])
    await fetch(`${shop.graph.x.origin}/_control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ network: 'hooks', fault: 'status', status: 410, times: 1 }),
    })
    await shop.paid()
    await shop.arrived(0)
    expect(await shop.deliveries()).toMatchObject({
      active: false,
      disabledReason: expect.stringContaining('410'),
      deliveries: { nodes: [{ status: 'FAILED' }] },
    })
    expect((await shop.ask('testPaymentWebhook', { id: shop.webhook.id }, shop.owner, 'id')).refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
  })

  it.each([
    ['url', { url: 'http://127.0.0.1:9/hook', events: ['order.paid'] }],
    ['url', { url: 'ftp://example.com', events: ['order.paid'] }],
    ['events', { url: 'https://example.com/hook', events: ['order.eaten'] }],
    ['events', { url: 'https://example.com/hook', events: [] }],
  ])('is refused with the field %s for %j', async (field, input) => {
    await using shop = await openShop()
    expect((await shop.ask('createPaymentWebhook', input, shop.owner, 'secret')).refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })

  it('is refused as the twenty-first of an organization', async () => {
    await using shop = await openShop()
    const input = { url: 'https://example.com/hook', events: ['order.paid'] }
    for (let count = 0; count < 20; count += 1) await shop.change('createPaymentWebhook', input, shop.owner, 'secret')
    expect((await shop.ask('createPaymentWebhook', input, shop.owner, 'secret')).error?.extensions.code).toBe('CONFLICT')
  })

  it('shows its secret once, also when its key is repeated', async () => {
    await using shop = await openShop()
    const input = { url: 'https://example.com/hook', events: ['order.paid'], idempotencyKey: 'k' }
    const [first, second] = [
      await shop.change('createPaymentWebhook', input, shop.owner, 'secret webhook { id }'),
      await shop.change('createPaymentWebhook', input, shop.owner, 'secret webhook { id }'),
    ]
    expect(first.secret).toMatch(/^whsec_/)
    expect(second).toEqual({ secret: null, webhook: first.webhook })
  })
})
