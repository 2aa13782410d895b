import { createHash } from 'node:crypto'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemoryEvents } from '../../platform/events.ts'
import { createAccessFilter } from '../../router/access/filter.ts'
import type { Manifest } from '../../router/door/documents/manifest.ts'
import { deduplicated } from '../../router/engine/native/deduplicate.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { measureOperations } from '../../router/metrics/operations.ts'
import { compose, type Part, testGraph } from '../engine/supergraph-fixture.ts'
import { type BareSocket, dial } from '../kit/bare-socket.ts'
import { openRouter } from './platform.ts'

const gone = '@tag(name: "gone")'
const events = createMemoryEvents()
const parts: Readonly<Record<string, Part>> = {
  only: {
    sdl: `type Query { hello(name: String, secret: String ${gone}): String help: String ${gone} found(kind: Kind): [Found] @listSize(assumedSize: 3)
        state: Kind echo(given: Given): String guarded: String @requiresScopes(scopes: [["only:read"]]) hidden: Hidden ${gone} }
      type Mutation { rename(name: String!): String remove: String ${gone} }
      type Subscription { tick: String secretTick: String ${gone} found: Found }
      enum Kind { NEW LOST ${gone} } input Given { name: String secret: String ${gone} }
      union Found = Book | Hidden interface Named { name: String }
      type Book implements Named { name: String price: Int ${gone} } type Hidden implements Named ${gone} { name: String }`,
    resolvers: {
      Query: {
        hello: (_: unknown, { name }: { name?: string }) => `Hello ${name ?? 'world'}`,
        help: () => 'help',
        found: () => [
          { __typename: 'Book', name: 'a book', price: 3 },
          { __typename: 'Hidden', name: 'a secret' },
        ],
        state: () => 'LOST',
        echo: (_: unknown, { given }: { given?: object }) => JSON.stringify(given),
        guarded: () => 'guarded',
        hidden: () => ({ name: 'a secret' }),
      },
      Mutation: { rename: (_: unknown, { name }: { name: string }) => name, remove: () => 'removed' },
      Subscription: {
        tick: { subscribe: () => events.listen(['tick']), resolve: () => 'ticked' },
        secretTick: { subscribe: () => events.listen(['tick']), resolve: () => 'secret' },
        found: { subscribe: () => events.listen(['tick']), resolve: () => ({ __typename: 'Hidden', name: 'a secret' }) },
      },
    },
  },
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const persisted = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } } })
const trustedDocuments = ['query Shown { hello }', 'query Secret { help }']
const manifest: Manifest = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: trustedDocuments.map(body => ({ id: sha256(body), name: body.split(' ')[1]!, type: 'query', body })),
}

const metrics = new Registry()
const graph = testGraph(parts, { access: createAccessFilter(readSupergraph(compose(parts)).access), variants: { partners: { exclude: ['gone'] } } })
const engine = measureOperations(metrics).watchEngine(deduplicated(graph.engine, []))
let platform: Awaited<ReturnType<typeof openRouter>>
let trusting: typeof platform
let production: typeof platform
beforeAll(async () => {
  platform = await openRouter(engine, { metrics, heartbeatMs: 100 })
  trusting = await openRouter(engine, { trust: 'only', manifest })
  production = await openRouter(engine, { environment: 'production' })
})
afterAll(() => Promise.all([platform, trusting, production].map(each => each.close())))

