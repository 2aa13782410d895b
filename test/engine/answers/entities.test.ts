import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { countElements } from '../../../router/engine/data/elements.ts'
import { mergeByShape, shapeOfFetch } from '../../../router/engine/data/merge.ts'
import { compilePlans } from '../../../router/engine/execute/compile.ts'
import { type Run, runPlan } from '../../../router/engine/execute/execute.ts'
import { findOperation, type Operation } from '../../../router/engine/operation/operation.ts'
import { createPlanner } from '../../../router/engine/plan/planner.ts'
import { createNames } from '../../../router/engine/repairs/hive-response-keys/names.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { Work } from '../../../router/engine/work.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { library } from '../library-graph.ts'
import { compose, testGraph } from '../supergraph-fixture.ts'

test('equal representations are sent once, and their answer reaches every place', async () => {
  const graph = testGraph(library)
  const answer = await graph.run('{ books(first: 3) { reviews { author { id name } } } latest { author { name meta } } }')
  expect(answer.data.books[0].reviews.map((review: { author: unknown }) => review.author)).toEqual([
    { id: 'a2', name: 'Bob' },
    { id: 'a1', name: 'Ada' },
  ])
  for (const { variables } of graph.sent) {
    for (const sent of Object.values(variables)) {
      const texts = (sent as unknown[]).map(representation => JSON.stringify(representation))
      expect(new Set(texts).size).toBe(texts.length)
    }
  }
})

// Trap 12.
test('fields added at one path do not appear at another path of the same entity', async () => {
  const graph = testGraph(library)
  // Objects are shared by generated code, which is there once an operation is repeated.
  for (let time = 0; time < 6; time++) {
    const answer = await graph.run('{ a: book(id: "b1") { reviews { author { name } } } b: book(id: "b1") { reviews { author { id likes } } } }')
    expect(answer.text).toBe(
      '{"a":{"reviews":[{"author":{"name":"Bob"}},{"author":{"name":"Ada"}}]},"b":{"reviews":[{"author":{"id":"a2","likes":null}},{"author":{"id":"a1","likes":30}}]}}',
    )
  }
})

test('a required field with arguments is sent to the subgraph that requires it, whatever the client selected', async () => {
  const graph = testGraph(library)
  expect((await graph.run('{ book(id: "b1") { cost postage c: cost(in: CENT) } }')).text).toBe('{"book":{"cost":10,"postage":1100,"c":1000}}')
  expect((await graph.run('{ author(id: "a2") { favourite { cost(in: EUR) postage } } }')).text).toBe('{"author":{"favourite":{"cost":10,"postage":1100}}}')
})

// Trap 23: null is sent, an absent value is not.
test('a required field that is null is sent as null', async () => {
  const graph = testGraph(library)
  await graph.run('{ book(id: "b2") { postage } }')
  expect(graph.sent.at(-1)?.variables).toEqual({ representations: [{ __typename: 'Book', weight: null, cost: 2000, id: 'b2' }] })
})

