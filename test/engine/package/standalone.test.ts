import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { context, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { execute, parse, subscribe } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import {
  createEngine,
  type GatewayEngine,
  type IncrementalPayload,
  LocalGraphQLDataSource,
  RemoteGraphQLDataSource,
} from '../../../router/engine/package/exports.ts'
import { serve } from './both.ts'
import { composeShop, link, parts, type Shop, startShop } from './shop.ts'

let shop: Shop
const engines: GatewayEngine[] = []
const open = (config: Parameters<typeof createEngine>[0]) => {
  const engine = createEngine(config)
  engines.push(engine)
  return engine
}

beforeAll(async () => {
  shop = await startShop()
})
afterEach(async () => {
  shop.instead = null
  await Promise.all(engines.splice(0).map(each => each.stop()))
})
afterAll(() => shop.close())

async function payloadsOf(answer: Awaited<ReturnType<GatewayEngine['execute']>>): Promise<IncrementalPayload[]> {
  if (!(Symbol.asyncIterator in answer)) throw new Error(`One answer: ${JSON.stringify(answer)}`)
  const all: IncrementalPayload[] = []
  for await (const payload of answer) all.push(JSON.parse(JSON.stringify(payload)))
  return all
}

const ticking = `${parts.catalog!.sdl} type Subscription { ticks(to: Int!): Product fails: Int }`
const tickResolvers = {
  ...parts.catalog!.resolvers,
  Subscription: {
    ticks: {
      async *subscribe(_: unknown, { to }: { to: number }) {
        for (let at = 1; at <= to; at++) yield { ticks: { id: String(at), name: `event ${at}` } }
      },
    },
  },
}

describe('createEngine', () => {
  it('runs operations of any server, with errors in the answer', async () => {
    const engine = open({ supergraphSdl: shop.supergraphSdl })
    expect(engine.schema.getQueryType()?.name).toBe('Query')
    const query = 'query Read($first: Int) { products(first: $first) { name stock } }'
    for (const asked of [query, parse(query)])
      expect(JSON.parse(JSON.stringify(await engine.execute({ query: asked, variables: { first: 1 } })))).toEqual({
        data: { products: [{ name: 'table', stock: 10 }] },
      })
    expect(await engine.execute({ query: '{ nothing' })).toMatchObject({ errors: [{ message: 'Syntax Error: Expected Name, found <EOF>.' }] })
    expect(await engine.execute({ query: '{ nothing }' })).toMatchObject({ errors: [{ message: expect.stringContaining('Cannot query field "nothing"') }] })
    expect(await engine.execute({ query, variables: { first: 'many' } })).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] })
    expect(await engine.execute({ query: 'query A { __typename } query B { warehouse { id } }', operationName: 'A' })).toMatchObject({
      data: { __typename: 'Query' },
    })
  })

  it('answers whatever a server hands over with an error that says what is wrong, and its code', async () => {
    const engine = open({ supergraphSdl: shop.supergraphSdl })
    const query = '{ __typename }'
    const asked: readonly (readonly [object, string, string])[] = [
      [{}, 'BAD_REQUEST', 'no operation'],
      [{ query: 7 }, 'BAD_REQUEST', 'no operation'],
      [{ query: { kind: 'Field' } }, 'BAD_REQUEST', 'no operation'],
      [{ query: '{' }, 'GRAPHQL_PARSE_FAILED', 'Syntax Error'],
      [{ query: `${'{ products '.repeat(20_000)}` }, 'GRAPHQL_PARSE_FAILED', 'too deep'],
      [{ query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED', 'Cannot query field'],
      [{ query: 'subscription { nothing }' }, 'GRAPHQL_VALIDATION_FAILED', 'not configured to execute subscription'],
      [{ query, variables: 'many' }, 'BAD_REQUEST', 'variables'],
      [{ query, variables: [1] }, 'BAD_REQUEST', 'variables'],
      [{ query, operationName: 7 }, 'BAD_REQUEST', 'operationName'],
      [{ query, operationName: 'Other' }, 'BAD_USER_INPUT', 'Other'],
    ]
    for (const [request, code, words] of asked)
      for (const run of [engine.execute, engine.subscribe])
        expect(await run(request as Parameters<typeof run>[0]), JSON.stringify(request)).toMatchObject({
          errors: [{ message: expect.stringContaining(words), extensions: { code } }],
        })
    expect(await engine.execute({ query, variables: null as never, operationName: null })).toEqual({ data: { __typename: 'Query' } })
  })

  it('answers @defer and @stream by payloads', async () => {
    const engine = open({ supergraphSdl: shop.supergraphSdl })
    const payloads = await payloadsOf(await engine.execute({ query: '{ products(first: 1) { name ... @defer(label: "later") { stock } } }' }))
    expect(payloads).toEqual([
      { data: { products: [{ name: 'table' }] }, pending: [{ id: '0', path: ['products', 0], label: 'later' }], hasNext: true },
      { incremental: [{ id: '0', data: { stock: 10 } }], completed: [{ id: '0' }], hasNext: false },
    ])
    const streamed = await payloadsOf(await engine.execute({ query: '{ products @stream(initialCount: 1) { name } }' }))
    expect(streamed.at(0)?.data).toEqual({ products: [{ name: 'table' }] })
    expect(streamed.at(-1)?.hasNext).toBe(false)
  })

  it('gives its context to hooks and to resolvers in this process', async () => {
    const seen: unknown[] = []
    class Source extends RemoteGraphQLDataSource {
      override willSendRequest({
        request,
        context: given,
      }: {
        request: { http?: { headers: { set(name: string, value: string): void } } }
        context: Record<string, unknown>
      }) {
        seen.push(given)
        request.http!.headers.set('authorization', String(given.token))
      }
    }
    shop.asked.length = 0
    const remote = open({ supergraphSdl: shop.supergraphSdl, buildService: ({ url }) => new Source({ url: url! }) })
    await remote.execute({ query: '{ warehouse { city } }', context: { token: 'mine' } })
    expect(seen).toEqual([{ token: 'mine' }])
    expect(shop.asked.map(({ headers }) => headers.authorization)).toEqual(['mine'])
    const local = open({ supergraphSdl: shop.supergraphSdl, buildService: ({ name }) => new LocalGraphQLDataSource(shop.schemas[name]!) })
    expect(await local.execute({ query: '{ products(first: 1) { name stock } }' })).toMatchObject({ data: { products: [{ name: 'table', stock: 10 }] } })
  })

  it('ends what is under way when its client leaves, and when it stops', async () => {
    const engine = open({ supergraphSdl: shop.supergraphSdl })
    const leaving = new AbortController()
    leaving.abort()
    expect(await engine.execute({ query: '{ warehouse { city } }', signal: leaving.signal })).toMatchObject({
      errors: [{ message: 'The operation was ended before it was answered.' }],
    })
    await engine.stop()
    expect(await engine.execute({ query: '{ warehouse { city } }' })).toMatchObject({
      errors: [{ message: 'The operation was ended before it was answered.' }],
    })
  })

  it('refuses a text that is no supergraph', () => {
    expect(() => createEngine({ supergraphSdl: 'type Query { a: Int }' })).toThrow()
  })

  it('says that subscriptions are started by subscribe()', async () => {
    const supergraphSdl = composeShop(shop.urls, { catalog: ' type Subscription { ticks(to: Int!): Product fails: Int }' })
    const engine = open({ supergraphSdl })
    expect(await engine.execute({ query: 'subscription { fails }' })).toMatchObject({
      errors: [{ message: expect.stringContaining('subscribe()'), extensions: { code: 'BAD_USER_INPUT' } }],
    })
  })

  it('subscribes at a schema in this process, and asks other subgraphs for each event', async () => {
    const schema = buildSubgraphSchema({ typeDefs: parse(`${link}\n${ticking}`), resolvers: tickResolvers as never })
    const supergraphSdl = composeShop(shop.urls, { catalog: ' type Subscription { ticks(to: Int!): Product fails: Int }' })
    const engine = open({
      supergraphSdl,
      buildService: ({ name, url }) => (name === 'catalog' ? new LocalGraphQLDataSource(schema) : new RemoteGraphQLDataSource({ url: url! })),
    })
    const stream = await engine.subscribe({ query: 'subscription On($to: Int!) { tick: ticks(to: $to) { name stock } }', variables: { to: 2 } })
    if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream))
    const events: unknown[] = []
    for await (const event of stream) events.push(JSON.parse(JSON.stringify(event)))
    expect(events).toEqual([{ data: { tick: { name: 'event 1', stock: 10 } } }, { data: { tick: { name: 'event 2', stock: 20 } } }])
    expect(await engine.subscribe({ query: 'subscription { nothing }' })).toMatchObject({ errors: [{}] })
  })

  it('subscribes over WebSocket, with the headers that the hook sets', async () => {
    const schema = buildSubgraphSchema({ typeDefs: parse(`${link}\n${ticking}`), resolvers: tickResolvers as never })
    const headers: unknown[] = []
    const http = createServer()
    const sockets = new WebSocketServer({ server: http, path: '/graphql' })
    const served = useServer(
      {
        schema,
        execute,
        subscribe,
        onConnect: ({ extra }) => void headers.push((extra as { request: { headers: Record<string, unknown> } }).request.headers['x-user']),
      },
      sockets,
    )
    await new Promise<void>(listening => http.listen(0, '127.0.0.1', () => listening()))
    const urls = { ...shop.urls, catalog: `http://127.0.0.1:${(http.address() as AddressInfo).port}/graphql` }
    const engine = open({
      supergraphSdl: composeShop(urls, { catalog: ' type Subscription { ticks(to: Int!): Product fails: Int }' }),
      buildService: ({ url }) =>
        new RemoteGraphQLDataSource({ url: url!, willSendRequest: ({ request, context: given }) => request.http!.headers.set('x-user', String(given.user)) }),
    })
    const stream = await engine.subscribe({ query: 'subscription { ticks(to: 2) { id stock } }', context: { user: 'ann' } })
    if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream))
    expect(JSON.parse(JSON.stringify(await stream.next()))).toEqual({ value: { data: { ticks: { id: '1', stock: 10 } } }, done: false })
    expect(headers).toEqual(['ann'])
    await stream.return?.()
    await served.dispose()
    http.closeAllConnections()
    http.close()
  })

  it('serves Yoga as the README says', async () => {
    const engine = open({ supergraphSdl: shop.supergraphSdl })
    const engineOfMine: Plugin = {
      onExecute({ setExecuteFn }) {
        setExecuteFn(({ document, variableValues, operationName, contextValue }) =>
          engine.execute({ query: document, variables: variableValues, operationName, context: contextValue }),
        )
      },
    }
    const yoga = createYoga({ schema: engine.schema, logging: false, plugins: [engineOfMine] })
    const response = await yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ products(first: 1) { name stock } }' }),
    })
    expect(await response.json()).toEqual({ data: { products: [{ name: 'table', stock: 10 }] } })
  })
})

describe('spans', () => {
  it('have the names, attributes and places of those of @apollo/gateway', async () => {
    const exporter = new InMemorySpanExporter()
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    provider.register()
    const seen: Record<string, unknown> = {}
    for (const name of ['stock', 'ours'] as const) {
      const served = await serve(name, { supergraphSdl: shop.supergraphSdl, telemetry: { includeDocument: true, recordExceptions: 1 } })
      exporter.reset()
      await served.run('query Spans { products(first: 1) { name stock loud } }')
      const spans = exporter.getFinishedSpans()
      const nameOf = (id: string | undefined) => spans.find(each => each.spanContext().spanId === id)?.name ?? null
      seen[name] = spans
        .map(each => [each.name, nameOf(each.parentSpanContext?.spanId), each.attributes, each.status.code, each.events.length] as const)
        .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
      await served.stop()
    }
    expect(seen.ours).toEqual(seen.stock)
    expect(new Set((seen.ours as [string][]).map(([name]) => name)).size).toBe(6)
    trace.disable()
    context.disable()
  })
})
