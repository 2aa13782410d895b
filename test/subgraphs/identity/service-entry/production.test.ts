import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createBoundClock } from '../../../../platform/clock.ts'
import { createOutbound } from '../../../../platform/outbound/outbound.ts'
import { createProduction } from '../../../../subgraphs/identity/service-entry/production.ts'

/** A registry of production that answers as it is told. */
async function production() {
  const state = {
    isSilent: false,
    status: 200,
    body: JSON.stringify({ addresses: [{ role: 'web', url: 'https://publishing.example.com', environment: 'staging' }] }),
  }
  const asked: string[] = []
  /** Answers that it has not given yet. */
  const held: ServerResponse[] = []
  const server = createServer(({ url }, response) => {
    asked.push(url!)
    if (state.isSilent) return void held.push(response)
    response.writeHead(state.status, { 'content-type': 'application/json' }).end(state.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const outbound = createOutbound([origin])
  const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  const lines: { msg: string; level: number }[] = []
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) })
  return {
    state,
    asked,
    held,
    clock,
    lines,
    addresses: createProduction(`${origin}/identity/api/services`, outbound, clock, log),
    async [Symbol.asyncDispose]() {
      await outbound.close()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const known = [{ role: 'web', url: 'https://publishing.example.com', environment: 'production' }]

test('fetches production’s addresses once a minute, marks them as production’s, and logs their first use', async () => {
  await using open = await production()
  const { addresses, asked, clock, lines } = open
  expect(await Promise.all([addresses('publishing'), addresses('publishing')])).toEqual([known, known])
  expect(asked).toEqual(['/identity/api/services/publishing'])
  expect(lines.map(({ msg }) => msg)).toEqual(['addresses of production are handed out'])
  clock.advance(59_999)
  await addresses('publishing')
  expect(asked).toHaveLength(1)
  clock.advance(1)
  await addresses('publishing')
  expect([asked.length, lines.length]).toEqual([2, 2])
})

test.each([
  ['an error', 500, '{}'],
  ['no JSON', 200, '<html>'],
  ['another answer', 200, '{"addresses":[{"role":"web","url":"javascript:alert(1)"}]}'],
])('while production answers with %s, what it said last goes on, and it is asked again after ten seconds', async (_what, status, body) => {
  await using open = await production()
  const { addresses, asked, clock, state } = open
  const well = { ...state }
  Object.assign(state, { status, body })
  expect(await addresses('publishing')).toEqual([])
  clock.advance(9_999)
  await addresses('publishing')
  expect(asked).toHaveLength(1)
  clock.advance(1)
  Object.assign(state, well)
  expect(await addresses('publishing')).toEqual(known)
  clock.advance(60_000)
  Object.assign(state, { status, body })
  expect(await addresses('publishing')).toEqual(known)
})

test('only one request waits for a silent registry: its last answer is returned meanwhile, and the new one when it arrives', async () => {
  await using open = await production()
  const { addresses, asked, held, clock, state } = open
  expect(await addresses('publishing')).toEqual(known)
  state.isSilent = true
  clock.advance(60_000)
  expect(await addresses('publishing')).toEqual(known)
  clock.advance(10_000)
  expect(await addresses('publishing')).toEqual(known)
  await expect.poll(() => asked.length).toBe(3)
  // Nobody has given it up by now, as whoever waits for it would have: what it answers counts.
  held[1]!.writeHead(404).end()
  await expect.poll(() => addresses('publishing')).toEqual([])
})

test('returns no address for a service that production does not have; without a configured registry nothing is fetched', async () => {
  await using open = await production()
  open.state.status = 404
  expect(await open.addresses('new')).toEqual([])
  const none = createProduction(
    null,
    () => {
      throw new Error('nothing is asked')
    },
    open.clock,
    pino({ level: 'silent' }),
  )
  expect(await none('publishing')).toEqual([])
})
