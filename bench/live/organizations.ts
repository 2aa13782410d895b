import { percentile } from '../load/load.ts'
import { measuredCore, microseconds, type Running, said, start } from '../processes.ts'
import { subscription } from '../shop/graph.ts'
import { median } from '../table.ts'
import { check, pause, waitedFor } from './counted.ts'
import { gather } from './crowd.ts'
import { writeShared } from './graph.ts'

/** Numbers of people and organizations, and events of each organization a second. */
const [people, organizations, perSecond] = [5000, 500, 5]

/** Figures that the router reports (`serve.ts`). */
interface Figures {
  readonly events: number
  readonly deliveries: number
  readonly upstreams: number
}

export interface Organizations {
  /** Milliseconds from when an event was due until its organization's last client had it, in each round. */
  readonly p50: readonly number[]
  readonly p99: readonly number[]
  /** Numbers of plan runs, events, and messages to clients. */
  readonly plans: number
  readonly events: number
  readonly deliveries: number
  /** Share of a core, and of time waiting for one, of the router and of the clients' process. */
  readonly router: Had
  readonly crowd: Had
}

export interface Had {
  readonly core: number
  readonly waited: number
}

/**
 * Measures people of many organizations, each with its own events. Throws when a plan ran without an event, or when an
 * event did not reach exactly its subscribers, once.
 */
export async function measureOrganizations({ rounds, seconds }: { readonly rounds: number; readonly seconds: number }): Promise<Organizations> {
  const args = ['people', writeShared(), String(people), String(organizations)]
  await using server = start(`${import.meta.dirname}/serve.ts`, args, { core: measuredCore })
  const { port, credentials } = await said<{ port: number; credentials: readonly string[] }>(server)
  /** Number of clients that still wait for each event in progress. */
  const missing = new Map<string, number>()
  const latencies: number[] = []
  let strays = 0
  const heard = (client: number, message: Buffer) => {
    const at = message.indexOf('"id":"org-') + 6
    const id = message.toString('latin1', at, message.indexOf('"', at))
    const [organization, due] = id.split(' ') as [string, string]
    if (organization !== `org-${client % organizations}`) strays++
    const left = (missing.get(id) ?? people / organizations) - 1
    missing.set(id, left)
    if (left === 0) latencies.push((microseconds() - Number(due)) / 1000)
  }
  using _crowd = await gather({ clients: people, port, door: 'websocket', query: subscription, credential: client => credentials[client]!, heard })
  await pause(3000)
  const [p50, p99]: [number[], number[]] = [[], []]
  const [routers, loads]: [Had[], Had[]] = [[], []]
  let events = 0
  // The first seconds compile what the next ones run.
  for (let round = -1; round < rounds; round++) {
    latencies.length = 0
    const endRouter = watch(server.child.pid!, server.cpu)
    const endCrowd = watch(process.pid, () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000)
    server.child.send({ perSecond, seconds: round < 0 ? 2 : seconds })
    const told = await said<number>(server)
    events += told
    for (const end = performance.now() + 20_000; latencies.length < told && performance.now() < end; ) await pause(20)
    const [router, load] = [endRouter(), endCrowd()]
    check('events that reached everybody whom they are for', latencies.length, told)
    if (round < 0) continue
    const sorted = Float64Array.from(latencies).sort()
    p50.push(percentile(sorted, 0.5))
    p99.push(percentile(sorted, 0.99))
    routers.push(router)
    loads.push(load)
  }
  const figures = await figuresOf(server)
  check('streams upstream', figures.upstreams, organizations)
  check('plans run', figures.events, events)
  check('deliveries', figures.deliveries, (events * people) / organizations)
  check('messages beyond one for each client and event', [...missing.values()].filter(left => left !== 0).length, 0)
  check('messages of other organizations', strays, 0)
  return { p50, p99, plans: figures.events, events, deliveries: figures.deliveries, router: medianOf(routers), crowd: medianOf(loads) }
}

async function figuresOf(server: Running): Promise<Figures> {
  server.child.send('figures')
  return said<Figures>(server)
}

/** Measures a process's share of its core. @param cpu returns its processor time so far in ms */
function watch(pid: number, cpu: () => number): () => Had {
  const [from, had, waited] = [performance.now(), cpu(), waitedFor(pid)]
  return () => {
    const passed = performance.now() - from
    return { core: (cpu() - had) / passed, waited: (waitedFor(pid) - waited) / passed }
  }
}

const medianOf = (all: readonly Had[]): Had => ({ core: median(all.map(({ core }) => core)), waited: median(all.map(({ waited }) => waited)) })
