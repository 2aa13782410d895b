import { buildSchema, parse } from 'graphql'
import { createClient } from 'graphql-ws'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { connect } from '../../db/connect.ts'
import { doFor, program } from '../../platform/caller/cause.ts'
import { createMemoryEvents } from '../../platform/events.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { countUsage } from '../../router/metrics/usage/recorder.ts'
import { createUsageStore, type UsageStore } from '../../router/metrics/usage/store.ts'
import { createSums } from '../../router/metrics/usage/sums.ts'
import { openUsage } from '../../router/metrics/usage/usage.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { smallGraph } from '../door/graph.ts'
import { openRouter, schemaEngine } from '../door/platform.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { openDoor } from '../kit/door.ts'
import { supergraph } from '../kit/supergraph.ts'
import { tcpProxy } from '../kit/tcp-proxy.ts'

const log = pino({ level: 'silent' })
const noon = Date.parse('2026-11-28T12:00:00Z')
const dayMs = 86_400_000

let database: TestDatabase
let store: UsageStore
beforeAll(async () => {
  database = await createTestDatabase()
  store = createUsageStore(database.sequelize)
})
beforeEach(() => database.reset())
afterAll(() => database.drop())

/** A recorder whose sums are stored when the test says so. */
function recorder({
  to = store,
  metrics = new Registry(),
  days = 90,
  now = () => noon,
}: {
  to?: UsageStore
  metrics?: Registry
  days?: number
  now?: () => number
}) {
  const stack = new AsyncDisposableStack()
  const usage = openUsage({ store: to, flushMs: 1_000_000, days, log, metrics, now }, stack)
  return Object.assign(usage, { metrics, [Symbol.asyncDispose]: () => stack.disposeAsync() })
}

const uses = async (of = store) =>
  (await of.read({ since: '2026-01-01' }))
    .map(({ coordinate, client, version, operations, count }) => `${coordinate} ${client} ${version} ${operations} ${count}`)
    .sort()

/** An engine that only counts. */
const bare = (sdl: string): Engine =>
  ({ schema: buildSchema(sdl), execute: async () => ({ data: {} }), prepareStream: async () => ({ data: {} }), warm: async () => {} }) as Engine
const request = (text: string, variables?: Record<string, unknown>) => ({ document: parse(text), variables, viewer: anonymous, requestId: 'r' })
const as = (name: string, version: string, work: () => unknown) => doFor({ [program]: { name, version } }, work)

describe('recording at the doors', () => {
  it('counts operations over HTTP and WebSocket by the client that they name', async () => {
    await using usage = recorder({})
    await using platform = await openRouter(schemaEngine(smallGraph(createMemoryEvents())), { usage })
    const query = 'query Greeting($name: String) { hello(name: $name) }'
    await platform.gql(query, { 'apollographql-client-name': 'web', 'apollographql-client-version': '3.2' }, { name: 'swordfish' })
    await platform.gql(query, { 'graphql-client-name': 'ios', 'graphql-client-version': '2.0' })
    await platform.gql(query, { 'x-graphql-client-name': 'tv', 'apollographql-client-version': '9' })
    await platform.gql(query, { 'user-agent': 'curl/8' })
    await platform.gql('{ nothing }', { 'apollographql-client-name': 'web' })
    for (const [connectionParams, query] of [
      [{ 'graphql-client-name': 'socket', 'graphql-client-version': '1' }, 'query Who { viewer { kind } }'],
      [{ clientName: 'short', clientVersion: '4' }, 'subscription Ticks { tick }'],
    ] as const) {
      const client = createClient({ url: `ws://127.0.0.1:${platform.port}/graphql`, webSocketImpl: WebSocket, connectionParams })
      const events = client.iterate({ query })
      const next = events.next()
      await expect
        .poll(async () => {
          await usage.flush()
          return (await uses()).join()
        })
        .toContain(` ${Object.values(connectionParams)[0]} `)
      await client.dispose()
      await next.catch(() => {})
    }
    await usage.flush()
    expect(await uses()).toEqual([
      'Query.hello ios 2.0 Greeting 1',
      'Query.hello tv unknown Greeting 1',
      'Query.hello unknown unknown Greeting 1',
      'Query.hello web 3.2 Greeting 1',
      'Query.hello(name:) ios 2.0 Greeting 1',
      'Query.hello(name:) tv unknown Greeting 1',
      'Query.hello(name:) unknown unknown Greeting 1',
      'Query.hello(name:) web 3.2 Greeting 1',
      'Query.viewer socket 1 Who 1',
      'Subscription.tick short 4 Ticks 1',
      'Viewer.kind socket 1 Who 1',
    ])
    const [rows] = await database.sequelize.query('select to_jsonb(s) as row from usage.sums s')
    expect(JSON.stringify(rows)).not.toContain('swordfish')
  })

  it('counts REST routes and refused fields, and no calls between services', async () => {
    await using graph = await supergraph()
    const own = createUsageStore(graph.database.sequelize)
    await using usage = recorder({ to: own })
    const { owner } = await graph.seed.owner().brand().post()
    await using door = await openDoor(graph, { usage })
    const headers = { 'apollographql-client-name': 'web', 'apollographql-client-version': '1' }
    await door.ask('GET', '/publishing/api/posts', { headers })
    await door.ask('POST', '/graphql', {
      headers,
      body: { query: 'query Mine($no: Boolean!) { posts { nodes { copy } } brands @skip(if: $no) { totalCount } viewer { kind } }', variables: { no: true } },
    })
    await graph.execute('{ posts { nodes { id } } }', {}, { as: owner })
    await usage.flush()
    const found = await uses(own)
    expect(found).toEqual(expect.arrayContaining(['Post.copy web 1 Mine,RestPosts 2', 'Viewer.kind web 1 Mine 1']))
    expect(found.filter(each => /^Query\.(?:posts|brands) /.test(each))).toEqual(['Query.posts web 1 Mine,RestPosts 2'])
  })
})

