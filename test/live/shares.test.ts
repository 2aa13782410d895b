import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { callerName, createShares, type ShareLimits } from '../../router/live/shares.ts'
import { anonymous } from '../../subgraphs/viewer.ts'

const limits: ShareLimits = { each: 2, waiting: 3, all: 4, patienceMs: 60_000 }
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** Takes places, and remembers in which order they came. */
function crowd(given: Partial<ShareLimits> = {}) {
  const shares = createShares({ ...limits, ...given })
  const begun: string[] = []
  const take = (name: string, signal?: AbortSignal) => {
    const caller = name[0]!
    const place = shares.enter(caller, signal)
    if (place) return place.then(() => void begun.push(name))
    begun.push(name)
    return null
  }
  return { shares, begun, take }
}

test('a caller below its share waits for nothing, and what is more of it waits in order', async () => {
  const { shares, begun, take } = crowd()
  expect([take('a1'), take('a2')]).toEqual([null, null])
  for (const name of ['a3', 'a4', 'a5']) expect(take(name)).toBeInstanceOf(Promise)
  expect(() => take('a6')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', extensions: { code: 'RATE_LIMITED', retryAfter: 1 } }))
  expect(take('b1')).toBe(null)
  shares.leave('a')
  await turns()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
  shares.leave('a')
  shares.leave('a')
  await turns()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4', 'a5'])
})

test('where the process is full callers take turns, however much one of them has waiting', async () => {
  const { shares, begun, take } = crowd({ all: 1 })
  expect(take('x')).toBe(null)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void take(name)
  for (const caller of ['x', 'a', 'b', 'c', 'a', 'b', 'a']) {
    shares.leave(caller)
    await turns()
  }
  expect(begun).toEqual(['x', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(take('d')).toBe(null)
})

test('a caller has room while nothing of theirs waits and not all of their places are taken', async () => {
  const { shares, take } = crowd()
  expect(shares.hasRoom('a')).toBe(true)
  take('a1')
  expect(shares.hasRoom('a')).toBe(true)
  take('a2')
  expect([shares.hasRoom('a'), shares.hasRoom('b')]).toEqual([false, true])
  const third = take('a3')
  shares.leave('a')
  await third
  expect(shares.hasRoom('a')).toBe(false)
  shares.leave('a')
  expect(shares.hasRoom('a')).toBe(true)
  const full = crowd({ all: 1 })
  full.take('x')
  const waiting = full.take('a1')
  expect([full.shares.hasRoom('a'), full.shares.hasRoom('b')]).toEqual([false, true])
  full.shares.leave('x')
  await waiting
})

test('where the process is full, who leaves while waiting leaves nothing behind: the next one goes on', async () => {
  const { shares, begun, take } = crowd({ all: 1, patienceMs: 20 })
  take('x')
  const client = new AbortController()
  const gone = take('a1', client.signal)
  const next = take('b1')
  client.abort()
  await expect(gone).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  shares.leave('x')
  await next
  expect(begun).toEqual(['x', 'b1'])
  shares.leave('b')
  // Nor does its time run on.
  expect(take('a2')).toBe(null)
  await expect(take('c1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  shares.leave('a')
  expect(take('d1')).toBe(null)
})

test('callers who have nothing under way take no memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { shares } = crowd()
  collect()
  const before = process.memoryUsage().heapUsed
  for (let caller = 0; caller < 100_000; caller++) {
    const name = `caller ${caller}`
    shares.enter(name)
    shares.leave(name)
  }
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000)
})

test('who leaves while waiting takes no place, and who waits too long is told', async () => {
  const { shares, begun, take } = crowd({ each: 1, patienceMs: 20 })
  take('a1')
  const client = new AbortController()
  const gone = take('a2', client.signal)
  const late = take('a3')
  client.abort()
  await expect(gone).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  await expect(late).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  shares.leave('a')
  await turns()
  expect(begun).toEqual(['a1'])
  expect(take('a4')).toBe(null)
})

test('a place is given back however the work ends', async () => {
  const { shares } = crowd({ each: 1, waiting: 0 })
  await expect(shares.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await shares.run('a', async () => 'done')).toBe('done')
})

test('a caller is a person, a key, for whomever it acts, a program, or the neighbourhood of an address', () => {
  expect(callerName({ ...anonymous, userId: 'u' }, '1.2.3.4')).toBe('u')
  expect(callerName({ ...anonymous, userId: 'u', keyId: 'k' }, '1.2.3.4')).toBe('key:k')
  expect(callerName({ ...anonymous, keyId: 'k' }, '1.2.3.4')).toBe('key:k')
  expect(callerName({ ...anonymous, appId: 'app_x' }, '1.2.3.4')).toBe('app_x')
  expect(callerName(anonymous, '2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
})
