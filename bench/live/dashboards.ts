import { loadCore, measuredCore, type Running, said, start } from '../processes.ts'
import { check, pause } from './counted.ts'
import { gather } from './crowd.ts'

const here = (path: string) => `${import.meta.dirname}/${path}`
/** Numbers of widgets on each dashboard, and of changes a second. */
const [widgets, perSecond] = [4, 20]
const query = 'subscription { widgetUpdated { app payload { statistics { key value } items { title } } } }'

interface Figures {
  readonly upstreams: number
  readonly events: number
  readonly deliveries: number
  /** Number of times that the launcher has read widgets from services. */
  readonly reads: number
}

export interface Dashboards {
  /** Milliseconds of processor time for a change without dashboards, and with all open, in each round. */
  readonly alone: readonly number[]
  readonly watched: readonly number[]
  readonly changes: number
  readonly reads: number
  readonly deliveries: number
  /** Milliseconds from the start of each change's mutation until the last dashboard of its organization had it, ascending. */
  readonly latencies: readonly number[]
}

export interface DashboardOptions {
  readonly rounds: number
  readonly seconds: number
  readonly dashboards: number
  readonly organizations: number
}

/** A change that was made: to which organization, counted from 0, and when its mutation began, in ms of the wall clock. */
interface Made {
  readonly organization: number
  readonly at: number
}

/**
 * Measures dashboards of many organizations with changing widgets. Throws when a change was read more than once, or did
 * not reach every dashboard of its organization. Only the process with router and subgraphs is measured; PostgreSQL and
 * the clients use the other core.
 */
export async function measureDashboards({ rounds, seconds, dashboards, organizations }: DashboardOptions): Promise<Dashboards> {
  await using world = start(here('../platform/world.ts'), [], { core: loadCore })
  const { settings } = await said<{ settings: Record<string, string> }>(world)
  await using server = start(here('dashboards-serve.ts'), [String(dashboards), String(organizations)], { core: measuredCore, env: settings })
  const { port, credentials } = await said<{ port: number; credentials: readonly string[] }>(server)
  const each = perSecond * seconds
  await cost(server, each)
  const alone: number[] = []
  for (let round = 0; round < rounds; round++) alone.push((await cost(server, each)).ms)
  /** When the dashboards of each organization got events, in ms of the wall clock. */
  const heardAt = Array.from({ length: organizations }, (): number[] => [])
  const now = () => performance.timeOrigin + performance.now()
  const heard = (client: number) => void heardAt[client % organizations]!.push(now())
  using crowd = await gather({ clients: dashboards, port, door: 'websocket', query, credential: client => credentials[client]!, heard })
  await crowd.told(widgets)
  await pause(1000)
  const before = await figuresOf(server)
  check('streams upstream', before.upstreams, organizations)
  check('deliveries of what is present', before.deliveries, dashboards * widgets)
  const watched: number[] = []
  const made: Made[] = []
  for (let round = 0; round < rounds; round++) {
    const { ms, changes } = await cost(server, each)
    watched.push(ms)
    made.push(...changes)
  }
  const after = await figuresOf(server)
  const changes = rounds * each
  check('widgets read', after.reads - before.reads, changes)
  check('plans run', after.events - before.events, changes)
  check('deliveries', after.deliveries - before.deliveries, (changes * dashboards) / organizations)
  const latencies = latenciesOf(made, heardAt, dashboards / organizations)
  return { alone, watched, changes, reads: after.reads - before.reads, deliveries: after.deliveries - before.deliveries, latencies }
}

/** Makes changes. @returns milliseconds of processor time for one, with all its consequences, and the changes */
async function cost(server: Running, count: number): Promise<{ readonly ms: number; readonly changes: readonly Made[] }> {
  const before = server.cpu()
  server.child.send({ changes: count, perSecond })
  const { changes } = await said<{ changes: readonly Made[] }>(server)
  // Changes are gathered for a tenth of a second before they are read.
  await pause(1000)
  return { ms: (server.cpu() - before) / count, changes }
}

/** Each change is the next event of its organization's dashboards, because no organization changes twice at once. */
function latenciesOf(made: readonly Made[], heardAt: readonly (readonly number[])[], each: number): readonly number[] {
  return made
    .map(({ organization, at }) => {
      const after = heardAt[organization]!.filter(time => time >= at)
      check('dashboards that got a change', Math.min(after.length, each), each)
      return after[each - 1]! - at
    })
    .toSorted((one, other) => one - other)
}

async function figuresOf(server: Running): Promise<Figures> {
  server.child.send('figures')
  return said<Figures>(server)
}
