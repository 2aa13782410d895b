import { QueryPlanner } from '@graphql-hive/router-query-planner'
import { parse } from 'graphql'
import { expect, test, vi } from 'vitest'
import { createLru } from '../../../platform/lru.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { library } from '../library-graph.ts'
import { testGraph } from '../supergraph-fixture.ts'

test('a cache keeps at most so many entries and forgets the least recently used', () => {
  const cache = createLru<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect([cache.get('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([1, undefined, 3, 2])
  cache.set('a', 4)
  cache.delete('c')
  expect([cache.get('a'), cache.get('c'), cache.size]).toEqual([4, undefined, 1])
})

test('a cache that weighs its entries forgets as many of the oldest as the new one weighs, and keeps the new one in any case', () => {
  const cache = createLru<string, { weight: number }>(10, { most: 5, weigh: ({ weight }) => weight })
  const grown = { weight: 1 }
  for (const [key, value] of [
    ['a', grown],
    ['b', { weight: 2 }],
    ['c', { weight: 2 }],
  ] as const)
    cache.set(key, value)
  expect(cache.size).toBe(3)
  cache.set('d', { weight: 2 })
  expect(['a', 'b', 'c', 'd'].filter(key => cache.get(key))).toEqual(['c', 'd'])
  cache.set('a', grown)
  grown.weight = 4
  cache.set('a', grown)
  expect(['a', 'c', 'd'].filter(key => cache.get(key))).toEqual(['a'])
  cache.set('e', { weight: 100 })
  expect([cache.size, cache.get('e')]).toEqual([1, { weight: 100 }])
  cache.delete('e')
  for (let n = 0; n < 5; n++) cache.set(`f${n}`, { weight: 1 })
  expect(cache.size).toBe(5)
})

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
