import { loadCore, measuredCore, type Running, said, start } from '../processes.ts'
import { check, pause } from './counted.ts'
import { gather } from './crowd.ts'

const here = (path: string) => `${import.meta.dirname}/${path}`
/** Numbers of dashboards, organizations and widgets on each, and changes a second. */
const [dashboards, organizations, widgets, perSecond] = [500, 50, 4, 20]
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
}

/**
 * Measures dashboards of many organizations with changing widgets. Throws when a change was read more than once, or did
 * not reach every dashboard of its organization. Only the process with router and subgraphs is measured; PostgreSQL and
 * the clients use the other core.
 */
export async function measureDashboards({ rounds, seconds }: { readonly rounds: number; readonly seconds: number }): Promise<Dashboards> {
  await using world = start(here('../platform/world.ts'), [], { core: loadCore })
  const { settings } = await said<{ settings: Record<string, string> }>(world)
  await using server = start(here('dashboards-serve.ts'), [String(dashboards), String(organizations)], { core: measuredCore, env: settings })
  const { port, credentials } = await said<{ port: number; credentials: readonly string[] }>(server)
  const each = perSecond * seconds
  await cost(server, each)
  const alone: number[] = []
  for (let round = 0; round < rounds; round++) alone.push(await cost(server, each))
  using crowd = await gather({ clients: dashboards, port, door: 'websocket', query, credential: client => credentials[client]! })
  await crowd.told(widgets)
  await pause(1000)
  const before = await figuresOf(server)
  check('streams upstream', before.upstreams, organizations)
  check('deliveries of what is present', before.deliveries, dashboards * widgets)
  const watched: number[] = []
  for (let round = 0; round < rounds; round++) watched.push(await cost(server, each))
  const after = await figuresOf(server)
  const changes = rounds * each
  check('widgets read', after.reads - before.reads, changes)
  check('plans run', after.events - before.events, changes)
  check('deliveries', after.deliveries - before.deliveries, (changes * dashboards) / organizations)
  return { alone, watched, changes, reads: after.reads - before.reads, deliveries: after.deliveries - before.deliveries }
}

/** Makes changes. @returns milliseconds of processor time for one, with all its consequences */
async function cost(server: Running, changes: number): Promise<number> {
  const before = server.cpu()
  server.child.send({ changes, perSecond })
  await said(server)
  // Changes are gathered for a tenth of a second before they are read.
  await pause(1000)
  return (server.cpu() - before) / changes
}

async function figuresOf(server: Running): Promise<Figures> {
  server.child.send('figures')
  return said<Figures>(server)
}