const partners = '/graphql/partners'
const post = (path: string, body: object, headers: Record<string, string> = {}, on = platform) =>
  on.ask(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
const gql = async (query: string, variables?: object, headers?: Record<string, string>) => (await post(partners, { query, variables }, headers)).json
const messages = (answer: { errors?: { message: string }[] }) => answer.errors?.map(({ message }) => message)

/** Announces an event, and returns what the first one on a socket brought, if one came. */
function firstEvent({ messages: came }: BareSocket, id: string): unknown {
  events.announce('tick', {})
  return came.find(message => message.id === id && message.type === 'next')?.payload
}

/** Reads a stream until its text holds something, then leaves. */
async function streamed(query: string, accept: string, awaited: string): Promise<string> {
  const leaving = new AbortController()
  const answer = await fetch(`${platform.url}${partners}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  })
  let text = ''
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  while (!text.includes(awaited)) {
    events.announce('tick', {})
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  leaving.abort()
  return text
}

describe('a variant of the graph', () => {
  test('answers by POST, by GET and with the trailing slash', async () => {
    expect(await gql('query($n: String) { hello(name: $n) }', { n: 'you' })).toEqual({ data: { hello: 'Hello you' } })
    expect((await platform.ask(`${partners}?query=${encodeURIComponent('{ hello }')}`)).json).toEqual({ data: { hello: 'Hello world' } })
    expect((await post(`${partners}/`, { query: 'mutation { rename(name: "a") }' })).json).toEqual({ data: { rename: 'a' } })
    const refused = await platform.ask(partners, { method: 'PUT' })
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, POST'])
  })

  test('answers by server-sent events, multipart subscriptions and incremental payloads', async () => {
    expect(await streamed('subscription { tick }', 'text/event-stream', 'ticked')).toContain('data: {"data":{"tick":"ticked"}}')
    expect(await streamed('subscription { tick }', 'multipart/mixed;subscriptionSpec="1.0", application/json', 'ticked')).toContain('"tick":"ticked"')
    const late = await streamed('{ hello ... @defer { found { ... on Book { name } } } }', 'multipart/mixed;incrementalSpec=v0.2', '"hasNext":false')
    expect(late).toMatch(/"hello":"Hello world"[\s\S]*"a book"/)
    for (const accept of ['text/event-stream', 'multipart/mixed;subscriptionSpec="1.0", application/json'])
      expect(await streamed('subscription { secretTick }', accept, 'secretTick')).toContain('Cannot query field \\"secretTick\\"')
  })

  test('answers over WebSocket', async () => {
    const socket = await dial(platform.url, { path: partners })
    await socket.init()
    socket.subscribe('a', '{ hello }')
    expect((await socket.got('next', 'a')).payload).toEqual({ data: { hello: 'Hello world' } })
    socket.subscribe('b', '{ help }')
    expect((await socket.got('error', 'b')).payload[0]).toMatchObject({ message: expect.stringMatching(/^Cannot query field "help" on type "Query"/) })
    socket.subscribe('c', 'subscription { tick }')
    await expect.poll(() => firstEvent(socket, 'c')).toEqual({ data: { tick: 'ticked' } })
    socket.subscribe('d', 'subscription { secretTick }')
    expect((await socket.got('error', 'd')).payload[0].message).toContain('secretTick')
    socket.subscribe('e', '{ __type(name: "Hidden") { name } }')
    expect((await socket.got('next', 'e')).payload).toEqual({ data: { __type: null } })
    socket.socket.close()
  })

  test('has a page for browsers with its own addresses, which production refuses', async () => {
    const page = await platform.ask(partners, { headers: { accept: 'text/html' } })
    expect(page.text).toContain(`initialEndpoint: "${platform.origin}/graphql/partners"`)
    expect(page.text).toContain(`initialSubscriptionEndpoint: "${platform.origin.replace('http', 'ws')}/graphql/partners"`)
    expect((await production.ask(partners, { headers: { accept: 'text/html' } })).status).toBe(400)
  })

  test('has an explorer, and a reference of what it shows, except in production', async () => {
    expect((await platform.ask('/explorer/partners')).text).toContain('id="explorer"')
    const home = await platform.ask('/docs/graph/partners')
    expect(home.text).toContain('<a href="/docs/graph/partners/Book">')
    expect(home.text).not.toMatch(/Hidden|help|secretTick|remove/)
    const query = await platform.ask('/docs/graph/partners/Query')
    expect(query.text).toContain('/explorer/partners?query=')
    expect(query.text).not.toContain('secret')
    expect((await platform.ask('/docs/graph/partners/Hidden')).status).toBe(404)
    expect((await platform.ask('/docs/graph/Hidden')).status).toBe(200)
    expect((await platform.ask('/docs/graph')).text).toContain('<a href="/docs/graph/partners">partners</a>')
    for (const path of ['/explorer/partners', '/docs/graph/partners']) expect((await production.ask(path)).status, path).toBe(404)
  })

  test('is not found under a name that it does not have', async () => {
    for (const name of ['nowhere', 'constructor', 'Partners', 'partners/more']) {
      const answer = await post(`/graphql/${name}`, { query: '{ __typename }' })
      expect([answer.status, answer.json.data], name).toEqual([404, undefined])
      expect((await platform.ask(`/explorer/${name}`)).status, name).toBe(404)
      expect((await platform.ask(`/docs/graph/${name}`)).status, name).toBe(404)
    }
    const refused = (await post('/graphql/nowhere', { query: '{ __typename }' })).json
    expect(refused.errors[0]).toMatchObject({ message: 'There is nothing at POST /graphql/nowhere.', extensions: { code: 'NOT_FOUND' } })
    await expect(dial(platform.url, { path: '/graphql/nowhere' })).rejects.toThrow('404')
  })
})

describe('what a variant hides', () => {
  test('is unknown: fields, arguments, input fields, enum values, types', async () => {
    const hidden = {
      '{ help }': /^Cannot query field "help" on type "Query"\./,
      '{ hello(secret: "a") }': /^Unknown argument "secret" on field "Query.hello"\./,
      '{ echo(given: { secret: "a" }) }': /^Field "secret" is not defined by type "Given"\./,
      '{ found(kind: LOST) { __typename } }': /^Value "LOST" does not exist in "Kind" enum\./,
      '{ found { ... on Hidden { name } } }': /^Unknown type "Hidden"\./,
      '{ found { ... on Book { price } } }': /^Cannot query field "price" on type "Book"\./,
      'mutation { remove }': /^Cannot query field "remove" on type "Mutation"\./,
    }
    for (const [query, message] of Object.entries(hidden)) {
      const answer = await gql(query)
      expect([answer.data, answer.errors[0].extensions.code, answer.errors[0].message], query).toEqual([
        undefined,
        'GRAPHQL_VALIDATION_FAILED',
        expect.stringMatching(message),
      ])
      expect((await post('/graphql', { query })).json.data, query).toBeDefined()
    }
  })

  test('is not suggested', async () => {
    expect(messages((await post('/graphql', { query: '{ hel hidde }' })).json)?.join()).toMatch(/"help"[\s\S]*"hidden"/)
    const said = messages(
      await gql('{ hel hidde found(kind: LOS) { ... on Hiden { name } ... on Book { pric } } echo(given: { secre: "a" }) hello(secre: "a") }'),
    )!.join()
    expect(said).toContain('"hello"')
    expect(said).not.toMatch(/"help"|"hidden"|"Hidden"|LOST|"price"|"secret"/)
  })

  test('is unknown to introspection', async () => {
    const text = JSON.stringify(
      await gql(
        '{ __schema { types { name fields { name args { name } } inputFields { name } enumValues { name } possibleTypes { name } } } a: __type(name: "Hidden") { name } }',
      ),
    )
    expect(text).toContain('"Book"')
    expect(text).toContain('"a":null')
    expect(text).not.toMatch(/"(?:Hidden|help|secret|LOST|price|remove|secretTick)"/)
    expect(JSON.stringify((await post('/graphql', { query: '{ __type(name: "Hidden") { name } }' })).json)).toContain('"Hidden"')
    const directives = await gql('{ __schema { directives { name } } }')
    expect(directives.data.__schema.directives.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['defer', 'stream', 'skip']))
  })

  test('is unknown in variables', async () => {
    const field = await gql('query($given: Given) { echo(given: $given) }', { given: { name: 'a', secret: 'b' } })
    expect(field.errors[0]).toMatchObject({
      message: expect.stringContaining('Field "secret" is not defined by type "Given"'),
      extensions: { code: 'BAD_USER_INPUT' },
    })
    const value = await gql('query($kind: Kind) { found(kind: $kind) { __typename } }', { kind: 'LOST' })
    expect(value.errors[0].extensions.code).toBe('BAD_USER_INPUT')
    const whole = await post('/graphql', { query: 'query($given: Given) { echo(given: $given) }', variables: { given: { secret: 'b' } } })
    expect(whole.json.data).toEqual({ echo: '{"secret":"b"}' })
  })

  test('is not in answers: objects of hidden types and hidden enum values are null', async () => {
    const query = '{ found { __typename ... on Book { name } } state }'
    const answer = await gql(query)
    expect(answer.data).toEqual({ found: [{ __typename: 'Book', name: 'a book' }, null], state: null })
    expect(JSON.stringify(answer)).not.toMatch(/Hidden|LOST/)
    expect((await post('/graphql', { query })).json.data).toEqual({ found: [{ __typename: 'Book', name: 'a book' }, { __typename: 'Hidden' }], state: 'LOST' })
  })

  test('is not in events, though the same subscription of the whole graph is shared', async () => {
    const query = 'subscription { found { __typename } }'
    const [whole, variant] = await Promise.all(['/graphql', partners].map(path => dial(platform.url, { path })))
    for (const socket of [whole!, variant!]) {
      await socket.init()
      socket.subscribe('a', query)
    }
    await expect.poll(() => firstEvent(whole!, 'a')).toEqual({ data: { found: { __typename: 'Hidden' } } })
    await expect.poll(() => firstEvent(variant!, 'a')).toMatchObject({ data: { found: null } })
    for (const socket of [whole!, variant!]) socket.socket.close()
  })
})

describe('a document of the whole graph', () => {
  test('is validated for a variant though it was valid before, by text and by hash', async () => {
    const query = 'query Both { hello help }'
    expect((await post('/graphql', { query, ...persisted(query) })).json.data).toEqual({ hello: 'Hello world', help: 'help' })
    expect((await post('/graphql', persisted(query))).json.data).toEqual({ hello: 'Hello world', help: 'help' })
    for (const body of [{ query }, persisted(query), { query, ...persisted(query) }])
      expect(messages((await post(partners, body)).json)).toEqual([expect.stringMatching(/^Cannot query field "help" on type "Query"/)])
    const byGet = await platform.ask(`${partners}?extensions=${encodeURIComponent(JSON.stringify(persisted(query).extensions))}`)
    expect(messages(byGet.json)).toEqual([expect.stringContaining('"help"')])
  })

  test('is registered for both where both know it', async () => {
    const query = 'query Registered { hello }'
    expect((await post(partners, persisted(query))).json.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND')
    expect((await post(partners, { query, ...persisted(query) })).json.data).toEqual({ hello: 'Hello world' })
    expect((await post('/graphql', persisted(query))).json.data).toEqual({ hello: 'Hello world' })
  })

  test('is trusted for a variant only where it is valid there, also after the list was replaced', async () => {
    const [shown, secret] = trustedDocuments as [string, string]
    const asked = async (path: string, text: string) => (await post(path, { documentId: sha256(text) }, {}, trusting)).json
    for (const _round of [1, 2]) {
      expect((await asked('/graphql', secret)).data).toEqual({ help: 'help' })
      expect((await asked(partners, shown)).data).toEqual({ hello: 'Hello world' })
      expect(messages(await asked(partners, secret))).toEqual([expect.stringContaining('Cannot query field "help"')])
      expect((await post(partners, { query: '{ hello }' }, {}, trusting)).json.errors[0].extensions.code).toBe('PERSISTED_QUERY_REQUIRED')
      trusting.router.trust(manifest)
    }
    expect(trusting.lines.filter(line => line.includes('trusted documents are invalid'))).toEqual([])
  })
})

test('access rules are those of the graph', async () => {
  const refused = await gql('{ guarded hello }')
  expect([refused.data, refused.errors[0].extensions.code]).toEqual([{ guarded: null, hello: 'Hello world' }, 'UNAUTHORIZED_FIELD_OR_TYPE'])
  expect(refused).toEqual((await post('/graphql', { query: '{ guarded hello }' })).json)
})

test('production answers a variant without introspection and suggestions', async () => {
  const ask = async (query: string) => (await post(partners, { query }, {}, production)).json
  expect((await ask('{ hello }')).data).toEqual({ hello: 'Hello world' })
  expect((await ask('{ __schema { types { name } } }')).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
  expect(messages(await ask('{ hell }'))).toEqual(['Cannot query field "hell" on type "Query".'])
})

test('metrics name the variant of its operations, and none for the whole graph', async () => {
  await Promise.all(['/graphql', partners].map(path => post(path, { query: 'query Counted { hello }' })))
  const text = await metrics.metrics()
  const lines = text.split('\n').filter(line => line.startsWith('supergraph_operations_total{operation="Counted"'))
  expect(lines.map(line => /,variant="[^"]*"/.exec(line)?.[0] ?? null).sort()).toEqual([',variant="partners"', null])
  for (const line of lines) expect(line).toMatch(/ 1$/)
  expect(text).toMatch(/supergraph_operation_duration_seconds_count\{operation="Counted",[^}]*variant="partners"\} 1/)
  expect(text).toMatch(/http_request_duration_seconds_count\{class="graphql"\}/)
})
