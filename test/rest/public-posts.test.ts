import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { createBoundClock } from '../../platform/clock.ts'
import { createPublicPosts } from '../../router/rest/identity/public-posts.ts'
import { openDoor } from '../kit/door.ts'
import { countStatements } from '../kit/statements.ts'
import { supergraph } from '../kit/supergraph.ts'

const password = 'correct horse battery'

test('limits the calls without credentials of one address to a thousand in a quarter of an hour, then 429 for all of them', async () => {
  await using graph = await supergraph()
  await using door = await openDoor(graph)
  const verify = (address: string) => door.ask('POST', '/identity/api/auth/sign-in/email', { headers: { 'x-forwarded-for': address }, body: {} })
  const statuses = new Set<number>()
  for (let turn = 0; turn < 1_000; turn++) statuses.add((await verify('192.0.2.1')).status)
  expect(statuses).not.toContain(429)
  await graph.clock.advance(60_000)
  const [refused, other] = [await verify('192.0.2.1'), await door.ask('POST', '/identity/login', { body: {} })]
  for (const answer of [refused, other])
    expect(answer).toMatchObject({
      status: 429,
      headers: { 'retry-after': '840', 'content-type': expect.stringMatching(/^application\/problem\+json/) },
      json: { status: 429, code: 'RATE_LIMITED' },
    })
  // Reads and requests with credentials are not counted.
  expect((await door.ask('GET', '/identity/login')).status).toBe(200)
  expect((await door.ask('GET', '/identity/api/auth/jwks')).status).toBe(200)
  await graph.clock.advance(840_000)
  expect((await verify('192.0.2.1')).status).not.toBe(429)
})

test('counts an IPv6 network as one client address', async () => {
  const asked: string[] = []
  const countPublicPosts = async (neighbourhood: string, many: number) => {
    asked.push(neighbourhood)
    return { granted: many, waitMs: 0 }
  }
  const { count } = createPublicPosts({ countPublicPosts }, createBoundClock(new Date('2027-03-01T09:00:00.000Z')))
  for (const ip of ['2001:db8::1', '2001:db8::abcd', '2001:db8:0:1::1']) await count({ ip } as FastifyRequest)
  expect(new Set(asked)).toMatchObject({ size: 2 })
})

test('asks identity no more about an address that is over the limit, until there is room again', async () => {
  const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  let asked = 0
  const { count } = createPublicPosts({ countPublicPosts: async () => (++asked === 1 ? { granted: 0, waitMs: 60_000 } : { granted: 1, waitMs: 0 }) }, clock)
  const call = () => count({ ip: '192.0.2.7' } as FastifyRequest)
  await expect(call()).rejects.toMatchObject({ code: 'RATE_LIMITED', extensions: { retryAfter: 60 } })
  clock.advance(45_000)
  await expect(call()).rejects.toMatchObject({ extensions: { retryAfter: 15 } })
  expect(asked).toBe(1)
  clock.advance(15_000)
  await call()
  expect(asked).toBe(2)
})

test('counts a flood from one address with one call to identity at a time, and allows as many as the limit', async () => {
  const held: { readonly many: number; readonly answer: (taken: { granted: number; waitMs: number }) => void; readonly fail: (error: Error) => void }[] = []
  const countPublicPosts = (_: string, many: number) => new Promise<{ granted: number; waitMs: number }>((answer, fail) => held.push({ many, answer, fail }))
  const { count } = createPublicPosts({ countPublicPosts }, createBoundClock(new Date('2027-03-01T09:00:00.000Z')))
  const flood = (calls: number) => Promise.allSettled(Array.from({ length: calls }, () => count({ ip: '192.0.2.9' } as FastifyRequest)))
  const statuses = flood(500)
  expect(held.map(({ many }) => many)).toEqual([1])
  held[0]!.answer({ granted: 1, waitMs: 0 })
  await expect.poll(() => held.length).toBe(2)
  expect(held[1]!.many).toBe(499)
  const late = flood(1)
  held[1]!.answer({ granted: 300, waitMs: 60_000 })
  expect((await statuses).map(({ status }) => status)).toEqual([...Array(301).fill('fulfilled'), ...Array(199).fill('rejected')])
  await expect.poll(() => held.length).toBe(3)
  held[2]!.fail(new Error('away'))
  expect(await late).toMatchObject([{ reason: { message: 'away' } }])
})

test('delays rejections, over any number of connections, and sends them at once when a thousand wait', async () => {
  const { slow } = createPublicPosts({ countPublicPosts: () => Promise.reject(new Error('away')) }, createBoundClock(new Date()))
  const began = performance.now()
  const took = await Promise.all(Array.from({ length: 41 }, () => slow().then(() => performance.now() - began)))
  // A quarter of a second, then one after another every 25 ms.
  expect(Math.min(...took)).toBeGreaterThan(200)
  expect(took.at(-1)!).toBeGreaterThan(1_200)
  expect(took.at(-1)! - took[0]!).toBeGreaterThan(900)
  const late = performance.now()
  const flood = Array.from({ length: 1_001 }, () => slow().then(() => performance.now() - late))
  expect(await flood[1_000]!).toBeLessThan(200)
  expect(Math.max(...(await Promise.all(flood)))).toBeLessThan(5_000)
})

test('rejects every such call while identity cannot count it', async () => {
  const { count } = createPublicPosts({ countPublicPosts: () => Promise.reject(new Error('away')) }, createBoundClock(new Date()))
  await expect(count({ ip: '192.0.2.8' } as FastifyRequest)).rejects.toThrow('away')
})

test('a rejected sign-in keeps other callers in the cache, and so does one that starts a session', async () => {
  await using graph = await supergraph({ now: new Date().toISOString() })
  await graph.platform.identity.provision({
    password,
    people: [{ email: 'ada@acme.test', name: 'Ada' }],
    organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'ada@acme.test', roles: ['member'] }] }],
    keys: [],
  } as never)
  await using door = await openDoor(graph, { elapsed: () => 0 })
  const person = await door.signIn('ada@acme.test', password)
  const ask = () => door.ask('POST', '/graphql', { headers: person, body: { query: '{ viewer { kind } }' } })
  const lookedUp = async () => (await countStatements(ask)).statements.some(text => text.includes('identity.sessions'))
  const guess = (given: string) => door.ask('POST', '/identity/api/auth/sign-in/email', { body: { email: 'ada@acme.test', password: given } })
  expect([await lookedUp(), await lookedUp()]).toEqual([true, false])
  expect((await guess('a wrong pass phrase')).status).toBe(401)
  expect(await lookedUp()).toBe(false)
  expect((await guess(password)).status).toBe(200)
  expect(await lookedUp()).toBe(true)
})
