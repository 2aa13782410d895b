import { describe, expect, it } from 'vitest'
import { runTransaction } from '../../../../subgraphs/payments/engines/payment/run.ts'
import type { Answer } from '../../../kit/answer.ts'
import { person } from '../../../kit/viewers.ts'
import { seedMembership } from '../../identity/membership/seed.ts'
import { seedPerson } from '../../identity/user/seed.ts'
import { openTales, type Tales } from '../events/story.ts'

// Several want the same thing at one moment, each by its own connection to the database: one has its way, and each other is told what the contract says.

const times = <Result>(count: number, work: (at: number) => Promise<Result>) => Promise.all(Array.from({ length: count }, (_, at) => work(at)))
const reasonsOf = (answers: readonly Answer[]) => [
  ...new Set(answers.flatMap(({ error }) => (error ? [`${error.extensions.code} ${error.extensions.reason}`] : []))),
]
const doneOf = (answers: readonly Answer[]) => answers.filter(({ error }) => !error)

/** Everything that was booked for an order, and that the processor did once. */
async function expectOnce({ shop }: Tales, orderId: string, { captured, refunded = 0 }: { captured: number; refunded?: number }): Promise<void> {
  const { captured: taken, refunded: back } = await shop.read(orderId)
  expect([taken.amountMinor, back.amountMinor]).toEqual([captured, refunded])
  expect([await shop.booked(orderId, 'processor'), await shop.booked(orderId, 'merchant')]).toEqual([captured - refunded, refunded - captured])
}

/** The one event of a type that the processor has made. */
const eventOf = async ({ events }: Tales, wanted: string, about: string) =>
  (await events.made()).find(({ type, data }) => type === wanted && JSON.stringify(data).includes(about))!

describe('one key', () => {
  it('in fifty requests at once, half of them with another amount, makes one refund: who asked for another amount is told that the key is used', async () => {
    await using world = await openTales()
    const { shop } = world
    const { id: orderId } = await shop.paid(1000)
    const amounts = [10, 11]
    const answers = await times(50, at =>
      shop.ask('refundOrder', { orderId, amountMinor: amounts[at % 2], reason: 'OTHER', idempotencyKey: 'k' }, shop.owner, 'id amount { amountMinor }'),
    )
    const made = doneOf(answers).map(answer => answer.data().refundOrder)
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(made).toHaveLength(25)
    expect(reasonsOf(answers)).toEqual(['CONFLICT KEY_REUSED'])
    expect(await shop.received(orderId, 'refunds')).toHaveLength(1)
    await expectOnce(world, orderId, { captured: 1000, refunded: made[0].amount.amountMinor })
  })

  it('in fifty payments at once, half of them with another card, takes the money once', async () => {
    await using world = await openTales()
    const { shop } = world
    const { id: orderId } = await shop.order()
    const cards = ['pm_card_visa', 'pm_card_mastercard']
    const answers = await times(50, at => shop.ask('payOrder', { orderId, paymentMethodToken: cards[at % 2], idempotencyKey: 'k' }))
    expect(doneOf(answers)).toHaveLength(25)
    expect(reasonsOf(answers)).toEqual(['CONFLICT KEY_REUSED'])
    expect(await shop.received(orderId, 'payment_intents')).toHaveLength(1)
    await expectOnce(world, orderId, { captured: 1000 })
  })
})

describe('a refund that waits', () => {
  it('has one end when one approves, one rejects, and the processor gives its money back at the same moment', async () => {
    await using world = await openTales()
    const { shop } = world
    const { id: userId } = await seedPerson(shop.graph, 'Second')
    await seedMembership(shop.graph, { organizationId: shop.organizationId, userId, role: 'owner' })
    const second = person(userId, shop.organizationId, ['owner'])
    for (let round = 0; round < 4; round += 1) {
      const order = await shop.paid(300_000)
      const { id } = await shop.change('refundOrder', { orderId: order.id, amountMinor: 200_000, reason: 'OTHER' }, shop.owner, 'id')
      await world.events.act('/refunds', { payment_intent: order.transactions.nodes[0].processorId, amount: '150000' })
      await world.receive(await eventOf(world, 'refund.created', order.transactions.nodes[0].processorId))
      const [approved, rejected] = await Promise.all([
        shop.ask('approveRefund', { id }, second, 'status'),
        shop.ask('rejectRefund', { id }, second, 'status'),
        world.look(),
      ])
      expect(doneOf([approved, rejected]).length).toBeLessThanOrEqual(1)
      for (const reason of reasonsOf([approved, rejected])) expect(reason).toBe('CONFLICT ILLEGAL_MOVE')
      for (let pass = 0; pass < 8; pass += 1) {
        await shop.graph.clock.advance(40_000)
        await world.look()
      }
      const { refunded, refundable } = await shop.read(order.id)
      const [{ data }] = [await world.events.at('/refunds?limit=100')]
      const there = data.flatMap((each: { payment_intent: string; status: string; amount: number }) =>
        each.payment_intent === order.transactions.nodes[0].processorId && each.status === 'succeeded' ? [each.amount] : [],
      )
      expect(there).toEqual([150_000])
      expect([refunded.amountMinor, refundable.amountMinor]).toEqual([150_000, 150_000])
      await expectOnce(world, order.id, { captured: 300_000, refunded: 150_000 })
    }
  })
})

