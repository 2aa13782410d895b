import { execFileSync } from 'node:child_process'
import { type ExecutionResult, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createAccessFilter } from '../../router/access/filter.ts'
import { openApolloEngine } from '../../router/engine/apollo/stock.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { library } from './library-graph.ts'
import { answerOf, codesOf, compose, type Part, pathsOf, testGraph } from './supergraph-fixture.ts'

const run = async (engine: Engine, source: string, viewer: Viewer = anonymous, variables: Record<string, unknown> = {}) =>
  answerOf(await engine.execute({ document: parse(source), variables, viewer, requestId: 'request-1' }))

const viewers: string[] = []
const parts: Record<string, Part> = {
  posts: {
    sdl: `type Query { post: Post found: [Found] secret: String @requiresScopes(scopes: [["posts:secret"]]) }
      type Mutation { rename(title: String): Post erase: Post @authenticated }
      type Subscription { changed: Post }
      union Found = Post | Person
      type Post @key(fields: "id") { id: ID! title: String author: Person secret: Mood }
      enum Mood @policy(policies: [["person"]]) { CALM }
      type Person @key(fields: "id") { id: ID! }`,
    resolvers: {
      Query: { post: () => ({ id: '1' }), found: () => [{ __typename: 'Post', id: '1' }, { __typename: 'Person', id: 'p' }, null], secret: () => 'told' },
      Mutation: { rename: (_: unknown, { title }: { title: string }) => ({ id: '1', title }), erase: () => ({ id: '1' }) },
      Post: { title: (post: { title?: string }) => post.title ?? 'One', author: () => ({ id: 'p' }), secret: () => 'CALM' },
    },
  },
  people: {
    sdl: 'type Person @key(fields: "id") @authenticated { id: ID! name: String! mail: String @requiresScopes(scopes: [["people:mail"]]) }',
    resolvers: { Person: { name: () => 'Ada', mail: () => 'ada@example.test' } },
  },
}
const known: Viewer = { ...anonymous, kind: 'apiKey' }
const everything: Viewer = { ...anonymous, kind: 'user', userId: 'u', scopes: ['people:mail', 'posts:secret'] }

async function guarded() {
  const supergraph = readSupergraph(compose(parts))
  const graph = testGraph(parts, {
    intercept(_fetch, call, next) {
      viewers.push(call.viewer.kind)
      return next()
    },
  })
  const log = { error() {}, warn() {} }
  const engine = await openApolloEngine({ supergraphSdl: supergraph, transport: graph.transport, access: createAccessFilter(supergraph.access), log })
  return { engine, graph, supergraph }
}

