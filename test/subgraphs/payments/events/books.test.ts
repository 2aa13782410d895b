import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { until } from '../../../kit/launch.ts'
import { openShop } from '../payment/stage.ts'
import { eventsOf, type SentEvent, signatureOf } from './stage.ts'

// biome-ignore lint/suspicious/noExplicitAny: an object of the processor has the shape that it gives it
type Any = any

const open = async () => {
  const shop = await openShop()
  return Object.assign(shop, { events: eventsOf(shop.graph) })
}
type Shop = Awaited<ReturnType<typeof open>>

const paymentOf = (order: Any): string => order.transactions.nodes.at(-1).processorId

/** What may become of an order of 10.00 EUR, here and at the processor itself. */
const stories = {
  async paid(shop: Shop, id: string) {
    await shop.pay(id)
  },
  async answerLost(shop: Shop, id: string) {
    await shop.arm('status-after-accept', { status: 503 })
    await shop.pay(id)
  },
  async declinedAndLost(shop: Shop, id: string) {
    await shop.arm('status-after-accept', { status: 503 })
    await shop.pay(id, { paymentMethodToken: 'pm_card_chargeDeclined' })
  },
  async capturedThere(shop: Shop, id: string) {
    const order = await shop.pay(id, { capture: false })
    await shop.events.act(`/payment_intents/${paymentOf(order)}/capture`, { amount_to_capture: '600' })
  },
  async releasedThere(shop: Shop, id: string) {
    const order = await shop.pay(id, { capture: false })
    await shop.events.act(`/payment_intents/${paymentOf(order)}/cancel`)
  },
  async refundedThereAndHere(shop: Shop, id: string) {
    const order = await shop.pay(id)
    await shop.events.act('/refunds', { payment_intent: paymentOf(order), amount: '300' })
    await shop.change('refundOrder', { orderId: id, amountMinor: 200, reason: 'OTHER' }, shop.owner, 'id')
  },
  async refundFails(shop: Shop, id: string) {
    await shop.pay(id, { paymentMethodToken: 'pm_card_refundFail' })
    await shop.change('refundOrder', { orderId: id, amountMinor: 400, reason: 'OTHER' }, shop.owner, 'id')
  },
  async disputed(shop: Shop, id: string) {
    await shop.pay(id, { paymentMethodToken: 'pm_card_createDispute' })
  },
} as const
const names = Object.keys(stories) as (keyof typeof stories)[]

/** The processor's own figures of an order. */
async function figuresAt({ events }: Shop, id: string) {
  const all = async (path: string): Promise<Any[]> => (await events.at(`${path}?limit=100`)).data
  const [intent] = (await all('/payment_intents')).filter(({ metadata }) => metadata.order_id === id)
  const refunds = (await all('/refunds')).filter(each => each.payment_intent === intent.id && each.status === 'succeeded')
  const charge = intent.latest_charge && (await events.at(`/charges/${intent.latest_charge}`))
  return {
    captured: intent.amount_received as number,
    refunded: refunds.reduce((sum, { amount }) => sum + amount, 0) as number,
    disputed: (charge?.disputed ? charge.amount_captured : 0) as number,
  }
}

describe('events of the processor', () => {
  it('leave the same books as the processor has, however often, in whatever order and with whatever forgeries they come', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...names), { minLength: 3, maxLength: 5 }), fc.infiniteStream(fc.nat(1_000)), async (chosen, random) => {
        await using shop = await open()
        const ids: string[] = []
        for (const name of chosen) {
          const { id } = await shop.order()
          ids.push(id)
          await stories[name](shop, id)
          await shop.graph.clock.advance(1_000)
        }
        await shop.graph.clock.advance(3_000)
        // What happens by itself at the processor has happened once it stands in its list.
        const failing = chosen.filter(name => name === 'refundFails').length
        const made = await until('refunds have failed', async () => {
          const found = await shop.events.made()
          return found.filter(({ type }) => type === 'refund.failed').length >= failing && found
        })
        const draw = () => random.next().value as number
        const copies = made.flatMap(event => Array.from({ length: 1 + (draw() % 3) }, () => [draw(), event] as const))
        const order = [...copies].sort(([one], [other]) => one - other).map(([, event]) => event)
        for (const event of order) {
          const forged: SentEvent = {
            ...event,
            id: `${event.id}_forged`,
            data: { object: { ...event.data.object, amount: 1, amount_received: 1, status: 'succeeded' } },
          }
          const refusal = shop.events.deliver(forged, { signature: signatureOf(JSON.stringify(event), shop.graph.clock.now()) })
          await expect(refusal).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
          expect((await shop.events.deliver(event)).status).toBe(200)
          if (draw() % 4 === 0) await shop.pass(1_000)
        }
        await until('every event is over', async () => {
          await shop.pass(10_000)
          const [left] = await shop.graph.rows<{ count: number }>(
            `select count(*)::int as count from payments.webhook_events where next_attempt_at is not null`,
          )
          return left!.count === 0
        })
        for (const [index, id] of ids.entries()) {
          const { captured, refunded, disputed } = await figuresAt(shop, id)
          const known = await until(`${chosen[index]} is concluded`, async () => {
            const found = await shop.read(id)
            if (found.paymentPhase === 'NONE') return found
            await shop.pass(10_000)
          })
          const [kept] = await shop.graph.rows<{ disputed: number }>('select disputed_minor::int as disputed from payments.orders where id = $1', [id])
          const ours = { captured: known.captured.amountMinor, refunded: known.refunded.amountMinor, disputed: kept!.disputed }
          expect(ours, chosen[index]).toEqual({ captured, refunded, disputed })
          expect(await shop.booked(id, 'processor'), chosen[index]).toBe(captured - refunded - disputed)
        }
        const { ledgerVerification } = (await shop.graph.execute('{ ledgerVerification { ok unbalancedMovements } }', {}, { as: shop.owner })).data()
        expect(ledgerVerification).toMatchObject({ ok: true })
      }),
      { numRuns: 4, endOnFailure: true },
    )
  }, 240_000)
})
