import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { type CarriedEvents, createCarriedEvents } from '../../carriers/events.ts'
import { createNatsCarrier } from '../../carriers/nats.ts'
import { createNotifyCarrier } from '../../carriers/notify.ts'
import type { CallService, CallStream, CallWhole } from '../../platform/ask.ts'
import { createMemoryEvents, type Events } from '../../platform/events.ts'
import { createIsMember } from '../../router/access/known/members.ts'
import { createRemoteAsk, rememberSeals, serveAsk } from '../../router/apart/ask.ts'
import { createFactDoor, createRemoteCarrier } from '../../router/apart/facts.ts'
import { serveSubgraph } from '../../router/apart/server.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { createRemoteTransport } from '../../router/engine/transport/remote.ts'
import { createSeal, publicHalf } from '../../router/engine/transport/seal.ts'
import { createRouter } from '../../router/router.ts'
import { assemble, type Deps, defineSubgraphs, type Platform, register } from '../../router/start/assemble.ts'
import { type EngineSettings, openEngineOver, ownSupergraph } from '../../router/start/engine.ts'
import { type Defined, type ListedSlug, listedSlugs } from '../../router/start/registry.ts'
import { createCall } from '../../router/within/call.ts'
import { createSealReader } from '../../subgraphs/seal.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { freePort, until } from './launch.ts'
import { type NatsServer, natsServer } from './nats.ts'

/**
 * How the tests of the whole graph run: subgraphs by calls within one process, or each behind its own address as if it ran apart; and what
 * carries events. `npm test` has the first and memory; `.ci/run` has every other.
 */
export const mode = process.env.GRAPH_MODE === 'apart' ? 'apart' : 'embedded'
export type CarrierKind = 'memory' | 'notify' | 'nats'
export const carrierKind: CarrierKind = process.env.GRAPH_CARRIER === 'notify' || process.env.GRAPH_CARRIER === 'nats' ? process.env.GRAPH_CARRIER : 'memory'

/** What events by a carrier send to the database: nobody's operation. */
export const carried = /^listen |pg_notify/

export type Assembling = Omit<Deps, 'events'> & { readonly running: EngineSettings }

export interface Assembled {
  readonly platform: Platform
  /** How many listeners all topics have, in all of it. */
  listeners(): number
  /** The events of each process of it. */
  readonly events: readonly Events[]
}

/** How a graph of distributed subgraphs runs. */
export interface Apart {
  /** Time limit of a fetch from a subgraph, in ms; fields with `@patience` have their own. @default as configured by itself */
  readonly fetchMs?: number
}

/**
 * Puts a platform together.
 * @param apart distributes the subgraphs; null runs them in one process
 * @param kind  what carries events
 */
export async function assembleGraph(
  deps: Assembling,
  stack: AsyncDisposableStack,
  apart: Apart | null = mode === 'apart' ? {} : null,
  kind: CarrierKind = carrierKind,
): Promise<Assembled> {
  const made: Events[] = []
  const shared = createMemoryEvents()
  const openEvents = async (): Promise<Events> => {
    if (kind === 'memory') return shared
    const events = await carriedEvents(deps, kind)
    stack.defer(() => events.stop())
    made.push(events)
    return events
  }
  const platform = apart ? await assembleApart(deps, openEvents, stack, apart) : await assemble({ ...deps, events: await openEvents() }, stack)
  return { platform, events: made.length > 0 ? made : [shared], listeners: () => [shared, ...made].reduce((sum, events) => sum + events.listenerCount(), 0) }
}

/** The events of one process more; they reach the others when it resolves. */
export async function carriedEvents({ openPool, log }: Pick<Assembling, 'openPool'> & { readonly log: Logger }, kind: CarrierKind): Promise<CarriedEvents> {
  const carrier = kind === 'nats' ? createNatsCarrier({ url: (await nats()).url, log }) : createNotifyCarrier({ openPool, log })
  const events = createCarriedEvents({ carrier, log })
  await until('the carrier is there', async () => (await events.check()) === undefined)
  return events
}

let server: Promise<NatsServer> | undefined
/** One for all tests of this process; it ends with it. */
const nats = () => (server ??= natsServer())

/** Each subgraph behind an address of its own, asked over HTTP and WebSocket with seals; the router between, which they ask. */
async function assembleApart(
  { running, ...deps }: Assembling,
  openEvents: () => Promise<Events>,
  stack: AsyncDisposableStack,
  { fetchMs }: Apart,
): Promise<Platform> {
  const { clock, log, authSecret, publicUrl } = deps
  const key = { id: 'test', key: randomBytes(32) }
  const keys = [publicHalf(key)]
  const [routerPort, ...ports] = await Promise.all([freePort(), ...listedSlugs.map(() => freePort())])
  const urls = new Map(listedSlugs.map((slug, at) => [slug, [`http://127.0.0.1:${ports[at]}/graphql`]]))
  const facts = createRemoteCarrier({ urls, secret: authSecret, clock })
  stack.defer(() => facts.close())
  const defined: Partial<Record<ListedSlug, Subgraph>> = {}
  // Jobs ask for nobody whom the router sent, so each service needs a token of its own.
  const tokens = new Map(listedSlugs.map(slug => [`app_${slug}`, [randomBytes(32).toString('base64url')]]))
  const calls = () => createCall(Object.values(defined), publicUrl, createIsMember((defined as Defined).identity.authority))
  const call: CallService = Object.assign((...called: Parameters<CallWhole>) => calls()(...called), {
    stream: (...called: Parameters<CallStream>) => calls().stream(...called),
  })
  for (const [at, slug] of listedSlugs.entries()) {
    const seals = rememberSeals(createSealReader({ audience: slug, keys, clock }))
    const ask = createRemoteAsk([`http://127.0.0.1:${routerPort}`], seals, tokens.get(`app_${slug}`)![0])
    const made: Partial<Defined> = await defineSubgraphs([slug], { ...deps, events: await openEvents(), ask, call, carrier: facts }, stack)
    const subgraph = made[slug] as Subgraph
    defined[slug] = subgraph
    const door = subgraph.receive && createFactDoor({ slug, receive: subgraph.receive, secret: authSecret, clock })
    const served = await serveSubgraph({ subgraph, seals, host: '127.0.0.1', port: ports[at]!, publicUrl, readiness: [], log, ...(door && { facts: door }) })
    stack.defer(() => served.close())
  }
  const subgraphs = listedSlugs.map(slug => defined[slug]!)
  const registrations = subgraphs.map(({ registration }) => registration)
  const transport = createRemoteTransport({
    ...{ subgraphs: new Map([...urls].map(([slug, url]) => [slug, { url }])), seal: createSeal(key, clock) },
    ...(fetchMs && { timeoutMs: fetchMs }),
  })
  stack.defer(() => transport.close())
  const engine = await openEngineOver(ownSupergraph(), transport, running, deps, stack)
  const whole = defined as unknown as Defined
  await register(whole.identity, registrations, deps.hosts)
  const router = await createRouter({
    engine,
    authority: whole.identity.authority,
    subgraphs,
    host: '127.0.0.1',
    port: routerPort!,
    publicUrl,
    environment: 'development',
    clock,
    log,
    readiness: [],
    extend: app =>
      serveAsk(app, {
        engine,
        authority: whole.identity.authority,
        documents: createDocuments(engine.schema, { introspection: false }),
        registrations,
        keys,
        clock,
        tokens,
      }),
  })
  await router.listen()
  stack.defer(() => router.close())
  return { ...whole, subgraphs, engine }
}
