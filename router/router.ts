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
import type { DeferLimits } from './door/documents/deferring.ts'
import { createGraphs } from './door/documents/graphs.ts'
import type { Manifest } from './door/documents/manifest.ts'
import type { Registered } from './door/documents/registered.ts'
import type { Trust } from './door/documents/sources.ts'
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
import { mayRead } from './metrics/reader.ts'
import type { Usage } from './metrics/usage/usage.ts'
import { serveOpenapi } from './openapi/serve.ts'
import { type ShownUse, shownDays } from './pages/graph-use.ts'
import type { DemoAccounts } from './pages/home.ts'
import { type RunningService, servePages } from './pages/serve.ts'
import { createSignedIn } from './pages/signed-in.ts'
import { serveWeb } from './pages/web.ts'
import { type DerivedTable, deriveTables } from './rest/derive/tables.ts'
import { type ForwardTarget, serveForwards } from './rest/forward.ts'
import { ownRows, refuseOtherMethods } from './rest/place.ts'
import type { RouteTable } from './rest/row.ts'
import { serveOperation } from './rest/shim.ts'
import { routeTables } from './rest/tables.ts'

export interface RouterOptions {
  readonly engine: Engine
  /** Authenticates callers; null makes everybody anonymous, and there is no REST and no sign-in. */
  readonly authority: Authority | null
  /** Service tokens and registrations. @default none */
  readonly callers?: { readonly tokens: ServiceTokens; readonly registrations: readonly ServiceApp[]; readonly gateway: ServiceClients }
  /** An issuer of access tokens in place of identity, and the connection to it. @default identity issues them */
  readonly foreign?: (ForeignIssuer & { readonly outbound: Outbound }) | undefined
  /**
   * Address of the site-builder studio, whose tokens are valid for structured chat, and the connection to it. @default
   * no such tokens are valid
   */
  readonly studio?: { readonly url: string; readonly outbound: Outbound } | undefined
  /** Subgraphs that serve forwarded routes. */
  readonly subgraphs: readonly ForwardTarget[]
  /** Name or address to listen on; a loopback address means both IP families. */
  readonly host: string
  /** Port to listen on; 0 takes a free one. */
  readonly port: number
  /** Whether other processes listen on the same port. @default false */
  readonly sharePort?: boolean
  /** Milliseconds for which a closing router still serves while it reports that it is not ready. @default 0 */
  readonly drainMs?: number
  /** Ends requests and models' streams when the router closes. @default both have 2.5 s */
  readonly draining?: Draining | undefined
  /** Origin under which clients reach the platform, without a trailing slash. */
  readonly publicUrl: string
  /**
   * Addresses of the services, and trusted origins. @default `<slug>.localhost` and its companions, and in development
   * this machine's pages
   */
  readonly hosts?: Hosts
  /** Where the developer platform's pages are. @default nowhere */
  readonly developersWebUrl?: string | null
  /** Origins of other pages that may use the public chat. @default none */
  readonly chatOrigins?: readonly string[] | undefined
  readonly environment: 'development' | 'staging' | 'production'
  /** Whether `X-Forwarded-For` names the caller: true, or the addresses of trusted proxies. @default false */
  readonly trustProxy?: boolean | string
  readonly clock: Clock
  /** Monotonic clock in ms, for the age of cached credentials. @default performance.now */
  readonly elapsed?: () => number
  readonly log: Logger
  /** Checks that must succeed before `/health/ready` does. */
  readonly readiness: readonly ReadinessCheck[]
  /** Milliseconds between pings of a WebSocket. @default 12000 */
  readonly pingMs?: number
  /** Limits of subscriptions, over all protocols. */
  readonly live?: HubOptions
  /** Maximum open sockets of one address and of one person or key. @default 100 and 50 */
  readonly sockets?: Pick<WebSocketDoor, 'perAddress' | 'perViewer' | 'messages'>
  /** Whether usual requests are answered without Apollo Server, with the same answers. @default true */
  readonly direct?: boolean
  /**
   * How long a stream continues while identity does not answer whether its credentials are still valid, in ms. @default
   * 60000
   */
  readonly unansweredMs?: number | undefined
  /** Milliseconds between heartbeats of a stream over HTTP. @default 10000 */
  readonly heartbeatMs?: number
  /** @default every route of the platform, where callers are known */
  readonly tables?: readonly RouteTable[]
  /** Address of the sandbox that plays third parties; null for none. @default null */
  readonly sandbox?: string | null
  /** Services shown at `/`. @default those of `subgraphs`, in the state of the readiness checks */
  readonly services?: readonly RunningService[]
  /** Accounts shown at `/`; null for none. @default null */
  readonly demo?: DemoAccounts | null
  /** Token that lets other machines read `/metrics`; null lets this machine only. @default null */
  readonly metricsToken?: string | null
  /** Registry served at `/metrics`; the router's own figures are added to it. @default a new one */
  readonly metrics?: Registry
  /** Figures to serve at `/metrics` instead: the sums of all processes of this port. @default the registry's */
  readonly figures?: (() => Promise<string>) | undefined
  /** Records which clients use which fields. @default not recorded */
  readonly usage?: Usage | undefined
  /** Wraps an engine to report which client used which operation to others. @default none is told */
  readonly exported?: ((engine: Engine) => Engine) | undefined
  /** Starts traces of requests. @default none */
  readonly tracing?: Tracing | undefined
  /** Counts the bytes of operations and answers in progress. @default a count of its own */
  readonly inFlight?: BytesInFlight | undefined
  /** Limits on operations a minute of one caller. @default no limit */
  readonly rates?: RateLimits
  /** Whether other routers serve the same platform: then API keys are counted together with them. @default false */
  readonly severalRouters?: boolean
  /** Limits on `@defer` in one operation. @default 50 directives, 8 levels */
  readonly defer?: DeferLimits | undefined
  /** How untrusted documents are treated. @default off */
  readonly trust?: Trust
  /** Stores documents that clients register. @default this process only */
  readonly registered?: Registered | undefined
  /** Trusted documents. @default none */
  readonly manifest?: Manifest | null
  /** Adds further routes before the application is ready. */
  extend?(app: FastifyInstance): void
}

