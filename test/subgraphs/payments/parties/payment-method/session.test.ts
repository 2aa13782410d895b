import { describe, expect, it } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { addresses, type CheckoutShop, openCheckoutShop } from '../../checkout/stage.ts'
import { eventsOf } from '../../events/stage.ts'
import { seedCustomer, seedMethod } from '../customer/seed.ts'

const fields = 'id url status expiresAt paymentMethod { id }'
const methods = 'query($id: ID!) { customer(id: $id) { paymentMethods { id brand last4 isDefault } } }'

/** A shop's customer who leaves a card. */
async function keeping(shop: CheckoutShop) {
  const { graph, owner, organizationId } = shop
  const { id: customerId } = await seedCustomer(graph, { organizationId })
  const events = eventsOf(graph)
  const open = (more: object = {}) => shop.change('createPaymentMethodSession', { customerId, ...addresses, ...more }, owner, fields)
  return {
    ...{ customerId, events, open },
    list: async () => (await graph.execute(methods, { id: customerId }, { as: owner })).data().customer.paymentMethods,
    seen: async (id: string) =>
      (await graph.execute(`query($id: ID!) { paymentMethodSession(id: $id) { ${fields} } }`, { id }, { as: owner })).data().paymentMethodSession,
    /** The processor's event of a page that was used. */
    completed: async () => (await events.made()).find(({ type }) => type === 'checkout.session.completed')!,
  }
}

describe('createPaymentMethodSession', () => {
  it('makes the method that was left the customer’s, once for two events, and it pays; nothing was charged for it', async () => {
    await using shop = await openCheckoutShop()
    const { events, ...customer } = await keeping(shop)
    const session = await customer.open()
    expect(session).toMatchObject({ status: 'OPEN', paymentMethod: null, url: expect.stringContaining('/checkout/cs_test') })
    expect(await shop.visit(session.url)).toEqual([303, addresses.successUrl])
    const event = await customer.completed()
    expect(await events.take(event)).toMatchObject({ status: 'PROCESSED' })
    expect(await events.take({ ...event, id: 'evt_again' })).toMatchObject({ status: 'PROCESSED' })
    const [kept, ...more] = await customer.list()
    expect([kept, more]).toEqual([{ id: expect.any(String), brand: 'visa', last4: '4242', isDefault: true }, []])
    expect(await customer.seen(session.id)).toMatchObject({ status: 'COMPLETED', url: null, paymentMethod: { id: kept.id } })
    expect(await shop.received(customer.customerId, 'payment_intents')).toEqual([])
    const order = await shop.order(450)
    expect(await shop.pay(order.id, { paymentMethodToken: null, paymentMethodId: kept.id })).toMatchObject({ status: 'PAID' })
  })

  it('learns of the method, and of a page whose time is over, when no event comes', async () => {
    await using shop = await openCheckoutShop()
    const { events, ...customer } = await keeping(shop)
    const [used, unused] = [await customer.open(), await customer.open()]
    await shop.visit(used.url)
    await shop.soon(() => customer.seen(used.id), 5_000).toMatchObject({ status: 'COMPLETED' })
    expect(await customer.list()).toHaveLength(1)
    await events.act(`/checkout/sessions/${unused.url.split('/').at(-1)}/expire`)
    await shop.soon(() => customer.seen(unused.id), 5_000).toMatchObject({ status: 'EXPIRED', url: null, paymentMethod: null })
  })

  it('detaches the method of a customer who was erased meanwhile', async () => {
    await using shop = await openCheckoutShop()
    const { events, ...customer } = await keeping(shop)
    const session = await customer.open()
    await shop.visit(session.url)
    await shop.change('eraseCustomer', { id: customer.customerId }, shop.owner, 'id')
    expect(await events.take(await customer.completed())).toMatchObject({ status: 'PROCESSED' })
    expect(await customer.list()).toEqual([])
    expect(await customer.seen(session.id)).toMatchObject({ status: 'COMPLETED', paymentMethod: null })
    const { setup_intent: setup } = (await events.at('/checkout/sessions?limit=1')).data[0]
    const { payment_method: method } = await events.at(`/setup_intents/${setup}`)
    expect(await events.at(`/payment_methods/${method}`)).toMatchObject({ customer: null })
  })

  it('opens one page for a key, and another for another', async () => {
    await using shop = await openCheckoutShop()
    const customer = await keeping(shop)
    const once = { idempotencyKey: newId() }
    const opened = await Promise.all(Array.from({ length: 5 }, () => customer.open(once)))
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1)
    expect((await customer.open()).id).not.toBe(opened[0].id)
  })

  it('is refused for an erased customer, for one with twenty methods, and with an address that is none', async () => {
    await using shop = await openCheckoutShop()
    const { graph, organizationId } = shop
    const ask = (input: object) => shop.ask('createPaymentMethodSession', { ...addresses, ...input }, shop.owner, fields)
    const erased = await seedCustomer(graph, { organizationId, name: null, erasedAt: graph.clock.now() })
    expect((await ask({ customerId: erased.id })).refused('CONFLICT').extensions.reason).toBe('CUSTOMER_ERASED')
    const full = await seedCustomer(graph, { organizationId })
    for (let count = 0; count < 20; count += 1) await seedMethod(graph, full)
    expect((await ask({ customerId: full.id })).refused('CONFLICT').extensions.reason).toBe('QUOTA')
    const { id: customerId } = await seedCustomer(graph, { organizationId })
    expect((await ask({ customerId, successUrl: 'nowhere' })).refused('BAD_USER_INPUT').extensions.field).toBe('successUrl')
    expect((await ask({ customerId: newId() })).refused('NOT_FOUND').extensions.id).toEqual(expect.any(String))
  })

  it('leaves no session behind when the processor cannot be reached', async () => {
    await using shop = await openCheckoutShop()
    const customer = await keeping(shop)
    const away = await shop.graph.x.away()
    const answer = await shop.ask('createPaymentMethodSession', { customerId: customer.customerId, ...addresses }, shop.owner, fields)
    expect(answer.refused('UPSTREAM_FAILED').extensions.reason).toBe('NOT_SENT')
    await away[Symbol.asyncDispose]()
    expect(await shop.graph.rows('select id from payments.payment_method_sessions')).toEqual([])
  })
})
