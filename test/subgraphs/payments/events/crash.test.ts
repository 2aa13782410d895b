import { expect, it } from 'vitest'
import { dies } from '../../../kit/dies.ts'
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