export interface Router extends Listening {
  readonly app: FastifyInstance
  /** Number of open streams of authenticated callers. */
  readonly openStreams: () => number
  readonly live: HubFigures
  /** Replaces the list of trusted documents, and plans its operations. */
  trust(manifest: Manifest): void
}

/** Maximum concurrent operations of one address on a router without authentication. */
const anonymousEach = operationShare.all * 0.75

/** Creates the router: all protocols over one engine, one authentication, and one registry of open streams. */
export async function createRouter(options: RouterOptions): Promise<Router> {
  const { engine: uncounted, authority, subgraphs, publicUrl, clock, log } = options
  // Operations of clients are counted; those that the platform's own pages and services send are checked when they are generated.
  const counted = options.usage?.watch(uncounted) ?? uncounted
  const engine = options.exported?.(counted) ?? counted
  const production = options.environment === 'production'
  // In development the client sees the internal error; elsewhere only the log does.
  const exposeErrors = options.environment === 'development'
  const hosts = options.hosts ?? createHosts(publicUrl, localOrigins(publicUrl), { loopback: exposeErrors })
  const { authenticate, keyRates, counting, studio } = openAuthentication(options, hosts)
  const graphs = createGraphs(engine, { introspection: !production, defer: options.defer }, { mode: options.trust, registered: options.registered, log })
  const listed = options.manifest ? graphs.trust(options.manifest) : []
  engine.onChange?.(() => void engine.warm(graphs.readAgain(), owner))
  const streams = authority ? createStreams(authority, clock, log, { unansweredMs: options.unansweredMs, elapsed: options.elapsed }) : unwatched
  const { shares, starts, events } = openShares(options)
  const { tables, mistakes } = deriveTables(options.tables ?? (authority ? routeTables : []), engine.schema)
  for (const { at, sentence } of mistakes) log.error({ route: at, why: sentence }, 'route not served: the graph does not support it')
  const trustProxy = options.trustProxy ?? false
  const hub = createHub(engine, { ...options.live, failed: err => log.error({ err }, 'stream failed') })
  const registry = options.metrics ?? new Registry()
  const inFlight = options.inFlight ?? createBytesInFlight()
  const countError = countErrorsIn(registry)
  /** What both doors of GraphQL need. */
  const graphql = { hub, streams, shares, starts, events, hosts, exposeErrors, countError, log }
  const sockets = createSockets({
    ...options.sockets,
    ...graphql,
    engine,
    graphs,
    authenticate,
    keyRates,
    inFlight,
    addressOf: createAddressOf(trustProxy),
    hideSuggestions: production,
    pingMs: options.pingMs,
    tracing: options.tracing,
  })

  let web: Web | null = null
  const app = await createApp({
    publicUrl,
    hosts,
    openRoutes: { below: '/agents/api/public/chat', origins: options.chatOrigins ?? [] },
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
    sockets: { attach: sockets.attach, close: () => closeAll(sockets, hub) },
    closing() {
      streams.stop()
      keyRates.stop()
    },
  })
  serveHealth(app, options.readiness, listening.leaving)
  registerFigures(registry, [...planFigures(engine), ...streamFigures(sockets, streams, hub.figures)])
  serveMetrics(app, { token: options.metricsToken ?? null, registry, figures: options.figures })
  web = authority
    ? serveWeb(app, { hosts, publicUrl, authenticate, engine: uncounted, isDevelopment: exposeErrors, developersWebUrl: options.developersWebUrl ?? null })
    : null
  servePages(app, {
    start: web?.start,
    hosts,
    publicUrl,
    production,
    schema: engine.schema,
    variants: engine.variants,
    tables,
    isOurs: authority !== null,
    services: options.services ?? subgraphs.map(({ registration: { slug, title = slug } }) => ({ slug, title })),
    demo: options.demo ?? null,
    sandbox: options.sandbox ?? null,
    foreignIssuer: options.foreign?.issuer ?? null,
    use: shownUse(options),
    signedIn: authority ? createSignedIn(authenticate, uncounted) : undefined,
    look: createReadiness(options.readiness),
  })
  await serveGraphql(app, { ...graphql, authenticate: counting, publicUrl, production, heartbeatMs: options.heartbeatMs, direct: options.direct }, graphs)
  serveRoutes(app, tables, {
    studio,
    engine,
    clock,
    draining,
    authenticate: counting,
    authority: authority ?? noCounts,
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
    trust: manifest => void engine.warm(graphs.trust(manifest), owner),
    ...listening,
  }
}

/** What clients use of the graph, for whoever may read `/metrics`. */
function shownUse({ usage, metricsToken = null }: RouterOptions): ShownUse | undefined {
  return usage && { read: coordinates => usage.read(coordinates, shownDays), isShownTo: ({ ip, headers }) => mayRead({ address: ip, headers }, metricsToken) }
}

/** Opens the authentication of callers, and the rates of their keys. */
function openAuthentication({ authority, clock, log, callers, foreign, studio: at, severalRouters, elapsed }: RouterOptions, hosts: Hosts) {
  const others = authority && {
    byServiceToken: callers && createServiceCallers(callers.tokens, callers.registrations, authority, callers.gateway, elapsed),
    byToken: foreign && createForeignCallers(foreign, authority, { outbound: foreign.outbound, clock, log, elapsed }),
  }
  const authenticate = authority ? createAuthenticate(authority, hosts, clock, log, elapsed, others ?? {}) : nobodyIsKnown
  const keyRates = !authority ? noKeyRates : severalRouters ? createSharedKeyRates(authority, elapsed) : createOwnKeyRates(elapsed)
  const counting = countingKeys(authenticate, keyRates)
  const studio = authority && at ? createStudioCallers(at.url, authority, { outbound: at.outbound, clock, log, elapsed }) : undefined
  return { authenticate, keyRates, counting, studio }
}

/** Opens the places of operations, of beginning streams and of their events. */
function openShares({ authority, rates: perMinute, elapsed }: RouterOptions) {
  // Without authentication all clients behind one proxy are one caller: it may use most of the places, never all.
  const rates = createRates(perMinute ?? { each: null }, elapsed)
  const shares = rated(
    createShares(authority ? operationShare : { ...operationShare, each: anonymousEach, ofOrganization: anonymousEach, waiting: 2000 }),
    rates,
  )
  return { shares, starts: rated(createShares(beginningShare), rates), events: createShares(eventShare) }
}

/** Closes sockets with a code after which clients reconnect; a bare end of the stream would not tell them. */
function closeAll(sockets: Pick<Sockets, 'close'>, hub: { close(): void }): void {
  sockets.close()
  hub.close()
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
  { name: 'supergraph_subscription_deliveries_total', help: 'Events that were sent to clients.', read: live.deliveries },
  { name: 'streams_watched', help: 'Open streams of known callers, whose credentials are looked after.', read: () => streams.size },
]

/** Returns the operations of REST routes, which are known before the first call. */
const operationsOf = (tables: readonly DerivedTable[]): readonly DocumentNode[] => [
  ...new Set(tables.flatMap(({ rows }) => rows.flatMap(row => (row.kind === 'operation' ? [row.operation] : [])))),
]

/**
 * A viewer with every right in an organization: REST operations are planned with these rights, but never run with them.
 */
const owner: Viewer = { ...anonymous, kind: 'user', userId: '', organizationId: '', roles: ['owner'], scopes: scopesOf(['owner']), context: 'organization' }

/** Counter for a router without identity, which has no route to be counted. */
const noCounts: RouteDoor['authority'] = { countPublicPosts: async (_, many) => ({ granted: many, waitMs: 0 }) }

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

/** Serves all routes of the tables; a known path answers OPTIONS with its methods, and any other method with 405. */
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
  refuseOtherMethods(app, all, door.hosts)
}
