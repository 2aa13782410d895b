import { parse, print, stripIgnoredCharacters } from 'graphql'
import { expect, test } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { countElements } from '../../../router/engine/data/elements.ts'
import { joinBack, splitFields } from '../../../router/engine/repairs/hive-differing-types/split-fields.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { relatives } from '../../differential/graphs/relatives.ts'
import { compose, type Part, pathsOf, testGraph } from '../supergraph-fixture.ts'

const typeOf = { __resolveType: ({ __typename }: { __typename: string }) => __typename }
const things = () => [
  { __typename: 'A', kid: { __typename: 'X', id: '1', code: 'x', tag: { n: 1 }, tags: [{ n: 2 }] } },
  { __typename: 'B', kid: { __typename: 'Y', id: '2', code: null, tag: null, tags: [null, { n: 3 }] } },
]

/** To clients both types have the same fields; one subgraph never answers null for those of one type. */
const parts: Record<string, Part> = {
  one: {
    sdl: `type Query { things: [Thing] } union Thing = A | B type A { kid: Kid } type B { kid: Kid } union Kid = X | Y
      type X @key(fields: "id") { id: ID! code: String! @shareable tag: Tag! @shareable tags: [Tag!]! @shareable }
      type Y @key(fields: "id") { id: ID! code: String tag: Tag tags: [Tag] }
      type Tag @shareable { n: Int }`,
    resolvers: { Query: { things }, Thing: typeOf, Kid: typeOf },
  },
  two: {
    sdl: 'type X @key(fields: "id") { id: ID! code: String @shareable tag: Tag @shareable tags: [Tag] @shareable more: Int } type Tag @shareable { n: Int }',
    resolvers: { X: { more: () => 1 } },
  },
}

// Trap 4.
test.each([
  ['leaves', 'code more', 'code', '{"code":"x","more":1}', '{"code":null}'],
  ['leaves with an alias', 'c: code more', 'c: code', '{"c":"x","more":1}', '{"c":null}'],
  ['objects', 'tag { n } more', 'tag { n }', '{"tag":{"n":1},"more":1}', '{"tag":null}'],
  ['lists of objects', 't: tags { m: n }', 't: tags { m: n }', '{"t":[{"m":2}]}', '{"t":[null,{"m":3}]}'],
])('%s that one subgraph types differently on two types may stand side by side below fragments', async (_what, onX, onY, first, second) => {
  const graph = testGraph(parts)
  const answer = await graph.run(`{ things { ... on A { kid { ... on X { ${onX} } } } ... on B { kid { ... on Y { ${onY} } } } } }`)
  expect(answer.errors).toBeUndefined()
  expect(answer.text).toBe(`{"things":[{"kid":${first}},{"kid":${second}}]}`)
})

test('fields of differing types may stand in the same selection too, also when repeated', async () => {
  const graph = testGraph(parts)
  for (let times = 0; times < 5; times++) {
    const answer = await graph.run('{ things { ... on A { kid { ... on X { tags { n } tag { n } } ... on Y { tag { n } tags { n } } } } } }')
    expect(answer.errors).toBeUndefined()
    expect(answer.text).toBe('{"things":[{"kid":{"tags":[{"n":2}],"tag":{"n":1}}},{}]}')
  }
})

test('reports an error below a separated field at the client’s path', async () => {
  const refuse = () => {
    throw new DomainError('CONFLICT', 'No number.')
  }
  const graph = testGraph({ ...parts, one: { ...parts.one!, resolvers: { ...parts.one!.resolvers, Tag: { n: refuse } } } })
  const answer = await graph.run('{ things { ... on A { kid { ... on X { t: tag { number: n } } } } ... on B { kid { ... on Y { t: tag { number: n } } } } } }')
  expect(answer.text).toBe('{"things":[{"kid":{"t":{"number":null}}},{"kid":{"t":null}}]}')
  expect(pathsOf(answer)).toEqual(['things.0.kid.t.number'])
})

