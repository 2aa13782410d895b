import { describe, expect, it } from 'vitest'
import { dies } from '../../../kit/dies.ts'
import { person } from '../../../kit/viewers.ts'
import { seedMembership } from '../../identity/membership/seed.ts'
import { seedPerson } from '../../identity/user/seed.ts'
import { openShop, type Shop } from './stage.ts'

const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
const fields = 'id status amount { amountMinor } note origin requestedBy { id } decidedBy { id } failure { code } version'
const refund = (shop: Shop, orderId: string, more: object = {}, as = shop.owner) =>
  shop.ask('refundOrder', { orderId, reason: 'REQUESTED_BY_CUSTOMER', ...more }, as, fields)
const decide = (shop: Shop, name: 'approveRefund' | 'rejectRefund', id: string, as = shop.owner, more: object = {}) =>
  shop.ask(name, { id, ...more }, as, fields)

/** Another owner of the shop's organization. */
async function secondOwner({ graph, organizationId }: Shop) {
  const { id: userId } = await seedPerson(graph, 'Second')
  await seedMembership(graph, { organizationId, userId, role: 'owner' })
  return person(userId, organizationId, ['owner'])
}

describe('refundOrder', () => {
  it('gives back parts, then the rest, each booked and told once', async () => {
    await using shop = await openShop()
    const { id } = await shop.paid(1000)
    const { refundOrder: part } = (await refund(shop, id, { amountMinor: 300, note: 'one of three' })).data()
    expect(part).toMatchObject({
      status: 'SUCCEEDED',
      amount: { amountMinor: 300 },
      note: 'one of three',
      origin: 'PLATFORM',
      requestedBy: { id: shop.owner.userId },
    })
    expect(await shop.read(id)).toMatchObject({ status: 'PARTIALLY_REFUNDED', refunded: eur(300), refundable: eur(700), captured: eur(1000) })
    const over = await refund(shop, id, { amountMinor: 701 })
    expect(over.refused('CONFLICT').extensions).toMatchObject({ reason: 'REFUND_EXCEEDS_REMAINING', refundableMinor: '700' })
    for (const amountMinor of [0, -5]) (await refund(shop, id, { amountMinor })).refused('BAD_USER_INPUT')
    expect((await refund(shop, id)).data().refundOrder.amount).toEqual({ amountMinor: 700 })
    expect(await shop.read(id)).toMatchObject({ status: 'REFUNDED', refunded: eur(1000), refundable: eur(0) })
    expect([await shop.booked(id, 'processor'), await shop.booked(id, 'merchant')]).toEqual([0, 0])
    expect((await shop.facts()).map(({ kind, body }) => [kind, body.amountMinor])).toEqual([
      ['order.paid', 1000],
      ['order.refunded', 300],
      ['order.refunded', 700],
    ])
  })

  it('never gives back more than was captured when a hundred ask at once', async () => {
    await using shop = await openShop()
    const { id } = await shop.paid(1000)
    const answers = await Promise.all(Array.from({ length: 100 }, () => refund(shop, id, { amountMinor: 100 })))
    const refused = answers.filter(answer => answer.error)
    expect(refused).toHaveLength(90)
    expect(new Set(refused.map(({ error }) => error!.extensions.reason))).toEqual(new Set(['REFUND_EXCEEDS_REMAINING']))
    expect(await shop.read(id)).toMatchObject({ status: 'REFUNDED', refunded: eur(1000) })
    expect(await shop.received(id, 'refunds')).toHaveLength(10)
    expect(await shop.booked(id, 'processor')).toBe(0)
    const { ledgerVerification } = (await shop.graph.execute('{ ledgerVerification { ok entries } }', {}, { as: shop.owner })).data()
    expect(ledgerVerification).toEqual({ ok: true, entries: 22 })
  })

  it('makes one refund for fifty requests with one key, and refuses the key with another amount', async () => {
    await using shop = await openShop()
    const { id } = await shop.paid(1000)
    const answers = await Promise.all(Array.from({ length: 50 }, () => refund(shop, id, { amountMinor: 10, idempotencyKey: 'k' })))
    expect(new Set(answers.map(answer => answer.data().refundOrder.id)).size).toBe(1)
    expect(await shop.received(id, 'refunds')).toHaveLength(1)
    expect((await refund(shop, id, { amountMinor: 11, idempotencyKey: 'k' })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  it('is refused before money was taken', async () => {
    await using shop = await openShop()
    const { id } = await shop.order()
    expect((await refund(shop, id)).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'DRAFT', verb: 'refund' })
  })

  it('of an unknown outcome holds its amount until the same call tells it', async () => {
    await using shop = await openShop()
    const { id } = await shop.paid(1000)
    await shop.arm('status-after-accept', { status: 503 })
    expect((await refund(shop, id, { amountMinor: 400 })).data().refundOrder).toMatchObject({ status: 'UNKNOWN' })
    expect(await shop.read(id)).toMatchObject({ status: 'PAID', refundable: eur(600), refunded: eur(0) })
    await shop.pass(8_000)
    await expect.poll(() => shop.read(id)).toMatchObject({ status: 'PARTIALLY_REFUNDED', refunded: eur(400), refundable: eur(600) })
    expect(await shop.received(id, 'refunds')).toHaveLength(1)
  })

  it.each(['intention-recorded', 'processor-answered', 'outcome-recorded'])('of a process that died at %s is paid out once', async point => {
    await using shop = await openShop()
    const { id } = await shop.paid(1000)
    await dies(point, () => refund(shop, id, { amountMinor: 400, idempotencyKey: 'k' }))
    await shop.pass(40_000)
    await expect.poll(() => shop.read(id)).toMatchObject({ refunded: eur(400), refundable: eur(600) })
    expect(await shop.received(id, 'refunds')).toHaveLength(1)
    expect(await shop.booked(id, 'processor')).toBe(600)
  })
})

describe('a large refund', () => {
  it('waits for a second person: not the one who asked, and it goes out once when five approve', async () => {
    await using shop = await openShop()
    const second = await secondOwner(shop)
    const { id } = await shop.paid(200_000)
    const { refundOrder: asked } = (await refund(shop, id, { amountMinor: 150_000 })).data()
    expect(asked).toMatchObject({ status: 'AWAITING_APPROVAL', decidedBy: null })
    expect(await shop.received(id, 'refunds')).toEqual([])
    expect((await refund(shop, id, { amountMinor: 60_000 })).refused('CONFLICT').extensions.reason).toBe('REFUND_EXCEEDS_REMAINING')
    expect((await decide(shop, 'approveRefund', asked.id)).refused('FORBIDDEN').extensions.reason).toBe('SAME_PERSON')
    const answers = await Promise.all(Array.from({ length: 5 }, () => decide(shop, 'approveRefund', asked.id, second)))
    expect(answers.filter(answer => !answer.error)).toHaveLength(1)
    expect(answers.flatMap(({ error }) => (error ? [error.extensions.code] : []))).toEqual(Array(4).fill('CONFLICT'))
    expect(await shop.read(id)).toMatchObject({ status: 'PARTIALLY_REFUNDED', refunded: eur(150_000) })
    expect(await shop.received(id, 'refunds')).toHaveLength(1)
    const told = (await shop.facts()).flatMap(({ kind, body }) => (kind.startsWith('attention') ? [[kind, body.kind ?? body.key]] : []))
    expect(told).toEqual([
      ['attention.opened', 'REFUND_APPROVAL'],
      ['attention.closed', `refund_approval:${asked.id}`],
    ])
  })

  it('is decided once when one approves and another rejects, and a rejection frees its amount', async () => {
    await using shop = await openShop()
    const second = await secondOwner(shop)
    const { id } = await shop.paid(300_000)
    const { refundOrder: asked } = (await refund(shop, id, { amountMinor: 150_000 })).data()
    const [approved, rejected] = await Promise.all([
      decide(shop, 'approveRefund', asked.id, second),
      decide(shop, 'rejectRefund', asked.id, second, { note: 'no' }),
    ])
    expect([approved, rejected].filter(answer => answer.error).map(({ error }) => error!.extensions.code)).toEqual(['CONFLICT'])
    const { refundable, refunded } = await shop.read(id)
    expect([refundable.amountMinor, refunded.amountMinor]).toEqual(approved.error ? [300_000, 0] : [150_000, 150_000])
  })

  it('begins above the threshold that the organization set for the currency', async () => {
    await using shop = await openShop()
    await shop.change('updatePaymentSettings', { refundApprovalThresholds: [{ amountMinor: 500, currency: 'EUR' }] }, shop.owner, 'version')
    const { id } = await shop.paid(2000)
    const asked = [await refund(shop, id, { amountMinor: 501 }), await refund(shop, id, { amountMinor: 500 })]
    expect(asked.map(answer => answer.data().refundOrder.status)).toEqual(['AWAITING_APPROVAL', 'SUCCEEDED'])
  })

  it('that a key asked for is not approved by who made the key', async () => {
    await using shop = await openShop()
    const second = await secondOwner(shop)
    const made = await shop.graph.execute(
      'mutation { createApiKey(input: { name: "refunds", scopes: ["payments:transactions.refund"] }) { apiKey { id } } }',
      {},
      { as: shop.owner },
    )
    const keyId = made.data().createApiKey.apiKey.id as string
    const { key } = await shop.graph.seed.owner().key('payments:transactions.refund')
    const { id } = await shop.paid(200_000)
    const ofKey = { ...key, organizationId: shop.organizationId, keyId }
    const { refundOrder: asked } = (await refund(shop, id, {}, ofKey as typeof key)).data()
    expect(asked).toMatchObject({ status: 'AWAITING_APPROVAL' })
    expect((await decide(shop, 'approveRefund', asked.id)).refused('FORBIDDEN').extensions.reason).toBe('SAME_PERSON')
    expect((await decide(shop, 'approveRefund', asked.id, second)).data().approveRefund).toMatchObject({
      status: 'SUCCEEDED',
      decidedBy: { id: second.userId },
    })
  })

  it('waits again when the processor could not be reached after its approval', async () => {
    await using shop = await openShop()
    const second = await secondOwner(shop)
    const { id } = await shop.paid(200_000)
    const { refundOrder: asked } = (await refund(shop, id)).data()
    const away = await shop.graph.x.away()
    expect((await decide(shop, 'approveRefund', asked.id, second)).refused('UPSTREAM_FAILED').extensions.reason).toBe('NOT_SENT')
    await away[Symbol.asyncDispose]()
    const { refund: waiting } = (
      await shop.graph.execute('query($id: ID!) { refund(id: $id) { status decidedBy { id } } }', { id: asked.id }, { as: second })
    ).data()
    expect(waiting).toEqual({ status: 'AWAITING_APPROVAL', decidedBy: null })
    expect((await decide(shop, 'approveRefund', asked.id, second)).data().approveRefund).toMatchObject({ status: 'SUCCEEDED' })
  })
})

describe('the widget', () => {
  it('counts what was paid today and refunds that wait, and names them as the next thing to do', async () => {
    await using shop = await openShop()
    const { id } = await shop.paid(200_000)
    await refund(shop, id)
    await shop.pay((await shop.order()).id, { paymentMethodToken: 'pm_card_chargeDeclined' })
    const widget = '{ paymentsWidget { statistics { key value } items { title } nextAction { label } } }'
    expect((await shop.graph.execute(widget, {}, { as: shop.owner })).data().paymentsWidget).toEqual({
      statistics: [
        { key: 'ordersToday', value: 2 },
        { key: 'paidToday', value: 1 },
        { key: 'refundsAwaitingApproval', value: 1 },
        { key: 'openDisputes', value: 0 },
      ],
      items: [{ title: 'Payment of order 000002 failed' }],
      nextAction: { label: 'Decide on refunds' },
    })
  })
})
