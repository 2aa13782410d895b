import { describe, expect, it } from 'vitest'
import { eventsOf, type SentEvent } from '../events/stage.ts'
import { openShop } from '../payment/stage.ts'

const open = async () => {
  const shop = await openShop()
  const events = eventsOf(shop.graph)
  const order = await shop.pay((await shop.order()).id, { paymentMethodToken: 'pm_card_createDispute' })
  const find = async (type: string) => (await events.made()).find(each => each.type === type)!
  const opened = await find('charge.dispute.created')
  /** The dispute as the processor tells of it later. */
  const later = (status: string, type = 'charge.dispute.closed'): SentEvent => {
    const { object } = opened.data
    return { ...opened, id: `evt_${type}_${status}`, type, data: { object: { ...object, status } } }
  }
  const disputes = async () =>
    (
      await shop.graph.execute(
        'query($id: ID!) { order(id: $id) { disputes { id status reason amount { amountMinor } evidenceDueBy closedAt processorId } } }',
        { id: order.id },
        { as: shop.owner },
      )
    ).data().order.disputes
  const books = async () => Promise.all(['processor', 'disputes', 'merchant'].map(account => shop.booked(order.id, account)))
  return Object.assign(shop, { events, disputed: order, opened, later, disputes, books })
}
const euros = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })

describe('a dispute', () => {
  it('holds the money back from refunds while it is open', async () => {
    await using shop = await open()
    expect(await shop.events.take(shop.opened)).toMatchObject({ status: 'PROCESSED', order_id: shop.disputed.id })
    expect(await shop.disputes()).toMatchObject([{ status: 'OPEN', reason: 'fraudulent', amount: { amountMinor: 1000 }, closedAt: null }])
    expect(await shop.read(shop.disputed.id)).toMatchObject({ status: 'PAID', captured: euros(1000), refundable: euros(0) })
    expect(await shop.books()).toEqual([0, 1000, -1000])
    const refusal = await shop.ask('refundOrder', { orderId: shop.disputed.id, amountMinor: 100, reason: 'OTHER' }, shop.owner, 'id')
    expect(refusal.refused('CONFLICT').extensions.reason).toBe('DISPUTED')
    const [{ id }] = await shop.disputes()
    expect(await shop.facts()).toContainEqual({
      kind: 'attention.opened',
      body: expect.objectContaining({ kind: 'DISPUTE', subjectId: id, audience: 'organization' }),
    })
    const { paymentsWidget } = (
      await shop.graph.execute('{ paymentsWidget { statistics { key value } items { id } nextAction { url } } }', {}, { as: shop.owner })
    ).data()
    expect(paymentsWidget).toMatchObject({ items: [{ id }], nextAction: { url: expect.stringContaining(id) } })
    expect(paymentsWidget.statistics.at(-1)).toEqual({ key: 'openDisputes', value: 1 })
  })

  it('that is won gives the money back, once for two events', async () => {
    await using shop = await open()
    await shop.events.take(shop.opened)
    await shop.events.take(shop.later('won'))
    await shop.events.take(shop.later('won', 'charge.dispute.updated'))
    expect(await shop.disputes()).toMatchObject([{ status: 'WON' }])
    expect(await shop.read(shop.disputed.id)).toMatchObject({ status: 'PAID', refundable: euros(1000) })
    expect(await shop.books()).toEqual([1000, 0, -1000])
    expect((await shop.facts()).at(-1)).toMatchObject({ kind: 'attention.closed' })
    expect(await shop.change('refundOrder', { orderId: shop.disputed.id, amountMinor: 100, reason: 'OTHER' }, shop.owner, 'amount { amountMinor }')).toEqual({
      amount: { amountMinor: 100 },
    })
  })

  it('that is lost leaves the money with the payer', async () => {
    await using shop = await open()
    await shop.events.take(shop.opened)
    await shop.events.take(shop.later('under_review', 'charge.dispute.updated'))
    expect(await shop.disputes()).toMatchObject([{ status: 'UNDER_REVIEW' }])
    await shop.events.take(shop.later('lost'))
    expect(await shop.disputes()).toMatchObject([{ status: 'LOST' }])
    expect(await shop.read(shop.disputed.id)).toMatchObject({ refundable: euros(0) })
    expect(await shop.books()).toEqual([0, 0, 0])
  })

  it('ends alike when it is closed before it was opened here, and the older event is STALE', async () => {
    await using shop = await open()
    await shop.events.take(shop.later('won'))
    expect(await shop.events.take(shop.opened)).toMatchObject({ status: 'IGNORED', reason: 'STALE' })
    expect(await shop.disputes()).toMatchObject([{ status: 'WON' }])
    expect(await shop.books()).toEqual([1000, 0, -1000])
  })

  it('is no dispute while it is an inquiry, which moves no money', async () => {
    await using shop = await open()
    expect(await shop.events.take(shop.later('warning_needs_response', 'charge.dispute.created'))).toMatchObject({ status: 'PROCESSED' })
    expect(await shop.disputes()).toEqual([])
  })

  it('refuses the approval of a refund that waits', async () => {
    await using shop = await open()
    const { id } = await shop.change('payOrder', { orderId: (await shop.order(200_000)).id, paymentMethodToken: 'pm_card_createDispute' }, shop.owner, 'id')
    const refund = await shop.change('refundOrder', { orderId: id, reason: 'OTHER' }, shop.owner, 'id status')
    expect(refund.status).toBe('AWAITING_APPROVAL')
    const opened = (await shop.events.made()).find(({ type, data }) => type === 'charge.dispute.created' && data.object.amount === 200_000)!
    await shop.events.take(opened)
    const other = { ...shop.owner, userId: '00000000-0000-7000-8000-000000000001' }
    expect((await shop.ask('approveRefund', { id: refund.id }, other, 'id')).refused('CONFLICT').extensions.reason).toBe('DISPUTED')
  })
})
