import { parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { amountFor, greatest, mostCost, product, sum } from '../../../router/engine/operation/cost/amount.ts'
import { estimateOf } from '../../../router/engine/operation/cost/estimate.ts'
import { findOperation, type Operation } from '../../../router/engine/operation/operation.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { compose } from '../supergraph-fixture.ts'

const page = '@listSize(slicingArguments: ["first"], sizedFields: ["nodes", "edges"], requireOneSlicingArgument: false)'
const sdl = `
  type Query {
    me: Person
    posts(first: Int = 20): PostPage ${page}
    top(most: Int): [Post] @listSize(slicingArguments: ["most"], assumedSize: 7)
    either(a: Int, b: Int): [Post] @listSize(slicingArguments: ["a", "b"], requireOneSlicingArgument: false, assumedSize: 3)
    words: [Word] @listSize(assumedSize: 4)
    table: [[Post]] @listSize(assumedSize: 5)
    found: [Found] @listSize(assumedSize: 10)
    named: Named
    search(for: Search, at: Place @cost(weight: 2)): Person
    lookup(at: Place = { x: 1 }): Person
    unknown: [Post]
    heavy: Heavy
    light: Heavy @cost(weight: 1)
    free: Person @cost(weight: -5)
  }
  type Mutation { write(copy: String): Post, remove: Boolean }
  type PostPage { nodes: [Post] edges: [PostEdge] totalCount: Int @cost(weight: 3) }
  type PostEdge { cursor: String node: Post }
  type Post { id: ID author: Person comments: [Comment] @listSize(assumedSize: 6) map: Map }
  type Person implements Named { id: ID name: String friends: [Person] @listSize(assumedSize: 8) }
  type Comment implements Named { id: ID name: String by: Person }
  interface Named { id: ID name: String }
  union Found = Post | Comment | Heavy
  type Heavy @cost(weight: 9) { id: ID }
  scalar Map @cost(weight: 11)
  scalar Word
  input Search { text: String near: [Place] within: Search }
  input Place { x: Int @cost(weight: 5) y: Int }
`
const graph = readSupergraph(compose({ all: { sdl } }))
const estimate = (text: string) => estimateOf(findOperation(parse(text), undefined) as Operation, graph)
const costs = (text: string, given: Record<string, unknown> = {}) => amountFor(estimate(text).total, given)

describe('the estimated cost of an operation', () => {
  test.each([
    ['{ __typename }', 0],
    ['{ me { id name __typename } }', 1],
    ['{ a: me { id } b: me { id } }', 2],
    // The same field under one key is one field, wherever it was written.
    ['{ me { friends { id } } me { name } ... { me { id } } }', 1 + 8],
    ['{ me { friends { friends { id } } } }', 1 + 8 * (1 + 8)],
    ['{ words }', 0],
    ['{ table { id } }', 25],
    ['mutation { write { id } }', 10 + 1],
    ['mutation { a: write { id author { id } } b: write { id } remove }', 11 + 1 + 11 + 10],
    ['{ __schema { types { name } } }', 1],
  ])('%s: %i', (text, cost) => expect(costs(text)).toBe(cost))

  test('multiplies a page by its requested or default size, under nodes and edges each', () => {
    expect(costs('{ posts { nodes { id } } }')).toBe(1 + 20)
    expect(costs('{ posts(first: 50) { nodes { id author { id } } edges { node { id } } } }')).toBe(1 + 100 + 100)
    expect(costs('{ posts(first: null) { nodes { id } } }')).toBe(1 + 20)
    expect(costs('{ posts(first: -3) { nodes { id } } }')).toBe(1)
    expect(costs('{ posts { totalCount } }')).toBe(1 + 3)
  })

  test('depends on its variables, each time anew', () => {
    const made = estimate('query ($first: Int, $most: Int = 2) { posts(first: $first) { nodes { comments { id } } } top(most: $most) { id } }')
    const total = (given: Record<string, unknown>) => amountFor(made.total, given)
    expect(total({ first: 10, most: 1 })).toBe(1 + 10 * (1 + 6) + 1)
    expect(total({ first: 100, most: 2 })).toBe(1 + 100 * (1 + 6) + 2)
    // A variable that is not given leaves the argument's default, and a null the length that is assumed.
    expect(total({ most: null })).toBe(1 + 20 * (1 + 6) + 7)
    expect(total({ first: 0, most: -1 })).toBe(1)
  })

  test('uses the greatest of several lengths, and the assumed one where none is given', () => {
    expect(costs('{ either(a: 2, b: 9) { id } }')).toBe(9)
    expect(costs('query ($b: Int) { either(a: 4, b: $b) { id } }', { b: 3 })).toBe(4)
    expect(costs('{ either { id } }')).toBe(3)
  })

  test('uses a hundred for a list without a declared length', () => {
    expect(costs('{ unknown { id } }')).toBe(100)
  })

  test('uses the most expensive of an object’s possible types', () => {
    expect(costs('{ found { ... on Post { id } ... on Comment { id } } }')).toBe(10 * 9)
    expect(costs('{ found { ... on Post { comments { id by { id } } } ... on Comment { by { id } } } }')).toBe(10 * (1 + 6 * 2))
    expect(costs('{ named { id ... on Person { friends { id } } ...More } } fragment More on Comment { by { id } }')).toBe(1 + 8)
  })

  test('uses declared weights: of a field before its type, of a type, of a leaf, of arguments and the values in them', () => {
    expect(costs('{ heavy { id } }')).toBe(9)
    expect(costs('{ light { id } }')).toBe(1)
    expect(costs('{ free { friends { id } } }'), 'nothing is less than free').toBe(8)
    expect(costs('{ top(most: 2) { map } }')).toBe(2 * (1 + 11))
    expect(costs('{ search(at: { y: 1 }) { id } }')).toBe(1 + 2)
    expect(costs('{ search(at: { x: 1 }) { id } }')).toBe(1 + 2 + 5)
    expect(costs('{ search(for: { near: [{ x: 1 }, { x: 2, y: 3 }, { x: null }] within: { near: { x: 4 } } }) { id } }')).toBe(1 + 3 * 5)
    expect(costs('query ($s: Search) { search(for: $s) { id } }', { s: { near: [{ x: 1 }, null], within: null } })).toBe(1 + 5)
    expect(costs('query ($x: Int) { search(at: { x: $x }) { id } }', { x: 1 })).toBe(1 + 2 + 5)
    expect(costs('{ lookup { id } }'), 'what is given by default').toBe(1 + 5)
    const looking = 'query ($at: Place) { lookup(at: $at) { id } }'
    expect([costs(looking), costs(looking, { at: null }), costs(looking, { at: { y: 2 } })]).toEqual([1 + 5, 1, 1])
  })

  test.each([
    ['First', 5, 'Second', 50],
    ['First', 50, 'Second', 5],
  ])('each type of an object its own lists, however alike they are asked: %s %i, %s %i', (one, few, other, many) => {
    const typeOf = (name: string, size: number) => `type ${name} implements Any { list: List @listSize(assumedSize: ${size}, sizedFields: ["nodes"]) }`
    const sdl = `type Query { any: Any } interface Any { list: List } type List { nodes: [Item] } type Item { id: ID } ${typeOf(one, few)} ${typeOf(other, many)}`
    const { total } = estimateOf(findOperation(parse('{ any { list { nodes { id } } } }'), undefined) as Operation, readSupergraph(compose({ all: { sdl } })))
    expect(total).toBe(1 + 1 + 50)
  })

  test('counts arguments where only scalars have weights, and each value of a list of them', () => {
    const weighing = (sdl: string, text: string) =>
      amountFor(estimateOf(findOperation(parse(text), undefined) as Operation, readSupergraph(compose({ all: { sdl } }))).total, {})
    const map = 'scalar Map @cost(weight: 11)'
    expect(weighing(`type Query { put(one: Map, all: [Map]): Int } ${map}`, '{ put(one: "a", all: ["b", "c"]) }')).toBe(33)
    const places = 'type Query { near(places: [Place] @cost(weight: 2)): Int } input Place { x: Int }'
    expect(weighing(places, '{ near(places: [{ x: 1 }, { x: 2 }, { x: 3 }]) }')).toBe(6)
  })

  test('takes time linear in the number of fragments, even if each spreads others twice', () => {
    const all = Array.from({ length: 60 }, (_, at) => `fragment F${at} on Person { ...F${at + 1} ...F${at + 1} }`).join(' ')
    expect(costs(`{ me { ...F0 } } ${all} fragment F60 on Person { friends { id } }`)).toBe(1 + 8)
  })

  test('is capped at the largest exact number, however lists multiply', () => {
    const deep = `{ me { ${'friends { '.repeat(400)} id ${'} '.repeat(400)} } }`
    expect(costs(deep)).toBe(mostCost)
    expect(costs('query ($f: Int) { posts(first: $f) { nodes { id } } }', { f: 2147483647 })).toBe(2147483648)
    const most: (() => number)[] = [() => mostCost, () => mostCost]
    expect([sum(most), product(most[0]!, most[1]!), greatest(most), product(0, most[0]!), product(mostCost, 2)].map(amount => amountFor(amount, {}))).toEqual([
      mostCost,
      mostCost,
      mostCost,
      0,
      mostCost,
    ])
  })

  test('takes time linear in types and levels where many types nest within each other', () => {
    const types = Array.from({ length: 12 }, (_, at) => `T${at}`)
    const wide = readSupergraph(
      compose({
        all: {
          sdl: `type Query { any: Any } interface Any { id: ID next: Any } ${types.map(name => `type ${name} implements Any { id: ID next: Any }`).join(' ')}`,
        },
      }),
    )
    const text = `{ any { ${'next { '.repeat(18)} id ${'} '.repeat(18)} } }`
    expect(estimateOf(findOperation(parse(text), undefined) as Operation, wide).total).toBe(19)
  })
})

test('the path to the most expensive field consists of keys, and of lists with their lengths', () => {
  const { dearest } = estimate('query ($n: Int) { me { friends { id } } mine: posts(first: $n) { nodes { comments { by { id } } author { id } } } }')
  expect(dearest({ n: 40 })).toBe('mine.nodes[40].comments[6].by')
  expect(dearest({ n: 0 })).toBe('me.friends[8]')
  expect(estimate('{ found { ... on Post { comments { id } } } }').dearest({})).toBe('found[10]')
})
