import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createAccessFilter } from '../../../router/access/filter.ts'
import { readAccessTable } from '../../../router/access/rules.ts'
import { openApolloEngine } from '../../../router/engine/apollo/stock.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { answerOf, compose, type Part, testGraph } from '../supergraph-fixture.ts'

const refer = { __resolveReference: (reference: object) => reference }
const list = (length: number, of: (at: number) => object) => Array.from({ length }, (_, at) => of(at))
const parts: Record<string, Part> = {
  posts: {
    sdl: `type Query { posts(first: Int = 20): [Post] @listSize(slicingArguments: ["first"]) feed: [Entry] @listSize(assumedSize: 10) secret: [Post] @authenticated @listSize(assumedSize: 90) }
      type Mutation { write: Post } type Subscription { written(first: Int): Post }
      type Post @key(fields: "id") { id: ID! author: Person comments: [Comment] @listSize(assumedSize: 5) }
      type Comment { id: ID! } type Note @cost(weight: 4) { id: ID! text: String @cost(weight: 2) } union Entry = Post | Note
      type Person @key(fields: "id") { id: ID! }`,
    resolvers: {
      Query: {
        posts: (_: unknown, { first }: { first: number }) => list(Math.min(first, 3), at => ({ id: `p${at}`, author: at === 1 ? null : { id: 'a' } })),
        feed: () => [{ __typename: 'Post', id: 'p' }, null, { __typename: 'Note', id: 'n', text: 'words' }, { __typename: 'Note', id: 'm', text: null }],
        secret: () => list(90, at => ({ id: `s${at}` })),
      },
      Mutation: { write: () => ({ id: 'w', author: { id: 'a' } }) },
      Subscription: {
        written: {
          async *subscribe() {
            yield { written: { id: 'w' } }
          },
        },
      },
      Post: { ...refer, comments: () => [{ id: 'c' }] },
      Entry: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
    },
  },
  people: { sdl: 'type Person @key(fields: "id") { id: ID! name: String }', resolvers: { Person: { ...refer, name: () => 'Ada' } } },
}
const show = { headers: { 'x-graphql-cost': 'show' } }
const maxCost = 100

