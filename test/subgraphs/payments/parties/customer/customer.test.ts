import { describe, expect, it } from 'vitest'
import { readMetadata } from '../../../../../subgraphs/payments/order/metadata.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { shared } from '../../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { seedCustomer } from './seed.ts'

const fields = '{ id name email reference user { id } metadata { key value } paymentMethods { id } version }'
const create = `mutation($input: CreateCustomerInput!) { createCustomer(input: $input) ${fields} }`
const update = `mutation($input: UpdateCustomerInput!) { updateCustomer(input: $input) ${fields} }`
const erase = `mutation($input: EraseCustomerInput!) { eraseCustomer(input: $input) ${fields} }`
const customers = 'query($search: String) { customers(search: $search) { nodes { name } totalCount } }'
const createOrder = 'mutation($input: CreateOrderInput!) { createOrder(input: $input) { id customerId customer { name } metadata { key value } } }'
const orders = `query($customerId: ID, $from: DateTime, $to: DateTime, $metadataKey: String, $metadataValue: String) {
  orders(customerId: $customerId, from: $from, to: $to, metadataKey: $metadataKey, metadataValue: $metadataValue) { nodes { id } totalCount } }`
const log = 'query($id: ID) { paymentAuditLog(entityId: $id) { nodes { action changes { field before after } } } }'
const ticket = { name: 'Ticket', unitAmountMinor: 1 }

const world = shared(() => supergraph())
const made = async (graph: Supergraph, as: Viewer, input: object = {}) =>
  (await graph.execute(create, { input: { name: 'Ada', ...input } }, { as })).data().createCustomer
const ordered = async (graph: Supergraph, as: Viewer, input: object = {}) =>
  (await graph.execute(createOrder, { input: { currency: 'EUR', lines: [ticket], ...input } }, { as })).data().createOrder

