import { expect, test } from 'vitest'
import { relatives } from '../../differential/graphs/relatives.ts'
import { warehouse } from '../../differential/graphs/warehouse.ts'
import { library } from '../library-graph.ts'
import { type Part, type TestGraph, testGraph } from '../supergraph-fixture.ts'

async function sentFor(graph: TestGraph, source: string) {
  const before = graph.sent.length
  const answer = await graph.run(source)
  expect(answer.errors).toBeUndefined()
  const sent = graph.sent.slice(before)
  const representations = sent.flatMap(({ variables }) => Object.values(variables).flat()) as { readonly __typename: string }[]
  return { answer, texts: sent.map(({ text }) => text), types: representations.map(({ __typename }) => __typename) }
}

test('fetches no type name of an object whose type the supergraph determines, and sends it with representations', async () => {
  const { texts, types, answer } = await sentFor(testGraph(library), '{ book(id: "b1") { reviews { author { name favourite { title reviews { body } } } } } }')
  expect(texts.join('\n')).not.toContain('__typename')
  expect(new Set(types)).toEqual(new Set(['Book', 'Author']))
  expect(types.length).toBeGreaterThan(4)
  expect(answer.data.book.reviews[1].author).toEqual({ name: 'Ada', favourite: { title: 'Two', reviews: [] } })
})

test('sends known types also for lists of lists and keys of several fields', async () => {
  const { texts, types } = await sentFor(testGraph(library), '{ shelves { title reviews { body } } }')
  expect(texts.join('\n')).not.toContain('__typename')
  expect(types).toEqual(['Book', 'Book', 'Book'])
  const compound = await sentFor(testGraph(warehouse.parts), '{ shelf(code: "A", level: 1) { room keeper { since } holds { name } } }')
  expect(compound.texts.join('\n')).not.toContain('__typename')
  expect(new Set(compound.types)).toEqual(new Set(['Shelf', 'Maker', 'Product']))
  expect(compound.answer.text).toBe('{"shelf":{"room":"north","keeper":{"since":1990},"holds":[{"name":"Saw"},{"name":"Other saw"}]}}')
})

test('answers the type name of an object of known type without fetching it', async () => {
  const { texts, answer } = await sentFor(testGraph(library), '{ latest { __typename body author { tn: __typename name } } }')
  expect(texts.join('\n')).not.toContain('__typename')
  expect(answer.text).toBe('{"latest":{"__typename":"Review","body":"fine","author":{"tn":"Author","name":"Bob"}}}')
})

test('keeps a selection of nothing but a type name, because a selection cannot be empty', async () => {
  const { texts, answer } = await sentFor(testGraph(library), '{ latest { author { __typename } } }')
  expect(texts).toEqual(['{latest{author{__typename}}}'])
  expect(answer.text).toBe('{"latest":{"author":{"__typename":"Author"}}}')
})

test('fetches type names of interfaces and unions at every place', async () => {
  const graph = testGraph(library)
  const nodes = await sentFor(graph, '{ nodes { likes ... on Author { name } } }')
  expect(nodes.texts[0]).toContain('nodes{__typename')
  expect(nodes.types).toEqual(expect.arrayContaining(['Node', 'Author']))
  const found = await sentFor(graph, '{ found { ... on Book { title reviews { body } } ... on Review { stars } } }')
  expect(found.texts[0]).toContain('found{__typename')
  expect(found.types).toEqual(expect.arrayContaining(['Book', 'Review']))
})

test('an interface keeps its type names where an implementation narrows the field to one type', async () => {
  const graph = testGraph(relatives.parts)
  const wide = await sentFor(graph, '{ nodes { owner { name ... on User { wrote { id } } ... on Bot { wrote { id } } } } }')
  expect(wide.texts[0]).toMatch(/owner\{[^}]*__typename/)
  expect(new Set(wide.types)).toEqual(new Set(['User', 'Bot']))
  // Asked of one implementation, the field has one type.
  const narrow = await sentFor(graph, '{ nodes { ... on Post { owner { wrote { id } } } } }')
  expect(narrow.texts[0]).not.toMatch(/owner\{[^}]*__typename/)
  expect(new Set(narrow.types)).toEqual(new Set(['User']))
})

