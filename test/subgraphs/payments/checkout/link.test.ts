import { describe, expect, it } from 'vitest'
import { linkFields, openCheckoutShop } from './stage.ts'

const dayMs = 86_400_000
const eur = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
const pathOf = (url: string): string => new URL(url).pathname

describe('createPaymentLink', () => {
  it('makes an address that is good for seven days, and the order is PENDING', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const link = await shop.link(id)
    expect(link).toMatchObject({ status: 'OPEN', order: { id, status: 'PENDING' }, url: expect.stringMatching(/\/payments\/pay\/[\w-]{32}$/) })
    expect(Date.parse(link.expiresAt) - shop.graph.clock.now().getTime()).toBe(7 * dayMs)
    const list = await shop.graph.execute('query($id: ID) { paymentLinks(orderId: $id) { totalCount nodes { id } } }', { id }, { as: shop.owner })
    expect(list.data().paymentLinks).toEqual({ totalCount: 1, nodes: [{ id: link.id }] })
  })

  it.each([0, 91])('refuses one that ends in %s days', async days => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const expiresAt = new Date(shop.graph.clock.now().getTime() + days * dayMs).toISOString()
    expect((await shop.ask('createPaymentLink', { orderId: id, expiresAt }, shop.owner, 'id')).refused('BAD_USER_INPUT').extensions.field).toBe('expiresAt')
  })

  it('makes one link for a key', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const [one, two] = [await shop.link(id, { idempotencyKey: 'k' }), await shop.link(id, { idempotencyKey: 'k' })]
    expect(two.id).toBe(one.id)
  })
})

describe('GET /payments/pay/:token', () => {
  it('leads four payers at once to one page, and nowhere once it is paid', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order(2100)
    const link = await shop.link(id)
    const answers = await Promise.all(Array.from({ length: 4 }, () => shop.door.ask('GET', pathOf(link.url))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
    const [location, ...more] = new Set(answers.map(({ headers }) => String(headers.location)))
    expect(more).toEqual([])
    const [, back] = await shop.visit(location!)
    expect((await shop.door.ask('GET', pathOf(back!) + new URL(back!).search)).text).toContain('Thank you')
    await shop.soon(() => shop.read(id)).toMatchObject({ status: 'PAID', captured: eur(2100) })
    expect((await shop.door.ask('GET', pathOf(link.url))).status).toBe(404)
    const list = await shop.graph.execute('{ paymentLinks { nodes { status } } }', {}, { as: shop.owner })
    expect(list.data().paymentLinks.nodes).toEqual([{ status: 'COMPLETED' }])
  })

  it('answers 404 alike for a link that is unknown, closed, over, or of a cancelled order', async () => {
    await using shop = await openCheckoutShop()
    const [one, two, three] = [await shop.order(), await shop.order(), await shop.order()]
    const closed = await shop.link(one.id)
    await shop.change('closePaymentLink', { id: closed.id }, shop.owner, 'id')
    const cancelled = await shop.link(two.id)
    await shop.change('cancelOrder', { id: two.id })
    const over = await shop.link(three.id, { expiresAt: new Date(shop.graph.clock.now().getTime() + 60_000).toISOString() })
    await shop.pass(61_000)
    const paths = [closed, cancelled, over].map(({ url }) => pathOf(url))
    const answers = await Promise.all([...paths, '/payments/pay/guessed'].map(path => shop.door.ask('GET', path)))
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('says that payment is not possible when the processor cannot be reached, and changes nothing', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const link = await shop.link(id)
    const away = await shop.graph.x.away()
    expect((await shop.door.ask('GET', pathOf(link.url))).status).toBe(503)
    await away[Symbol.asyncDispose]()
    expect((await shop.door.ask('GET', pathOf(link.url))).status).toBe(303)
  })
})

describe('a payment link', () => {
  it('is EXPIRED when its time is over, and its order is a draft again', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    await shop.link(id, { expiresAt: new Date(shop.graph.clock.now().getTime() + 60_000).toISOString() })
    await shop.pass(60_000)
    const list = async () => (await shop.graph.execute(`{ paymentLinks { nodes { ${linkFields} } } }`, {}, { as: shop.owner })).data().paymentLinks.nodes
    await shop.soon(list).toMatchObject([{ status: 'EXPIRED', order: { status: 'DRAFT' } }])
  })

  it('closes the page that it has opened, and leaves the order PENDING while another link is open', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const [first, second] = [await shop.link(id), await shop.link(id)]
    const location = String((await shop.door.ask('GET', pathOf(first.url))).headers.location)
    const close = (link: { id: string }) => shop.change('closePaymentLink', { id: link.id }, shop.owner, linkFields)
    expect(await close(first)).toMatchObject({ status: 'CLOSED', order: { status: 'PENDING' } })
    await shop.soon(async () => (await shop.visit(location, {}))[0]).toBe(410)
    expect(await close(second)).toMatchObject({ status: 'CLOSED', order: { status: 'DRAFT' } })
    const again = await shop.ask('closePaymentLink', { id: second.id }, shop.owner, 'id')
    expect(again.refused('CONFLICT').extensions.reason).toBe('ILLEGAL_MOVE')
  })

  it('is COMPLETED when its order is paid by another way', async () => {
    await using shop = await openCheckoutShop()
    const { id } = await shop.order()
    const link = await shop.link(id)
    expect(await shop.pay(id)).toMatchObject({ status: 'PAID' })
    expect((await shop.door.ask('GET', pathOf(link.url))).status).toBe(404)
  })
})
