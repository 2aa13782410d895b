import { GraphQLError, GraphQLScalarType, parse } from 'graphql'
import { expect, test } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { formatError } from '../../../router/door/errors.ts'
import { createLog } from '../../../router/door/log.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { library } from '../library-graph.ts'
import { codesOf, type Part, pathsOf, testGraph } from '../supergraph-fixture.ts'

const failing: Record<string, Part> = {
  posts: {
    sdl: `type Query { posts: [Post] post(at: Moment, n: Int): Post! plain: Int } scalar Moment
      type Post @key(fields: "id") { id: ID! title: String }`,
    resolvers: {
      Query: {
        posts: () => [
          { id: 1, title: 'one' },
          { id: 2, title: 'two' },
        ],
        post: () => {
          throw new DomainError('CONFLICT', 'Somebody else changed it; load it again.', { version: 3 })
        },
        plain: () => {
          throw new Error('select * from secrets')
        },
      },
    },
  },
  counts: {
    sdl: 'type Post @key(fields: "id") { id: ID! likes: Int shares: Int owner: Owner } type Owner { name: String! }',
    resolvers: {
      Post: {
        likes({ id }: { id: string }) {
          if (id === '2') throw new DomainError('FORBIDDEN', 'Not yours.')
          return 5
        },
        owner: () => ({ name: null }),
        __resolveReference: (reference: unknown) => reference,
      },
    },
  },
}

test('a domain error keeps its message, code and details, and gets the service and the path in the client’s names', async () => {
  const graph = testGraph(failing)
  expect((await graph.run('{ p: posts { t: title l: likes } mine: post { id } }')).errors).toEqual([
    { message: 'Somebody else changed it; load it again.', path: ['mine'], extensions: { code: 'CONFLICT', version: 3, service: 'posts' } },
  ])
  const answer = await graph.run('{ p: posts { t: title l: likes } }')
  expect(answer.data).toEqual({
    p: [
      { t: 'one', l: 5 },
      { t: 'two', l: null },
    ],
  })
  expect(answer.errors).toEqual([{ message: 'Not yours.', path: ['p', 1, 'l'], extensions: { code: 'FORBIDDEN', service: 'counts' } }])
})

test('an internal error is masked for clients and logged with its request', async () => {
  const graph = testGraph(failing)
  const answer = await graph.run('{ x: plain }')
  expect(answer).toEqual({
    data: { x: null },
    text: '{"x":null}',
    errors: [{ message: 'Internal server error', path: ['x'], extensions: { code: 'INTERNAL_SERVER_ERROR', service: 'posts' } }],
  })
  expect(graph.logged).toEqual([
    expect.objectContaining({ requestId: 'request-1', service: 'posts', err: expect.objectContaining({ message: 'select * from secrets' }) }),
  ])
  expect((await testGraph(failing, { exposeInternalErrors: true }).run('{ plain }')).errors?.[0]?.message).toBe('select * from secrets')
})

test('a client error keeps its cause, so that the log names the unavailable dependency once', async () => {
  const thrown = Object.assign(new Error('the server went'), { code: '57P01' })
  const { engine } = testGraph({
    a: {
      sdl: 'type Query { a: Int }',
      resolvers: {
        Query: {
          a() {
            throw thrown
          },
        },
      },
    },
  })
  const lines: unknown[] = []
  const log = createLog('info', { write: line => void lines.push(JSON.parse(line)) }, () => 0)
  for (const requestId of ['one', 'two', 'three']) {
    const { errors } = await engine.execute({ document: parse('{ a }'), variables: {}, viewer: anonymous, requestId })
    expect(errors).toEqual([expect.objectContaining({ originalError: thrown })])
    expect(formatError(errors![0], { requestId, log, hideSuggestions: true })).toMatchObject({ extensions: { requestId } })
    expect(JSON.stringify(errors)).not.toContain('went')
  }
  expect(lines).toEqual([expect.objectContaining({ requestId: 'one', msg: 'operation failed', err: expect.objectContaining({ code: '57P01' }) })])
})