describe('ROUTER_ENGINE=apollo: the stock gateway behind our port', () => {
  test('reveals a guarded key under no alias', async () => {
    const keyed: Record<string, Part> = {
      one: {
        sdl: 'type Query { p: P } type P @key(fields: "id") { id: ID! @authenticated name: String }',
        resolvers: { Query: { p: () => ({ id: 'key 1', name: 'Ada' }) } },
      },
      two: { sdl: 'type P @key(fields: "id") { id: ID! @authenticated cost: Int }', resolvers: { P: { cost: () => 1 } } },
    }
    const supergraph = readSupergraph(compose(keyed))
    const access = createAccessFilter(supergraph.access)
    const { engine: native, transport } = testGraph(keyed, { access })
    const stock = await openApolloEngine({ supergraphSdl: supergraph, transport, access, log: { error() {}, warn() {} } })
    for (const source of ['{ p { id: name cost } }', '{ p { ...F cost } } fragment F on P { id: name }']) {
      expect((await run(native, source)).text).toBe('{"p":{"id":"Ada","cost":1}}')
      const answer = await run(stock, source)
      expect(JSON.stringify(answer)).not.toContain('key 1')
      expect(answer.errors).toMatchObject([{ message: expect.stringContaining('the alias "id"'), extensions: { code: 'BAD_USER_INPUT' } }])
    }
    expect((await run(stock, '{ p { id name cost } }')).text).toBe('{"p":null}')
  })

  test('loads a supergraph with access directives after they were removed from its copy', async () => {
    const { supergraph } = await guarded()
    expect(supergraph.sdl).toMatch(/@authenticated.*|requiresScopes|policy/)
    expect(supergraph.stripped()).not.toMatch(/authenticated|requiresScopes|policy/i)
    expect(supergraph.access.requirements.length).toBeGreaterThan(3)
  })

  test('answers queries and mutations as our engine does, for the same viewer', async () => {
    const { engine, graph } = await guarded()
    viewers.length = 0
    for (const source of [
      '{ post { id title author { name mail } secret } secret }',
      'mutation { rename(title: "New") { title author { name } } erase { id } }',
    ])
      expect((await run(engine, source, everything)).text).toBe((await graph.run(source, {}, { viewer: everything })).text)
    expect(new Set(viewers)).toEqual(new Set(['user']))
  })

  test('S-07 a rejected field is null at its place, reported, and not fetched', async () => {
    const { engine, graph } = await guarded()
    const answer = await run(engine, '{ it: post { title who: author { name mail } } secret }', known)
    expect(answer.text).toBe('{"it":{"title":"One","who":{"name":"Ada","mail":null}},"secret":null}')
    expect(pathsOf(answer)).toEqual(['it.who.mail', 'secret'])
    expect(graph.sent.some(({ text }) => text.includes('mail') || text.includes('secret'))).toBe(false)
    expect((await run(engine, '{ secret }', anonymous)).text).toBe('{"secret":null}')
  })

  test('a field that is rejected on one type of a union is null there alone', async () => {
    const { engine } = await guarded()
    const answer = await run(engine, '{ found { ... on Person { mail } ... on Post { title secret } } }', known)
    expect(answer.text).toBe('{"found":[{"title":"One","secret":null},{"mail":null},null]}')
  })

  test('a mutation with a rejected field is rejected whole', async () => {
    const { engine, graph } = await guarded()
    const answer = await run(engine, 'mutation { rename(title: "New") { id } erase { id } }', anonymous)
    expect([answer.data, pathsOf(answer), graph.sent.length]).toEqual([null, ['erase'], 0])
  })

  test('subscriptions answer an error that says why', async () => {
    const { engine } = await guarded()
    const request = { document: parse('subscription { changed { id } }'), viewer: everything, requestId: 'request-1' }
    const refused = answerOf((await engine.prepareStream(request)) as ExecutionResult)
    expect(codesOf(refused)).toEqual(['BAD_USER_INPUT'])
    expect(refused.errors![0]!.message).toContain('ROUTER_ENGINE=apollo')
    expect(codesOf(answerOf(await engine.execute(request)))).toEqual(['BAD_USER_INPUT'])
  })

  test('errors have our form: domain errors with code and service, everything else masked', async () => {
    const graph = testGraph(library)
    const logged: unknown[] = []
    const log = { error: (fields: unknown) => void logged.push(fields), warn() {} }
    const engine = await openApolloEngine({ supergraphSdl: compose(library), transport: graph.transport, log })
    const refused = await run(engine, '{ author(id: "a1") { nick } }')
    expect(refused.errors).toMatchObject([
      { message: 'There is no nickname.', path: ['author', 'nick'], extensions: { code: 'NOT_FOUND', service: 'authors' } },
    ])
    expect(codesOf(await run(engine, 'query ($id: ID!) { author(id: $id) { nick } }'))).toEqual(['BAD_USER_INPUT'])
    const failing = await openApolloEngine({
      supergraphSdl: compose(library),
      transport: { ...graph.transport, fetch: () => Promise.reject(new Error('secret')) },
      log,
    })
    const failed = await run(failing, '{ latest { body } }')
    expect(failed.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_FAILED', service: 'reviews' } }])
    expect(JSON.stringify(failed)).not.toContain('secret')
  })
})

test('with the native engine, @apollo/gateway is never loaded', () => {
  const script = `
    await import('./router/start/engine.ts'); await import('./router/start/assemble.ts')
    const { createRequire } = await import('node:module')
    console.log(Object.keys(createRequire(import.meta.url).cache).filter(name => /@apollo.gateway/.test(name)).length)`
  expect(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }).trim()).toBe('0')
})