test('returns the same document when no field types differ', () => {
  const supergraph = readSupergraph(compose(parts))
  const alike = parse('{ things { ... on A { kid { ... on X { code } } } } }')
  expect(splitFields(alike, 'one', supergraph)).toEqual({ document: alike, split: [] })
  const differing = parse('{ things { ... on A { kid { ... on X { tag { n } } } } ... on B { kid { ...Y } } } } fragment Y on Y { tag { m: n } code }')
  expect(splitFields(differing, 'two', supergraph).document).toBe(differing)
  const { document, split } = splitFields(differing, 'one', supergraph)
  expect(stripIgnoredCharacters(print(document))).toBe('{things{...on A{kid{...on X{tag{n}}}}...on B{kid{...on Y{_c0:tag{m:n}code}}}}}')
  expect(split).toEqual([{ path: ['things', 'kid'], key: '_c0', for: 'tag', shape: new Map([['m', null]]) }])
})

test('restores separated fields once, merging with a value that is there already', () => {
  const supergraph = readSupergraph(compose(parts))
  const shape = new Map([['n', null]])
  const split = [
    { path: ['things'], key: '_c0', for: 'kid', shape: new Map([['tag', shape]]) },
    { path: ['things', '_c0'], key: '_c1', for: 'tag', shape },
  ]
  const answer = { things: [[{ kid: { id: '1' } }, null], { _c0: { _c1: { n: 1 } } }, { kid: { tag: { m: 2 } }, _c0: { _c1: { n: 3 } } }, { _c0: null }] }
  for (let times = 0; times < 2; times++) {
    joinBack(answer, split, supergraph, countElements())
    expect(answer).toEqual({ things: [[{ kid: { id: '1' } }, null], { kid: { tag: { n: 1 } } }, { kid: { tag: { m: 2, n: 3 } } }, { kid: null }] })
  }
})

test('an interface and its implementation may select different parts of one object, with additional arguments of the implementation', async () => {
  const graph = testGraph(relatives.parts)
  expect((await graph.run('{ top(id: "p1") { seal { ink } ... on Post { seal { by { name } } label } label } }')).text).toBe(
    '{"top":{"seal":{"ink":"ink of p1","by":{"name":null}},"label":"label of p1"}}',
  )
  const ranked = testGraph({
    one: {
      sdl: `type Query { all: [Ranked] } interface Ranked { rank: Rank } type Rank { a: Int b: Int }
        type User implements Ranked { rank(of: ID): Rank } type Bot implements Ranked { rank: Rank }`,
      resolvers: {
        Query: { all: () => [{ __typename: 'User' }, { __typename: 'Bot' }] },
        Ranked: typeOf,
        User: { rank: (_: unknown, { of }: { of?: string }) => ({ a: 1, b: of ? 3 : 2 }) },
        Bot: { rank: () => ({ a: 4, b: 5 }) },
      },
    },
  })
  expect((await ranked.run('{ all { rank { a } ... on User { rank { b } } ... on Bot { rank { b } } } }')).text).toBe(
    '{"all":[{"rank":{"a":1,"b":2}},{"rank":{"a":4,"b":5}}]}',
  )
  expect((await ranked.run('{ all { rank { a } ... on User { other: rank(of: 1) { b } } } }')).text).toBe(
    '{"all":[{"rank":{"a":1},"other":{"b":3}},{"rank":{"a":4}}]}',
  )
})

test('answers fields with arguments or differing types below a field that an implementation narrows', async () => {
  const graph = testGraph({
    one: {
      sdl: `type Query { nodes: [Node] } interface Node { id: ID! own: Node note: String code: String }
        type User implements Node @key(fields: "id") { id: ID! own: User note(length: Int): String code: String! @shareable }
        type Bot implements Node @key(fields: "id") { id: ID! own: Bot note: String code: String }`,
      resolvers: {
        Query: {
          nodes: () => [
            { __typename: 'User', id: '1', own: { id: '3', note: 'n3', code: 'c3' } },
            { __typename: 'Bot', id: '2', own: null },
          ],
        },
        Node: typeOf,
      },
    },
    two: { sdl: 'type User @key(fields: "id") { id: ID! code: String @shareable more: Int }' },
  })
  expect((await graph.run('{ nodes { __typename own { note code c: code } } }')).text).toBe(
    '{"nodes":[{"__typename":"User","own":{"note":"n3","code":"c3","c":"c3"}},{"__typename":"Bot","own":null}]}',
  )
})
