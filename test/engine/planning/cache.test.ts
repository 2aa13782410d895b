import { QueryPlanner } from '@graphql-hive/router-query-planner'
import { parse } from 'graphql'
import { expect, test, vi } from 'vitest'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { library } from '../library-graph.ts'
import { testGraph } from '../supergraph-fixture.ts'

test('the same text is planned once, however often it is parsed', async () => {
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

test('with a cache of one, operations push each other out and are still answered', async () => {
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

test('an operation weighs more with each of its plans, and the others make room for them', async () => {
  const fetched: unknown[] = []
  // As much as three plans of short operations take, and half a one.
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

test('an operation that was made warm is not planned when it is asked for the first time, and nothing of it runs before', async () => {
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

test('the only operation of a document is planned once, whether it is asked by its name or without; of several each has a plan of its own', async () => {
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
