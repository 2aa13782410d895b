import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shared } from '../../../kit/shared.ts'
import { type SentEvent, signatureOf } from './stage.ts'
import { add, call, type Figures, figuresOf, isUndone, type Mishap, mishaps, note, objectsAt, openTales, ours, type Tale } from './story.ts'

// Whatever is done with an order and its invoice here, whatever is done with its payment at the processor, and however often, in whatever order
// and how late the processor's events come: a plain model says what the processor must have, and our books end equal to it.

/** How many random tales are told: more where time does not matter. */
const runs = Number(process.env.PAYMENT_SEQUENCES ?? 30)
/** Which tales: others each time, unless one run is to be repeated. */
const seeded = process.env.PAYMENT_SEED ? { seed: Number(process.env.PAYMENT_SEED) } : {}
const total = 1_000
const tales = shared(openTales)

/** Everything that may be done. */
const doings = {
  here: ['pay', 'capture', 'void', 'cancel', 'refund'],
  there: ['captured there', 'released there', 'refunded there', 'refund fails', 'disputed', 'dispute ends'],
  invoice: ['invoice', 'void invoice', 'mark invoice paid', 'credit'],
  told: ['event', 'time'],
} as const
type Doing = (typeof doings)[keyof typeof doings][number]

/** How something is done, whatever it is. */
interface How {
  readonly part: number
  readonly mishap: Mishap
  readonly capture: boolean
  readonly isDeclined: boolean
  readonly dispute: 'won' | 'lost' | 'under_review'
  readonly event: number
  readonly times: number
  readonly isForged: boolean
  readonly seconds: number
}

const { constant, constantFrom, integer, record } = fc
/** True once in so many times. */
const seldom = (times: number) => fc.nat(times - 1).map(n => n === 0)
/** `isBold`: whatever it is, and not what makes sense at this moment. */
const step = record({
  ...{ choice: fc.nat(9_999), isBold: seldom(10) },
  part: integer({ min: 1, max: total + 100 }),
  mishap: fc.oneof({ weight: 3, arbitrary: constant<Mishap>('none') }, constantFrom(...mishaps)),
  ...{ capture: fc.boolean(), isDeclined: seldom(6), dispute: constantFrom('won' as const, 'lost' as const, 'under_review' as const) },
  ...{ event: fc.nat(1_000), times: integer({ min: 1, max: 3 }), isForged: seldom(6), seconds: constantFrom(1, 6, 40, 700) },
})

type Step = How & { readonly choice: number; readonly isBold: boolean }

/** A refund is lost while a dispute forbids it that we have not heard of, and is made after the dispute is won. */
const lateRefund: readonly Step[] = [
  stepOf('pay', { capture: true }),
  stepOf('disputed', {}),
  stepOf('refund', { part: 536, mishap: 'lost' }),
  stepOf('dispute ends', { dispute: 'won' }),
]

/** Each thing once, whether it makes sense at that moment or not. */
const everything: readonly Step[] = Object.values(doings)
  .flat()
  .map(doing => stepOf(doing, {}))

function stepOf(doing: Doing, how: Partial<How>): Step {
  const plain: How = { part: 1, mishap: 'none', capture: false, isDeclined: false, dispute: 'won', event: 0, times: 1, isForged: false, seconds: 1 }
  return { ...plain, ...how, choice: Object.values(doings).flat().indexOf(doing), isBold: true }
}

/** What makes sense at this moment; what stands there twice is done twice as often. */
async function sensible({ id, there, invoiceId }: Tale): Promise<readonly Doing[]> {
  const { status, phase, invoice } = await ours(tales(), id)
  const { intents, refunds, disputes } = await objectsAt(tales(), id)
  const isHeldThere = intents.some(intent => intent.status === 'requires_capture')
  const found: Doing[] = ['event', 'event', 'time']
  if (phase === 'NONE' && there.captured === 0 && status !== 'CANCELLED')
    found.push('pay', 'pay', 'pay', 'pay', ...(invoice ? [] : (['invoice', 'invoice'] as const)))
  if (phase === 'NONE' && invoiceId === null && there.captured > 0) found.push('invoice')
  if (phase === 'AUTHORIZED') found.push('capture', 'capture', 'void', 'cancel')
  if (isHeldThere) found.push('captured there', 'captured there', 'released there')
  if (there.captured > 0) found.push('refund', 'refund', 'refunded there', ...(disputes.length === 0 ? (['disputed'] as const) : []))
  if (refunds.some(each => each.status === 'succeeded')) found.push('refund fails', 'refund fails')
  if (disputes.some(each => /^(needs_response|under_review)$/.test(each.status))) found.push('dispute ends', 'dispute ends')
  if (invoice === 'FINALIZED') found.push('void invoice', 'mark invoice paid')
  if (invoice === 'PAID') found.push('credit')
  return found
}