test('a subgraph that throws fails its own fields only, at every place', async () => {
  const graph = testGraph(failing, {
    intercept: (fetch, _call, next) => (fetch.subgraph === 'counts' ? Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7')) : next()),
  })
  const answer = await graph.run('{ all: posts { title likes } }')
  expect(answer.data.all).toEqual([
    { title: 'one', likes: null },
    { title: 'two', likes: null },
  ])
  expect(pathsOf(answer)).toEqual(['all.0.likes', 'all.1.likes'])
  expect(codesOf(answer)).toEqual(['UPSTREAM_FAILED', 'UPSTREAM_FAILED'])
  expect(JSON.stringify(answer)).not.toContain('10.0.0.7')
})

test('an unavailable subgraph fails the root fields that it owns', async () => {
  const graph = testGraph(library, { intercept: (fetch, _call, next) => (fetch.subgraph === 'reviews' ? Promise.reject(new Error('gone')) : next()) })
  const answer = await graph.run('{ news: latest { body } book(id: "b1") { title } }')
  expect(answer.text).toBe('{"news":null,"book":{"title":"One"}}')
  expect(answer.errors?.map(error => [error.path, error.extensions])).toEqual([[['news'], { code: 'UPSTREAM_FAILED', service: 'reviews' }]])
})

test.each([
  ['nothing', undefined],
  ['a text', 'oops'],
  ['null', null],
  ['neither data nor errors', {}],
  ['a list for data', { data: [] }],
  ['entities that are no list', { data: { _entities: 'x' } }],
  ['errors that are none', { errors: [null, 3] }],
  ['a scalar for an object', { data: { _entities: [3, { owner: 'x', likes: {} }] } }],
  ['an error without words', { errors: [{ path: ['_entities', 'x'] }] }],
])('a subgraph that answers %s costs its own fields only', async (_name, garbage) => {
  const graph = testGraph(failing, { intercept: (fetch, _call, next) => (fetch.subgraph === 'counts' ? Promise.resolve(garbage as never) : next()) })
  const answer = await graph.run('{ posts { title likes owner { name } } }')
  expect(answer.data.posts).toEqual([
    { title: 'one', likes: null, owner: null },
    { title: 'two', likes: null, owner: null },
  ])
})

// Trap 19: an error's path is reported at the place of every target.
test('one failed entity is reported at every place, with private names translated', async () => {
  const graph = testGraph(library)
  const answer = await graph.run('{ a: books(first: 1) { w: writers { n: nick } } b: author(id: "a1") { m: nick } }')
  expect(pathsOf(answer)).toEqual(['a.0.w.0.n', 'b.m'])
})

// Trap 18.
test('an error at a field that the client did not select points at the nearest ancestor that it did', async () => {
  const graph = testGraph({
    one: {
      sdl: 'type Query { item: Item } type Item @key(fields: "id") { id: ID! name: String price: Int }',
      resolvers: {
        Query: { item: () => ({ id: 1, name: 'n' }) },
        Item: {
          price() {
            throw new DomainError('NOT_FOUND', 'No price.')
          },
        },
      },
    },
    two: {
      sdl: 'type Item @key(fields: "id") { id: ID! price: Int @external tax: Int @requires(fields: "price") }',
      resolvers: { Item: { tax: ({ price }: { price: number | null }) => (price === null ? null : price * 2) } },
    },
  })
  const answer = await graph.run('{ it: item { name tax } }')
  expect(answer.text).toBe('{"it":{"name":"n","tax":null}}')
  expect(answer.errors).toEqual([{ message: 'No price.', path: ['it'], extensions: { code: 'NOT_FOUND', service: 'one' } }])
})

test('reports unreadable variables and arguments as BAD_USER_INPUT, in the client’s names', async () => {
  const graph = testGraph(failing)
  const coerced = await graph.run('query ($n: Int) { post(n: $n) { id } }', { n: 'many' })
  expect(coerced).toEqual({
    text: undefined,
    errors: [{ message: expect.stringContaining('Variable "$n" got invalid value'), extensions: { code: 'BAD_USER_INPUT' } }],
  })
  expect(graph.sent).toEqual([])
})

test('messages about wrong variables contain no list and no object, and stop after the first few mistakes', async () => {
  const graph = testGraph({
    one: {
      sdl: 'type Query { find(by: By!, all: [By!]): Int } input By { name: String!, count: Int }',
      resolvers: { Query: { find: () => 1 } },
    },
  })
  const ask = async (variables: Record<string, unknown>) => (await graph.run('query ($by: By!, $all: [By!]) { find(by: $by, all: $all) }', variables)).errors!
  const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, n]))
  // Each print of the object would read every member of it.
  let reads = 0
  const counting = new Proxy(wide, {
    get(target, name) {
      reads += 1
      return Reflect.get(target, name)
    },
  })
  const unknown = await ask({ by: counting })
  expect(unknown.map(({ message }) => message)).toEqual([
    'Variable "$by" got invalid value (an object); Field "name" of required type "String!" was not provided.',
    ...[0, 1, 2, 3].map(n => `Variable "$by" got invalid value (an object); Field "k${n}" is not defined by type "By".`),
  ])
  expect(reads).toBeLessThan(20)
  const many = await ask({ by: { name: 'x' }, all: Array.from({ length: 1000 }, () => ({ name: 'x', count: 'y'.repeat(10_000) })) })
  expect(many.length).toBe(5)
  expect(many[0]!.message).toMatch(/^Variable "\$all" got invalid value "y{100}…" at "all\[0\]\.count"; Int cannot represent/)
  for (const { message, extensions } of many) expect([message.length <= 501, extensions]).toEqual([true, { code: 'BAD_USER_INPUT' }])
  expect((await ask({ by: null })).map(({ message }) => message)).toEqual(['Variable "$by" of non-null type "By!" must not be null.'])
  expect((await ask({})).map(({ message }) => message)).toEqual(['Variable "$by" of required type "By!" was not provided.'])
  expect((await ask({ by: { nam: 'x', name: 'x' } }))[0]!.message).toMatch(/Field "nam" is not defined by type "By"\. Did you mean "name"\?/)
})

