import { describe, expect, it } from 'vitest'
import { openShop, type Shop } from './stage.ts'

const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
const customer = async (shop: Shop) => (await shop.change('createCustomer', { name: 'Ada' }, shop.owner, 'id')).id as string
const method = async (shop: Shop, customerId: string) =>
  (await shop.change('addPaymentMethod', { customerId, token: 'pm_card_visa' }, shop.owner, 'id')).id as string
const orderOf = async (shop: Shop, customerId: string) =>
  (await shop.change('createOrder', { currency: 'EUR', customerId, lines: [{ name: 'Ticket', unitAmountMinor: 800 }] }, shop.owner, 'id')).id as string

describe('payOrder by a kept method', () => {
  it('charges the customer of the method, once for a key', async () => {
    await using shop = await openShop()
    const customerId = await customer(shop)
    const [paymentMethodId, orderId] = [await method(shop, customerId), await orderOf(shop, customerId)]
    const input = { orderId, paymentMethodId, idempotencyKey: 'k' }
    const answers = [await shop.change('payOrder', input), await shop.change('payOrder', input)]
    expect(answers).toMatchObject([{ status: 'PAID', captured: eur(800) }, { status: 'PAID' }])
    expect(await shop.received(orderId, 'payment_intents')).toHaveLength(1)
    expect(await shop.graph.rows('select payment_method, payment_customer from payments.transactions')).toEqual([
      { payment_method: null, payment_customer: null },
    ])
  })

  it('refuses a method of another customer than the order’s, and both or neither of method and token', async () => {
    await using shop = await openShop()
    const [mine, other] = [await customer(shop), await customer(shop)]
    const [paymentMethodId, orderId] = [await method(shop, other), await orderOf(shop, mine)]
    const refused = async (more: object) => (await shop.ask('payOrder', { orderId, ...more })).refused('BAD_USER_INPUT').extensions.field
    expect(await refused({ paymentMethodId })).toBe('paymentMethodId')
    expect(await refused({ paymentMethodId, paymentMethodToken: 'pm_card_visa' })).toBe('paymentMethodId')
    expect(await refused({})).toBe('paymentMethodToken')
    expect(await shop.read(orderId)).toMatchObject({ status: 'DRAFT', transactions: { nodes: [] } })
  })
})

describe('metadata', () => {
  it('is kept on a refund, and changes alone on an order in every status', async () => {
    await using shop = await openShop()
    const metadata = [{ key: 'crm.id', value: '17' }]
    const { id } = await shop.paid()
    const shown = 'status metadata { key value }'
    expect(await shop.change('refundOrder', { orderId: id, amountMinor: 100, reason: 'OTHER', metadata }, shop.owner, shown)).toEqual({
      status: 'SUCCEEDED',
      metadata,
    })
    expect(await shop.change('updateOrder', { id, metadata }, shop.owner, shown)).toEqual({ status: 'PARTIALLY_REFUNDED', metadata })
    expect(await shop.change('updateOrder', { id, metadata: [] }, shop.owner, shown)).toEqual({ status: 'PARTIALLY_REFUNDED', metadata: [] })
    const both = await shop.ask('updateOrder', { id, metadata, description: 'late' }, shop.owner, shown)
    expect(both.refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
  })
})
