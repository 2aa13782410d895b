import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { both, type Config, type Name, packages, type Result, type Served, serve } from './both.ts'
import { type Shop, startShop } from './shop.ts'

let shop: Shop
const open: Served[] = []

beforeAll(async () => {
  shop = await startShop()
})
afterEach(async () => {
  shop.instead = null
  await Promise.all(open.splice(0).map(each => each.stop()))
})
afterAll(() => shop.close())

type Remote = InstanceType<(typeof packages)['stock']['RemoteGraphQLDataSource']>
type Log = unknown[]

/** Serves the shop with data sources of one class, and runs an operation. */
async function run(name: Name, hooks: (log: Log) => Partial<Remote>, query: string, config: Config = {}): Promise<{ result: Result; log: Log }> {
  const log: Log = []
  const { RemoteGraphQLDataSource } = packages[name]
  const served = await serve(name, {
    supergraphSdl: shop.supergraphSdl,
    buildService: ({ url }) => new RemoteGraphQLDataSource({ url: url!, ...hooks(log) }),
    ...config,
  })
  open.push(served)
  shop.asked.length = 0
  const { errors, ...result } = await served.run(query)
  return { result: { ...result, ...(errors && { errors: errors.map(each => JSON.parse(JSON.stringify(each))) }) } as Result, log }
}

async function same(hooks: (log: Log) => Partial<Remote>, query: string, config?: Config) {
  const [stock, ours] = [await run('stock', hooks, query, config), await run('ours', hooks, query, config)]
  expect(ours).toEqual(stock)
  return ours
}

const operation = 'query Products { products(first: 1) { name stock } }'

describe('hooks of RemoteGraphQLDataSource', () => {
  it('are called as those of @apollo/gateway', async () => {
    const { log, result } = await same(
      calls => ({
        willSendRequest({ request, context, kind, ...more }) {
          request.http!.headers.set('x-user', context.user)
          const at = 'pathInIncomingRequest' in more ? more.pathInIncomingRequest : null
          calls.push(['will', kind, request.operationName, request.http!.method, request.http!.url, [...request.http!.headers], at])
          calls.push(['incoming', 'incomingRequestContext' in more && more.incomingRequestContext.operationName])
        },
        didReceiveResponse({ response, request, context, pathInIncomingRequest }) {
          calls.push([
            'did',
            JSON.parse(JSON.stringify(response.data, (key, value) => (key === '__typename' ? undefined : value))),
            response.http?.status,
            request.operationName,
            context.user,
            pathInIncomingRequest,
          ])
          return response
        },
      }),
      operation,
    )
    expect(log).toHaveLength(6)
    expect(result.data).toEqual({ products: [{ name: 'table', stock: 10 }] })
    expect(shop.asked.map(({ headers }) => headers['x-user'])).toEqual(['ann', 'ann'])
  })

  it('may change requests and answers', async () => {
    const { result } = await same(
      () => ({
        willSendRequest({ request }) {
          if (request.variables?.representations) request.variables.representations = [{ __typename: 'Product', id: '2' }]
        },
        didReceiveResponse: ({ response }) =>
          response.data?.products ? { ...response, data: { products: [{ ...response.data.products[0], name: 'changed' }] } } : response,
      }),
      operation,
    )
    expect(result.data).toEqual({ products: [{ name: 'changed', stock: 20 }] })
  })

  it('see failures, and may throw errors of their own', async () => {
    shop.instead = ({ subgraph }) => (subgraph === 'stock' ? { status: 503, body: '{"a":1}' } : undefined)
    const { result } = await same(
      calls => ({
        didEncounterError(error, request, response, context) {
          calls.push([error.message, request.url, request.method, response?.status, context?.user])
          throw new Error('of the hook')
        },
      }),
      operation,
    )
    expect(result.errors).toMatchObject([{ message: 'of the hook' }])
    await same(calls => ({ didEncounterError: error => void calls.push(error.message) }), operation)
    await same(() => ({ errorFromResponse: async response => new Error(`status ${response.status}`) as never }), operation)
  })

  it('may read bodies by themselves', async () => {
    await same(
      calls => ({
        async parseBody(response, request) {
          calls.push([response.headers.get('content-type'), request?.url])
          return JSON.parse(await response.text())
        },
      }),
      operation,
    )
    await same(() => ({ parseBody: async () => 'no JSON' }), operation)
  })

  it('use a fetcher of the user', async () => {
    const { log } = await same(
      calls => ({
        async fetcher(url, init) {
          calls.push([url, init?.method, init?.headers])
          return (await fetch(url, init as RequestInit)) as never
        },
      }),
      operation,
    )
    expect(log).toHaveLength(2)
  })

  it('send hashes first where apq is set', async () => {
    const known = new Set<string>()
    shop.instead = ({ body }) => {
      const hash = (body.extensions?.persistedQuery as { sha256Hash: string }).sha256Hash
      if (body.query || known.has(hash)) return void known.add(hash)
      return { status: 200, body: '{"errors":[{"message":"PersistedQueryNotFound"}]}' }
    }
    for (const name of both) {
      known.clear()
      const { result } = await run(name, () => ({ apq: true }), '{ warehouse { city } }')
      expect(result.data).toEqual({ warehouse: { city: 'Rotterdam' } })
      expect(shop.asked.map(({ body }) => 'query' in body)).toEqual([false, true])
    }
  })
})

