import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, test } from 'vitest'
import { callerName, claimOf } from '../../router/access/callers/claim.ts'
import { createShares, type ShareLimits } from '../../router/live/shares.ts'
import { anonymous } from '../../subgraphs/viewer.ts'

const limits: ShareLimits = { each: 2, waiting: 3, ofOrganization: 4, all: 4, timeoutMs: 60_000 }
/** A caller whose organization is nobody else's; `a@o` is one of an organization. */
const claim = (name: string) => ({ caller: name, organization: /@(.+)/.exec(name)?.[1] ?? name })
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** Takes places, and remembers in which order they came. */
function crowd(given: Partial<ShareLimits> = {}) {
  const shares = createShares({ ...limits, ...given })
  const begun: string[] = []
  const take = (name: string, signal?: AbortSignal) => {
    const caller = name.replace(/\d/, '')
    const place = shares.enter(claim(caller), signal)
    if (place) return place.then(() => void begun.push(name))
    begun.push(name)
    return null
  }
  return { shares, begun, take }
}

test('a caller below its limit does not wait, and further operations wait in order', async () => {
  const { shares, begun, take } = crowd()
  expect([take('a1'), take('a2')]).toEqual([null, null])
  for (const name of ['a3', 'a4', 'a5']) expect(take(name)).toBeInstanceOf(Promise)
  expect(() => take('a6')).toThrow(expect.objectContaining({ code: 'RATE_LIMITED', extensions: { code: 'RATE_LIMITED', retryAfter: 1 } }))
  expect(take('b1')).toBe(null)
  shares.leave(claim('a'))
  await turns()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
  shares.leave(claim('a'))
  shares.leave(claim('a'))
  await turns()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4', 'a5'])
})

