import type { FastifyInstance } from 'fastify'
import type { DocumentNode } from 'graphql'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import { localOrigins } from '../config/hosts.ts'
import type { Tracing } from '../platform/caller/trace.ts'
import type { Clock } from '../platform/clock.ts'
import type { Outbound } from '../platform/outbound/outbound.ts'
import type { Authority, ServiceClients } from '../subgraphs/authority.ts'
import { scopesOf } from '../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../subgraphs/viewer.ts'
import type { Web } from '../web/serve/mount.ts'
import { createAddressOf } from './access/address.ts'
import { createAuthenticate, nobodyIsKnown } from './access/authenticate.ts'
import { createForeignCallers, type ForeignIssuer } from './access/callers/foreign.ts'
import { createServiceCallers, type ServiceApp, type ServiceTokens } from './access/callers/services.ts'
import { createStudioCallers, type StudioCallers } from './access/callers/studio.ts'
import { createApp } from './door/app.ts'
import { ignoreBodies, readJsonBodies } from './door/body.ts'
import { documentsOf } from './door/documents/documents.ts'
import type { Manifest } from './door/documents/manifest.ts'
import type { Registered } from './door/documents/registered.ts'
import { createSources, type Trust } from './door/documents/sources.ts'
import { doorRefusal } from './door/errors.ts'
import { createReadiness, type ReadinessCheck, serveHealth } from './door/health.ts'
import { serveGraphql } from './door/http/serve.ts'
import { type Listening, prepareListening } from './door/listening.ts'
import { createDraining, type Draining } from './door/streaming/draining.ts'
import { createSockets, type Sockets, type WebSocketDoor } from './door/websocket.ts'
import { type BytesInFlight, createBytesInFlight } from './engine/data/in-flight.ts'
import type { Engine } from './engine/engine.ts'
import { createHosts, type Hosts } from './hosts.ts'
import { createForwardPlaces, type ForwardPlaces } from './live/forward-places.ts'
import { countingKeys, createOwnKeyRates, createSharedKeyRates, noKeyRates } from './live/key-rates.ts'
import { createRates, type RateLimits, rated } from './live/rates.ts'
import { createHub, type HubFigures, type HubOptions } from './live/shared/hub.ts'
import { beginningShare, createShares, eventShare, operationShare, type Shares } from './live/shares.ts'
import { createStreams, type Streams, unwatched } from './live/streams.ts'
import { type Figure, registerFigures } from './metrics/figure.ts'
import { serveMetrics } from './metrics/metrics.ts'
import { countErrorsIn } from './metrics/operations.ts'
import { serveOpenapi } from './openapi/serve.ts'
import type { DemoAccounts } from './pages/home.ts'
import { type RunningService, servePages } from './pages/serve.ts'
import { createSignedIn } from './pages/signed-in.ts'
import { serveWeb } from './pages/web.ts'
import { type DerivedTable, deriveTables } from './rest/derive/tables.ts'
import { type ForwardTarget, serveForwards } from './rest/forward.ts'
import { answersHere, misplaced, ownRows, roleOf } from './rest/place.ts'
import { anyMethod, pathOf, type RouteTable, type Row } from './rest/row.ts'
import { serveOperation } from './rest/shim.ts'
import { routeTables } from './rest/tables.ts'

