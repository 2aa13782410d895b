import { expect, test } from 'vitest'
import { library } from '../library-graph.ts'
import { codesOf, pathsOf, testGraph } from '../supergraph-fixture.ts'

const graph = testGraph(library)

// Trap 6.
test('entities in lists of lists of any depth get their fields', async () => {
  const answer = await graph.run('{ shelves { title reviews { body } } }')
  expect(answer.text).toBe(
    '{"shelves":[[{"title":"One","reviews":[{"body":"good"},{"body":"bad"}]},{"title":"Three","reviews":[{"body":"fine"}]}],[],[null,{"title":"Two","reviews":[]}],null]}',
  )
})

test('propagates a null across subgraphs to the next nullable place, reported once with the path of its origin', async () => {
  const answer = await graph.run('{ shelves { id reviews { id strict } } }')
  expect(answer.data.shelves[0]).toEqual([null, { id: 'b3', reviews: [{ id: 'r3', strict: 'strict' }] }])
  expect(pathsOf(answer)).toEqual(['shelves.0.0.reviews.1.strict'])
  expect(codesOf(answer)).toEqual(['NOT_FOUND'])
})

// Trap 17.
test('reports a null in a non-null position with its path when no error explains it', async () => {
  const careless = testGraph(
    {
      one: {
        sdl: 'type Query { things: [Thing] } type Thing @key(fields: "id") { id: ID! }',
        resolvers: { Query: { things: () => [{ id: '1' }, { id: '2' }] } },
      },
      two: {
        sdl: 'type Thing @key(fields: "id") { id: ID! name: String! }',
        resolvers: { Thing: { __resolveReference: ({ id }: { id: string }) => ({ id, name: 'known' }) } },
      },
    },
    {
      intercept: async (fetch, _call, next) => (fetch.subgraph === 'two' ? { data: { _entities: [{ name: 'known' }, { name: null }] } } : next()),
    },
  )
  const answer = await careless.run('{ things { id name } }')
  expect(answer.text).toBe('{"things":[{"id":"1","name":"known"},null]}')
  expect(answer.errors).toEqual([
    { message: 'Cannot return null for non-nullable field Thing.name.', path: ['things', 1, 'name'], extensions: { code: 'INTERNAL_SERVER_ERROR' } },
  ])
})

test('a reference to a missing entity is null without an error, and keeps its key where that suffices', async () => {
  const answer = await graph.run('{ book(id: "b3") { writers { id n: name favourite { id } } } }')
  expect(answer.data).toEqual({ book: { writers: [{ id: 'a1', n: 'Ada', favourite: { id: 'b2' } }, null] } })
  expect(answer.errors).toBeUndefined()
  const less = await graph.run('{ book(id: "b3") { writers { id favourite { id } } } }')
  expect(less.data).toEqual({
    book: {
      writers: [
        { id: 'a1', favourite: { id: 'b2' } },
        { id: 'gone', favourite: null },
      ],
    },
  })
  expect(less.errors).toBeUndefined()
})

