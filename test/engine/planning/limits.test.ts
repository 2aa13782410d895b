import { QueryPlanner } from '@graphql-hive/router-query-planner'
import { describe, expect, test } from 'vitest'
import { testGraph } from '../supergraph-fixture.ts'

const types = Array.from({ length: 6 }, (_, n) => `T${n}`)
const typesWith = (fields: string) => types.map(name => `type ${name} implements Node @key(fields: "id") { ${fields} }`).join(' ')
const one = { __typename: 'T0', id: '1' }
const Node = { __resolveType: () => 'T0' }

/** An interface that the first subgraph knows whole, and the second without `next`: then the planner tries every type at every level. */
const chains = testGraph({
  whole: {
    sdl: `scalar Any type Query { node: Node echo(value: Any): String } interface Node { id: ID! next: Node } ${typesWith('id: ID! next: Node')}`,
    resolvers: { Query: { node: () => one, echo: (_: unknown, { value }: { value: unknown }) => JSON.stringify(value) }, Node, T0: { next: () => one } },
  },
  part: { sdl: `type Query { other: Int } interface Node { id: ID! } ${typesWith('id: ID!')}` },
})
const chain = (length: number) => `{ node ${'{ next '.repeat(length)} { id } ${'}'.repeat(length)} }`

/** What the work comes to, and how many plans were begun for it: looked at, not replaced. */
async function planning<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const { planAsync } = QueryPlanner.prototype
  let planned = 0
  QueryPlanner.prototype.planAsync = function (this: QueryPlanner, ...words: Parameters<typeof planAsync>) {
    planned++
    return planAsync.apply(this, words)
  }
  try {
    return [await work(), planned]
  } finally {
    QueryPlanner.prototype.planAsync = planAsync
  }
}

describe('S-10 what a small operation can cost the planner', () => {
  test('is rejected before planning when it multiplies abstract types beyond the limit', async () => {
    const [answer, planned] = await planning(() => chains.run(chain(12)))
    expect(answer.errors).toEqual([
      { message: expect.stringMatching(/more than 1000 combinations of types.*; nest less/), extensions: { code: 'BAD_USER_INPUT' } },
    ])
    expect(planned).toBe(0)
    expect((await chains.run(chain(3))).data).toEqual({ node: { next: { next: { next: { id: '1' } } } } })
  })

  test('is accepted when fields of one type nest deeply', async () => {
    const answer = await chains.run(`{ node { ... on T0 ${'{ next { ... on T0 '.repeat(10)} { id } ${'} }'.repeat(10)} } }`)
    expect(answer.errors).toBeUndefined()
  })

  test('is the client’s mistake, not an internal error, when values nest deeper than the planner reads', async () => {
    const deep = (levels: number) => `{ echo(value: ${'['.repeat(levels)}${']'.repeat(levels)}) }`
    const before = chains.logged.length
    expect((await chains.run(deep(20))).data.echo).toBe(`${'['.repeat(20)}${']'.repeat(20)}`)
    expect((await chains.run(deep(100))).errors).toEqual([
      { message: expect.stringContaining('too deep to be planned'), extensions: { code: 'BAD_USER_INPUT' } },
    ])
    expect(chains.logged.length).toBe(before)
  })
})
