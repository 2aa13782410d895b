import { expect, test } from 'vitest'
import { createResponseCache } from '../../../router/engine/transport/cache/store.ts'
import { checkNeverStale } from './never-stale.ts'

test('no answer of two routers is older than the last announced change, and none is of another viewer', { timeout: 120_000 }, async () => {
  const caches = [createResponseCache(64 * 1024), createResponseCache(64 * 1024)] as const
  for (const [one, other] of [caches, caches.toReversed()]) one!.onDrop((labels, cause) => other!.follow(labels, cause))
  const states = await checkNeverStale({ caches, runs: 150 })
  console.log(states)
  for (const state of ['hit', 'partial', 'miss', 'bypass']) expect(states[state]).toBeGreaterThan(20)
})