/** Two subgraphs that know different people, before one that refers to them. */
const people = (names: Readonly<Record<string, string>>, scores: Readonly<Record<string, number>>) =>
  testGraph({
    posts: {
      sdl: `type Query { post: Post maybe: Post } type Post { author: Person! editor: Person readers: [Person!] }
        type Person @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: { post: () => ({}), maybe: () => ({}) },
        Post: { author: () => ({ id: 'p1' }), editor: () => ({ id: 'p1' }), readers: () => [{ id: 'p1' }, { id: 'p2' }] },
      },
    },
    names: {
      sdl: 'type Person @key(fields: "id") { id: ID! name: String! }',
      resolvers: { Person: { __resolveReference: ({ id }: { id: string }) => (names[id] ? { id, name: names[id] } : null) } },
    },
    scores: {
      sdl: 'type Person @key(fields: "id") { id: ID! score: Int! }',
      resolvers: { Person: { __resolveReference: ({ id }: { id: string }) => (scores[id] ? { id, score: scores[id] } : null) } },
    },
  })

test('a reference stays a mere reference under whatever alias its key is selected', async () => {
  const answer = await people({}, {}).run('{ maybe { editor { a: id name b: id } } }')
  expect(answer.text).toBe('{"maybe":{"editor":null}}')
  expect(answer.errors).toBeUndefined()
})

test('reports the null of a non-null reference at the referring field', async () => {
  const nobody = people({ p2: 'Bea' }, {})
  const answer = await nobody.run('{ post { author { name } } maybe { editor { name } readers { name } } }')
  expect(answer.text).toBe('{"post":null,"maybe":{"editor":null,"readers":null}}')
  expect(answer.errors?.map(({ message, path }) => `${path?.join('.')}: ${message}`)).toEqual([
    'post.author: Cannot return null for non-nullable field Post.author.',
    'maybe.readers.0: Cannot return null for non-nullable field Post.readers.',
  ])
})

test('reports nulls of an entity that one subgraph has and another does not know', async () => {
  for (const known of [people({ p1: 'Ann' }, {}), people({}, { p1: 5 })]) {
    const answer = await known.run('{ maybe { editor { id name score } } }')
    expect(answer.text).toBe('{"maybe":{"editor":null}}')
    expect(answer.errors).toHaveLength(1)
  }
  const unknown = await people({}, {}).run('{ maybe { editor { id name score } } }')
  expect(unknown.text).toBe('{"maybe":{"editor":null}}')
  expect(unknown.errors).toBeUndefined()
})

// Trap 26.
test('an enum value that clients do not know becomes null with an error, also in lists', async () => {
  const secret = testGraph({
    one: {
      sdl: `type Query { kinds: [Kind] strict: [Kind!] things: [Thing] } enum Kind { A B @inaccessible }
        union Thing = Open | Hidden type Open { a: Int } type Hidden @inaccessible { a: Int }`,
      resolvers: { Query: { kinds: () => ['A', 'B', null], strict: () => ['B'], things: () => [{ __typename: 'Open', a: 1 }, { __typename: 'Hidden' }] } },
    },
  })
  const answer = await secret.run('{ kinds strict things { ... on Open { a } } }')
  expect(answer.text).toBe('{"kinds":["A",null,null],"strict":null,"things":[{"a":1},null]}')
  expect(pathsOf(answer)).toEqual(['kinds.1', 'strict.0', 'things.1'])
})

// Trap 27.
test('keys have the order of a single schema, for each runtime type', async () => {
  const answer = await graph.run('{ nodes { ... on Book { reviews { __typename } } likes ... on Author { name } id ... on Book { title likes } } }')
  expect(answer.text).toBe(
    '{"nodes":[{"likes":30,"name":"Ada","id":"a1"},{"reviews":[],"likes":20,"id":"b2","title":"Two"},{"reviews":[{"__typename":"Review"},{"__typename":"Review"}],"likes":10,"id":"b1","title":"One"}]}',
  )
})

// Trap 20.
test('an object of which @skip and @include leave no field is an empty object', async () => {
  const answer = await graph.run(
    'query ($no: Boolean!) { latest { body @include(if: $no) ... @include(if: $no) { stars } } book(id: "b1") { ...F } } fragment F on Book { title @skip(if: true) }',
    {
      no: false,
    },
  )
  expect(answer).toEqual({ data: { latest: {}, book: {} }, text: '{"latest":{},"book":{}}' })
})

// Trap 11.
test('answers fields that need no subgraph without calling one', async () => {
  const before = graph.sent.length
  expect((await graph.run('{ __typename ...F } fragment F on Query { t: __typename ... on Query { s: __schema { queryType { name } } } }')).text).toBe(
    '{"__typename":"Query","t":"Query","s":{"queryType":{"name":"Query"}}}',
  )
  expect((await graph.run('query ($n: String!) { k: __type(name: $n) { name fields { name } } }', { n: 'Review' })).data.k.fields).toContainEqual({
    name: 'stars',
  })
  expect((await graph.run('{ latest @skip(if: true) { body } }')).text).toBe('{}')
  expect(graph.sent.length).toBe(before)
})

test('introspection stands beside fields of subgraphs in the requested order', async () => {
  expect((await graph.run('{ latest { body } __type(name: "Book") { name } again: latest { stars } }')).text).toBe(
    '{"latest":{"body":"fine"},"__type":{"name":"Book"},"again":{"stars":3}}',
  )
})

test('each combination of conditions has its own plan, and false drops what true keeps', async () => {
  const source = 'query ($a: Boolean!, $b: Boolean!) { latest { body @skip(if: $a) stars @include(if: $b) } }'
  expect((await graph.run(source, { a: false, b: true })).text).toBe('{"latest":{"body":"fine","stars":3}}')
  expect((await graph.run(source, { a: true, b: true })).text).toBe('{"latest":{"stars":3}}')
  expect((await graph.run(source, { a: false, b: false })).text).toBe('{"latest":{"body":"fine"}}')
})

test('finds an operation by its name, and reports a wrong name', async () => {
  const two = 'query A { latest { body } } query B { latest { stars } }'
  expect((await graph.run(two, {}, { operationName: 'B' })).text).toBe('{"latest":{"stars":3}}')
  expect((await graph.run(two, {}, { operationName: 'C' })).errors?.[0]?.message).toContain('no operation named "C"')
  expect(codesOf(await graph.run(two))).toEqual(['BAD_USER_INPUT'])
})