describe('createCustomer', () => {
  it('creates a customer with the fields of the input', async () => {
    const graph = world()
    const { owner, member } = await graph.seed.owner().member()
    const metadata = [
      { key: 'crm.id', value: '17' },
      { key: 'a', value: 'ä' },
    ]
    const customer = await made(graph, owner, { email: 'ada@example.com', reference: ' C-1 ', userId: member.userId, metadata })
    expect(customer).toEqual({
      id: expect.any(String),
      name: 'Ada',
      email: 'ada@example.com',
      reference: 'C-1',
      user: { id: member.userId },
      metadata,
      paymentMethods: [],
      version: 1,
    })
  })

  it.each([
    ['an empty name', { name: ' ' }, 'name'],
    ['a reference of 121 characters', { reference: 'x'.repeat(121) }, 'reference'],
    ['a person’s id that is none', { userId: 'ada' }, 'userId'],
    ['a key with a blank', { metadata: [{ key: 'a b', value: 'x' }] }, 'metadata[0].key'],
  ])('rejects %s with BAD_USER_INPUT', async (_, input, field) => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const answer = await graph.execute(create, { input: { name: 'Ada', ...input } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })
})

describe('updateCustomer', () => {
  it('changes what the input mentions, replaces metadata as a whole, and keeps the rest', async () => {
    const graph = world()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const metadata = [{ key: 'a', value: '1' }]
    const { id } = await made(graph, owner, { email: 'ada@example.com', metadata })
    const change = async (input: object) => (await graph.execute(update, { input: { id, ...input } }, { as: owner })).data().updateCustomer
    expect(await change({ name: 'Ada L.' })).toMatchObject({ name: 'Ada L.', email: 'ada@example.com', metadata, version: 2 })
    expect(await change({ email: null, metadata: [] })).toMatchObject({ name: 'Ada L.', email: null, metadata: [], version: 3 })
    expect((await graph.execute(update, { input: { id, name: 'Mine' } }, { as: outsider })).refused('NOT_FOUND').extensions.id).toBe(id)
  })

  it('names personal fields in the audit log without their values', async () => {
    const graph = world()
    const { owner } = await graph.seed.owner()
    const { id } = await made(graph, owner, { name: 'Ada Secret', email: 'secret@example.com' })
    await graph.execute(update, { input: { id, name: 'Ada Hidden', metadata: [{ key: 'k', value: 'private' }] } }, { as: owner })
    const { nodes } = (await graph.execute(log, { id }, { as: owner })).data().paymentAuditLog
    expect(nodes[0]).toMatchObject({
      action: 'updateCustomer',
      changes: [
        { field: 'name', before: null, after: null },
        { field: 'metadata', before: null, after: null },
      ],
    })
    const stored = JSON.stringify(await graph.rows('select * from payments.audit_entries where subject_id = $1', [id]))
    expect(stored).not.toMatch(/Secret|Hidden|secret@|private/)
  })
})

describe('eraseCustomer', () => {
  it('removes everything personal, leaves the orders, and refuses changes from then on', async () => {
    const graph = world()
    const { owner, member } = await graph.seed.owner().member()
    const { id } = await made(graph, owner, { email: 'a@example.com', reference: 'R', userId: member.userId, metadata: [{ key: 'a', value: 'b' }] })
    const { id: order } = await ordered(graph, owner, { customerId: id })
    const empty = { name: null, email: null, reference: null, user: null, metadata: [], paymentMethods: [] }
    for (const _ of [1, 2]) expect((await graph.execute(erase, { input: { id } }, { as: owner })).data().eraseCustomer).toEqual({ id, ...empty, version: 2 })
    const after = await graph.execute(`{ customer(id: "${id}") { orders { nodes { id } } } }`, {}, { as: owner })
    expect(after.data().customer.orders.nodes).toEqual([{ id: order }])
    const reason = async (document: string, input: object) => (await graph.execute(document, { input }, { as: owner })).refused('CONFLICT').extensions.reason
    expect(await reason(update, { id, name: 'Again' })).toBe('CUSTOMER_ERASED')
    expect(await reason(createOrder, { currency: 'EUR', lines: [ticket], customerId: id })).toBe('CUSTOMER_ERASED')
  })
})

describe('customers', () => {
  it('finds customers of the organization by parts of name, email and reference, in any case', async () => {
    const graph = world()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const organizationId = owner.organizationId!
    await seedCustomer(graph, { organizationId, name: 'Ada Lovelace', email: 'ada@example.com', reference: 'C-100%' })
    await graph.clock.advance(1000)
    await seedCustomer(graph, { organizationId, name: 'Grace Hopper', email: 'grace@navy.example', reference: 'C-2' })
    const found = async (search?: string, as = owner) =>
      (await graph.execute(customers, { search }, { as })).data().customers.nodes.map((node: { name: string }) => node.name)
    expect(await found()).toEqual(['Grace Hopper', 'Ada Lovelace'])
    expect(await found('LOVE')).toEqual(['Ada Lovelace'])
    expect(await found('navy')).toEqual(['Grace Hopper'])
    expect(await found('100%')).toEqual(['Ada Lovelace'])
    expect(await found('%')).toEqual(['Ada Lovelace'])
    expect(await found('nobody')).toEqual([])
    expect(await found('ada', outsider)).toEqual([])
  })
})

describe('orders', () => {
  it('are found by customer, by time and by an exact entry of metadata', async () => {
    const graph = world()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { id: customerId } = await made(graph, owner)
    const metadata = [
      { key: 'shop', value: 'north' },
      { key: 'till', value: '1' },
    ]
    const first = await ordered(graph, owner, { customerId, metadata })
    expect(first).toMatchObject({ customerId, customer: { name: 'Ada' }, metadata })
    await graph.clock.advance(60_000)
    const second = await ordered(graph, owner, { metadata: [{ key: 'shop', value: 'northern' }] })
    const found = async (variables: object, as = owner) =>
      (await graph.execute(orders, { ...variables }, { as })).data().orders.nodes.map(({ id }: { id: string }) => id)
    expect(await found({ customerId })).toEqual([first.id])
    expect(await found({ from: graph.clock.in(-30_000) })).toEqual([second.id])
    expect(await found({ to: graph.clock.in(-30_000) })).toEqual([first.id])
    expect(await found({ metadataKey: 'shop', metadataValue: 'north' })).toEqual([first.id])
    expect(await found({ metadataKey: 'till', metadataValue: 'north' })).toEqual([])
    expect(await found({ metadataKey: 'shop', metadataValue: 'north' }, outsider)).toEqual([])
    for (const [half, missing] of [
      [{ metadataKey: 'shop' }, 'metadataValue'],
      [{ metadataValue: 'north' }, 'metadataKey'],
    ] as const)
      expect((await graph.execute(orders, half, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe(missing)
  })
})

describe('readMetadata', () => {
  const entry = (key: string, value = 'x') => ({ key, value })

  it('returns the entries in the order given, and undefined for none given', () => {
    expect(readMetadata([entry('b'), entry('a', 'x'.repeat(500))])).toEqual([entry('b'), entry('a', 'x'.repeat(500))])
    expect(readMetadata(undefined)).toBeUndefined()
  })

  it.each([
    ['21 entries', Array.from({ length: 21 }, (_, index) => entry(`k${index}`)), 'metadata'],
    ['a key twice', [entry('a'), entry('a')], 'metadata[1].key'],
    ['an empty key', [entry('')], 'metadata[0].key'],
    ['a key of 41 characters', [entry('k'.repeat(41))], 'metadata[0].key'],
    ['an empty value', [entry('a'), entry('b', '')], 'metadata[1].value'],
    ['a value of 501 characters', [entry('a', 'x'.repeat(501))], 'metadata[0].value'],
    ['a value with a NUL', [entry('a', '\0')], 'metadata[0].value'],
  ])('rejects %s', (_, metadata, field) => {
    expect(() => readMetadata(metadata)).toThrow(expect.objectContaining({ extensions: expect.objectContaining({ code: 'BAD_USER_INPUT', field }) }))
  })
})