test('a scalar that only its subgraph can read is rejected there as BAD_USER_INPUT', async () => {
  const refuse = () => {
    throw new TypeError('no moment')
  }
  const Moment = new GraphQLScalarType({ name: 'Moment', parseValue: refuse, parseLiteral: refuse })
  const posts = failing.posts!
  const graph = testGraph({ ...failing, posts: { ...posts, resolvers: { ...posts.resolvers, Moment } } }, { unvalidatedFetches: true })
  const byVariable = await graph.run('query ($at: Moment) { p: post(at: $at) { id } }', { at: 'x' })
  expect(byVariable.errors?.[0]).toEqual({
    message: expect.stringContaining('Variable "$at" got invalid value "x"'),
    path: ['p'],
    extensions: { code: 'BAD_USER_INPUT', service: 'posts' },
  })
  expect(codesOf(await graph.run('{ post(at: "x") { id } }'))).toEqual(['BAD_USER_INPUT'])
})

// Trap 15.
test('an operation that cannot be planned is an error, not a throw, and is tried again', async () => {
  const graph = testGraph(library)
  // The first planner fails on it, and for the second planner it is too long.
  const source = `{ ${Array.from({ length: 150 }, (_, at) => `a${at}: book(id: "b1") { reviews { book { postage reviews { book { postage } } } } }`).join(' ')} }`
  for (let time = 1; time <= 2; time++) {
    const answer = await graph.run(source)
    expect(answer).toEqual({ data: null, text: 'null', errors: [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] })
    expect(graph.logged.length).toBe(time)
  }
})

test('rejects an operation that is too large to plan with a reason', async () => {
  const graph = testGraph(library)
  const levels = 12
  const fragments = Array.from(
    { length: levels },
    (_, level) => `fragment F${level} on Review { a${level}: book { reviews { ...F${level + 1} } } b${level}: book { reviews { ...F${level + 1} } } }`,
  )
  const answer = await graph.run(`{ latest { ...F0 } } ${fragments.join('\n')} fragment F${levels} on Review { body }`)
  expect(codesOf(answer)).toEqual(['BAD_USER_INPUT'])
  expect(answer.errors?.[0]?.message).toContain('20000')
})

test('a local subgraph that exceeds the operation’s time fails its own fields only', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const graph = testGraph(
    {
      quick: { sdl: 'type Query { quick: String }', resolvers: { Query: { quick: () => 'here' } } },
      slow: { sdl: 'type Query { slow: String }', resolvers: { Query: { slow: () => promise } } },
    },
    { operationTimeoutMs: 50 },
  )
  const answer = await graph.run('{ quick slow }')
  expect(answer.text).toBe('{"quick":"here","slow":null}')
  expect(answer.errors).toMatchObject([{ path: ['slow'], extensions: { code: 'UPSTREAM_FAILED', service: 'slow' } }])
  resolve('too late')
})

test('a caller who leaves does not wait, and nothing more is fetched', async () => {
  const controller = new AbortController()
  const graph = testGraph(library, {
    async intercept(_fetch, _call, next) {
      controller.abort()
      return next()
    },
  })
  const answer = await graph.run('{ books { reviews { author { name } } } }', {}, { signal: controller.signal })
  expect(codesOf(answer)).toEqual(['UPSTREAM_FAILED'])
  await new Promise(setImmediate)
  expect(graph.sent.length).toBe(1)
  const early = await graph.run('{ latest { body } }', {}, { signal: AbortSignal.abort(new DomainError('RATE_LIMITED', 'Too slow.')) })
  expect(early.errors).toEqual([{ message: 'Too slow.', extensions: { code: 'RATE_LIMITED' } }])
})

test('an error without a path explains every null, and no other error is reported', async () => {
  const sdl = 'type Query { a: String! b: String }'
  const intercept = async () => ({ data: { a: null, b: 'there' }, errors: [new GraphQLError('Not now.', { extensions: { code: 'CONFLICT' } })] })
  const answer = await testGraph({ part: { sdl } }, { intercept }).run('{ a b }')
  expect(answer.data).toBeNull()
  expect(answer.errors).toEqual([{ message: 'Not now.', extensions: { code: 'CONFLICT', service: 'part' } }])
})