describe('an operation above the cost limit', () => {
  test('is rejected before it is planned or fetched, with the figures, its most expensive part, and what to do', async () => {
    const graph = testGraph(parts, { maxCost })
    const { data, errors } = await graph.run('{ posts(first: 20) { id comments { id } } }')
    expect(data).toBeNull()
    expect(errors).toEqual([
      {
        message:
          'The operation may cost 120, and 100 is the most: each object of the answer counts, and lists multiply. The most of it is posts[20].comments[5]. Ask for shorter lists (first), for fewer lists within lists, or split it.',
        extensions: { code: 'OPERATION_TOO_EXPENSIVE', cost: { estimated: 120, max: 100 } },
      },
    ])
    expect(graph.sent).toEqual([])
    expect(graph.engine.plans!().misses).toBe(0)
  })

  test('is rejected by its variables each time, planned or not', async () => {
    const graph = testGraph(parts, { maxCost })
    const text = 'query ($first: Int) { posts(first: $first) { id comments { id } } }'
    const codes = []
    for (const first of [1, 17, 16, 1000]) codes.push((await graph.run(text, { first })).errors?.[0]?.extensions?.code ?? 'answered')
    expect(codes).toEqual(['answered', 'OPERATION_TOO_EXPENSIVE', 'answered', 'OPERATION_TOO_EXPENSIVE'])
  })

  test('is accepted when its cost equals the limit', async () => {
    const graph = testGraph(parts, { maxCost })
    expect((await graph.run('{ posts(first: 100) { id } }')).errors).toBeUndefined()
    expect((await graph.run('{ posts(first: 101) { id } }')).errors?.[0]?.extensions).toMatchObject({ cost: { estimated: 101, max: 100 } })
  })

  test('is estimated alone, whatever other operations its document has', async () => {
    const { engine } = testGraph(parts, { maxCost })
    const document = parse('query Cheap { posts(first: 1) { id } } query Dear { posts(first: 101) { id } }')
    const codes = []
    for (const operationName of ['Cheap', 'Dear', 'Cheap'])
      codes.push((await engine.execute({ document, operationName, viewer: anonymous, requestId: 'r' })).errors?.[0]?.extensions.code ?? 'answered')
    expect(codes).toEqual(['answered', 'OPERATION_TOO_EXPENSIVE', 'answered'])
  })

  test('is estimated without skipped fields, and without those that its viewer may not read', async () => {
    const sdl = compose(parts)
    const graph = testGraph(parts, { maxCost, access: createAccessFilter(readAccessTable(sdl)) })
    const skipping = 'query ($skip: Boolean!) { posts(first: 20) { id comments @skip(if: $skip) { id } } }'
    expect((await graph.run(skipping, { skip: true })).errors).toBeUndefined()
    expect((await graph.run(skipping, { skip: false })).errors?.[0]?.extensions?.code).toBe('OPERATION_TOO_EXPENSIVE')
    const secret = '{ secret { id } posts(first: 20) { id } }'
    expect((await graph.run(secret)).data).toMatchObject({ secret: null, posts: [{ id: 'p0' }, { id: 'p1' }, { id: 'p2' }] })
    const viewer: Viewer = { ...anonymous, kind: 'user', userId: 'u' }
    expect((await graph.run(secret, {}, { viewer })).errors?.[0]?.extensions).toMatchObject({ cost: { estimated: 110, max: 100 } })
  })

  test('is rejected as a mutation and as a subscription, too', async () => {
    const graph = testGraph(parts, { maxCost })
    const writes = Array.from({ length: 10 }, (_, at) => `w${at}: write { id }`).join(' ')
    expect((await graph.run(`mutation { ${writes} }`)).errors?.[0]?.extensions).toMatchObject({ cost: { estimated: 110, max: 100 } })
    const deep = `${'comments { id }'} author { name }`
    expect(Symbol.asyncIterator in (await graph.subscribe(`subscription { written { ${deep} } }`))).toBe(true)
    const dear = testGraph(parts, { maxCost: 6 })
    expect(await dear.subscribe(`subscription { written { ${deep} } }`)).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'OPERATION_TOO_EXPENSIVE', cost: { estimated: 7, max: 6 } } }],
    })
  })

  test('is accepted when the platform wrote it itself', async () => {
    const { engine } = testGraph(parts, { maxCost })
    const document = parse('{ posts(first: 20) { id comments { id } } }')
    expect((await engine.execute({ document, viewer: anonymous, requestId: 'r', isOurs: true })).errors).toBeUndefined()
  })

  test('is rejected by the stock gateway as by our executor', async () => {
    const { transport } = testGraph(parts)
    const log = { error() {}, warn() {} }
    const stock = await openApolloEngine({ supergraphSdl: compose(parts), transport, log, maxCost })
    const ask = async (first: number) =>
      answerOf(
        await stock.execute({
          document: parse('query ($first: Int) { posts(first: $first) { id comments { id } } }'),
          variables: { first },
          viewer: anonymous,
          requestId: 'r',
        }),
      )
    expect((await ask(16)).data).toMatchObject({ posts: [{ id: 'p0' }, {}, {}] })
    expect(await ask(17)).toMatchObject({ data: null, errors: [{ extensions: { code: 'OPERATION_TOO_EXPENSIVE', cost: { estimated: 102, max: 100 } } }] })
  })
})

