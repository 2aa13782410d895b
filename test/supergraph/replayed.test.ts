import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { type Door, openDoor } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const password = 'correct horse battery'

let graph: Supergraph
let door: Door
let owner: Record<string, string>

beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
  await graph.platform.identity.provision({
    password,
    people: [{ email: 'owner@test.test', name: 'Olivia' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@test.test', roles: ['owner'] }] }],
    keys: [],
  })
  owner = await door.signIn('owner@test.test', password)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const brand = (idempotencyKey: string, name = 'Bread') => ({ name, idempotencyKey })
const order = (idempotencyKey: string) => ({ currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: 1_000 }], idempotencyKey })

const mutate = async (query: string, variables: object) => (await door.ask('POST', '/graphql', { headers: owner, body: { query, variables } })).json

describe('the mark of a repeated idempotency key', () => {
  it('is in extensions.replayed under the name of the mutation from the second time on', async () => {
    const query = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { id } }'
    const variables = { input: order(newId()) }
    const first = await mutate(query, variables)
    expect(first).toEqual({ data: { createOrder: { id: expect.any(String) } } })
    // Often enough that the subgraph has compiled the operation.
    for (let time = 0; time < 4; time++) expect(await mutate(query, variables)).toEqual({ ...first, extensions: { replayed: ['createOrder'] } })
  })

  it('names several repeated mutations in the order of the document, by their aliases', async () => {
    const query = `mutation ($one: CreateBrandInput!, $two: CreateBrandInput!, $order: CreateOrderInput!) {
      first: createBrand(input: $one) { id }
      second: createBrand(input: $two) { id organization { id } }
      third: createOrder(input: $order) { id }
    }`
    const [one, two, three] = [newId(), newId(), newId()]
    const variables = { one: brand(one), two: brand(two), order: order(three) }
    expect((await mutate(query, variables)).extensions).toBeUndefined()
    expect((await mutate(query, { ...variables, one: brand(newId()) })).extensions).toEqual({ replayed: ['second', 'third'] })
    expect((await mutate(query, { ...variables, two: brand(newId()) })).extensions).toEqual({ replayed: ['first', 'third'] })
  })

  it('is missing for a key that is rejected, and kept for the others', async () => {
    const query =
      'mutation ($one: CreateBrandInput!, $two: CreateBrandInput!) { first: createBrand(input: $one) { id } second: createBrand(input: $two) { id } }'
    const [one, two] = [newId(), newId()]
    await mutate(query, { one: brand(one), two: brand(two) })
    const again = await mutate(query, { one: brand(one), two: brand(two, 'Other') })
    expect(again.errors[0]).toMatchObject({ path: ['second'], extensions: { code: 'CONFLICT', reason: 'KEY_REUSED' } })
    expect(again.extensions).toEqual({ replayed: ['first'] })
  })

  it('is the header Idempotent-Replayed over REST, also after a first request over GraphQL', async () => {
    const key = newId()
    const send = () => door.ask('POST', '/publishing/api/brands', { headers: { ...owner, 'idempotency-key': key }, body: { name: 'Bread' } })
    const first = await send()
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([201, undefined])
    const again = await send()
    expect([again.status, again.headers['idempotent-replayed'], again.json.id]).toEqual([201, 'true', first.json.id])
    const graphql = await mutate('mutation ($input: CreateBrandInput!) { createBrand(input: $input) { id } }', { input: brand(key) })
    expect(graphql).toEqual({ data: { createBrand: { id: first.json.id } }, extensions: { replayed: ['createBrand'] } })
  })

  it('is missing for mutations without a key', async () => {
    const query = 'mutation ($input: CreateBrandInput!) { createBrand(input: $input) { id } }'
    for (let time = 0; time < 2; time++) expect((await mutate(query, { input: { name: 'Plain' } })).extensions).toBeUndefined()
  })
})
