import { QueryPlanner } from '@graphql-hive/router-query-planner'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import { createQueue, within } from '../../../router/engine/plan/queue.ts'
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
  test('an operation that multiplies abstract types beyond the bound is refused before it is planned', async () => {
    const [answer, planned] = await planning(() => chains.run(chain(12)))
    expect(answer.errors).toEqual([
      { message: expect.stringMatching(/more than 1000 combinations of types.*; nest less/), extensions: { code: 'BAD_USER_INPUT' } },
    ])
    expect(planned).toBe(0)
    expect((await chains.run(chain(3))).data).toEqual({ node: { next: { next: { next: { id: '1' } } } } })
  })

  test('fields of one type are not multiplied, however deep they stand', async () => {
    const answer = await chains.run(`{ node { ... on T0 ${'{ next { ... on T0 '.repeat(10)} { id } ${'} }'.repeat(10)} } }`)
    expect(answer.errors).toBeUndefined()
  })

  test('values that nest deeper than the planner reads are the client’s mistake, not an accident', async () => {
    const deep = (levels: number) => `{ echo(value: ${'['.repeat(levels)}${']'.repeat(levels)}) }`
    const before = chains.logged.length
    expect((await chains.run(deep(20))).data.echo).toBe(`${'['.repeat(20)}${']'.repeat(20)}`)
    expect((await chains.run(deep(100))).errors).toEqual([
      { message: expect.stringContaining('too deep to be planned'), extensions: { code: 'BAD_USER_INPUT' } },
    ])
    expect(chains.logged.length).toBe(before)
  })
})

test('however many operations come at once, two are planned at a time, and the same one is planned once', async () => {
  const { planAsync } = QueryPlanner.prototype
  let [now, most, planned] = [0, 0, 0]
  // Looked at, not replaced: the planner has no other place where its work can be counted.
  QueryPlanner.prototype.planAsync = async function (this: QueryPlanner, ...words: Parameters<typeof planAsync>) {
    planned++
    most = Math.max(most, ++now)
    return planAsync.apply(this, words).finally(() => now--)
  }
  try {
    const sources = Array.from({ length: 20 }, (_, n) => `{ node { ${Array.from({ length: n + 1 }, (_, k) => `n${k}: next { id }`).join(' ')} } }`)
    const answers = await Promise.all([...sources, ...sources].map(source => chains.run(source)))
    expect(answers.every(({ errors }) => errors === undefined)).toBe(true)
    expect([most, planned]).toEqual([2, sources.length])
  } finally {
    QueryPlanner.prototype.planAsync = planAsync
  }
})

describe('turns', () => {
  const manual = () => {
    const started: (() => void)[] = []
    const work = () => new Promise<string>(resolve => started.push(() => resolve('done')))
    return { started, work }
  }

  test('so much runs at once, and the next begins when one has ended', async () => {
    const turns = createQueue({ atOnce: 2, waiting: 10, patienceMs: 10_000, busy: 'busy' })
    const { started, work } = manual()
    const all = Array.from({ length: 4 }, () => turns.run(work))
    await Promise.resolve()
    expect(started.length).toBe(2)
    started[0]!()
    await expect.poll(() => started.length).toBe(3)
    await all[0]
    for (const n of [1, 2]) started[n]!()
    await expect.poll(() => started.length).toBe(4)
    started[3]!()
    expect(await Promise.all(all)).toEqual(['done', 'done', 'done', 'done'])
    // The last one has left too: a failure frees its turn as well.
    await expect(turns.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await turns.run(async () => 'again')).toBe('again')
  })

  test('a full line, and a turn that does not come in time, are refused with RATE_LIMITED', async () => {
    const turns = createQueue({ atOnce: 1, waiting: 1, patienceMs: 30, busy: 'busy: try again' })
    const { started, work } = manual()
    const first = turns.run(work)
    const second = turns.run(work)
    await expect(turns.run(work)).rejects.toMatchObject({ code: 'RATE_LIMITED', message: 'busy: try again' })
    await expect(second).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await Promise.resolve()
    expect(started.length).toBe(1)
    started[0]!()
    expect(await first).toBe('done')
    expect(await turns.run(async () => 'later')).toBe('later')
  })

  test('work that takes too long is refused, while it goes on', async () => {
    await expect(within(10, new Promise(() => {}), () => new Refusal('BAD_USER_INPUT', 'late'))).rejects.toThrow('late')
    expect(await within(1000, Promise.resolve(1), () => new Refusal('BAD_USER_INPUT', 'late'))).toBe(1)
  })
})
