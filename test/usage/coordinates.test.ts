import { buildSchema, type GraphQLSchema, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { foldConditions } from '../../router/engine/operation/operation.ts'
import { coordinatesIn, usedBy, visitValues } from '../../router/metrics/usage/coordinates.ts'
import { documentHash } from '../../router/metrics/usage/normalised.ts'

const schema: GraphQLSchema = buildSchema(`
  type Query {
    posts(filter: Filter, first: Int, order: Order = NEWEST): [Post!]
    node(id: ID!): Node
    search: [Hit!]
  }
  interface Node { id: ID! }
  type Post implements Node { id: ID! copy: String! state: State! author: User }
  type User implements Node { id: ID! name: String }
  union Hit = Post | User
  input Filter { text: String state: [State!] not: Filter }
  enum Order { NEWEST OLDEST }
  enum State { DRAFT PUBLISHED }
  enum Shown { YES }
`)

const used = (text: string, name?: string) => usedBy(schema, parse(text), name)!
const coordinates = (text: string, name?: string) => used(text, name).coordinates

describe('coordinates of an operation', () => {
  it.each([
    ['fields, by their own names', '{ posts { a: id copy } }', ['Post.copy', 'Post.id', 'Query.posts']],
    ['a field of an interface as the interface’s', '{ node(id: "1") { id } }', ['Node.id', 'Query.node', 'Query.node(id:)']],
    [
      'conditions of fragments',
      '{ search { __typename ... on User { __typename } ...P } } fragment P on Post { ... { copy } }',
      ['Post', 'Post.copy', 'Query.search', 'User'],
    ],
    [
      'arguments, input fields and enum values of literals',
      '{ posts(order: OLDEST, filter: { state: [DRAFT], not: { text: "secret" } }) { id } }',
      ['Filter.not', 'Filter.state', 'Filter.text', 'Order.OLDEST', 'Post.id', 'Query.posts', 'Query.posts(filter:)', 'Query.posts(order:)', 'State.DRAFT'],
    ],
    [
      'what a variable’s default says',
      'query ($o: Order = OLDEST) { posts(order: $o) { id } }',
      ['Order.OLDEST', 'Post.id', 'Query.posts', 'Query.posts(order:)'],
    ],
    ['nothing of introspection', '{ __schema { types { name } } __typename }', []],
  ])('are %s', (_what, text, expected) => expect(coordinates(text)).toEqual(expected))

  it('are those of the named operation alone', () => {
    expect(coordinates('query A { posts { id } } query B { search { __typename } }', 'B')).toEqual(['Query.search'])
    expect(usedBy(schema, parse('query A { posts { id } }'), 'B')).toBeNull()
  })

  it('end where fragments spread each other', () => {
    expect(coordinates('{ posts { ...A } } fragment A on Post { id ...B } fragment B on Post { copy ...A }')).toEqual([
      'Post',
      'Post.copy',
      'Post.id',
      'Query.posts',
    ])
  })

  it('leave out skipped fields, with their arguments and variables', () => {
    const document = parse('query ($s: Boolean!, $f: Filter) { posts(filter: $f) @skip(if: $s) { id } search { __typename } }')
    const skipped = usedBy(
      schema,
      foldConditions(document, () => true),
      undefined,
    )
    expect(skipped).toEqual({ coordinates: ['Query.search'], inputs: [] })
    const asked = usedBy(
      schema,
      foldConditions(document, () => false),
      undefined,
    )!
    expect(asked.coordinates).toContain('Query.posts(filter:)')
    expect(asked.inputs.map(({ name }) => name)).toEqual(['f'])
  })
})

describe('coordinates of variables', () => {
  const { inputs } = used('query ($f: [Filter!], $o: Order, $first: Int, $unused: Order) { posts(filter: $f, order: $o, first: $first) { id } }')
  const sent = (values: Record<string, unknown>) => {
    const found = new Set<string>()
    visitValues(inputs, values, coordinate => found.add(coordinate))
    return [...found].sort()
  }

  it('are the input fields and enum values that were sent', () => {
    expect(inputs.map(({ name }) => name)).toEqual(['f', 'o'])
    expect(sent({ f: [{ text: null }, { not: { state: 'DRAFT' } }], o: 'NEWEST', first: 3 })).toEqual([
      'Filter.not',
      'Filter.state',
      'Filter.text',
      'Order.NEWEST',
      'State.DRAFT',
    ])
    expect(sent({})).toEqual([])
  })

  it('never hold what a client invented', () => {
    expect(sent({ f: [{ secret: 1, __proto__: {}, toString: 'a', state: 'SECRET' }, 'text'], o: ['SECRET', { NEWEST: 1 }] })).toEqual(['Filter.state'])
  })
})

it('all coordinates of a schema are fields, arguments, input fields and values of enums that are input', () => {
  const all = coordinatesIn(schema)
  expect(all).toEqual([...all].sort())
  expect(all).toEqual(expect.arrayContaining(['Query.posts', 'Query.posts(filter:)', 'Filter.not', 'State.DRAFT', 'Order.OLDEST', 'Node.id']))
  expect(all.filter(each => /^(?:__|Shown)/.test(each))).toEqual([])
})

describe('the hash of a document', () => {
  const hash = (text: string, name?: string) => documentHash(parse(text), name)

  it('is the same for other literals, spacing and unused fragments', () => {
    const one = hash('query A { posts(first: 3, filter: { text: "one" }) { id } }')
    expect(hash('query A {\n posts(first: 4, filter: { text: """two""" }) { id } }')).toBe(one)
    expect(hash('query A { posts(first: 3, filter: { text: "one" }) { id } } fragment F on Post { id }')).toBe(one)
    expect(hash('{ node(id: "one") { id } }')).toBe(hash('{ node(id: "two") { id } }'))
    expect(one).toMatch(/^[\da-f]{64}$/)
  })

  it('differs by fields, names and the operation that is meant', () => {
    const two = 'query A { posts { id } } query B { posts { id } }'
    expect(
      new Set([hash(two, 'A'), hash(two, 'B'), hash('query A { posts { copy } }'), hash('query A { posts { ...F } } fragment F on Post { id }')]).size,
    ).toBe(4)
    expect(hash(two)).toBeNull()
  })
})
