import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { buildSubgraphSchema } from '@apollo/subgraph'
import DataLoader from 'dataloader'
import { GraphQLEnumType, GraphQLScalarType, GraphQLSchema, isIntrospectionType, isObjectType, parse } from 'graphql'
import { expect, test } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { countElements } from '../../../router/engine/data/elements.ts'
import { mergeByShape, shapeOfFetch } from '../../../router/engine/data/merge.ts'
import { createMerger } from '../../../router/engine/execute/merger.ts'
import { mayCompile } from '../../../router/engine/repairs/jit-other-answers/may-compile.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { library } from '../library-graph.ts'
import { type Answer, compose, type Part, type TestGraph, testGraph } from '../supergraph-fixture.ts'

/** Answers of an operation that is asked again and again: interpreted at first, run by generated code at last. */
async function hot(graph: TestGraph, source: string, variables: Record<string, unknown> = {}): Promise<{ cold: Answer; warm: Answer }> {
  const cold = await graph.run(source, variables)
  for (let times = 0; times < 6; times++) await graph.run(source, variables)
  // The compiler is loaded at its first use, which no answer waits for.
  await import('graphql-jit')
  await graph.run(source, variables)
  return { cold, warm: await graph.run(source, variables) }
}

const comparable = ({ text, errors }: Answer) => ({ text, errors: errors?.map(error => JSON.stringify(error)).sort() })

test('promises in a list stay at their places, rejected ones as null with an error', async () => {
  const refuse = async (id: string) => {
    throw new DomainError('NOT_FOUND', `There is no ${id}.`)
  }
  const graph = testGraph({
    one: {
      sdl: 'type Query { things: [Thing] ids: [String] } type Thing @key(fields: "id") { id: ID! }',
      resolvers: {
        Query: { things: () => ['a', 'gone', 'b', 'gone too'].map(id => ({ id })), ids: async () => [refuse('1'), 'x', Promise.resolve('y'), null] },
      },
    },
    two: {
      sdl: 'type Thing @key(fields: "id") { id: ID! name: String }',
      resolvers: {
        Thing: { __resolveReference: ({ id }: { id: string }) => (id.startsWith('gone') ? refuse(id) : Promise.resolve({ id, name: `name of ${id}` })) },
      },
    },
  })
  const { cold, warm } = await hot(graph, '{ things { id name } ids }')
  expect(warm.text).toBe(
    '{"things":[{"id":"a","name":"name of a"},{"id":"gone","name":null},{"id":"b","name":"name of b"},{"id":"gone too","name":null}],"ids":[null,"x","y",null]}',
  )
  expect(comparable(warm)).toEqual(comparable(cold))
  expect(warm.errors?.map(error => error.path?.join('.')).sort()).toEqual(['ids.0', 'things.1.name', 'things.3.name'])
})

test('reports nulls, field errors and lists of lists as in the operation’s first run', async () => {
  const graph = testGraph(library)
  for (const source of [
    '{ books(first: 3) { id title lost table format postage cost(in: CENT) writers { id name nick } reviews(atLeast: 2) { strict author { name favourite { title } } } } }',
    '{ shelves { title likes reviews { body strict } } latest { book { reviews { strict } } } }',
    '{ found { __typename ... on Book { title likes } ... on Author { nick meta } } nodes { id likes } }',
  ]) {
    const { cold, warm } = await hot(graph, source)
    expect(comparable(warm)).toEqual(comparable(cold))
  }
})

test('values of own scalars become JSON values, and the application’s objects stay unchanged', async () => {
  const kept = { at: new Date(0), big: 12n }
  const graph = testGraph({
    one: {
      sdl: 'scalar Any type Query { date: Any dates: [Any!] whole: Any nan: Any none: Any }',
      resolvers: {
        Query: { date: () => new Date(0), dates: () => [new Date(1)], whole: () => kept, nan: () => Number.NaN, none: () => ({}) },
        Any: new GraphQLScalarType({ name: 'Any' }),
      },
    },
  })
  const { cold, warm } = await hot(graph, '{ date dates whole nan none }')
  expect(warm.text).toBe(
    '{"date":"1970-01-01T00:00:00.000Z","dates":["1970-01-01T00:00:00.001Z"],"whole":{"at":"1970-01-01T00:00:00.000Z","big":"12"},"nan":null,"none":{}}',
  )
  expect(comparable(warm)).toEqual(comparable(cold))
  expect(kept.at).toBeInstanceOf(Date)
})

