import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { createBoundClock } from '../../platform/clock.ts'
import { createPublicPosts } from '../../router/rest/public-posts.ts'
import { openDoor } from '../kit/door.ts'
import { supergraph } from '../kit/supergraph.ts'

test('one client address sends a thousand calls that ask for no credentials in a quarter of an hour, then 429 for all of them alike', async () => {
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
  // What is read, and what wants credentials, is not counted.
  expect((await door.ask('GET', '/identity/login')).status).toBe(200)
  expect((await door.ask('GET', '/identity/api/auth/jwks')).status).toBe(200)
  await graph.clock.advance(840_000)
  expect((await verify('192.0.2.1')).status).not.toBe(429)
})

test('all of a network of IPv6 is one client address, and another network another', async () => {
  const asked: string[] = []
  const countPublicPost = async (neighbourhood: string) => asked.push(neighbourhood) && 0
  const count = createPublicPosts({ countPublicPost }, createBoundClock(new Date('2027-03-01T09:00:00.000Z')))
  for (const ip of ['2001:db8::1', '2001:db8::abcd', '2001:db8:0:1::1']) await count({ ip } as FastifyRequest)
  expect(new Set(asked)).toMatchObject({ size: 2 })
})

test('asks identity no more about an address that is over the limit, until there is room again', async () => {
  const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  let asked = 0
  const count = createPublicPosts({ countPublicPost: async () => (++asked === 1 ? 60_000 : 0) }, clock)
  const call = () => count({ ip: '192.0.2.7' } as FastifyRequest)
  await expect(call()).rejects.toMatchObject({ code: 'RATE_LIMITED', extensions: { retryAfter: 60 } })
  clock.advance(45_000)
  await expect(call()).rejects.toMatchObject({ extensions: { retryAfter: 15 } })
  expect(asked).toBe(1)
  clock.advance(15_000)
  await call()
  expect(asked).toBe(2)
})

test('lets no call go on while identity cannot count it', async () => {
  const count = createPublicPosts({ countPublicPost: () => Promise.reject(new Error('away')) }, createBoundClock(new Date()))
  await expect(count({ ip: '192.0.2.8' } as FastifyRequest)).rejects.toThrow('away')
})
