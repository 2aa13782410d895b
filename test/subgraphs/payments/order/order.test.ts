import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { personally } from '../../../kit/viewers.ts'
import { createOrder, order, orders } from '../documents.ts'

const ticket = { name: 'Ticket', unitAmountMinor: 1000 }
/** The dearest line there is, with all but one taken off. */
const dearest = { name: 'All', quantity: 1_000_000, unitAmountMinor: '999999999999', discountMinor: '999999999998999999' }
const input = { currency: 'EUR', lines: [ticket] }
const make = async (graph: Supergraph, as: Viewer, more: object = {}) =>
  (await graph.execute(createOrder, { input: { ...input, ...more } }, { as })).data().createOrder
const list = async (graph: Supergraph, as: Viewer, variables: object = {}) => (await graph.execute(orders, { ...variables }, { as })).data().orders
const merchants = (graph: Supergraph) => graph.rows<{ id: string; name: string }>('select id, name from payments.merchants order by created_at')

describe('Y-01 an order is written', () => {
  test('as a draft of the default merchant, with its amounts worked out, its author and its organization, and it is on record', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const made = await make(graph, owner, { lines: [{ ...ticket, sku: 'T-1', quantity: 2, discountMinor: 500, taxRate: '19' }], reference: ' R-7 ' })
    const money = (amountMinor: number) => ({ amountMinor, currency: 'EUR' })
    expect(made).toMatchObject({
      number: '000001',
      status: 'DRAFT',
      currency: 'EUR',
      reference: 'R-7',
      description: null,
      version: 1,
      subtotal: money(2000),
      discount: money(500),
      tax: money(285),
      total: money(1785),
      organization: { id: organization.id, name: organization.name },
      createdBy: { id: owner.userId },
    })
    expect(made.lines).toEqual([
      { name: 'Ticket', sku: 'T-1', quantity: 2, taxRate: '19', unitAmount: money(1000), discount: money(500), tax: money(285), total: money(1785) },
    ])
    expect(await merchants(graph)).toEqual([{ id: made.merchantId, name: organization.name }])
    expect((await graph.execute(order, { id: made.id }, { as: owner })).data().order).toEqual(made)
    expect(await graph.rows('select tenant_id, actor, action, subject_id from payments.audit_entries')).toEqual([
      { tenant_id: organization.id, actor: `user:${owner.userId}`, action: 'order.created', subject_id: made.id },
    ])
  })

  test('numbers of an organization follow each other, also when twenty are written at once, and its merchant is one', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const made = await Promise.all(Array.from({ length: 20 }, () => make(graph, owner)))
    expect(made.map(({ number }) => number).sort()).toEqual(Array.from({ length: 20 }, (_, index) => String(index + 1).padStart(6, '0')))
    expect(new Set(made.map(({ merchantId }) => merchantId)).size).toBe(1)
    expect((await make(graph, outsider)).number).toBe('000001')
    expect(await merchants(graph)).toHaveLength(2)
  })

  test('with a key, which is nobody’s word: without an author', async () => {
    await using graph = await supergraph()
    const { key } = await graph.seed.owner().key('payments:payments.create')
    expect((await make(graph, key)).createdBy).toBeNull()
  })

  test('in amounts that no 32 bits hold, exactly', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id, total } = await make(graph, owner, { lines: [{ name: 'A bridge', unitAmountMinor: '999999999999' }] })
    expect(total.amountMinor).toBe(999_999_999_999)
    expect(await make(graph, owner, { lines: Array(9).fill(dearest) })).toMatchObject({
      subtotal: { amountMinor: '8999999999991000000' },
      total: { amountMinor: 9 },
    })
    expect((await graph.execute(order, { id }, { as: owner })).data().order.total.amountMinor).toBe(999_999_999_999)
  })

  const refusing = shared(() => supergraph())
  test.each([
    ['without lines', { lines: [] }, 'lines'],
    ['with a line that is wrong', { lines: [ticket, { ...ticket, taxRate: '19.00001' }] }, 'lines[1].taxRate'],
    ['with lines that come to more than 64 bits hold, whatever is taken off', { lines: Array(10).fill(dearest) }, 'lines'],
    ['with a description of 501 characters', { description: 'x'.repeat(501) }, 'description'],
    ['with a reference of 121 characters', { reference: 'x'.repeat(121) }, 'reference'],
    ['for what is no merchant’s id', { merchantId: 'nonsense' }, 'merchantId'],
    ['with a key of no characters', { idempotencyKey: '' }, 'idempotencyKey'],
  ])('never %s', async (_, more, field) => {
    const graph = refusing()
    const { owner } = await graph.seed.owner()
    const answer = await graph.execute(createOrder, { input: { ...input, ...more } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect((await list(graph, owner)).totalCount).toBe(0)
  })

  test('never for another organization’s merchant, and not without an active organization', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { merchantId } = await make(graph, outsider)
    const foreign = await graph.execute(createOrder, { input: { ...input, merchantId } }, { as: owner })
    const none = await graph.execute(createOrder, { input: { ...input, merchantId: newId() } }, { as: owner })
    expect(foreign.refused('NOT_FOUND').message.replace(merchantId, '')).toBe(none.refused('NOT_FOUND').message.replace(/[\w-]{36}/, ''))
    const nowhere = { ...personally(owner), scopes: owner.scopes }
    expect((await graph.execute(createOrder, { input }, { as: nowhere })).refused('FORBIDDEN').message).toMatch('switch to one')
  })

  test('once under one key, by whoever of the organization and however many at once; with other lines the key is refused', async () => {
    await using graph = await supergraph()
    const { owner, member, outsider } = await graph.seed.owner().member().outsider()
    const once = { idempotencyKey: 'k', lines: [{ ...ticket, unitAmountMinor: 700 }] }
    const made = await Promise.all(Array.from({ length: 20 }, (_, index) => make(graph, index % 2 ? owner : member, once)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect((await list(graph, owner)).totalCount).toBe(1)
    const other = await graph.execute(createOrder, { input: { ...input, ...once, lines: [ticket] } }, { as: owner })
    expect(other.refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    expect((await make(graph, outsider, once)).id).not.toBe(made[0].id)
  })

  test('so many a day, and no more', async () => {
    await using graph = await supergraph({ quotas: { ordersADay: 2 } })
    const { owner, member } = await graph.seed.owner().member()
    await make(graph, owner)
    await make(graph, owner)
    expect((await graph.execute(createOrder, { input }, { as: owner })).refused('RATE_LIMITED').message).toMatch('orders that you wrote')
    await make(graph, member)
    await graph.clock.advance(24 * 3_600_000)
    await make(graph, owner)
  })
})

describe('orders are listed', () => {
  test('newest first, page by page, narrowed by state, merchant and reference', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const made = []
    for (const reference of ['a', 'b', 'a']) {
      made.unshift(await make(graph, owner, { reference }))
      await graph.clock.advance(1000)
    }
    const ids = made.map(({ id }) => id)
    const found = async (variables: object) => (await list(graph, owner, variables)).nodes.map(({ id }: { id: string }) => id)
    const first = await list(graph, owner, { first: 2 })
    expect([first.nodes.map(({ id }: { id: string }) => id), first.pageInfo.hasNextPage, first.totalCount]).toEqual([ids.slice(0, 2), true, 3])
    expect(await found({ first: 2, after: first.pageInfo.endCursor })).toEqual(ids.slice(2))
    expect(await found({ reference: 'a' })).toEqual([ids[0], ids[2]])
    expect((await graph.execute(orders, { reference: 'a\0' }, { as: owner })).refused('BAD_USER_INPUT').message).toMatch('NUL')
    expect(await found({ status: 'DRAFT', merchantId: made[0].merchantId })).toEqual(ids)
    expect(await found({ status: 'PAID' })).toEqual([])
    expect(await found({ merchantId: newId() })).toEqual([])
  })

  test('from their organization too; another’s shows none, whoever asks by whatever way', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { id, merchantId } = await make(graph, owner)
    const mine = await graph.execute('{ viewer { organization { orders { nodes { id } totalCount } } } }', {}, { as: owner })
    expect(mine.data().viewer.organization.orders).toEqual({ nodes: [{ id }], totalCount: 1 })
    expect(await list(graph, outsider, { merchantId })).toMatchObject({ nodes: [], totalCount: 0 })
    expect((await graph.execute(order, { id }, { as: outsider })).refused('NOT_FOUND').extensions.id).toBe(id)
  })

  test('of the viewer’s organization alone, whatever is asked for', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    await make(graph, owner)
    const reading = { fresh: true, signal: new AbortController().signal, read() {}, statement: <T>(run: () => Promise<T>) => run(), requestId: 'test' }
    const counted = async (viewer: Viewer) => {
      const found = await graph.platform.payments.open(viewer, reading).orders.filtered({}, { first: 5 })
      return [found.nodes.length, await found.totalCount()]
    }
    expect([await counted(owner), await counted(outsider)]).toEqual([
      [1, 1],
      [0, 0],
    ])
  })

  test('a list of fifty costs as many statements as one of five', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    for (let count = 0; count < 50; count += 1) await make(graph, owner)
    const whole = `query($first: Int) { orders(first: $first) { nodes { id total { amountMinor } organization { name } createdBy { name } } totalCount } }`
    const cost = async (first: number) => {
      await graph.execute(whole, { first }, { as: owner })
      return (await graph.statements(() => graph.execute(whole, { first }, { as: owner }))).length
    }
    expect(await cost(50)).toBe(await cost(5))
  })
})

test('the currencies are told with their decimals to every known caller', async () => {
  await using graph = await supergraph()
  const { key } = await graph.seed.owner().key('publishing:posts.read')
  const { paymentCurrencies } = (await graph.execute('{ paymentCurrencies { code exponent } }', {}, { as: key })).data()
  expect(paymentCurrencies).toEqual(
    expect.arrayContaining([
      { code: 'JPY', exponent: 0 },
      { code: 'EUR', exponent: 2 },
      { code: 'BHD', exponent: 3 },
    ]),
  )
  ;(await graph.execute('{ paymentCurrencies { code } }', {})).refused('UNAUTHORIZED_FIELD_OR_TYPE')
})