export interface RouterOptions {
  readonly engine: Engine
  /** Who knows callers; null: nobody does, and everybody is anonymous. Then there is no REST, and no place to sign in. */
  readonly authority: Authority | null
  /** Which services may call, and with what. @default none */
  readonly callers?: { readonly tokens: ServiceTokens; readonly registrations: readonly ServiceApp[]; readonly gateway: ServiceClients }
  /** Who issues access tokens in place of identity, and the way there. @default identity does */
  readonly foreign?: (ForeignIssuer & { readonly outbound: Outbound }) | undefined
  /** Where the site-builder studio is, whose tokens count for structured chat, and the way there. @default nobody has such tokens */
  readonly studio?: { readonly url: string; readonly outbound: Outbound } | undefined
  /** Those that serve forward rows. */
  readonly subgraphs: readonly ForwardTarget[]
  /** Name or address to listen on; a loopback one means both families. */
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Whether other processes listen on the same port. @default false */
  readonly sharePort?: boolean
  /** Milliseconds for which it goes on to serve, not ready, when it closes. @default 0 */
  readonly drainMs?: number
  /** Ends requests and streams of models when it closes. @default both have 2.5 s */
  readonly draining?: Draining | undefined
  /** Origin under which clients reach the platform, without a trailing slash. */
  readonly publicUrl: string
  /** Addresses of the services, and whose pages are trusted. @default `<slug>.localhost` and its companions, and in development this machine's */
  readonly hosts?: Hosts
  readonly environment: 'development' | 'staging' | 'production'
  /** Whether `X-Forwarded-For` names the caller: true, or the addresses of the proxies that may say so. @default false */
  readonly trustProxy?: boolean | string
  readonly clock: Clock
  /** Milliseconds since some beginning: what is remembered of credentials ages by it. @default performance.now */
  readonly elapsed?: () => number
  readonly log: Logger
  /** What must work before `/health/ready` says so. */
  readonly readiness: readonly ReadinessCheck[]
  /** Milliseconds between pings of a WebSocket. @default 12000 */
  readonly pingMs?: number
  /** Bounds of subscriptions, whichever door they come by. */
  readonly live?: HubOptions
  /** Open sockets of one address and of one person or key. @default 100 and 50 */
  readonly sockets?: Pick<WebSocketDoor, 'perAddress' | 'perViewer' | 'messages'>
  /** Whether usual requests are answered without Apollo Server, with the same answers. @default true */
  readonly direct?: boolean
  /** How long a stream goes on while identity does not answer whether its credentials stand, in ms. @default 60000 */
  readonly unansweredMs?: number | undefined
  /** Milliseconds between heartbeats of a stream over HTTP. @default 10000 */
  readonly heartbeatMs?: number
  /** @default every route of the platform, where callers are known */
  readonly tables?: readonly RouteTable[]
  /** Where the sandbox is that plays third parties; null: there is none. @default null */
  readonly sandbox?: string | null
  /** What `/` says of each service. @default those of `subgraphs`, in the state that readiness finds */
  readonly services?: readonly RunningService[]
  /** Accounts that `/` shows; null: none. @default null */
  readonly demo?: DemoAccounts | null
  /** Lets callers from elsewhere read `/metrics`; null: only this machine may. @default null */
  readonly metricsToken?: string | null
  /** What `/metrics` shows; the router's own figures are entered into it. @default one that holds nothing else */
  readonly metrics?: Registry
  /** What `/metrics` tells in its place: what all processes of this port count together. @default the registry's alone */
  readonly figures?: (() => Promise<string>) | undefined
  /** Begins traces of requests. @default none */
  readonly tracing?: Tracing | undefined
  /** Where the bytes of operations and answers are counted that are under way. @default counts of its own */
  readonly inFlight?: BytesInFlight | undefined
  /** Operations a minute of one caller. @default as many as it likes */
  readonly rates?: RateLimits
  /** Whether other routers answer for the same platform: then keys are counted together with them. @default false */
  readonly severalRouters?: boolean
  /** What becomes of documents that are not trusted. @default off */
  readonly trust?: Trust
  /** Where documents go that clients register. @default this process alone */
  readonly registered?: Registered | undefined
  /** Documents that are. @default none are known */
  readonly manifest?: Manifest | null
  /** Adds routes of its own before the application is ready. */
  extend?(app: FastifyInstance): void
}

export interface Router extends Listening {
  readonly app: FastifyInstance
  /** Open streams of known callers. */
  readonly openStreams: () => number
  readonly live: HubFigures
  /** Takes another list of trusted documents, and plans what it lists. */
  trust(manifest: Manifest): void
}

/** What runs at once for one address where nobody is known. */
const anonymousEach = operationShare.all * 0.75

