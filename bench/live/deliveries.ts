import { join } from 'node:path'
import { startHive } from '../gateways/remote.ts'
import { freePort, loadCore, measuredCore, type Running, said, start } from '../processes.ts'
import { subscription } from '../shop/graph.ts'
import type { Row } from '../table.ts'
import { type Crowd, type Door, gather } from './crowd.ts'
import { writeShop } from './graph.ts'

const here = (path: string) => join(import.meta.dirname, path)

/** Number of clients of each contender: within a process's file descriptors, and enough that only deliveries matter. */
const clients = 5000

/** A contender's server, and how an event is triggered. */
interface Serving {
  readonly port: number
  readonly server: Running
  announce(): void
}

interface Contender {
  readonly name: string
  readonly door: Door
  serve(stack: AsyncDisposableStack): Promise<Serving>
}

/** Returns a contender with any subgraphs in its own process. */
const alone = (name: string, kind: string, door: Door = 'websocket'): Contender => ({
  name,
  door,
  async serve(stack) {
    const server = stack.use(start(here('serve.ts'), [kind, writeShop('http://localhost')], { core: measuredCore }))
    const { port } = await said<{ port: number }>(server)
    return { port, server, announce: () => server.child.send('event') }
  },
})

/** Returns a gateway with subgraphs in another process, which uses the load's core. */
const infront = (name: string, startGateway: (supergraph: string, port: number) => Running): Contender => ({
  name,
  door: 'websocket',
  async serve(stack) {
    const subgraphs = stack.use(start(here('../shop/subgraphs.ts'), [], { core: loadCore }))
    const { port: at } = await said<{ port: number }>(subgraphs)
    const port = await freePort()
    const server = stack.use(startGateway(writeShop(`http://127.0.0.1:${at}`), port))
    await answers(`http://127.0.0.1:${port}/graphql?query={__typename}`)
    return { port, server, announce: () => subgraphs.child.send('event') }
  },
})

const unbounded = { SOCKETS_PER_ADDRESS: '100000', SOCKETS_PER_CALLER: '100000', SUBSCRIPTIONS_PER_CALLER: '100000', LOG_LEVEL: 'warn' }
export const names = {
  raw: 'raw ws.send',
  own: 'own router, WebSocket',
  sse: 'own router, SSE',
  multipart: 'own router, multipart',
  apart: 'own router, subgraphs apart',
  hive: 'Hive, Rust planner',
}

const contenders: readonly Contender[] = [
  alone(names.raw, 'raw'),
  alone(names.own, 'ours'),
  alone(names.sse, 'ours', 'sse'),
  alone(names.multipart, 'ours', 'multipart'),
  alone('graphql-ws over one schema', 'plain'),
  infront(names.apart, (file, port) =>
    start(here('../../router/main.ts'), ['router', '--supergraph', file, '--port', String(port)], { core: measuredCore, silent: true, env: unbounded }),
  ),
  infront(names.hive, (file, port) => startHive(file, port, '1', { HIVE_LIVE: '1' })),
]

export interface Rounds {
  readonly rounds: number
  readonly seconds: number
  readonly only: RegExp | undefined
}

/**
 * Measures the cost of one event for one of many clients of the same subscription: the next event comes when all have
 * received the last.
 */
export async function measureDeliveries({ rounds, seconds, only = /./ }: Rounds, hasPeers: boolean): Promise<readonly Row[]> {
  const samples = new Map<string, number[]>()
  const notes = new Map<string, Record<string, string>>()
  const chosen = contenders.filter(({ name }) => only.test(name) && (hasPeers || name !== names.hive))
  let reference: string | undefined
  for (let round = 0; round < rounds; round++)
    for (const contender of chosen) {
      const { cost, perSecond, load, event } = await measure(contender, seconds)
      reference ??= event
      if (event !== reference) throw new Error(`${contender.name} tells something else:\n${event}\nin place of\n${reference}`)
      samples.set(contender.name, [...(samples.get(contender.name) ?? []), cost])
      notes.set(contender.name, { 'deliveries/s': perSecond.toFixed(0), 'µs of the clients': load.toFixed(1) })
    }
  return [...samples].map(([name, each]) => ({ name, samples: each, notes: notes.get(name)! }))
}

async function measure({ name, door, serve }: Contender, seconds: number) {
  await using stack = new AsyncDisposableStack()
  const { port, server, announce } = await serve(stack)
  using crowd: Crowd = await gather({ clients, port, door, query: subscription })
  let events = 0
  const tell = async () => {
    events++
    announce()
    const late = setTimeout(() => {
      throw new Error(`${name}: event ${events} did not reach everybody within a minute`)
    }, 60_000)
    await crowd.told(events)
    clearTimeout(late)
  }
  // Long after the last subscription has begun.
  await new Promise(resolve => setTimeout(resolve, name === names.hive ? 6000 : 2000))
  for (const end = performance.now() + 2000; performance.now() < end; ) await tell()
  const [cpu, own, from, before] = [server.cpu(), process.cpuUsage(), performance.now(), events]
  for (const end = from + seconds * 1000; performance.now() < end; ) await tell()
  const deliveries = (events - before) * clients
  const { user, system } = process.cpuUsage(own)
  return {
    cost: ((server.cpu() - cpu) * 1000) / deliveries,
    perSecond: (deliveries * 1000) / (performance.now() - from),
    load: (user + system) / deliveries,
    event: crowd.first(),
  }
}

async function answers(url: string): Promise<void> {
  for (const end = Date.now() + 30_000; ; await new Promise(done => setTimeout(done, 100))) {
    const answer = await fetch(url, { headers: { accept: 'application/json', 'apollo-require-preflight': 'yes' } }).catch(() => null)
    await answer?.body?.cancel()
    if (answer) return
    if (Date.now() > end) throw new Error(`${url} did not answer within 30 s`)
  }
}
