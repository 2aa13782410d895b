import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Door, gather } from './live/crowd.ts'
import { measuredCore, said, start } from './processes.ts'
import { subscription } from './shop/graph.ts'
import { composeShop } from './shop/supergraph.ts'
import type { Row } from './table.ts'

/** Clients of each contender: few enough for the descriptors of a usual process, enough that only deliveries count. */
const clients = 5000

interface Contender {
  readonly name: string
  readonly kind: 'raw' | 'ours' | 'plain'
  readonly door: Door
}

const contenders: readonly Contender[] = [
  { name: 'raw ws.send', kind: 'raw', door: 'websocket' },
  { name: 'own router, WebSocket', kind: 'ours', door: 'websocket' },
  { name: 'own router, SSE', kind: 'ours', door: 'sse' },
  { name: 'own router, multipart', kind: 'ours', door: 'multipart' },
  { name: 'graphql-ws over one schema', kind: 'plain', door: 'websocket' },
]

/** What one event costs for one of many clients that follow the same subscription: the next event comes when all have had the last. */
export async function measureLive({
  rounds,
  seconds,
  only,
}: {
  readonly rounds: number
  readonly seconds: number
  readonly only: RegExp | undefined
}): Promise<readonly Row[]> {
  const file = join(mkdtempSync(join(tmpdir(), 'bench-live-')), 'supergraph.graphql')
  writeFileSync(file, composeShop('http://localhost'))
  const samples = new Map<string, number[]>()
  const notes = new Map<string, Record<string, string>>()
  for (let round = 0; round < rounds; round++)
    for (const { name, kind, door } of contenders) {
      if (only && !only.test(name)) continue
      const { cost, perSecond, kilobytes } = await measure(file, kind, door, seconds)
      samples.set(name, [...(samples.get(name) ?? []), cost])
      notes.set(name, { 'deliveries/s': perSecond.toFixed(0), 'KB a subscriber': kilobytes.toFixed(1) })
    }
  return [...samples].map(([name, each]) => ({ name, samples: each, notes: notes.get(name)! }))
}

async function measure(file: string, kind: string, door: Door, seconds: number) {
  await using server = start(join(import.meta.dirname, 'live/serve.ts'), [kind, file], { core: measuredCore })
  const port = await said<number>(server)
  const empty = server.memory()
  using crowd = await gather(clients, port, door, subscription)
  let events = 0
  const tell = async () => {
    events++
    server.child.send('event')
    await crowd.told(events)
  }
  // Whoever subscribed last may not have begun when the first event comes: it is told until all have heard one.
  await settled(tell)
  const kilobytes = ((server.memory() - empty) * 1024) / clients
  for (const end = performance.now() + 2000; performance.now() < end; ) await tell()
  const [cpu, from, before] = [server.cpu(), performance.now(), events]
  for (const end = from + seconds * 1000; performance.now() < end; ) await tell()
  const deliveries = (events - before) * clients
  return { cost: ((server.cpu() - cpu) * 1000) / deliveries, perSecond: (deliveries * 1000) / (performance.now() - from), kilobytes }
}

/** Half a second is long after the last subscription has begun. */
async function settled(tell: () => Promise<void>): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 1500))
  await tell()
}