test('a key under which fragments put objects of different types keeps their type names', async () => {
  const typeOf = { __resolveType: ({ __typename }: { __typename: string }) => __typename }
  const parts: Record<string, Part> = {
    things: {
      sdl: `type Query { things: [Thing] alone: Song } union Thing = Film | Song type Film { by: Person } type Song { by: Band title: String }
        type Person @key(fields: "id") { id: ID! } type Band @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: {
          things: () => [
            { __typename: 'Film', by: { id: '1' } },
            { __typename: 'Song', by: { id: '1' } },
          ],
          alone: () => ({ by: { id: '2' } }),
        },
        Thing: typeOf,
      },
    },
    names: {
      sdl: 'type Person @key(fields: "id") { id: ID! name: String } type Band @key(fields: "id") { id: ID! name: String }',
      resolvers: { Person: { name: ({ id }: { id: string }) => `person ${id}` }, Band: { name: ({ id }: { id: string }) => `band ${id}` } },
    },
  }
  const graph = testGraph(parts)
  const { texts, types, answer } = await sentFor(graph, '{ things { ... on Film { by { name } } ... on Song { by { name } } } }')
  expect(texts[0]!.match(/by\{[^}]*__typename/g)).toHaveLength(2)
  expect(types).toEqual(expect.arrayContaining(['Person', 'Band']))
  expect(answer.text).toBe('{"things":[{"by":{"name":"person 1"}},{"by":{"name":"band 1"}}]}')
  // Where only one type is possible, the type name adds no information.
  const alone = await sentFor(graph, '{ alone { title by { name } } }')
  expect(alone.texts[0]).toBe('{alone{title by{id}}}')
  expect(alone.answer.text).toBe('{"alone":{"title":null,"by":{"name":"band 2"}}}')
})

test('fetches type names that a subgraph requires within a representation, also of known types', async () => {
  const parts: Record<string, Part> = {
    posts: {
      sdl: `type Query { posts: [Post] } type Post @key(fields: "id") { id: ID! author: Author size: Size } type Size { width: Int }
        union Author = User | Bot type User { name: String } type Bot { model: String }`,
      resolvers: {
        Query: { posts: () => [{ id: '1', size: { width: 2 }, author: { __typename: 'Bot', model: 'R2' } }] },
        Author: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
      },
    },
    lines: {
      sdl: `type Post @key(fields: "id") {
          id: ID! author: Author @external size: Size @external line: String @requires(fields: "author { __typename ... on Bot { model } ... on User { name } } size { __typename width }")
        }
        type Size { width: Int @external } union Author = User | Bot type User { name: String @external } type Bot { model: String @external }`,
      resolvers: { Post: { line: (given: unknown) => JSON.stringify(given) } },
    },
  }
  const { answer, types } = await sentFor(testGraph(parts), '{ posts { line } }')
  expect(types).toEqual(['Post'])
  expect(JSON.parse(answer.data.posts[0].line)).toEqual({
    __typename: 'Post',
    id: '1',
    author: { __typename: 'Bot', model: 'R2' },
    size: { __typename: 'Size', width: 2 },
  })
})

test('sends the interface’s name to a subgraph that knows the interface as an object', async () => {
  const parts: Record<string, Part> = {
    people: {
      sdl: `type Query { pupil: Pupil } interface Person @key(fields: "id") { id: ID! } type Pupil implements Person @key(fields: "id") { id: ID! friend: Pupil }`,
      resolvers: { Query: { pupil: () => ({ id: '1' }) }, Pupil: { friend: () => ({ id: '2' }) }, Person: { __resolveType: () => 'Pupil' } },
    },
    badges: {
      sdl: 'type Person @key(fields: "id") @interfaceObject { id: ID! badge: String }',
      resolvers: { Person: { badge: ({ id }: { id: string }) => `badge ${id}` } },
    },
  }
  const { texts, types, answer } = await sentFor(testGraph(parts), '{ pupil { badge friend { badge } } }')
  expect(texts.join('\n')).not.toContain('__typename')
  expect(new Set(types)).toEqual(new Set(['Person']))
  expect(answer.text).toBe('{"pupil":{"badge":"badge 1","friend":{"badge":"badge 2"}}}')
})

test('ignores a type name that was not requested', async () => {
  const lied = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lied)
    if (typeof value !== 'object' || value === null) return value
    return { __typename: 'Review', ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, lied(inner)])) }
  }
  const graph = testGraph(library, {
    async intercept(fetch, _call, next) {
      const result = await next()
      return fetch.subgraph === 'catalog' ? ({ ...result, data: lied(result.data) } as typeof result) : result
    },
  })
  // Generated code takes over an answer's objects as they are.
  for (let times = 0; times < 5; times++) {
    const { types, answer } = await sentFor(graph, '{ books { title reviews { body } } }')
    expect(new Set(types)).toEqual(new Set(['Book']))
    expect(answer.data.books[0]).toEqual({ title: 'One', reviews: [{ body: 'good' }, { body: 'bad' }] })
  }
})