/** What of a payment is held at the processor. */
const heldThere = async (orderId: string): Promise<number> =>
  (await objectsAt(tales(), orderId)).intents.reduce((all, { amount_capturable }) => all + amount_capturable, 0)

/** Does something here, and notes what the processor must have by it. */
async function takeHere(tale: Tale, doing: (typeof doings.here)[number], { part, mishap, capture, isDeclined }: How): Promise<unknown> {
  const world = tales()
  const { id: orderId, there } = tale
  switch (doing) {
    case 'pay': {
      const paymentMethodToken = isDeclined ? 'pm_card_chargeDeclined' : 'pm_card_visa'
      const done = await call(world, 'payOrder', { orderId, paymentMethodToken, capture }, mishap)
      return done && capture && !isDeclined && note(tale, mishap, { captured: total })
    }
    case 'capture': {
      const held = await heldThere(orderId)
      const amountMinor = Math.min(part, total)
      return (await call(world, 'captureOrder', { orderId, amountMinor }, mishap)) && amountMinor <= held && note(tale, mishap, { captured: amountMinor })
    }
    case 'void':
      return call(world, 'voidOrder', { orderId }, mishap)
    case 'cancel':
      return call(world, 'cancelOrder', { id: orderId }, (await ours(world, orderId)).phase === 'AUTHORIZED' ? mishap : 'none')
    default: {
      const isPossible = there.disputed === 0 && part <= there.captured - there.refunded
      const done = await call(world, 'refundOrder', { orderId, amountMinor: part, reason: 'OTHER' }, mishap)
      // A call that was lost is made again, perhaps at a moment when the processor allows what it would have refused.
      return done && (isPossible || isUndone(mishap)) && note(tale, mishap, { refunded: part })
    }
  }
}

/** Something that somebody does at the processor itself, where it allows it. */
async function takeThere(tale: Tale, doing: (typeof doings.there)[number], { part, dispute }: How): Promise<unknown> {
  const { events, emit } = tales()
  const { intents, refunds, disputes } = await objectsAt(tales(), tale.id)
  const { there } = tale
  const held = intents.find(({ status }) => status === 'requires_capture')
  const taken = intents.find(({ status }) => status === 'succeeded')
  const through = refunds.find(({ status }) => status === 'succeeded')
  const open = disputes.find(({ status }) => status === 'needs_response' || status === 'under_review')
  const does = async (work: Promise<unknown>, moved: Partial<Figures>) => {
    await work
    tale.isForeign = true
    add(there, moved)
  }
  switch (doing) {
    case 'captured there': {
      const amount = Math.min(part, total)
      return held && does(events.act(`/payment_intents/${held.id}/capture`, { amount_to_capture: String(amount) }), { captured: amount })
    }
    case 'released there':
      return held && does(events.act(`/payment_intents/${held.id}/cancel`), {})
    case 'refunded there': {
      const isPossible = taken && there.disputed === 0 && part <= there.captured - there.refunded
      return isPossible && does(events.act('/refunds', { payment_intent: taken.id, amount: String(part) }), { refunded: part })
    }
    case 'refund fails':
      return through && does(emit('refund.failed', through.id), { refunded: -through.amount })
    case 'disputed':
      return taken && disputes.length === 0 && does(emit('charge.dispute.created', taken.id), { disputed: taken.amount_received })
    default:
      if (dispute === 'under_review') return open?.status === 'needs_response' && does(emit('charge.dispute.updated', open.id, dispute), {})
      return open && does(emit('charge.dispute.closed', open.id, dispute), dispute === 'won' ? { disputed: -open.amount } : {})
  }
}