// Trap 22.
test('fields of an interface object reach every implementation, and its type names never replace the real ones', async () => {
  const graph = testGraph({
    people: {
      sdl: `type Query { people: [Person] } interface Person @key(fields: "id") { id: ID! }
        type Pupil implements Person @key(fields: "id") { id: ID! school: String } type Worker implements Person @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: {
          people: () => [
            { __typename: 'Pupil', id: 1, school: 's' },
            { __typename: 'Worker', id: 2 },
          ],
        },
        Person: { __resolveReference: ({ id }: { id: string }) => (id === '1' ? { __typename: 'Pupil', id, school: 's' } : { __typename: 'Worker', id }) },
      },
    },
    badges: {
      sdl: 'type Query { first: Person badges: [Person!]! } type Person @key(fields: "id") @interfaceObject { id: ID! badge: Int }',
      resolvers: { Query: { first: () => ({ id: 1 }), badges: () => [{ id: 2 }, { id: 1 }] }, Person: { badge: ({ id }: { id: string }) => Number(id) * 10 } },
    },
  })
  expect((await graph.run('{ people { __typename badge ... on Pupil { school badge } } }')).text).toBe(
    '{"people":[{"__typename":"Pupil","badge":10,"school":"s"},{"__typename":"Worker","badge":20}]}',
  )
  expect((await graph.run('{ first { id badge } badges { badge __typename } }')).text).toBe(
    '{"first":{"id":"1","badge":10},"badges":[{"badge":20,"__typename":"Worker"},{"badge":10,"__typename":"Pupil"}]}',
  )
})

test('merging never replaces an object type by an interface, a value by null, or a list of the data by another', () => {
  const supergraph = readSupergraph(compose(library))
  const shape = shapeOfFetch(parse('{ __typename a b { c } list { x y } }'))
  const data = { __typename: 'Book', a: 1, b: { c: 2 }, list: [{ x: 1 }, null] }
  mergeByShape(data, { __typename: 'Node', a: null, b: null, list: [{ y: 2 }, { x: 3 }, { x: 4 }] }, shape, supergraph, countElements())
  expect(data).toEqual({ __typename: 'Book', a: 1, b: { c: 2 }, list: [{ x: 1, y: 2 }, { x: 3 }] })
  const unresolved = { __typename: 'Node' }
  mergeByShape(unresolved, { __typename: 'Author' }, shape, supergraph, countElements())
  expect(unresolved).toEqual({ __typename: 'Author' })
})

test('a provided field needs no further fetch', async () => {
  const graph = testGraph({
    users: {
      sdl: 'type Query { x: Int } type User @key(fields: "id") { id: ID! name: String @shareable mail: String }',
      resolvers: { User: { mail: () => 'm' } },
    },
    posts: {
      sdl: 'type Query { post: Post } type Post { author: User @provides(fields: "name") } type User @key(fields: "id") { id: ID! name: String @external }',
      resolvers: { Query: { post: () => ({ author: { id: 1, name: 'Ada' } }) } },
    },
  })
  expect((await graph.run('{ post { author { n: name name } } }')).text).toBe('{"post":{"author":{"n":"Ada","name":"Ada"}}}')
  expect(graph.sent.map(sent => sent.subgraph)).toEqual(['posts'])
  expect((await graph.run('{ post { author { name mail } } }')).text).toBe('{"post":{"author":{"name":"Ada","mail":"m"}}}')
})

// Trap 24.
test('a resolver that keeps or changes its representation affects nothing else', async () => {
  const graph = testGraph({
    one: { sdl: 'type Query { a: Thing } type Thing @key(fields: "id") { id: ID! name: String }', resolvers: { Query: { a: () => ({ id: 1, name: 'n' }) } } },
    two: {
      sdl: 'type Thing @key(fields: "id") { id: ID! more: Int }',
      resolvers: {
        Thing: {
          __resolveReference(reference: Record<string, unknown>) {
            Object.assign(reference, { more: 2, name: 'changed' })
            return reference
          },
        },
      },
    },
  })
  expect((await graph.run('{ a { name more } }')).text).toBe('{"a":{"name":"n","more":2}}')
})

test('an object inside a scalar is passed on unchanged', async () => {
  const graph = testGraph(library)
  expect((await graph.run('{ author(id: "a1") { meta name likes } }')).text).toBe(
    '{"author":{"meta":{"__typename":"Trick","id":7,"deep":[{"at":1},null]},"name":"Ada","likes":30}}',
  )
})

test('dates, bigints and own objects of scalars become JSON values, and the application’s objects stay unchanged', async () => {
  const kept = { at: new Date(0), big: 12n, list: [new Date(1)], [`__proto__`]: 1 }
  const graph = testGraph({
    one: {
      sdl: 'scalar Any type Query { date: Any big: Any dates: [Any] whole: Any nan: Any none: Any }',
      resolvers: {
        Query: {
          date: () => new Date(0),
          big: () => 2n ** 70n,
          dates: () => [new Date(1)],
          whole: () => kept,
          nan: () => Number.NaN,
          none: () => ({ a: undefined }),
        },
      },
    },
  })
  const document = parse('{ date big dates whole nan none }')
  const answer = await graph.engine.execute({ document, viewer: anonymous, requestId: 'r' })
  expect(answer.data).toEqual({
    date: '1970-01-01T00:00:00.000Z',
    big: '1180591620717411303424',
    dates: ['1970-01-01T00:00:00.001Z'],
    whole: { at: '1970-01-01T00:00:00.000Z', big: '12', list: ['1970-01-01T00:00:00.001Z'], [`__proto__`]: 1 },
    nan: null,
    none: {},
  })
  expect(kept.at).toBeInstanceOf(Date)
  expect(kept.list[0]).toBeInstanceOf(Date)
})

test('resolvers get one context per operation and subgraph', async () => {
  let opened = 0
  const graph = testGraph({
    one: {
      sdl: 'type Query { a: Thing } type Thing @key(fields: "id") { id: ID! b: Thing n: Int }',
      open: () => ({ number: ++opened }),
      resolvers: {
        Query: { a: () => ({ id: 1 }) },
        Thing: { n: (_: unknown, __: unknown, context: { number: number }) => context.number, __resolveReference: (r: unknown) => r },
      },
    },
    two: { sdl: 'type Thing @key(fields: "id") { id: ID! c: Thing }', resolvers: { Thing: { c: () => ({ id: 2 }) } } },
  })
  expect((await graph.run('{ a { n c { n } } }')).text).toBe('{"a":{"n":1,"c":{"n":1}}}')
  expect((await graph.run('{ a { n c { n } } }')).text).toBe('{"a":{"n":2,"c":{"n":2}}}')
})

test('an entity at two paths is a separate object at each, with all its fields', async () => {
  const graph = testGraph(library)
  const supergraph = readSupergraph(compose(library))
  const operation = findOperation(
    parse('{ a: book(id: "b1") { reviews { author { favourite { id title } } } } b: book(id: "b1") { reviews { author { favourite { id title } } } } }'),
    undefined,
  ) as Operation
  const plan = compilePlans(await createPlanner(supergraph).plan(operation, createNames(supergraph)), supergraph)
  for (let time = 0; time < 6; time++) {
    const work = new Work('request-1', undefined, undefined, () => performance.now())
    const call = { viewer: anonymous, requestId: 'request-1', operation: work }
    const run: Run = {
      transport: graph.transport,
      supergraph,
      variables: {},
      call,
      data: {},
      failures: [],
      found: new Map(),
      missing: new Map(),
      replayed: new Set(),
    }
    await runPlan(run, plan)
    expect(run.failures).toEqual([])
    const seen = new Map<object, string>()
    const visit = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return
      const known = seen.get(value)
      // Equal objects of one path may be one; what is done there is done to all of them.
      expect(known ?? place).toBe(place)
      seen.set(value, place)
      for (const [key, inner] of Object.entries(value)) visit(inner, Array.isArray(value) ? `${place}[]` : `${place}.${key}`)
    }
    visit(run.data, '')
    expect(seen.size).toBeGreaterThan(5)
  }
})

test('a nested requirement is sent once for all entities that are equal in it', async () => {
  const box = () => ({ id: 'x', size: { w: 2, h: 3 } })
  const graph = testGraph({
    store: {
      sdl: 'type Query { first: Box second: Box other: Box } type Box @key(fields: "id") { id: ID! size: Size } type Size @shareable { w: Int h: Int }',
      resolvers: { Query: { first: box, second: box, other: () => ({ ...box(), size: { w: 1, h: 1 } }) } },
    },
    post: {
      sdl: `type Box @key(fields: "id") { id: ID! size: Size @external postage: Int @requires(fields: "size { w h }") }
        type Size @shareable { w: Int h: Int }`,
      resolvers: { Box: { postage: ({ size }: { size: { w: number; h: number } }) => size.w * size.h } },
    },
  })
  for (let time = 0; time < 4; time++) {
    const answer = await graph.run('{ first { postage } second { postage } other { postage } }')
    expect(answer.data).toEqual({ first: { postage: 6 }, second: { postage: 6 }, other: { postage: 1 } })
    expect(Object.values(graph.sent.at(-1)!.variables).flat()).toHaveLength(2)
  }
})