describe('data sources of other kinds', () => {
  it('run schemas in this process', async () => {
    for (const name of both) {
      const { LocalGraphQLDataSource } = packages[name]
      const served = await serve(name, {
        supergraphSdl: shop.supergraphSdl,
        buildService: definition => new LocalGraphQLDataSource(shop.schemas[definition.name]!),
      })
      open.push(served)
      expect((await served.run('{ products(first: 2) { name stock failing } }')).data.products).toEqual([
        { name: 'table', stock: 10, failing: 'fine' },
        { name: 'chair', stock: 20, failing: null },
      ])
    }
    const [stock, ours] = both.map(name => JSON.stringify(new packages[name].LocalGraphQLDataSource(shop.schemas.catalog!).sdl()))
    expect(ours).toEqual(stock)
  })

  it('may answer the same objects again', async () => {
    for (const name of both) {
      const products = [{ __typename: 'Product', id: '1', name: 'table' }]
      const served = await serve(name, {
        supergraphSdl: shop.supergraphSdl,
        buildService: ({ name: subgraph }) => ({
          process: async () => ({ data: subgraph === 'catalog' ? { products } : { _entities: [{ score: 2 }] } }),
        }),
      })
      open.push(served)
      for (let turn = 0; turn < 2; turn++) expect((await served.run('{ products { name score } }')).data).toEqual({ products: [{ name: 'table', score: 2 }] })
      if (name === 'ours') expect(products).toEqual([{ __typename: 'Product', id: '1', name: 'table' }])
    }
  })

  it('may throw anything', async () => {
    for (const thrown of [new TypeError('a type'), Object.assign(new Error('with more'), { extensions: { code: 'MINE', at: 1 } })])
      await same(
        () => ({
          async process() {
            throw thrown
          },
        }),
        operation,
      )
  })
})

describe('observers of the gateway', () => {
  it('get plans in the form of @apollo/query-planner', async () => {
    const seen: Record<
      string,
      { queryPlan: { kind: string; node?: unknown }; serviceMap: object; operationContext: { operation: { name?: { value: string } } } }
    > = {}
    for (const name of both) {
      const served = await serve(name, {
        supergraphSdl: shop.supergraphSdl,
        experimental_didResolveQueryPlan(resolved) {
          seen[name] = resolved as never
        },
      })
      open.push(served)
      await served.run(operation)
    }
    const withoutTexts = (plan: unknown) =>
      JSON.parse(JSON.stringify(plan, (key, value) => (['operation', 'variableUsages'].includes(key) || value?.length === 0 ? undefined : value)))
    expect(withoutTexts(seen.ours!.queryPlan)).toEqual(withoutTexts(seen.stock!.queryPlan))
    expect(Object.keys(seen.ours!.serviceMap).sort()).toEqual(['catalog', 'reviews', 'stock'])
    expect(seen.ours!.operationContext.operation.name?.value).toBe('Products')
  })

  it('are shown plans in the answer by a header', async () => {
    for (const name of both) {
      const served = await serve(name, { supergraphSdl: shop.supergraphSdl, __exposeQueryPlanExperimental: true })
      open.push(served)
      const { extensions } = await served.run(operation, undefined, undefined, { 'apollo-query-plan-experimental': '1' })
      expect(String(extensions?.__queryPlanExperimental)).toMatch(/^QueryPlan \{\s+Sequence \{\s+Fetch\(service: "catalog"\)/)
      expect((await served.run('{ __typename }', undefined, undefined, { 'apollo-query-plan-experimental': '1' })).data).toEqual({ __typename: 'Query' })
      expect((await served.run(operation)).extensions).toBeUndefined()
    }
  })

  it('keep plans in a cache of their own', async () => {
    const stored = new Map<string, unknown>()
    let cleared = 0
    const cache = {
      get: async (key: string) => stored.get(key),
      set: async (key: string, plan: unknown) => void stored.set(key, plan),
      clear: () => void cleared++,
    }
    const served = await serve('ours', { supergraphSdl: shop.supergraphSdl, queryPlannerConfig: { cache: cache as never } })
    open.push(served)
    await served.run(operation)
    await served.run(operation)
    expect([stored.size, cleared, [...stored.values()][0]]).toEqual([1, 1, expect.objectContaining({ kind: 'QueryPlan' })])
  })
})