describe('sums', () => {
  const engine = bare(`
    type Query { posts(filter: Filter, first: Int): [Post!] node: Post }
    type Post { id: ID! copy: String }
    input Filter { text: String state: State }
    enum State { DRAFT PUBLISHED }`)

  it('of several routers are added up, and survive a restart', async () => {
    const { document } = request('query Feed { node { id } }')
    const ask = (usage: ReturnType<typeof recorder>) => as('web', '1', () => usage.watch(engine).execute({ ...request('{ node { id } }'), document }))
    for (const routers of [2, 1]) {
      const all = Array.from({ length: routers }, () => recorder({}))
      for (const usage of all) await ask(usage)
      // The end of a router stores what it counted.
      await Promise.all(all.map(usage => usage[Symbol.asyncDispose]()))
    }
    expect(await uses()).toEqual(['Post.id web 1 Feed 3', 'Query.node web 1 Feed 3'])
    const [rows] = await database.sequelize.query(`select day::text, count, last_used_at as at, variant, document from usage.sums`)
    expect(new Set(rows.map(row => JSON.stringify(row))).size).toBe(1)
    expect(rows[0]).toEqual({ day: '2026-11-28', count: '3', at: new Date(noon), variant: '', document: expect.stringMatching(/^[\da-f]{64}$/) })
  })

  it('have what variables name, once each, and nothing that they hold', async () => {
    await using usage = recorder({})
    const text = 'query Search($f: Filter) { posts(filter: $f) { id } }'
    const counted = usage.watch(engine)
    for (const f of [{ text: 'swordfish' }, { text: 'x', state: 'DRAFT' }, { state: 'swordfish' }])
      await as('web', '1', () => counted.execute(request(text, { f })))
    await usage.flush()
    expect(await uses()).toEqual([
      'Filter.state web 1 Search 2',
      'Filter.text web 1 Search 2',
      'Post.id web 1 Search 3',
      'Query.posts web 1 Search 3',
      'Query.posts(filter:) web 1 Search 3',
      'State.DRAFT web 1 Search 1',
    ])
  })

  it('are those of answers in parts and of streams, too', async () => {
    const sums = createSums(noon)
    const answered = async () => ({ data: {} })
    const graph = { ...bare('type Query { a: Int } type Subscription { b: Int }'), executeIncrementally: answered } as Engine
    const engine = countUsage(graph, sums, log, () => noon)
    expect(countUsage(bare('type Query { a: Int }'), sums, log).executeIncrementally).toBeUndefined()
    await engine.executeIncrementally!(request('{ a ... @defer { a } }'))
    await engine.prepareStream(request('subscription { b }'))
    const taken = sums.take().map(({ sum: { coordinates }, count }) => `${coordinates} ${count}`)
    expect(taken.sort()).toEqual(['Query.a 1', 'Subscription.b 1'])
  })

  it('name the variant of the graph that was asked, and count it apart from the whole graph', async () => {
    const sums = createSums(noon)
    const engine = countUsage(bare('type Query { a(given: Given): Int } input Given { b: Int }'), sums, log, () => noon)
    const text = 'query A($given: Given) { a(given: $given) }'
    const ask = (graphVariant?: string) => engine.execute({ ...request(text, { given: { b: 1 } }), graphVariant })
    for (const variant of [undefined, 'partners', 'partners']) await ask(variant)
    const taken = sums.take().map(({ sum: { variant, coordinates }, count }) => `${variant || 'whole'} ${coordinates} ${count}`)
    expect(taken.sort()).toEqual(['partners Given.b 2', 'partners Query.a,Query.a(given:) 2', 'whole Given.b 1', 'whole Query.a,Query.a(given:) 1'].sort())
  })

  it('belong to the UTC day of the use, and are deleted after their days', async () => {
    let now = noon
    await using usage = recorder({ now: () => now, days: 2 })
    const counted = usage.watch(engine)
    const ask = () => as('web', '1', () => counted.execute(request('query Feed { node { id } }')))
    const days = async () =>
      ((await database.sequelize.query('select day::text from usage.sums order by day')) as never as [{ day: string }[]])[0].map(({ day }) => day)
    await ask()
    now += dayMs / 2
    await ask()
    await usage.flush()
    expect(await days()).toEqual(['2026-11-28', '2026-11-29'])
    now += 2 * dayMs
    await ask()
    await usage.flush()
    expect(await days()).toEqual(['2026-11-29', '2026-12-01'])
  })

  it('cost no statement while nothing is used', async () => {
    const sent: string[] = []
    const named = Object.fromEntries(
      Object.entries(store).map(([name, run]) => [
        name,
        (...words: never[]) => {
          sent.push(name)
          return (run as (...words: never[]) => unknown)(...words)
        },
      ]),
    )
    await using usage = recorder({ to: named as never })
    await usage.flush()
    await usage.watch(engine).execute(request('{ __schema { types { name } } }'))
    await usage.flush()
    expect(sent).toEqual(['begin'])
  })

  it('wait while the database is away, and are dropped with a count when their day is long over', async () => {
    await using proxy = await tcpProxy(database.url)
    const { sequelize, close } = connect({ url: proxy.url, poolSize: 1, log, silentMs: 1000 })
    let now = noon
    await using usage = recorder({ to: createUsageStore(sequelize), now: () => now })
    const counted = usage.watch(engine)
    const ask = () => as('web', '1', () => counted.execute(request('query Feed { node { id } }')))
    const dropped = async () => Number(/^supergraph_usage_dropped_total (\d+)$/m.exec(await usage.metrics.metrics())?.[1])
    proxy.refuse(true)
    proxy.cut()
    await ask()
    await usage.flush()
    await ask()
    await usage.flush()
    proxy.refuse(false)
    await usage.flush()
    expect(await uses()).toEqual(['Post.id web 1 Feed 2', 'Query.node web 1 Feed 2'])
    expect(await dropped()).toBe(0)
    proxy.refuse(true)
    proxy.cut()
    await ask()
    now += 2 * dayMs
    await usage.flush()
    expect(await dropped()).toBe(1)
    await usage[Symbol.asyncDispose]()
    await close()
  })
})

