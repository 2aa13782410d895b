import { lexicographicSortSchema, printSchema } from 'graphql'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { both, type Result, type Served, serve } from './both.ts'
import { type Shop, startShop } from './shop.ts'

let shop: Shop
const served: Record<string, Served> = {}

beforeAll(async () => {
  shop = await startShop()
  for (const name of both) served[name] = await serve(name, { supergraphSdl: shop.supergraphSdl })
})
afterEach(() => {
  shop.instead = null
  shop.headers = {}
})
afterAll(async () => {
  await Promise.all(Object.values(served).map(each => each.stop()))
  await shop.close()
})

/** Errors in an order of their own, because fetches end in any. */
const sorted = ({ errors, ...rest }: Result) => ({ ...rest, ...(errors && { errors: errors.map(each => JSON.stringify(each)).sort() }) })

async function answers(query: string, variables?: Record<string, unknown>, operationName?: string) {
  const [stock, ours] = [await served.stock!.run(query, variables, operationName), await served.ours!.run(query, variables, operationName)]
  return { stock: sorted(stock), ours: sorted(ours) }
}

async function same(query: string, variables?: Record<string, unknown>, operationName?: string) {
  const { stock, ours } = await answers(query, variables, operationName)
  expect(ours).toEqual(stock)
  return stock
}