test('callers take turns when the process is full, however many operations one of them has waiting', async () => {
  const { shares, begun, take } = crowd({ all: 1 })
  expect(take('x')).toBe(null)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void take(name)
  for (const caller of ['x', 'a', 'b', 'c', 'a', 'b', 'a']) {
    shares.leave(claim(caller))
    await turns()
  }
  expect(begun).toEqual(['x', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(take('d')).toBe(null)
})

test('a caller has room while none of their operations waits and a slot is free', async () => {
  const { shares, take } = crowd()
  expect(shares.hasRoom(claim('a'))).toBe(true)
  take('a1')
  expect(shares.hasRoom(claim('a'))).toBe(true)
  take('a2')
  expect([shares.hasRoom(claim('a')), shares.hasRoom(claim('b'))]).toEqual([false, true])
  const third = take('a3')
  shares.leave(claim('a'))
  await third
  expect(shares.hasRoom(claim('a'))).toBe(false)
  shares.leave(claim('a'))
  expect(shares.hasRoom(claim('a'))).toBe(true)
  const full = crowd({ all: 1 })
  full.take('x')
  const waiting = full.take('a1')
  expect([full.shares.hasRoom(claim('a')), full.shares.hasRoom(claim('b'))]).toEqual([false, true])
  full.shares.leave(claim('x'))
  await waiting
})

test('a caller who leaves while waiting leaves nothing behind: the next one continues', async () => {
  const { shares, begun, take } = crowd({ all: 1, timeoutMs: 20 })
  take('x')
  const client = new AbortController()
  const gone = take('a1', client.signal)
  const next = take('b1')
  client.abort()
  await expect(gone).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  shares.leave(claim('x'))
  await next
  expect(begun).toEqual(['x', 'b1'])
  shares.leave(claim('b'))
  // Its time limit does not run meanwhile either.
  expect(take('a2')).toBe(null)
  await expect(take('c1')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  shares.leave(claim('a'))
  expect(take('d1')).toBe(null)
})

test('callers without operations take no memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { shares } = crowd()
  collect()
  const before = process.memoryUsage().heapUsed
  for (let caller = 0; caller < 100_000; caller++) {
    const name = `caller ${caller}`
    shares.enter(claim(name))
    shares.leave(claim(name))
  }
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000)
})

test('a caller that leaves while waiting takes no slot, and one that waits too long gets an error', async () => {
  const { shares, begun, take } = crowd({ each: 1, timeoutMs: 20 })
  take('a1')
  const client = new AbortController()
  const gone = take('a2', client.signal)
  const late = take('a3')
  client.abort()
  await expect(gone).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  await expect(late).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  shares.leave(claim('a'))
  await turns()
  expect(begun).toEqual(['a1'])
  expect(take('a4')).toBe(null)
})

test('releases a slot however the work ends', async () => {
  const { shares } = crowd({ each: 1, waiting: 0 })
  await expect(shares.run(claim('a'), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await shares.run(claim('a'), async () => 'done')).toBe('done')
})

test('counts as a caller a person, a key on any behalf, a program, or the address range of an anonymous client', () => {
  expect(callerName({ ...anonymous, userId: 'u' }, '1.2.3.4')).toBe('u')
  expect(callerName({ ...anonymous, userId: 'u', keyId: 'k' }, '1.2.3.4')).toBe('key:k')
  expect(callerName({ ...anonymous, keyId: 'k' }, '1.2.3.4')).toBe('key:k')
  expect(callerName({ ...anonymous, appId: 'app_x' }, '1.2.3.4')).toBe('app_x')
  expect(callerName(anonymous, '2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
})

describe('slots of organizations', () => {
  it('limit the callers of one organization to its slots, and serve those of another at once', async () => {
    const { shares, begun, take } = crowd({ ofOrganization: 3, all: 10 })
    for (const name of ['a1@o', 'a2@o', 'b1@o']) expect(take(name)).toBe(null)
    const waiting = [take('b2@o'), take('c1@o')]
    expect(waiting).toEqual([expect.any(Promise), expect.any(Promise)])
    expect([shares.hasRoom(claim('d@o')), shares.hasRoom(claim('d@p'))]).toEqual([false, true])
    expect(take('d1@p')).toBe(null)
    shares.leave(claim('a@o'))
    shares.leave(claim('a@o'))
    await Promise.all(waiting)
    expect(begun).toEqual(['a1@o', 'a2@o', 'b1@o', 'd1@p', 'b2@o', 'c1@o'])
  })

  it('are assigned in turn to organizations when the process is full, however many callers one of them has', async () => {
    const { shares, begun, take } = crowd({ all: 1 })
    take('x1@x')
    for (const name of ['a1@o', 'b1@o', 'c1@o', 'd1@o', 'e1@p', 'f1@q']) void take(name)
    for (const caller of ['x@x', 'a@o', 'e@p', 'f@q', 'b@o', 'c@o']) {
      shares.leave(claim(caller))
      await turns()
    }
    expect(begun).toEqual(['x1@x', 'a1@o', 'e1@p', 'f1@q', 'b1@o', 'c1@o', 'd1@o'])
  })

  it('are not taken by a client that leaves while it waits for its organization', async () => {
    const { shares, begun, take } = crowd({ each: 1, ofOrganization: 1 })
    take('a1@o')
    const client = new AbortController()
    const gone = take('b1@o', client.signal)
    client.abort()
    await expect(gone).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
    shares.leave(claim('a@o'))
    expect(take('b2@o')).toBe(null)
    expect(begun).toEqual(['a1@o', 'b2@o'])
  })

  it('reject an operation that waited its whole time, for the caller and the organization together', async () => {
    const { shares, take } = crowd({ each: 1, ofOrganization: 1, timeoutMs: 40 })
    take('a1@o')
    const late = take('b1@o')
    await expect(late).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    shares.leave(claim('a@o'))
    expect(take('b2@o')).toBe(null)
  })
})

describe('claimOf', () => {
  it('returns the caller’s active organization, else the caller', () => {
    const user = { ...anonymous, kind: 'user', userId: 'u' } as const
    expect(claimOf({ ...user, organizationId: 'o' }, '1.2.3.4')).toEqual({ caller: 'u', organization: 'o' })
    expect(claimOf(user, '1.2.3.4')).toEqual({ caller: 'u', organization: 'u' })
    expect(claimOf(anonymous, '2001:db8:1:2:3:4:5:6')).toEqual({ caller: '2001:db8:1:2', organization: '2001:db8:1:2' })
  })

  it('gives a service separate turns in each organization', () => {
    const service = { ...anonymous, kind: 'service', appId: 'app_x', organizationId: 'o' } as const
    expect(claimOf(service, '1.2.3.4')).toEqual({ caller: 'app_x', organization: 'app_x o' })
  })
})
