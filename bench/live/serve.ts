/**
 * What tells many clients of events, in one process: `serve.ts KIND SUPERGRAPH`. It says its port, and announces an event for each message
 * that it gets. Everybody follows the same subscription, over three subgraphs in the same process where there is an engine.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema, type ExecutionResult, parse } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import pino from 'pino'
import { WebSocketServer } from 'ws'
import { systemClock } from '../../platform/clock.ts'
import { createMemoryEvents } from '../../platform/events.ts'
import type { Engine, ResultStream } from '../../router/engine/engine.ts'
import { createEngine } from '../../router/engine/native/native.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import { createRouter } from '../../router/router.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { subscription } from '../shop/graph.ts'
import { shopSubgraphs } from '../shop/supergraph.ts'

const [, , kind, file] = process.argv
const events = createMemoryEvents()
/** An event as the subgraph that owns it tells it: its entities by their keys. */
const review = JSON.stringify({
  data: { reviewAdded: { id: '1', body: 'Fine.', author: { __typename: 'User', id: '2' }, product: { __typename: 'Product', upc: '3' } } },
})
const log = pino({ level: 'silent' })
/** No bound of a caller is in the way: all clients are one. */
const unbounded = 1_000_000
const port = await { raw, ours, plain }[kind as 'raw' | 'ours' | 'plain']()
process.on('message', () => events.announce('review', {}))
process.send!(port)

/** Ready bytes to every socket: the limit of whatever stands on ws. */
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

/** graphql-ws over one schema that has everything at hand: an execution for each client. */
async function plain(): Promise<number> {
  const { data } = await whole()
  const schema = buildSchema(`type Query { x: Int } type Subscription { reviewAdded: Review }
    type Review { id: ID body: String author: User product: Product } type User { id: ID name: String } type Product { upc: ID name: String inStock: Boolean }`)
  const http = createServer()
  useServer({ schema, roots: { subscription: { reviewAdded: () => reviews(() => data) } } }, new WebSocketServer({ server: http, perMessageDeflate: false }))
  return listen(http)
}

/** The router, whose engine asks two subgraphs more for each event. */
async function ours(): Promise<number> {
  const engine = openEngine()
  const router = await createRouter({
    engine,
    authority: null,
    subgraphs: [],
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'http://localhost',
    environment: 'production',
    clock: systemClock,
    log,
    readiness: [],
    sockets: { perAddress: unbounded, perViewer: unbounded },
    live: { perCaller: unbounded },
  })
  return (await router.listen()).port
}

function openEngine(): Engine {
  const subgraphs = createEmbeddedTransport(shopSubgraphs())
  // Parsed anew each time, as it is when it comes over a socket.
  const transport = { fetch: subgraphs.fetch, subscribe: async () => reviews(() => JSON.parse(review) as ExecutionResult) as ResultStream }
  return createEngine({ supergraphSdl: readFileSync(file!, 'utf8'), transport, log })
}

/** What one event comes to, with the fields of the other subgraphs. */
async function whole(): Promise<ExecutionResult> {
  const stream = (await openEngine().subscribe({ document: parse(subscription), viewer: anonymous, requestId: 'bench' })) as ResultStream
  const next = stream.next()
  events.announce('review', {})
  const { value } = await next
  await stream.return()
  return value as ExecutionResult
}

function reviews<Told>(tell: () => Told): AsyncIterableIterator<Told> {
  const source = events.listen(['review'])
  const told: AsyncIterableIterator<Told> = {
    next: () => source.next().then(({ done }) => (done ? { value: undefined, done } : { value: tell(), done: false })),
    return: () => source.return().then(() => ({ value: undefined, done: true })),
    [Symbol.asyncIterator]: () => told,
  }
  return told
}

async function follow(tell: () => void): Promise<void> {
  for await (const _event of events.listen(['review'])) tell()
}

function listen(http: ReturnType<typeof createServer>): Promise<number> {
  return new Promise(resolve => http.listen(0, '127.0.0.1', () => resolve((http.address() as AddressInfo).port)))
}