describe('a request with x-graphql-cost', () => {
  test('gets the estimated cost, the actual cost and the limit', async () => {
    const { run } = testGraph(parts, { maxCost })
    const { extensions } = await run('{ __typename posts(first: 10) { id author { name } comments { id } } }', {}, show)
    // Three posts with a comment each, two of them with an author.
    expect(extensions).toEqual({ cost: { estimated: 10 * (1 + 1 + 5), actual: 3 + 3 + 2, max: 100 } })
    expect((await run('mutation { write { author { name } } }', {}, show)).extensions).toEqual({ cost: { estimated: 12, actual: 12, max: 100 } })
    expect((await run('{ __typename __schema { types { name } } }', {}, show)).extensions).toEqual({ cost: { estimated: 1, actual: 1, max: 100 } })
  })

  test('counts each object by its actual type, whether or not the answer shows it', async () => {
    const { run } = testGraph(parts, { maxCost })
    const feed = '{ feed { ... on Note { text } ... on Post { comments { id } } } }'
    const { extensions } = await run(feed, {}, show)
    // One post with a comment, two notes of four of which one has a text.
    expect(extensions).toEqual({ cost: { estimated: 10 * (4 + 2), actual: 2 + (4 + 2) + 4, max: 100 } })
  })

  test('counts arguments as estimated, and an object of unknown type as the cheapest type', async () => {
    const part: Part = {
      sdl: `type Query { find(at: Int @cost(weight: 3)): Int named: Named all: [Int] @listSize(assumedSize: 2) }
        interface Named { id: ID } type Dear implements Named @cost(weight: 4) { id: ID } type Cheap implements Named { id: ID }`,
      resolvers: { Query: { find: () => 1, named: () => ({ __typename: 'Dear', id: 'n' }) }, Named: { __resolveType: () => 'Dear' } },
    }
    const { run } = testGraph({ part }, { maxCost })
    expect((await run('{ find(at: 7) }', {}, show)).extensions).toEqual({ cost: { estimated: 3, actual: 3, max: 100 } })
    expect((await run('{ named { id } }', {}, show)).extensions).toEqual({ cost: { estimated: 4, actual: 1, max: 100 } })
  })

  test('has a stream of its own, with the cost of each event', async () => {
    const { engine } = testGraph(parts, { maxCost })
    const document = parse('subscription { written { comments { id } } }')
    const stream = (headers?: Headers) => engine.prepareStream({ document, viewer: anonymous, requestId: 'r', headers })
    const [asking, plain, same] = [await stream(new Headers(show.headers)), await stream(new Headers()), await stream()]
    if (!('start' in asking && 'start' in plain && 'start' in same)) throw new Error('they do not start')
    expect(same.key).toBe(plain.key)
    expect(asking.key).not.toBe(plain.key)
    const events = await asking.start(new AbortController().signal, undefined)
    if (!('isLost' in events)) throw new Error('it does not start')
    expect(await events.next()).toMatchObject({ value: { answer: { extensions: { cost: { estimated: 6, actual: 2, max: 100 } } } } })
    await events.return()
  })

  test('gets no cost where none is counted, and other requests get none', async () => {
    const { people } = parts
    const unsized = { ...parts, posts: { ...parts.posts!, sdl: parts.posts!.sdl.replaceAll(/ ?@listSize\([^)]*\)/g, '') } }
    expect(await testGraph({ ...unsized, people: people! }, { maxCost }).run('{ posts(first: 1000) { id comments { id } } }', {}, show)).not.toHaveProperty(
      'extensions',
    )
    expect(await testGraph(parts).run('{ posts { id } }', {}, show)).not.toHaveProperty('extensions')
    expect(await testGraph(parts, { maxCost }).run('{ posts { id } }')).not.toHaveProperty('extensions')
  })
})

test('reads cost directives under the names that the supergraph imports them by', async () => {
  const sdl = compose({ posts: parts.posts! })
  const imported = /(?<=\/cost\/v0\.1", )import: \[[^\]]*\]/.exec(sdl)![0]
  const renamed = sdl
    .replace(imported, 'as: "price", import: [{ name: "@cost", as: "@weighs" }]')
    .replaceAll('@cost(', '@weighs(')
    .replaceAll('@listSize(', '@price__listSize(')
  expect(readSupergraph(renamed).costs).toEqual(readSupergraph(sdl).costs)
  const unlinked = sdl.replace(/ {2}@link\(url: "[^"]*\/cost\/v0\.1"[^)]*\)\n/, '')
  expect([...readSupergraph(unlinked).costs.lists]).toEqual([])
})
