import { parse } from 'graphql'
import { beforeEach, expect, test } from 'vitest'
import { DomainError } from '../../platform/errors.ts'
import { createMemoryEvents, type Events } from '../../platform/events.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import { createHub, type Hub } from '../../router/live/shared/hub.ts'
import { createLatest } from '../../router/live/shared/latest.ts'
import { messageOf, type StreamMessage } from '../../router/live/shared/message.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { compose, type Part, testGraph } from '../engine/supergraph-fixture.ts'

const most = 2
let events: Events
let part: Part
let engine: Engine
let hub: Hub

beforeEach(() => {
  events = createMemoryEvents()
  part = {
    sdl: 'type Query { x: Int } type Subscription { tick: Int refused: Int }',
    resolvers: {
      Subscription: {
        tick: { subscribe: () => events.listen(['tick']), resolve: () => 1 },
        refused: {
          subscribe() {
            throw new DomainError('FORBIDDEN', 'Not yours.')
          },
        },
      },
    },
  }
  engine = testGraph({ part }).engine
  hub = createHub(engine, { perCaller: most })
})

const asked = (source = 'subscription { tick }', more: { signal?: AbortSignal; headers?: Headers } = {}) => ({
  request: { document: parse(source), viewer: anonymous, requestId: 'request-1', ...more },
  formatErrors: () => [],
})
const place = () => {
  const reserved = hub.reserve('somebody')
  if (reserved instanceof DomainError) throw reserved
  return reserved
}
/** How many places somebody has left, which are given back again. */
function placesLeft(): number {
  const taken: (() => void)[] = []
  for (let attempt = 0; attempt < 2 * most; attempt++) {
    const reserved = hub.reserve('somebody')
    if (!(reserved instanceof DomainError)) taken.push(reserved)
  }
  for (const release of taken) release()
  return taken.length
}

test('releases a slot once when a stream does not start, however often that is called', async () => {
  expect(await hub.join(asked('subscription { refused }'), place())).toHaveProperty('errors')
  expect(placesLeft()).toBe(most)
  const kept = place()
  const given = place()
  given()
  given()
  expect(placesLeft()).toBe(most - 1)
  kept()

  const broken = { ...engine, prepareStream: () => Promise.reject(new Error('It broke.')) }
  hub = createHub(broken, { perCaller: most })
  await expect(hub.join(asked(), place())).rejects.toThrow('It broke.')
  expect(placesLeft()).toBe(most)
})

test('a subscriber that left before the stream started takes no part in it', async () => {
  const leaving = new AbortController()
  const other = await hub.join(asked(), place())
  const joining = hub.join(asked(undefined, { signal: leaving.signal }), place())
  leaving.abort()
  await joining
  expect([placesLeft(), [...hub.figures.subscriptions().values()]]).toEqual([most - 1, [1]])
  if ('leave' in other) other.leave()
  expect([placesLeft(), hub.figures.upstreams(), events.listenerCount()]).toEqual([most, 0, 0])
})

test('asks the client to retry a result that was computed against a replaced graph', async () => {
  let change = () => {}
  const changing: Engine = {
    ...engine,
    onChange(listener) {
      change = () => listener(async () => true)
    },
    async prepareStream(request) {
      const prepared = await engine.prepareStream(request)
      change()
      return prepared
    },
  }
  hub = createHub(changing, { perCaller: most })
  expect(await hub.join(asked(), place())).toMatchObject({ errors: [{ extensions: { code: 'SUPERGRAPH_CHANGED' } }] })
  expect([placesLeft(), hub.figures.upstreams(), events.listenerCount()]).toEqual([most, 0, 0])
})

test('a stream that ends before its client listens notifies the client, and releases its slot', async () => {
  const joined = await hub.join(asked(), place())
  hub.close()
  const ended: unknown[] = []
  if ('listen' in joined) joined.listen({ send() {}, end: errors => ended.push(errors) })
  expect(ended).toMatchObject([[{ extensions: { code: 'UPSTREAM_FAILED' } }]])
  expect(placesLeft()).toBe(most)
})

test('shares no stream between clients that send different values of a passed header', async () => {
  const log = { error() {}, warn() {} }
  const passing = createEngine({ supergraphSdl: compose({ part }), transport: { ...testGraph({ part }).transport, passed: ['x-tenant'] }, log })
  const keyOf = async (headers: Record<string, string>) => {
    const prepared = await passing.prepareStream(asked(undefined, { headers: new Headers(headers) }).request)
    if (!('key' in prepared)) throw new Error('It does not start.')
    return prepared.key
  }
  const key = await keyOf({ 'x-tenant': 'one' })
  expect(await keyOf({ 'x-tenant': 'one', 'user-agent': 'another' })).toBe(key)
  expect([await keyOf({ 'x-tenant': 'other' }), await keyOf({})].includes(key)).toBe(false)
})

const told = (about: string, characters = 10): StreamMessage => ({
  about,
  json: 'x'.repeat(characters),
  isPart: false,
  cut: null,
  framed: () => Buffer.alloc(0),
})

test('keeps the latest events of a thousand items, and only the most recent items beyond', () => {
  const latest = createLatest()
  for (let thing = 0; thing < 1001; thing++) latest.keep(String(thing), [told(String(thing))])
  const abouts = latest.all().map(([event]) => event!.about)
  expect([abouts.length, abouts[0], abouts.at(-1)]).toEqual([1000, '1', '1000'])
})

test('stores at most eight million characters, counting the latest value of each item', () => {
  const latest = createLatest()
  latest.keep('small', [told('small')])
  for (let time = 0; time < 10; time++) latest.keep('large', [told('large', 3_000_000)])
  latest.keep('other', [told('other', 3_000_000)])
  expect(latest.all().map(([event]) => event!.about)).toEqual(['small', 'large', 'other'])
  latest.keep('third', [told('third', 3_000_000)])
  expect(latest.all().map(([event]) => event!.about)).toEqual(['other', 'third'])
})

test('serializes an event once for each protocol, whatever the number of clients', () => {
  const event = messageOf({ answer: { data: { tick: 1 } }, about: null }, () => [])
  const frames = [(json: string) => Buffer.from(`one ${json}`), (json: string) => Buffer.from(`other ${json}`)] as const
  for (const frame of frames) expect(event.framed(frame)).toBe(event.framed(frame))
  expect(frames.map(frame => String(event.framed(frame)))).toEqual(['one {"data":{"tick":1}}', 'other {"data":{"tick":1}}'])
})
