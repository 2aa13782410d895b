import { QueryPlanner } from '@graphql-hive/router-query-planner'
import { parse } from 'graphql'
import { expect, test, vi } from 'vitest'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { library } from '../library-graph.ts'
import { testGraph } from '../supergraph-fixture.ts'

test('plans the same text once, however often it is parsed', async () => {
  const fetched: unknown[] = []
  const graph = testGraph(library, {
    intercept(fetch, _call, next) {
      fetched.push(fetch)
      return next()
    },
  })
  for (let time = 0; time < 3; time++) await graph.run('{ latest { body } }')
  expect(new Set(fetched).size).toBe(1)
})

test('with a cache of one, operations displace each other and are still answered', async () => {
  const fetched = new Set<unknown>()
  const graph = testGraph(library, {
    planCacheSize: 1,
    intercept(fetch, _call, next) {
      fetched.add(fetch)
      return next()
    },
  })
  for (let time = 0; time < 2; time++) {
    expect((await graph.run('{ latest { body } }')).text).toBe('{"latest":{"body":"fine"}}')
    expect((await graph.run('{ latest { stars } }')).text).toBe('{"latest":{"stars":3}}')
  }
  // Every time a plan of its own: the other operation has taken the place.
  expect(fetched.size).toBe(4)
})

test('an operation’s weight grows with each of its plans, and others are dropped to make room', async () => {
  const fetched: unknown[] = []
  // Room for three and a half plans of short operations.
  const graph = testGraph(library, {
    planCacheBytes: 3.5 * 22_500,
    intercept(fetch, _call, next) {
      fetched.push(fetch)
      return next()
    },
  })
  const plansOf = async (source: string, variables?: Record<string, unknown>) => {
    fetched.length = 0
    await graph.run(source, variables)
    return [...fetched]
  }
  const [plain, many] = ['{ latest { body } }', 'query ($a: Boolean = false, $b: Boolean = false) { latest { body @include(if: $a) stars @skip(if: $b) } }']
  const planned = await plansOf(plain)
  await plansOf(many)
  expect(await plansOf(plain)).toEqual(planned)
  for (const [a, b] of [
    [true, false],
    [true, true],
  ])
    await plansOf(many, { a, b })
  expect((await plansOf(plain))[0]).not.toBe(planned[0])
})

test('a warmed operation is not planned at its first request, and nothing of it runs before', async () => {
  const graph = testGraph(library)
  const document = parse('query ($least: Int, $more: Boolean = false) { latest { body book @include(if: $more) { reviews(atLeast: $least) { id } } } }')
  const impossible = parse('{ __typename }')
  await graph.engine.warm([document, impossible], anonymous)
  expect(graph.sent).toEqual([])
  const planned = vi.spyOn(QueryPlanner.prototype, 'planAsync')
  try {
    const ask = (variables: Record<string, unknown>) => graph.engine.execute({ document, variables, viewer: anonymous, requestId: 'request-1' })
    expect((await ask({})).data).toEqual({ latest: { body: 'fine' } })
    expect(planned).not.toHaveBeenCalled()
    await ask({ more: true })
    expect(planned).toHaveBeenCalledTimes(1)
  } finally {
    planned.mockRestore()
  }
})

test('plans the only operation of a document once, requested with or without its name; several operations have a plan each', async () => {
  const graph = testGraph(library)
  const text = 'query Latest { latest { body } }'
  const ask = async (source: string, operationName?: string) => {
    const { data, errors } = await graph.engine.execute({ document: parse(source), operationName, viewer: anonymous, requestId: 'request-1' })
    return errors ? errors[0]!.message : data
  }
  await graph.engine.warm([parse(text)], anonymous)
  const planned = vi.spyOn(QueryPlanner.prototype, 'planAsync')
  try {
    for (const name of ['Latest', undefined]) expect(await ask(text, name)).toEqual({ latest: { body: 'fine' } })
    expect(planned).not.toHaveBeenCalled()
    expect(await ask(text, 'Other')).toContain('no operation named "Other"')
    expect(await ask(text, '')).toContain('no operation named ""')
    const two = 'query One { latest { body } } query Two { latest { stars } }'
    expect([await ask(two, 'One'), await ask(two, 'Two'), await ask(two)]).toEqual([
      { latest: { body: 'fine' } },
      { latest: { stars: 3 } },
      expect.stringContaining('several operations'),
    ])
  } finally {
    planned.mockRestore()
  }
})