describe('the package answers as @apollo/gateway', () => {
  it.each([
    ['root fields', '{ products { id name } warehouse { city } }'],
    ['entities of several subgraphs', '{ products { name stock freight score reviews(first: 1) { body product { name } } at { city } } }'],
    [
      'aliases and fragments',
      'query Named { a: product(id: "1") { ...F } b: product(id: "2") { ...F n: name } } fragment F on Product { kilo: grams reviews { text: body } }',
    ],
    ['unions and interfaces', '{ anything { __typename ... on Named { name } ... on Product { stock } ... on Note { text } } }'],
    ['an entity that its subgraph does not have', '{ product(id: "3") { name stock freight } }'],
    ['null in lists', '{ latest { id body product { name score } } }'],
    ['nothing found', '{ product(id: "9") { name stock } }'],
    ['an error with a code', '{ broken warehouse { id } }'],
    ['an error without a code in an entity', '{ products { id failing } }'],
    ['errors of all entities', '{ products(first: 2) { loud stock } }'],
    ['an error of a field that is never null', '{ product(id: "1") { id wrong } }'],
    ['null for what is never null', '{ unsure }'],
    ['introspection', '{ __schema { queryType { name } } __type(name: "Product") { fields { name } } __typename }'],
    ['a mutation', 'mutation { rename(id: "1", name: "desk") { name stock } }'],
    ['two mutations', 'mutation M { a: rename(id: "1", name: "desk") { name } b: rename(id: "2", name: "stool") { name stock } }'],
    ['an operation that is not valid', '{ nothing }'],
    ['an inaccessible field', '{ hidden }'],
    ['input objects and enums', '{ a: echo(input: { text: "x" }, kind: BIG) b: echo }'],
  ])('for %s', (_name, query) => same(query).then(() => {}))

  it('with variables, coerced and refused', async () => {
    const query =
      'query Q($id: ID!, $first: Int, $show: Boolean = true, $input: Filter) { product(id: $id) { name @include(if: $show) reviews(first: $first) { body } } echo(input: $input) }'
    await same(query, { id: '1', first: 1 })
    await same(query, { id: 2, show: false, input: { text: 'x', tags: 'one' } })
    await same(query, {})
    await same(query, { id: '1', first: 'many' })
    await same(query, { id: '1', input: { tags: [] } })
  })

  it('for one of several operations', async () => {
    const query = 'query A { product(id: "1") { name } } query B { product(id: "2") { name stock } }'
    expect(await same(query, undefined, 'B')).toMatchObject({ data: { product: { stock: 20 } } })
    await same(query, undefined, 'C')
    await same(query)
  })

  it.each([
    ['a status of failure', { status: 500, body: '{"errors":[{"message":"inside"}]}' }],
    ['a refusal', { status: 401, body: 'who?', headers: { 'content-type': 'text/plain' } }],
    ['another refusal', { status: 403, body: '{}' }],
    ['text', { status: 200, body: 'hello', headers: { 'content-type': 'text/plain' } }],
    ['an answer without data', { status: 200, body: '{"errors":[{"message":"no","path":["_entities",0,"stock"]}]}' }],
    ['an error without a message', { status: 200, body: '{"data":null,"errors":[{"message":""}]}' }],
  ])('when a subgraph answers with %s', async (_name, instead) => {
    shop.instead = asked => (asked.subgraph === 'stock' ? instead : undefined)
    await same('{ products(first: 2) { name stock } }')
    if (!instead.body.includes('_entities')) await same('{ warehouse { city } }')
  })

  it('and reports a subgraph that answers with nothing, of which @apollo/gateway says nothing', async () => {
    shop.instead = asked => (asked.subgraph === 'stock' ? { status: 200, body: '{}' } : undefined)
    const { stock, ours } = await answers('{ products(first: 1) { name stock } }')
    expect(ours.data).toEqual(stock.data)
    expect([ours.errors?.length, stock.errors]).toEqual([1, undefined])
  })

  it('when a subgraph sends no JSON', async () => {
    shop.instead = asked => (asked.subgraph === 'stock' ? { status: 200, body: '{"data":' } : undefined)
    expect((await same('{ products(first: 1) { name stock } }')).errors).toHaveLength(1)
  })

  it('when a connection breaks', async () => {
    shop.instead = asked => (asked.subgraph === 'stock' ? 'cut' : undefined)
    const { stock, ours } = await answers('{ products(first: 1) { name stock } }')
    expect(ours.data).toEqual(stock.data)
    expect(ours.errors?.[0]).toContain('failed, reason: socket hang up')
    expect(stock.errors?.[0]).toContain('failed, reason: socket hang up')
  })

  it('when a kept connection is closed as it is used again: a query is sent once more, a mutation is not', async () => {
    await served.ours!.run('{ products { name } }')
    let cuts = 1
    shop.instead = () => (cuts-- > 0 ? 'cut' : undefined)
    expect((await served.ours!.run('{ products(first: 1) { name } }')).data).toEqual({ products: [{ name: 'table' }] })
    cuts = 1
    expect((await served.ours!.run('mutation { rename(id: "1", name: "desk") { name } }')).errors?.[0]?.message).toContain('socket hang up')
  })

  it('with the cache policy of the subgraphs', async () => {
    shop.headers = { catalog: { 'cache-control': 'max-age=60, public' }, stock: { 'cache-control': 'private, max-age="20"' } }
    expect(await same('{ products { name } }')).toMatchObject({ cacheControl: 'max-age=60, public' })
    expect(await same('{ products { name stock } }')).toMatchObject({ cacheControl: 'max-age=20, private' })
    await same('{ products { name score } }')
  })

  it('with the same schema for clients', () => {
    const [stock, ours] = both.map(name => printSchema(lexicographicSortSchema(served[name]!.gateway.schema!)))
    expect(ours).toBe(stock)
  })
})

describe('requests of the package to subgraphs', () => {
  it('name the operation and carry the client’s variables', async () => {
    shop.asked.length = 0
    await served.ours!.run('query Read($id: ID!, $first: Int) { product(id: $id) { reviews(first: $first) { body } } }', { id: '2', first: 1 })
    expect(shop.asked.map(({ subgraph, body }) => [subgraph, body.operationName, body.variables])).toEqual([
      ['catalog', 'Read__catalog__0', { id: '2' }],
      ['reviews', 'Read__reviews__1', { first: 1, representations: [{ __typename: 'Product', id: '2' }] }],
    ])
    expect(shop.asked[0]!.body.query).toContain('query Read__catalog__0($id:ID!)')
  })

  it('have the client’s response keys, also where answers are made up', async () => {
    shop.instead = () => ({ status: 200, body: '{"data":{"one":{"label":"mine"},"products":[]}}' })
    const answer = await served.ours!.run('{ one: product(id: "1") { label: name } products(first: 2) { name } }')
    expect(answer.data).toEqual({ one: { label: 'mine' }, products: [] })
    expect(shop.asked.at(-1)!.body).toEqual({ query: '{one:product(id:"1"){label:name}products(first:2){name}}', variables: {} })
  })
})