describe('an event of the processor and the answer to our own call', () => {
  it('book a payment once, whichever is written first', async () => {
    await using world = await openTales()
    const { shop } = world
    const orders = await times(6, () => shop.order())
    for (const { id } of orders) {
      await shop.arm('status-after-accept', { status: 503 })
      expect(await shop.pay(id)).toMatchObject({ paymentPhase: 'UNKNOWN' })
    }
    for (const { id } of orders) await world.receive(await eventOf(world, 'payment_intent.succeeded', id))
    const [first] = orders
    // The repeated calls are due, and the events are here: both are taken at once.
    await shop.graph.clock.advance(6_000)
    await Promise.all([world.look(), ...orders.map(({ id }) => repeat(world, id))])
    for (const { id } of orders) {
      expect(await shop.read(id)).toMatchObject({ status: 'PAID', paymentPhase: 'NONE' })
      await expectOnce(world, id, { captured: 1000 })
      expect((await shop.facts()).filter(({ kind, body }) => kind === 'order.paid' && body.orderId === id)).toHaveLength(1)
    }
    expect(await shop.graph.rows(`select status, reason from payments.webhook_events where status not in ('PROCESSED', 'IGNORED')`)).toEqual([])
    expect(await shop.received(first!.id, 'payment_intents')).toHaveLength(1)
  })

  it('book a payment once when the event comes while the call is under way', async () => {
    await using world = await openTales()
    const { shop } = world
    const { id } = await shop.order()
    await shop.arm('slow', { delayMs: 1_500 })
    const paying = shop.pay(id)
    await expect.poll(async () => (await world.events.made()).some(({ type }) => type === 'payment_intent.succeeded')).toBe(true)
    await world.receive(await eventOf(world, 'payment_intent.succeeded', id))
    await world.look()
    expect(await shop.read(id), 'by the event alone').toMatchObject({ status: 'PAID' })
    expect(await paying).toMatchObject({ status: 'PAID', paymentPhase: 'NONE' })
    await expectOnce(world, id, { captured: 1000 })
  })

  it('book a refund once, whichever is written first', async () => {
    await using world = await openTales()
    const { shop } = world
    const { id } = await shop.paid(1000)
    await shop.arm('status-after-accept', { status: 503 })
    await shop.change('refundOrder', { orderId: id, amountMinor: 400, reason: 'OTHER' }, shop.owner, 'id')
    await world.receive(await eventOf(world, 'refund.created', id))
    await shop.graph.clock.advance(6_000)
    await Promise.all([world.look(), repeat(world, id), repeat(world, id)])
    await expectOnce(world, id, { captured: 1000, refunded: 400 })
    expect(await shop.received(id, 'refunds')).toHaveLength(1)
  })
})

/** What the janitor does with the open transactions of an order, as another process does it at the same moment. */
async function repeat({ shop }: Tales, orderId: string): Promise<void> {
  const open = await shop.graph.rows<{ id: string }>(`select id from payments.transactions where order_id = $1 and status in ('PENDING', 'UNKNOWN')`, [orderId])
  await Promise.all(open.map(({ id }) => runTransaction(shop.graph.platform.payments.job('another'), id, false)))
}

describe('an order with an invoice', () => {
  it('is paid, or its invoice is noted as paid or given up: one of the three', async () => {
    await using world = await openTales()
    const { shop, customerId } = world
    for (let round = 0; round < 4; round += 1) {
      const { id: orderId } = await shop.order()
      const { id } = await shop.change('createInvoice', { customerId, orderId }, shop.owner, 'id')
      await shop.change('finalizeInvoice', { id, send: false }, shop.owner, 'id')
      const answers = await Promise.all([
        shop.ask('payOrder', { orderId, paymentMethodToken: 'pm_card_visa' }),
        shop.ask('markInvoicePaid', { id }, shop.owner, 'id'),
        shop.ask('voidInvoice', { id }, shop.owner, 'id'),
      ])
      expect(doneOf(answers)).toHaveLength(1)
      for (const reason of reasonsOf(answers)) expect(reason).toBeOneOf(['CONFLICT ILLEGAL_MOVE', 'CONFLICT OUTCOME_UNKNOWN'])
      const [paid, marked] = answers as [Answer, Answer, Answer]
      const [invoice] = await shop.graph.rows<{ status: string }>('select status from payments.invoices where id = $1', [id])
      expect(invoice!.status).toBe(paid.error && marked.error ? 'VOID' : 'PAID')
      expect((await shop.read(orderId)).status).toBe(paid.error ? 'CANCELLED' : 'PAID')
      await expectOnce(world, orderId, { captured: paid.error ? 0 : 1000 })
    }
  })
})

describe('a dispute and a refund', () => {
  it('at one moment leave no more with the payer than was paid', async () => {
    await using world = await openTales()
    const { shop } = world
    for (let round = 0; round < 4; round += 1) {
      const order = await shop.paid(1000)
      const paymentId = order.transactions.nodes[0].processorId
      await world.emit('charge.dispute.created', paymentId)
      await world.receive(await eventOf(world, 'charge.dispute.created', paymentId))
      const [answer] = await Promise.all([
        shop.ask('refundOrder', { orderId: order.id, amountMinor: 300, reason: 'OTHER' }, shop.owner, 'status'),
        world.look(),
      ])
      // The processor gives nothing back of what is disputed.
      if (answer.error) expect(answer.error.extensions.reason).toBe('DISPUTED')
      else expect(answer.data().refundOrder.status).toBe('FAILED')
      expect(await shop.read(order.id)).toMatchObject({ status: 'PAID', refunded: { amountMinor: 0 }, refundable: { amountMinor: 0 } })
      expect([await shop.booked(order.id, 'processor'), await shop.booked(order.id, 'disputes')]).toEqual([0, 1000])
    }
  })
})
