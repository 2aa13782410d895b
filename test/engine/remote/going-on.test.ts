import { randomBytes } from 'node:crypto'
import { parse } from 'graphql'
import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { createCarriedEvents } from '../../../carriers/events.ts'
import { systemClock } from '../../../platform/clock.ts'
import { goOnFrom, mapEvents } from '../../../platform/events.ts'
import { rememberSeals } from '../../../router/apart/ask.ts'
import { serveSubgraph } from '../../../router/apart/server.ts'
import type { Fetch, ResultStream } from '../../../router/engine/engine.ts'
import { createRemoteTransport } from '../../../router/engine/transport/remote.ts'
import { createSeal, publicHalf } from '../../../router/engine/transport/seal.ts'
import { Work } from '../../../router/engine/work.ts'
import type { Slug } from '../../../subgraphs/scopes.ts'
import { createSealReader } from '../../../subgraphs/seal.ts'
import type { Registration } from '../../../subgraphs/subgraph.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { schemaOf } from '../supergraph-fixture.ts'

const key = { id: 'one', key: randomBytes(32) }
const log = pino({ level: 'silent' })
const none = async () => {}

const looks: { since: number; at: number }[] = []
const events = createCarriedEvents({ carrier: null, log })
events.resync('post.', async (_, since) => {
  looks.push({ since: since.getTime(), at: Date.now() })
  return [{ ids: { id: 'missed' }, mark: 1 }]
})
const server = await serveSubgraph({
  subgraph: {
    registration: { slug: 'posts' as Slug } as Registration,
    schema: schemaOf({
      sdl: 'type Query { name: String } type Subscription { changed: String }',
      resolvers: { Subscription: { changed: { subscribe: () => mapEvents(events.listen(['post.1']), ({ id }) => ({ changed: id })) } } },
    }),
    open: () => ({}),
    http: async () => new Response(),
    start: none,
    stop: none,
  },
  seals: rememberSeals(createSealReader({ audience: 'posts', keys: [publicHalf(key)], clock: systemClock })),
  host: '127.0.0.1',
  port: 0,
  publicUrl: 'http://localhost:4000',
  readiness: [],
  log,
})
const transport = createRemoteTransport({
  subgraphs: new Map([['posts', { url: `http://127.0.0.1:${server.port}/graphql` }]]),
  seal: createSeal(key, systemClock),
})
afterAll(async () => {
  await transport.close()
  await server.close()
  await events.stop()
})

const text = 'subscription { changed }'
const fetch: Fetch = { subgraph: 'posts', document: parse(text), text, kind: 'subscription' }
const subscribe = async () => {
  const call = { variables: {}, viewer: anonymous, requestId: 'stream', operation: new Work('stream', undefined, undefined, () => performance.now()) }
  return (await transport.subscribe(fetch, call)) as ResultStream
}
const next = async (stream: ResultStream) => (await stream.next()).value?.data?.changed

test('a restored stream receives the events missed meanwhile; a new one receives only later events', async () => {
  const first = await subscribe()
  const told = next(first)
  events.announce('post.1', { id: 'announced' }, 1)
  expect(await told).toBe('announced')

  const silentMs = 40_000
  const again = await goOnFrom(performance.now() - silentMs, subscribe)
  expect(await next(again)).toBe('missed')
  // One that fell silent was found out by the second ping at the latest.
  const { since, at } = looks.at(-1)!
  expect(at - since).toBeGreaterThanOrEqual(silentMs + 24_000)

  const late = await subscribe()
  const heard = next(late)
  events.announce('post.1', { id: 'announced' }, 2)
  expect(await heard).toBe('announced')
  for (const stream of [first, again, late]) await stream.return()
})
