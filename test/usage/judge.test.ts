import { buildSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import type { Use } from '../../router/metrics/usage/store.ts'
import { breakingBetween } from '../../schema/released/changes.ts'
import { clientsInWords, judge, judgedInWords } from '../../schema/released/judge.ts'

const before = `
  type Query { posts(filter: Filter, first: Int): [Post!] node: Node search: [Hit!] state: State odd: Odd }
  type Mutation { write(input: Filter): Post }
  interface Node { id: ID! }
  type Post implements Node { id: ID! copy: String! state: State }
  type User { name: String }
  type Gone { id: ID }
  union Hit = Post | User
  input Filter { text: String states: [State!] }
  enum State { DRAFT PUBLISHED }
  scalar Odd
  directive @ask on FIELD
`
const change = async (...replaced: readonly (readonly [string, string])[]) => {
  const after = replaced.reduce((text, [from, to]) => {
    expect(text).toContain(from)
    return text.replace(from, to)
  }, before)
  return breakingBetween(buildSchema(before), buildSchema(after))
}

describe('breaking changes', () => {
  it.each([
    ['FIELD_REMOVED', 'Post.copy', [['copy: String!', '']], ['Post.copy']],
    ['FIELD_TYPE_CHANGED', 'Post.copy', [['copy: String!', 'copy: String']], ['Post.copy']],
    ['FIELD_ARGUMENT_ADDED', 'Query.search(text:)', [['search:', 'search(text: String!):']], ['Query.search']],
    ['FIELD_ARGUMENT_REMOVED', 'Query.posts(first:)', [[', first: Int', '']], ['Query.posts(first:)']],
    ['FIELD_ARGUMENT_TYPE_CHANGED', 'Query.posts(first:)', [['first: Int', 'first: String']], ['Query.posts(first:)']],
    ['FIELD_ARGUMENT_TYPE_CHANGED', 'Query.posts(first:)', [['first: Int', 'first: Int!']], ['Query.posts']],
    ['INPUT_FIELD_REMOVED', 'Filter.text', [['text: String', '']], ['Filter.text']],
    ['INPUT_FIELD_TYPE_CHANGED', 'Filter.text', [['text: String', 'text: Int']], ['Filter.text']],
    [
      'INPUT_FIELD_TYPE_CHANGED',
      'Filter.text',
      [['text: String', 'text: String!']],
      ['Filter.text', 'Filter.states', 'Query.posts(filter:)', 'Mutation.write(input:)'],
    ],
    [
      'INPUT_FIELD_ADDED',
      'Filter.must',
      [['text: String', 'text: String must: Int!']],
      ['Filter.text', 'Filter.states', 'Query.posts(filter:)', 'Mutation.write(input:)'],
    ],
    ['ENUM_VALUE_REMOVED', 'State.DRAFT', [['{ DRAFT PUBLISHED', '{ PUBLISHED']], ['State.DRAFT', 'Query.state', 'Post.state']],
    ['TYPE_REMOVED', 'Gone', [['type Gone { id: ID }', '']], ['Gone', 'Gone.id']],
    ['UNION_MEMBER_REMOVED', 'Hit', [['| User', '']], ['User', 'User.name']],
    ['OBJECT_TYPE_INTERFACE_REMOVED', 'Post', [[' implements Node', '']], ['Node', 'Node.id', 'Post']],
    ['SCHEMA_MUTATION_TYPE_CHANGED', 'schema', [['type Mutation', 'type Other']], ['Mutation.write']],
    ['DIRECTIVE_REMOVED', '@ask', [['directive @ask on FIELD', '']], null],
  ] as const)('%s of %s touches what breaks by it', async (kind, coordinate, replaced, touches) => {
    const found = (await change(...replaced)).find(each => each.kind === kind)
    expect(found).toMatchObject({ kind, coordinate })
    expect(found!.touches).toEqual(touches)
  })

  it('of a type’s kind touch the places that have it', async () => {
    const [odd] = await change(['scalar Odd', 'type Odd { a: Int }'])
    expect(odd).toMatchObject({ kind: 'TYPE_KIND_CHANGED', coordinate: 'Odd', touches: ['Query.odd'] })
  })

  it('are no additions and no dangerous changes', async () => {
    expect(await change(['PUBLISHED', 'PUBLISHED LATE'], ['type User {', 'type User { age: Int'])).toEqual([])
  })
})

describe('the judgement', () => {
  const at = (day: number) => new Date(Date.UTC(2026, 10, day))
  const use = (client: string, version: string, operation: string, coordinates: string[], count: number, day: number): Use => ({
    ...{ client, version, operation, coordinates, count, lastUsedAt: at(day) },
  })
  const uses = [
    use('web', '3.2', 'PostList', ['Post.copy', 'Post.id', 'Query.posts'], 4, 20),
    use('web', '3.2', 'Again', ['Post.copy', 'User.name'], 1, 23),
    use('ios', '2.0', 'Feed', ['Post.copy'], 2, 21),
    use('ios', '2.0', 'Who', ['Viewer.kind'], 9, 24),
    use('unknown', 'unknown', 'anonymous', ['User', 'User.name'], 1, 5),
  ]

  it('names the clients of what is in use, most frequent first, and passes what nobody used', async () => {
    const changes = await change(['copy: String!', ''], ['type Gone { id: ID }', ''])
    const [gone, copy] = judge(changes, uses).toSorted((one, other) => one.count - other.count)
    expect(gone).toMatchObject({ used: false, count: 0, lastUsedAt: null, clients: [] })
    expect(copy).toMatchObject({ used: true, count: 7, lastUsedAt: at(23) })
    expect(copy!.clients).toEqual([
      { name: 'web', version: '3.2', operations: ['Again', 'PostList'], count: 5, lastUsedAt: at(23) },
      { name: 'ios', version: '2.0', operations: ['Feed'], count: 2, lastUsedAt: at(21) },
    ])
    expect(judgedInWords(copy!, 30)).toBe('in use  FIELD_REMOVED  Post.copy  7 times in 30 days: web 3.2 (Again, PostList), ios 2.0 (Feed)')
    expect(judgedInWords(gone!, 30)).toBe('unused  TYPE_REMOVED  Gone')
  })

  it('counts an operation once, however many of the touched coordinates it uses', async () => {
    const [member] = (await change(['| User', ''])).filter(({ kind }) => kind === 'UNION_MEMBER_REMOVED')
    expect(judge([member!], uses)).toMatchObject([{ used: true, count: 2 }])
  })

  it('holds what is not recorded for used', async () => {
    const [directive] = judge(await change(['directive @ask on FIELD', '']), [])
    expect(directive).toMatchObject({ used: true, count: 0, clients: [] })
    expect(judgedInWords(directive!, 30)).toBe('in use  DIRECTIVE_REMOVED  @ask  use of its kind is not recorded')
  })

  it('names three operations of a client and how many more there are', () => {
    expect(clientsInWords([{ name: 'unknown', version: 'unknown', operations: ['A', 'B', 'C', 'D', 'E'] }])).toBe('unknown (A, B, C and 2 more)')
  })
})
