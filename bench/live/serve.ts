/**
 * Program that delivers events to many clients, in one process: `serve.ts KIND SUPERGRAPH [PEOPLE ORGANIZATIONS]`. It
 * reports its port, and people's credentials; then it follows commands. All follow the same subscription, over three
 * subgraphs in the same process where there is an engine.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { buildSchema, type ExecutionResult, parse } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import pino from 'pino'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../platform/clock.ts'
import { createMemoryEvents, mapEvents } from '../../platform/events.ts'
import type { Engine, ResultStream, Transport } from '../../router/engine/engine.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import type { HubFigures } from '../../router/live/shared/hub.ts'
import { createRouter } from '../../router/router.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { subscribeAlone } from '../../test/kit/stream.ts'
import { microseconds } from '../processes.ts'
import { subscription } from '../shop/graph.ts'
import { shopSubgraphs } from '../shop/supergraph.ts'
import { reviewOf } from './graph.ts'
import { openPeople } from './people.ts'

/** Commands: one event for all, report counts, report memory, or events for every organization. */
type Asked = 'event' | 'figures' | 'memory' | Schedule

interface Schedule {
  readonly perSecond: number
  readonly seconds: number
}

const [, , kind, file, people = '0', organizations = '1'] = process.argv
const events = createMemoryEvents()
const log = pino({ level: 'silent' })
/** Effectively disables limits of a caller, because all clients are one caller. */
const unbounded = 1_000_000
const names = Array.from({ length: Number(organizations) }, (_, number) => `org-${number}`)
let figures: HubFigures | null = null
const known = kind === 'people' ? await openPeople(Number(people), names) : null
const port = await { raw, ours, plain, people: ours }[kind as 'raw' | 'ours' | 'plain' | 'people']()
process.on('message', async (asked: Asked) => {
  if (asked === 'event') return events.announce('review', { id: '1' })
  if (asked === 'figures') return process.send!({ events: figures?.events(), deliveries: figures?.deliveries(), upstreams: figures?.upstreams() })
  if (asked === 'memory') return process.send!(heap())
  process.send!(await announce(asked))
})
process.send!({ port, credentials: known?.credentials })

/** Returns the kilobytes of reachable memory, in V8's heap and outside. */
function heap(): number {
  for (let times = 0; times < 4; times++) globalThis.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1024
}

/**
 * Publishes events for each organization at a steady rate. An event's id names its organization and due time. @returns
 * number of events
 */
async function announce({ perSecond, seconds }: Schedule): Promise<number> {
  const apart = 1_000_000 / (perSecond * names.length)
  const begin = microseconds() + 10_000
  const all = Math.floor(perSecond * names.length * seconds)
  for (let told = 0; told < all; ) {
    for (; told < all && begin + told * apart <= microseconds(); told++) {
      const name = names[told % names.length]!
      events.announce(`review.${name}`, { id: `${name} ${Math.round(begin + told * apart)}` })
    }
    await setTimeout(2)
  }
  return all
}

/** Sends prepared bytes to every socket: the theoretical limit of servers based on ws. */
async function raw(): Promise<number> {
  const http = createServer()
  const server = new WebSocketServer({ server: http, perMessageDeflate: false })
  server.on('connection', socket => socket.on('message', data => String(data).includes('connection_init') && socket.send('{"type":"connection_ack"}')))
  const text = `{"id":"1","type":"next","payload":${JSON.stringify(await whole())}}`
  void follow(() => {
    for (const client of server.clients) client.send(text)
  })
  return listen(http)
}

/** Serves graphql-ws over one schema with all data in memory: an execution for each client. */
async function plain(): Promise<number> {
  const { data } = await whole()
  const schema = buildSchema(`type Query { x: Int } type Subscription { reviewAdded: Review }
    type Review { id: ID body: String author: User product: Product } type User { id: ID name: String } type Product { upc: ID name: String inStock: Boolean }`)
  const http = createServer()
  useServer(
    { schema, roots: { subscription: { reviewAdded: () => mapEvents(events.listen(['review']), () => data) } } },
    new WebSocketServer({ server: http, perMessageDeflate: false }),
  )
  return listen(http)
}

/** Serves the router, whose engine fetches from two more subgraphs for each event. */
async function ours(): Promise<number> {
  const router = await createRouter({
    engine: openEngine(),
    authority: known?.authority ?? null,
    subgraphs: [],
    tables: [],
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'http://localhost',
    environment: 'production',
    clock: known?.clock ?? systemClock,
    log,
    readiness: [],
    sockets: { perAddress: unbounded, perViewer: unbounded },
    live: { perCaller: unbounded },
  })
  figures = router.live
  return (await router.listen()).port
}

function openEngine(): Engine {
  const subgraphs = createEmbeddedTransport(shopSubgraphs())
  const transport: Transport = {
    fetch: subgraphs.fetch,
    // Parsed anew each time, as it is when it comes over a socket.
    subscribe: async (_fetch, { viewer }) =>
      mapEvents(
        events.listen([viewer.organizationId === null ? 'review' : `review.${viewer.organizationId}`]),
        ({ id }) => JSON.parse(reviewOf(id!)) as ExecutionResult,
      ) as ResultStream,
  }
  return createEngine({ supergraphSdl: readFileSync(file!, 'utf8'), transport, log })
}

/** Resolves one event, with the fields of the other subgraphs. */
async function whole(): Promise<ExecutionResult> {
  const stream = (await subscribeAlone(openEngine(), { document: parse(subscription), viewer: anonymous, requestId: 'bench' })) as ResultStream
  const next = stream.next()
  events.announce('review', { id: '1' })
  const { value } = await next
  await stream.return()
  return value as ExecutionResult
}

async function follow(tell: () => void): Promise<void> {
  for await (const _event of events.listen(['review'])) tell()
}

function listen(http: ReturnType<typeof createServer>): Promise<number> {
  return new Promise(resolve => http.listen(0, '127.0.0.1', () => resolve((http.address() as AddressInfo).port)))
}