/** What is done with the invoice of the order. */
async function takeInvoice(tale: Tale, doing: (typeof doings.invoice)[number], { part }: How): Promise<unknown> {
  const world = tales()
  const { customerId } = world
  if (doing === 'invoice') {
    tale.invoiceId ??= (await call(world, 'createInvoice', { customerId, orderId: tale.id }, 'none'))?.id ?? null
    return tale.invoiceId && call(world, 'finalizeInvoice', { id: tale.invoiceId, send: false }, 'none')
  }
  if (!tale.invoiceId) return
  if (doing === 'void invoice') return call(world, 'voidInvoice', { id: tale.invoiceId }, 'none')
  if (doing === 'credit') return call(world, 'createCreditNote', { invoiceId: tale.invoiceId, amountMinor: part }, 'none')
  return call(world, 'markInvoicePaid', { id: tale.invoiceId }, 'none')
}

const isOf = <Kind extends keyof typeof doings>(kind: Kind, doing: Doing): doing is Extract<Doing, (typeof doings)[Kind][number]> =>
  (doings[kind] as readonly Doing[]).includes(doing)

async function take(tale: Tale, doing: Doing, how: How): Promise<unknown> {
  if (isOf('here', doing)) return takeHere(tale, doing, how)
  if (isOf('there', doing)) return takeThere(tale, doing, how)
  if (isOf('invoice', doing)) return takeInvoice(tale, doing, how)
  if (doing === 'event') return deliver(tale, how)
  await tales().shop.graph.clock.advance(how.seconds * 1_000)
  return tales().look()
}

/** The processor's events of an order, as it made them. */
async function eventsOf(tale: Tale): Promise<readonly SentEvent[]> {
  const { intents } = await objectsAt(tales(), tale.id)
  const names = new Set(intents.map(({ id }) => id))
  return (await tales().events.made()).filter(({ data: { object } }) => names.has(object.id) || names.has(object.payment_intent))
}