/** Makes the router: every door over one engine, one way to know callers, and one registry of open streams. */
export async function createRouter(options: RouterOptions): Promise<Router> {
  const { engine, authority, subgraphs, publicUrl, clock, log } = options
  const production = options.environment === 'production'
  // In development the client sees the internal error; elsewhere only the log does.
  const exposeErrors = options.environment === 'development'
  const hosts = options.hosts ?? createHosts(publicUrl, localOrigins(publicUrl), { loopback: exposeErrors })
  const { callers, foreign, elapsed } = options
  const others = authority && {
    byServiceToken: callers && createServiceCallers(callers.tokens, callers.registrations, authority, callers.gateway, elapsed),
    byToken: foreign && createForeignCallers(foreign, authority, { outbound: foreign.outbound, clock, log, elapsed }),
  }
  const authenticate = authority ? createAuthenticate(authority, hosts, clock, log, elapsed, others ?? {}) : nobodyIsKnown
  const keyRates = !authority ? noKeyRates : options.severalRouters ? createSharedKeyRates(authority, options.elapsed) : createOwnKeyRates(options.elapsed)
  const counting = countingKeys(authenticate, keyRates)
  const documents = documentsOf(engine, { introspection: !production })
  const sources = createSources(documents, { mode: options.trust, registered: options.registered, log })
  const listed = options.manifest ? sources.trust(options.manifest) : []
  engine.onChange?.(() => void engine.warm(sources.readAgain(), owner))
  const streams = authority ? createStreams(authority, clock, log, { unansweredMs: options.unansweredMs, elapsed }) : unwatched
  // Without authentication all clients behind one proxy are one caller: it may use most of the places, never all.
  const rates = createRates(options.rates ?? { each: null }, options.elapsed)
  const shares = rated(
    createShares(authority ? operationShare : { ...operationShare, each: anonymousEach, ofOrganization: anonymousEach, waiting: 2000 }),
    rates,
  )
  const { tables, mistakes } = deriveTables(options.tables ?? (authority ? routeTables : []), engine.schema)
  for (const { at, sentence } of mistakes) log.error({ route: at, why: sentence }, 'route not served: the graph does not support it')
  const trustProxy = options.trustProxy ?? false
  const [starts, events] = [rated(createShares(beginningShare), rates), createShares(eventShare)]
  const hub = createHub(engine, { ...options.live, failed: err => log.error({ err }, 'stream failed') })
  const registry = options.metrics ?? new Registry()
  const inFlight = options.inFlight ?? createBytesInFlight()
  const countError = countErrorsIn(registry)
  const sockets = createSockets({
    ...options.sockets,
    engine,
    documents,
    sources,
    authenticate,
    keyRates,
    streams,
    hub,
    shares,
    starts,
    events,
    inFlight,
    hosts,
    addressOf: createAddressOf(trustProxy),
    hideSuggestions: production,
    exposeErrors,
    pingMs: options.pingMs,
    countError,
    tracing: options.tracing,
    log,
  })

  let web: Web | null = null
  const app = await createApp({
    publicUrl,
    hosts,
    isOwn: ownRows(tables),
    trustProxy,
    exposeErrors,
    countError,
    inFlight,
    lost: (request, reply) => web?.lost(request, reply) ?? null,
    tracing: options.tracing,
    log,
  })
  const draining = options.draining ?? createDraining()
  const listening = prepareListening(app, {
    draining,
    host: options.host,
    port: options.port,
    sharePort: options.sharePort ?? false,
    drainMs: options.drainMs,
    sockets: {
      attach: sockets.attach,
      close() {
        // Closes sockets with a code after which clients reconnect; a bare end of the stream would not tell them.
        sockets.close()
        hub.close()
      },
    },
    closing() {
      streams.stop()
      keyRates.stop()
    },
  })
  serveHealth(app, options.readiness, listening.leaving)
  registerFigures(registry, [...planFigures(engine), ...streamFigures(sockets, streams, hub.figures)])
  serveMetrics(app, { token: options.metricsToken ?? null, registry, figures: options.figures })
  web = authority ? serveWeb(app, { hosts, publicUrl, authenticate, isDevelopment: exposeErrors }) : null
  servePages(app, {
    start: web?.start,
    hosts,
    publicUrl,
    production,
    schema: engine.schema,
    tables,
    isOurs: authority !== null,
    services: options.services ?? subgraphs.map(({ registration: { slug, title = slug } }) => ({ slug, title })),
    demo: options.demo ?? null,
    sandbox: options.sandbox ?? null,
    foreignIssuer: options.foreign?.issuer ?? null,
    signedIn: authority ? createSignedIn(authenticate, engine) : undefined,
    look: createReadiness(options.readiness),
  })
  await serveGraphql(app, {
    engine,
    documents,
    sources,
    authenticate: counting,
    hub,
    streams,
    shares,
    starts,
    events,
    hosts,
    publicUrl,
    production,
    exposeErrors,
    heartbeatMs: options.heartbeatMs,
    direct: options.direct,
    countError,
    log,
  })
  const studio =
    authority && options.studio ? createStudioCallers(options.studio.url, authority, { outbound: options.studio.outbound, clock, log, elapsed }) : undefined
  serveRoutes(app, tables, {
    studio,
    engine,
    clock,
    draining,
    authenticate: counting,
    authority: authority ?? uncounted,
    shares,
    places: createForwardPlaces(),
    hosts,
    publicUrl,
    subgraphs,
  })
  if (authority) serveOpenapi(app, { hosts, publicUrl, tables, schema: engine.schema })
  options.extend?.(app)
  app.addHook('onListen', done => {
    // Requests do not wait for this: an operation that is requested meanwhile is planned then.
    void engine.warm([...operationsOf(tables), ...listed], owner)
    done()
  })
  await app.ready()

  return {
    app,
    openStreams: () => streams.size,
    live: hub.figures,
    trust: manifest => void engine.warm(sources.trust(manifest), owner),
    ...listening,
  }
}

