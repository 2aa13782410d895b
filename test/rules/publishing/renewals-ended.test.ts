import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { renewalsEnded } from '../../../subgraphs/publishing/delivery/renewal.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Begins to wait for renewals, and tells whether that has ended. */
function stop(...renewals: Promise<void>[]) {
  const state = { ended: false }
  void renewalsEnded({ afterRenewals: new Set(renewals), renewals: new Map() }).then(() => {
    state.ended = true
  })
  return state
}

test('a stop without renewals waits for nothing, and leaves no timer that keeps the process', async () => {
  const state = stop()
  await vi.advanceTimersByTimeAsync(0)
  expect([state.ended, vi.getTimerCount()]).toEqual([true, 0])
})

test('a stop waits for every renewal, also for those that fail', async () => {
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const state = stop(one.promise, other.promise)
  one.reject(new Error('the network does not answer'))
  await vi.advanceTimersByTimeAsync(3_999)
  expect(state.ended).toBe(false)
  other.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect([state.ended, vi.getTimerCount()]).toEqual([true, 0])
})

test('a stop waits four seconds at most', async () => {
  const state = stop(new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(3_999)
  expect(state.ended).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(state.ended).toBe(true)
})

test('a stop waits for a renewal that no post waits for any more', async () => {
  const renewal = Promise.withResolvers<string>()
  let ended = false
  void renewalsEnded({ afterRenewals: new Set(), renewals: new Map([['a connection', renewal.promise]]) }).then(() => {
    ended = true
  })
  await vi.advanceTimersByTimeAsync(3_999)
  expect(ended).toBe(false)
  renewal.resolve('a token')
  await vi.advanceTimersByTimeAsync(0)
  expect(ended).toBe(true)
})