/** Delivers one of the events that were made so far, which may have come before: so often at once, and perhaps a forged one first. */
async function deliver(tale: Tale, { event: which, times, isForged }: How): Promise<void> {
  const world = tales()
  const made = await eventsOf(tale)
  const event = made[which % made.length]
  if (!event) return
  if (isForged) {
    const object = { ...event.data.object, amount: 1, amount_received: 1, status: 'succeeded' }
    const forged = { ...event, id: `${event.id}_forged`, data: { object } }
    await expect(world.receive(forged, signatureOf(JSON.stringify(event), world.shop.graph.clock.now()))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
  }
  const answers = await Promise.all(Array.from({ length: times }, async () => (await world.receive(event)).json()))
  expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(tale.delivered.has(event.id) ? 0 : 1)
  tale.delivered.add(event.id)
  await world.look()
}

const moneyStatuses = ['PAID', 'PARTIALLY_REFUNDED', 'REFUNDED']
/** What each status may become, however many steps lie between. */
const after: Readonly<Record<string, readonly string[]>> = {
  DRAFT: ['DRAFT', 'PENDING', 'FAILED', 'CANCELLED', ...moneyStatuses],
  PENDING: ['DRAFT', 'PENDING', 'FAILED', 'CANCELLED', ...moneyStatuses],
  FAILED: ['DRAFT', 'PENDING', 'FAILED', 'CANCELLED', ...moneyStatuses],
  CANCELLED: ['CANCELLED'],
  ...Object.fromEntries(moneyStatuses.map(status => [status, moneyStatuses])),
}

/** What is true of our books at every moment. */
async function check(tale: Tale, done: string): Promise<void> {
  const { status, phase, captured, refunded, ...order } = await ours(tales(), tale.id)
  expect(after[tale.status], done).toContain(status)
  tale.status = status
  expect(refunded + order.returning <= captured && captured <= order.total && order.captures <= 1, done).toBe(true)
  expect({ taken: order.taken, back: order.back, processor: order.processor, balance: order.balance, contested: order.contested }, done).toEqual({
    ...{ taken: captured, back: refunded, processor: captured - refunded - order.disputed, balance: 0, contested: order.disputed },
  })
  if (captured > 0) expect([status, phase], done).toEqual([refunded === 0 ? 'PAID' : refunded < captured ? 'PARTIALLY_REFUNDED' : 'REFUNDED', 'NONE'])
  else expect(moneyStatuses, done).not.toContain(status)
  expect(order.held > 0 && phase === 'NONE', done).toBe(false)
  const { invoice, invoicePaid, credited } = order
  if (invoice === 'FINALIZED') expect([captured, invoicePaid], done).toEqual([0, 0])
  if (invoice === 'VOID') expect([status, invoicePaid], done).toEqual(['CANCELLED', 0])
  if (invoice === 'PAID') expect([captured > 0 || status === 'CANCELLED', invoicePaid], done).toEqual([true, captured || order.total])
  expect(credited <= (invoicePaid ?? 0), done).toBe(true)
  await checkThere(tale, done)
}

/** The processor has what it was told: each call once, one that was lost perhaps by now. */
async function checkThere(tale: Tale, done: string): Promise<void> {
  const has = figuresOf(await objectsAt(tales(), tale.id))
  for (let choice = 0; choice < 2 ** tale.lost.length; choice += 1) {
    const made = tale.lost.filter((_, at) => (choice >> at) & 1)
    const expected = { ...tale.there }
    for (const moved of made) add(expected, moved)
    if (JSON.stringify(expected) !== JSON.stringify(has)) continue
    Object.assign(tale.there, expected)
    for (const moved of made) tale.lost.splice(tale.lost.indexOf(moved), 1)
    return
  }
  expect(has, `${done}, with ${JSON.stringify(tale.lost)} lost`).toEqual(tale.there)
}

/** Lets everything come to an end: each event arrives, and each call that was lost is made again. */
async function end(tale: Tale): Promise<void> {
  const world = tales()
  const isOver = async () => {
    const [left] = await world.shop.graph.rows<{ count: number }>(
      `select ((select count(*) from payments.transactions where order_id = $1 and status in ('PENDING', 'UNKNOWN'))
         + (select count(*) from payments.webhook_events where next_attempt_at is not null))::int as count`,
      [tale.id],
    )
    return left!.count === 0
  }
  for (let rounds = 0; rounds < 20; rounds += 1) {
    for (const event of await eventsOf(tale)) if (!tale.delivered.has(event.id)) await world.receive(event)
    for (const { id } of await eventsOf(tale)) tale.delivered.add(id)
    await world.look()
    if (await isOver()) break
    await world.shop.graph.clock.advance(rounds < 4 ? 40_000 : 3_600_000)
  }
  expect(await isOver(), 'everything is over').toBe(true)
  await check(tale, 'the end')
  if (!tale.isForeign) expect(tale.lost, 'calls that were never made again').toEqual([])
  const { captured, refunded, disputed, held } = await ours(world, tale.id)
  expect({ captured, refunded, disputed }, 'what both have in the end').toEqual(tale.there)
  expect(held, 'what is held in the end').toBe(await heldThere(tale.id))
}

test('our books equal the processor’s, whatever is done with orders and invoices, and however events of payments, refunds and disputes come', async () => {
  const world = tales()
  const done = new Map<Doing, number>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async steps => {
      const { id } = await world.shop.order(total)
      const there = { captured: 0, refunded: 0, disputed: 0 }
      const tale: Tale = { id, invoiceId: null, there, lost: [], status: 'DRAFT', isForeign: false, delivered: new Set() }
      for (const { choice, isBold, ...how } of steps) {
        const doable = isBold ? Object.values(doings).flat() : await sensible(tale)
        const doing = doable[choice % doable.length]!
        await take(tale, doing, how)
        done.set(doing, (done.get(doing) ?? 0) + 1)
        await check(tale, `${doing} ${JSON.stringify(how)}`)
      }
      await end(tale)
    }),
    { numRuns: runs, ...seeded, endOnFailure: true, examples: [[lateRefund], [everything]] },
  )
  expect([...done.keys()].sort(), 'each thing was done at least once').toEqual(Object.values(doings).flat().sort())
  const { ledgerVerification } = (await world.shop.graph.execute('{ ledgerVerification { ok } }', {}, { as: world.shop.owner })).data()
  expect(ledgerVerification).toEqual({ ok: true })
  const dead = await world.shop.graph.rows(`select type, object_id from payments.webhook_events where status = 'DEAD'`)
  expect(dead).toEqual([])
}, 3_600_000)