test('reports a client’s mistakes with the same message and code', async () => {
  const short = new GraphQLScalarType({
    name: 'Short',
    parseValue(value) {
      if (String(value).length > 3) throw new DomainError('BAD_USER_INPUT', 'Send at most three letters.')
      return value
    },
  })
  const graph = testGraph({
    one: {
      sdl: 'scalar Short type Query { say(what: Short): String count(to: Int! = 3): Int }',
      resolvers: { Query: { say: (_: unknown, { what }: { what: string }) => what, count: (_: unknown, { to }: { to: number }) => to }, Short: short },
    },
  })
  for (const [source, variables] of [
    ['query($what: Short) { say(what: $what) }', { what: 'long words' }],
    ['query($to: Int) { count(to: $to) }', { to: null }],
  ] as const) {
    const { cold, warm } = await hot(graph, source, variables)
    expect(comparable(warm)).toEqual(comparable(cold))
    expect(warm.errors?.[0]?.extensions?.code).toBe('BAD_USER_INPUT')
  }
  expect((await hot(graph, 'query($to: Int = 5) { count(to: $to) say(what: "abc") }')).warm.text).toBe('{"count":5,"say":"abc"}')
})

test('loaders batch as before', async () => {
  let batches = 0
  const graph = testGraph({
    one: {
      sdl: 'type Query { things: [Thing] } type Thing @key(fields: "id") { id: ID! }',
      resolvers: { Query: { things: () => Array.from({ length: 20 }, (_, id) => ({ id: String(id) })) } },
    },
    two: {
      sdl: 'type Thing @key(fields: "id") { id: ID! name: String owner: Owner } type Owner { name: String }',
      open() {
        const load = (prefix: string) =>
          new DataLoader(async (ids: readonly string[]) => {
            batches++
            return ids.map(id => `${prefix} ${id}`)
          })
        return { names: load('name'), owners: load('owner') }
      },
      resolvers: {
        Thing: {
          __resolveReference: async ({ id }: { id: string }) => ({ id }),
          name: ({ id }: { id: string }, _: unknown, { names }: { names: DataLoader<string, string> }) => names.load(id),
          owner: async ({ id }: { id: string }) => ({ id }),
        },
        Owner: { name: ({ id }: { id: string }, _: unknown, { owners }: { owners: DataLoader<string, string> }) => owners.load(id) },
      },
    },
  })
  const { warm } = await hot(graph, '{ things { name owner { name } } }')
  expect(warm.data.things[19]).toEqual({ name: 'name 19', owner: { name: 'owner 19' } })
  batches = 0
  await graph.run('{ things { name owner { name } } }')
  expect(batches).toBe(2)
})

test('equal entities at one path are completed once, and every place shows the fields', async () => {
  const parts: Record<string, Part> = {
    posts: {
      sdl: 'type Query { a: [Post] b: [Post] } type Post { author: User } type User @key(fields: "id") { id: ID! }',
      resolvers: { Query: { a: () => [1, 2, 1, 1, 3].map(id => ({ author: { id } })), b: () => [1, 1].map(id => ({ author: { id } })) } },
    },
    users: {
      sdl: 'type User @key(fields: "id") { id: ID! name: String friends: [User] }',
      resolvers: {
        User: {
          name({ id }: { id: string }) {
            if (id === '3') throw new DomainError('NOT_FOUND', 'Nobody.')
            return `user ${id}`
          },
          friends: ({ id }: { id: string }) => [{ id: String(Number(id) + 1) }, { id: '1' }],
        },
      },
    },
  }
  const source = '{ a { author { name friends { id name } } } b { author { friends { name friends { id } } name } } }'
  const { cold, warm } = await hot(testGraph(parts), source)
  expect(comparable(warm)).toEqual(comparable(cold))
  expect(warm.data.a.map((post: { author: { name: string } }) => post.author.name)).toEqual(['user 1', 'user 2', 'user 1', 'user 1', null])
  expect(warm.data.b[1]).toEqual({
    author: {
      friends: [
        { name: 'user 2', friends: [{ id: '3' }, { id: '1' }] },
        { name: 'user 1', friends: [{ id: '2' }, { id: '1' }] },
      ],
      name: 'user 1',
    },
  })
})

test('generated merging equals interpreted merging', () => {
  const supergraph = readSupergraph(compose(library))
  const shape = shapeOfFetch(parse('{ __typename constructor a b { c } list { x y { z } } }'))
  const merger = createMerger(shape, supergraph)
  const cases: [object, object][] = [
    [{}, { __typename: 'Book', constructor: 1, a: 1, b: { c: 2 }, list: [{ x: 1 }, null] }],
    [
      { __typename: 'Book', a: 1, b: { c: 2 }, list: [{ x: 1 }, null] },
      { __typename: 'Node', a: null, b: null, list: [{ y: { z: 2 } }, { x: 3 }, { x: 4 }] },
    ],
    [
      { __typename: 'Node', b: null, list: [[{ x: 1 }]] },
      { __typename: 'Author', b: { c: [1] }, list: [[{ y: null }]] },
    ],
    [
      { b: 5, list: null },
      { b: { c: 1 }, list: 'none', foreign: 1 },
    ],
  ]
  for (let times = 0; times < 4; times++) {
    for (const [target, source] of cases) {
      const [expected, actual] = [structuredClone(target), structuredClone(target)] as Record<string, unknown>[]
      mergeByShape(expected!, structuredClone(source) as Record<string, unknown>, shape, supergraph, countElements())
      merger.take(actual!, structuredClone(source) as Record<string, unknown>, countElements())
      expect(actual).toEqual(expected)
    }
  }
})