describe('bounds', () => {
  const count = (limits: Parameters<typeof createSums>[1]) => {
    const sums = createSums(noon, limits)
    const engine = countUsage(bare('type Query { a: Int b: Int c: Int }'), sums, log, () => noon)
    const ask = (name: string, version: string, text: string) => as(name, version, () => engine.execute(request(text)))
    const taken = () =>
      sums.take().map(({ sum: { client, version, operation, coordinates }, count }) => `${client} ${version} ${operation} ${coordinates} ${count}`)
    return { ask, taken, sums }
  }

  it('let clients and versions past theirs count as other', async () => {
    const { ask, taken } = count({ clients: 2, versions: 2 })
    for (const [name, version] of [
      ['web', '1'],
      ['web', '2'],
      ['web', '3'],
      ['web', '1'],
      ['ios', '1'],
      ['tv', '1'],
      ['car', '7'],
    ] as const)
      await ask(name, version, 'query A { a }')
    expect(taken()).toEqual([
      'web 1 A Query.a 2',
      'web 2 A Query.a 1',
      'web other A Query.a 1',
      'ios 1 A Query.a 1',
      'other 1 A Query.a 1',
      'other 7 A Query.a 1',
    ])
  })

  it('let sums past theirs keep the coordinates, as used by other', async () => {
    const { ask, taken, sums } = count({ sums: 3 })
    await ask('web', '1', 'query A { a b }')
    await ask('web', '1', 'query B { a b }')
    await ask('ios', '1', 'query C { b c }')
    await ask('web', '1', 'query A { a b }')
    expect(sums.size).toBe(2)
    expect(taken()).toEqual(['web 1 A Query.a,Query.b 1', 'other other other Query.a 2', 'other other other Query.b 3', 'other other other Query.c 1'])
  })
})
