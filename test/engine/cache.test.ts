import { expect, test } from 'vitest'
import { createLru } from '../../platform/lru.ts'
import { library } from './library-graph.ts'
import { testGraph } from './supergraph-fixture.ts'

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
  const graph = testGraph(library, { planCacheSize: 1 })
  for (let time = 0; time < 2; time++) {
    expect((await graph.run('{ latest { body } }')).text).toBe('{"latest":{"body":"fine"}}')
    expect((await graph.run('{ latest { stars } }')).text).toBe('{"latest":{"stars":3}}')
  }
})
