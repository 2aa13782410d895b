import { measuredCore, type Running, said, start } from '../processes.ts'
import { subscription } from '../shop/graph.ts'
import { pause } from './counted.ts'
import { type Door, gather } from './crowd.ts'
import { writeShared } from './graph.ts'

const [people, organizations] = [5000, 500]
/** Number of warm-up subscribers: what a process allocates once does not count. */
const first = 500

export interface Idle {
  readonly door: Door
  /** Kilobytes for one subscriber: reachable heap, and resident memory. */
  readonly heap: number
  readonly resident: number
}

/** Measures the memory of a signed-in subscriber without events. */
export async function measureIdle(door: Door): Promise<Idle> {
  const args = ['people', writeShared(), String(people), String(organizations)]
  await using server = start(`${import.meta.dirname}/serve.ts`, args, { core: measuredCore, nodeOptions: ['--expose-gc'] })
  const { port, credentials } = await said<{ port: number; credentials: readonly string[] }>(server)
  const come = (clients: number) => gather({ clients, port, door, query: subscription, credential: client => credentials[client]! })
  {
    using _guests = await come(first)
    await pause(1500)
  }
  await pause(1500)
  const before = await memoryOf(server)
  using _crowd = await come(people)
  await pause(3000)
  const after = await memoryOf(server)
  return { door, heap: (after.heap - before.heap) / people, resident: (after.resident - before.resident) / people }
}

async function memoryOf(server: Running): Promise<{ heap: number; resident: number }> {
  server.child.send('memory')
  return { heap: await said<number>(server), resident: server.memory() * 1024 }
}