test('compiling documents does not change the schema', async () => {
  const resolvers = { Query: { things: async () => [Promise.resolve('a'), 'b', null] } }
  const graph = testGraph({ one: { sdl: 'type Query { things: [String] }', resolvers } }, { schemas: deepFrozen })
  const { cold, warm } = await hot(graph, '{ things }')
  expect(warm.text).toBe('{"things":["a","b",null]}')
  expect(comparable(warm)).toEqual(comparable(cold))
})

/** Nothing of its types can be replaced any more, not for a moment. */
function deepFrozen(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !isIntrospectionType(type)) for (const field of Object.values(type.getFields())) Object.freeze(field)
}

test('does not compile documents that the compiler would run differently', () => {
  const schema = (sdl: string, resolvers: object = {}) => buildSubgraphSchema([{ typeDefs: parse(sdl), resolvers: resolvers as never }])
  const plain = schema(
    'type Query { a(n: Int = 1): Post } type Mutation { a: Int } type Post { sname: String s: Posts b: Post b_a: Post } type Posts { name: String }',
  )
  expect(mayCompile(plain, parse('query($n: Int) { a(n: $n) { b { sname } } }'))).toBe(true)
  expect(mayCompile(plain, parse('mutation { a }'))).toBe(false)
  expect(mayCompile(plain, parse('{ a { sname s { name } } }'))).toBe(false)
  expect(mayCompile(plain, parse('{ a { b_a { b { sname } } a_b: b { a: b { sname } } } }'))).toBe(true)
  expect(mayCompile(plain, parse('{ a { b: b { sname } } b_a: a { sname } }'))).toBe(false)
  const union = schema('type Query { a: U } union U = A | B type A { x: Int } type B { y: Int }')
  expect(mayCompile(union, parse('{ a { __typename } }'))).toBe(false)
  const date = new GraphQLScalarType({ name: 'Date', parseLiteral: () => new Date(0), parseValue: () => new Date(0) })
  const dated = schema('scalar Date type Query { a(at: Date): Int }', { Date: date })
  expect(mayCompile(dated, parse('{ a(at: "x") }'))).toBe(false)
  expect(mayCompile(dated, parse('query($at: Date) { a(at: $at) }'))).toBe(true)
  const inner = schema('input I { n: Int } enum E { X } type Query { a(i: I e: E): Int }')
  expect(mayCompile(inner, parse('query($n: Int) { a(i: { n: $n }) }'))).toBe(false)
  expect(mayCompile(inner, parse('{ a(i: { n: 1 }, e: X) }'))).toBe(true)
  expect(inner).toBeInstanceOf(GraphQLSchema)
  expect(inner.getType('E')).toBeInstanceOf(GraphQLEnumType)
})

test('interprets everything with the same answer where code generation is forbidden', async () => {
  const program = `
    const { library } = await import('./test/engine/library-graph.ts')
    const { testGraph } = await import('./test/engine/supergraph-fixture.ts')
    const graph = testGraph(library)
    let answer
    for (let times = 0; times < 6; times++) answer = await graph.run('{ books(first: 3) { title likes writers { name } reviews { author { id name } } } }')
    console.log(answer.text)`
  const run = async (...flags: string[]) => (await promisify(execFile)(process.execPath, [...flags, '--input-type=module', '--eval', program])).stdout
  const [generated, interpreted] = await Promise.all([run(), run('--disallow-code-generation-from-strings')])
  expect(interpreted).toBe(generated)
  expect(interpreted).toContain('"title":"Three"')
})

test('objects with equal representations but other differences stay separate', async () => {
  const graph = testGraph({
    posts: {
      sdl: 'type Query { posts: [Post] } type Post { author: Person } type Person @key(fields: "id") { id: ID! seat: Int @shareable }',
      resolvers: { Query: { posts: () => [1, 2, 3].map(seat => ({ author: { id: 'p1', seat } })) } },
    },
    people: {
      sdl: 'type Person @key(fields: "id") { id: ID! name: String }',
      resolvers: { Person: { __resolveReference: ({ id }: { id: string }) => ({ id, name: 'Ann' }) } },
    },
  })
  const { cold, warm } = await hot(graph, '{ posts { author { seat name } } }')
  expect(warm.text).toBe('{"posts":[{"author":{"seat":1,"name":"Ann"}},{"author":{"seat":2,"name":"Ann"}},{"author":{"seat":3,"name":"Ann"}}]}')
  expect(comparable(warm)).toEqual(comparable(cold))
})
