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
  const count = createPublicPosts(createBoundClock(new Date('2027-03-01T09:00:00.000Z')))
  const from = (ip: string) => count({ ip } as FastifyRequest)
  for (let turn = 0; turn < 1_000; turn++) await from(`2001:db8::${(turn % 9) + 1}`)
  await expect(from('2001:db8::abcd')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  await from('2001:db8:0:1::1')
})
