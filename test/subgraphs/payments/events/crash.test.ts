import { expect, it } from 'vitest'
import { dies } from '../../../kit/dies.ts'
import { addresses } from '../checkout/stage.ts'
import { openTales, type Tales } from './story.ts'

/** An order whose payment is unknown here, with the event that tells of it. */
async function lostAnswer({ shop, events }: Tales) {
  const { id } = await shop.order()
  await shop.arm('status-after-accept', { status: 503 })
  await shop.pay(id)
  const event = (await events.made()).find(({ type }) => type === 'payment_intent.succeeded')!
  return { id, event }
}

/** How each event stands that was kept. */
const kept = ({ shop }: Tales) => shop.graph.rows<{ status: string; attempts: number }>('select status, attempts from payments.webhook_events')

async function expectPaidOnce({ shop }: Tales, id: string): Promise<void> {
  expect(await shop.read(id)).toMatchObject({ status: 'PAID', captured: { amountMinor: 1000 } })
  expect([await shop.booked(id, 'processor'), await shop.booked(id, 'merchant')]).toEqual([1000, -1000])
  expect((await shop.facts()).filter(({ kind }) => kind === 'order.paid')).toHaveLength(1)
}

it('an event whose receiver died at event-stored is kept, is a duplicate when the processor sends it again, and is processed', async () => {
  await using world = await openTales()
  const { id, event } = await lostAnswer(world)
  await dies('event-stored', () => world.receive(event))
  expect(await kept(world)).toEqual([{ status: 'RECEIVED', attempts: 0 }])
  expect(await (await world.receive(event)).json()).toEqual({ received: true, duplicate: true })
  await world.look()
  expect(await kept(world)).toEqual([{ status: 'PROCESSED', attempts: 1 }])
  await expectPaidOnce(world, id)
})

it.each([
  ['event-taken', 'UNKNOWN'],
  ['event-applied', 'NONE'],
])('an event whose process died at %s is begun anew when its time is over, and has one effect', async (point, phase) => {
  await using world = await openTales()
  const { id, event } = await lostAnswer(world)
  await world.receive(event)
  await dies(point, () => world.look())
  expect((await world.shop.read(id)).paymentPhase).toBe(phase)
  expect(await kept(world)).toEqual([{ status: 'RECEIVED', attempts: 1 }])
  await world.look()
  expect(await kept(world), 'nobody else takes it before').toEqual([{ status: 'RECEIVED', attempts: 1 }])
  await world.shop.graph.clock.advance(21_000)
  await world.look()
  expect(await kept(world)).toEqual([{ status: 'PROCESSED', attempts: 2 }])
  await expectPaidOnce(world, id)
})

it('an event that comes before what it is about waits for the event of its order that brings it, and is processed with its first try', async () => {
  await using world = await openTales()
  const { shop, events } = world
  const { id } = await shop.order()
  const { url } = await shop.change('createCheckoutSession', { orderId: id, ...addresses }, shop.owner, 'url')
  const page = await fetch(`${url}?sandbox_approve=1`, { redirect: 'manual' })
  expect(page.status).toBe(303)
  const made = await events.made()
  for (const type of ['payment_intent.succeeded', 'checkout.session.completed']) await world.receive(made.find(each => each.type === type)!)
  await world.look()
  expect(await kept(world)).toEqual([
    { status: 'PROCESSED', attempts: 1 },
    { status: 'PROCESSED', attempts: 1 },
  ])
  await expectPaidOnce(world, id)
})