const planFigures = ({ plans }: Engine): readonly Figure[] =>
  plans
    ? [
        { name: 'supergraph_plan_cache_size', help: 'Operations that stay planned.', read: () => plans().operations },
        { name: 'supergraph_plan_cache_bytes', help: 'Roughly what they take.', read: () => plans().bytes },
        { name: 'supergraph_plan_cache_hits', kind: 'counter', help: 'Operations that found their plan.', read: () => plans().hits },
        { name: 'supergraph_plan_cache_misses', kind: 'counter', help: 'Operations for which one had to be made.', read: () => plans().misses },
      ]
    : []

const streamFigures = (sockets: Sockets, streams: Streams, live: HubFigures): readonly Figure[] => [
  { name: 'websockets_open', help: 'Open WebSockets.', read: () => sockets.size },
  {
    name: 'supergraph_subscriptions',
    help: 'Open subscriptions of clients, by the name of their operation.',
    labels: ['operation'],
    read: () => [...live.subscriptions()].map(([operation, value]) => ({ labels: { operation }, value })),
  },
  { name: 'supergraph_subscription_upstreams', help: 'Streams that serve them: one serves everybody whom it may.', read: live.upstreams },
  { name: 'supergraph_subscription_events_total', help: 'Runs of a plan for an event.', read: live.events },
  { name: 'supergraph_subscription_deliveries_total', help: 'Events told to clients.', read: live.deliveries },
  { name: 'streams_watched', help: 'Open streams of known callers, whose credentials are looked after.', read: () => streams.size },
]

/** The operations of REST routes, which are known before anybody calls them. */
const operationsOf = (tables: readonly DerivedTable[]): readonly DocumentNode[] => [
  ...new Set(tables.flatMap(({ rows }) => rows.flatMap(row => (row.kind === 'operation' ? [row.operation] : [])))),
]

/** Somebody with every right in an organization: operations are planned with these rights, and run with nobody's. */
const owner: Viewer = { ...anonymous, kind: 'user', userId: '', organizationId: '', roles: ['owner'], scopes: scopesOf(['owner']), context: 'organization' }

/** Without identity there is no row that it would count. */
const uncounted: RouteDoor['authority'] = { countPublicPosts: async (_, many) => ({ granted: many, waitMs: 0 }) }

interface RouteDoor {
  readonly studio: StudioCallers | undefined
  readonly clock: Clock
  readonly draining: Draining
  readonly engine: Engine
  readonly authenticate: ReturnType<typeof createAuthenticate>
  readonly authority: Pick<Authority, 'countPublicPosts'>
  readonly shares: Shares
  readonly places: ForwardPlaces
  readonly hosts: Hosts
  readonly publicUrl: string
  readonly subgraphs: readonly ForwardTarget[]
}

/** Puts every row of the tables behind its door; a known path answers OPTIONS with the methods it takes, and any other with 405. */
function serveRoutes(app: FastifyInstance, tables: readonly DerivedTable[], door: RouteDoor): void {
  const all = tables.flatMap(({ slug, rows }) => rows.map(row => ({ slug, row })))
  serveForwards(
    app,
    all.flatMap(({ slug, row }) => (row.kind === 'forward' ? [{ slug, row }] : [])),
    door,
  )
  const operations = all.flatMap(({ slug, row }) => (row.kind === 'operation' ? [{ slug, row }] : []))
  for (const [takesBody, rows] of Map.groupBy(operations, ({ row }) => row.body !== undefined))
    app.register(async scope => {
      if (takesBody) readJsonBodies(scope)
      else ignoreBodies(scope)
      for (const { slug, row } of rows) serveOperation(scope, slug, row, door)
    })
  for (const [path, rows] of Map.groupBy(all, ({ slug, row }) => pathOf(slug, row))) {
    const known = methodsOf(rows)
    for (const url of rows.some(({ row }) => row.kind === 'operation') ? [path, `${path}/`] : [path])
      app.route({
        method: app.supportedMethods.filter(method => !known.includes(method)),
        url,
        // Checked before the body, because the method is wrong whatever the body holds.
        async onRequest(request, reply) {
          const here = rows.filter(({ row }) => answersHere(door.hosts, request, roleOf(row)))
          if (here.length === 0) throw misplaced(door.hosts, request, rows[0]!.slug, roleOf(rows[0]!.row))
          const allow = [...methodsOf(here), 'OPTIONS'].join(', ')
          reply.header('allow', allow)
          for (const { row } of here) if (row.kind === 'forward' && row.tellsOptions) reply.headers(row.tellsOptions)
          if (request.method === 'OPTIONS') return reply.code(204).send()
          throw doorRefusal(405, `This address takes ${allow}.`)
        },
        handler: () => undefined,
      })
  }
}

/** Methods that rows of one path take; whoever serves GET serves HEAD with it. */
const methodsOf = (rows: readonly { readonly row: Row }[]): readonly string[] =>
  rows
    .flatMap(({ row }): readonly string[] => (row.method === '*' ? anyMethod : [row.method]))
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
