import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { WebSocketServer } from 'ws'
import { callIs, doFor } from '../../platform/caller/cause.ts'
import { finished, type Tracing } from '../../platform/caller/trace.ts'
import { codeOf, DomainError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { anAsk, forAsk, forOperation, isAddressed, isFor, isUntimely, sealHeader } from '../../subgraphs/seal.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { loggedAs, type Viewer } from '../../subgraphs/viewer.ts'
import { readBody } from '../door/body.ts'
import { accident, doorRefusal, type Problem, problem, problemType, refusalOfThrown, retryAfterOf } from '../door/errors.ts'
import { createReadiness, type ReadinessCheck } from '../door/health.ts'
import { mustArriveWithin } from '../door/receiving/passing.ts'
import { WatchedRequest } from '../door/receiving/pieces.ts'
import { createDraining, type Draining } from '../door/streaming/draining.ts'
import type { BytesInFlight } from '../engine/data/in-flight.ts'
import { notReadyHeader, notReadyStatus } from '../engine/transport/replicas.ts'
import { mayRead } from '../metrics/reader.ts'
import { readTarget } from '../target.ts'
import { beginRequest } from '../tracing/request.ts'
import type { Seals } from './ask.ts'
import { causeOf, mostIdCharacters } from './cause.ts'
import { type FactDoor, factsPath, mostFactBytes } from './facts.ts'
import { forward, streams } from './forward.ts'
import { jsonOf, mostBodyBytes, sendJson } from './json.ts'
import { createOperations } from './operations.ts'
import { serveSockets } from './sockets.ts'

export interface SubgraphServerOptions {
  readonly subgraph: Subgraph
  readonly seals: Pick<Seals, 'read' | 'streaming'>
  readonly host: string
  /** Port to listen on; 0 takes a free one. */
  readonly port: number
  /** Origin under which clients reach the platform: forwarded requests carry addresses with it. */
  readonly publicUrl: string
  /** Sends the text of internal errors to the router, and so to clients. @default false */
  readonly exposeErrors?: boolean | undefined
  readonly readiness: readonly ReadinessCheck[]
  /**
   * Milliseconds for which a closing server still answers that it accepts no requests, so that routers use another
   * replica. @default 0
   */
  readonly drainMs?: number | undefined
  /** Ends requests and streams of forwarded answers when the server closes. @default both have 2.5 s */
  readonly draining?: Draining | undefined
  /** Handlers of the router's requests beside GraphQL, by path: JSON in, JSON out. */
  readonly internal?: ReadonlyMap<string, (viewer: Viewer, asked: unknown) => Promise<unknown>>
  /** Counts the bytes held for all operations. @default only the bytes of each single operation are limited */
  readonly inFlight?: BytesInFlight | undefined
  /** Figures at `/metrics`, and the token for reading them from other machines. @default not served */
  readonly metrics?: { readonly registry: Registry; readonly token: string | null } | undefined
  /** @default none */
  readonly tracing?: Tracing | undefined
  /** Receives facts of other subgraphs, which carry a signature in place of a seal. @default facts are not accepted */
  readonly facts?: FactDoor | undefined
  readonly log: Logger
}

export interface SubgraphServer {
  readonly port: number
  /** Reports that the server is not ready, ends sockets with 1001, lets running requests end, and stops. Idempotent. */
  close(): Promise<void>
}

/** Maximum bytes of a request's headers: as many as the router accepts from a client, and the router's own. */
const mostHeaderBytes = 32 * 1024
/** Milliseconds within which a body must arrive, unless it is streamed. */
const arriveMs = 300_000

/**
 * Serves one subgraph in a separate process: GraphQL over HTTP and WebSocket at `/graphql`, forwarded requests
 * everywhere else, health. Except for health and facts, every request needs a viewer that the router sealed for this
 * very purpose; without such a seal the answer is 401, and sockets are closed with 4403.
 * @throws with code EADDRINUSE when the port is taken
 */
export async function serveSubgraph(options: SubgraphServerOptions): Promise<SubgraphServer> {
  const { subgraph, seals, publicUrl, readiness, internal, facts, metrics, tracing, inFlight, exposeErrors: expose = false, log } = options
  const { slug } = subgraph.registration
  const readSeal = logging(seals)
  const look = createReadiness(readiness)
  let leaving = false
  const draining = options.draining ?? createDraining()
  const operations = createOperations(subgraph, { inFlight, expose, log })
  const to = { subgraph, readSeal, publicUrl, draining }
  const handle = async (request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> => {
    const target = readTarget(request, () => false)
    if (typeof target === 'string') throw doorRefusal(400, target)
    const { method = 'GET' } = request
    const path = target.url.split('?', 1)[0]!
    if (request.method === 'GET' && path === '/health/live') return sendJson(response, 200, { status: 'live' })
    if (metrics && method === 'GET' && path === '/metrics') {
      if (!mayRead({ address: request.socket.remoteAddress ?? '', headers: request.headers }, metrics.token))
        throw new DomainError('UNAUTHENTICATED', 'Metrics are read from the machine itself, or with METRICS_TOKEN as Authorization: Bearer.')
      response.writeHead(200, { 'content-type': metrics.registry.contentType, 'cache-control': 'no-store' }).end(await metrics.registry.metrics())
      return
    }
    if (leaving) return refer(request, response, problem(notReadyStatus, 'NOT_READY', `The service ${slug} is stopping here.`, requestId))
    if (request.method === 'GET' && path === '/health/ready') {
      const checks = await look()
      const ready = checks.every(check => check.ready)
      return sendJson(response, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks })
    }
    if (facts && method === 'POST' && path === factsPath) return sendJson(response, 200, await facts(request.headers, await readBody(request, mostFactBytes)))
    const seal = request.headers[sealHeader]
    const ask = internal?.get(path)
    if (ask) {
      await readSeal(seal, isAddressed(anAsk(method, target.url)))
      if (method !== 'POST') throw doorRefusal(405, 'Send requests of the router by POST here.')
      const body = await readBody(request, mostBodyBytes)
      const viewer = await readSeal(seal, isFor(forAsk(method, target.url, body)))
      return sendJson(response, 200, await ask(viewer, jsonOf(body)))
    }
    if (path !== '/graphql') return forward(request, response, target.url, to)
    const viewer = await readSeal(seal, isFor(forOperation))
    if (method !== 'POST') throw doorRefusal(405, 'Send GraphQL requests by POST here.')
    return sendJson(response, 200, operations.tellable(await operations.answerGraphql(request, response, viewer, requestId), requestId))
  }

  /** Returns the route of a path, for spans: only the subgraph knows the routes of forwarded requests. */
  const routeOf = (url: string): string => {
    const path = url.split('?', 1)[0]!
    if (path === '/graphql' || path === factsPath || internal?.has(path)) return path
    return path.startsWith(`/${slug}/`) ? `/${slug}/*` : '/*'
  }

  // Streamed bodies have no time limit; the others have the one below.
  const server = createServer(
    { maxHeaderSize: mostHeaderBytes, requestTimeout: 0, headersTimeout: 60_000, IncomingMessage: WatchedRequest },
    (request, response) => {
      if (!streams(subgraph, request, request.url ?? '')) mustArriveWithin(request, arriveMs, () => request.destroy())
      const given = request.headers['x-request-id']
      const requestId = typeof given === 'string' ? given.slice(0, mostIdCharacters) : newId()
      const began = performance.now()
      const work = async () => {
        await handle(request, response, requestId).catch(error => {
          if (!isUntimely(error) || response.headersSent) throw error
          return refer(request, response, problem(401, codeOf(error), (error as Error).message, requestId, { untimely: true }))
        })
        if (!/^\/health\//.test(request.url ?? ''))
          log.debug({ method: request.method, status: response.statusCode, ms: Math.round(performance.now() - began) }, 'answered')
      }
      const isOperators = /^\/(?:health|metrics)\b/.test(request.url ?? '')
      const span = isOperators || !tracing ? undefined : beginRequest(tracing, request, requestId, routeOf(request.url ?? ''), { subgraph: slug })
      doFor(
        causeOf(requestId, name => request.headers[name]),
        () => (span ? finished(span, work, () => ({ 'http.response.status_code': response.statusCode })) : work()),
      ).catch(error => sendFailure(response, error, { requestId, expose, log }))
    },
  )
  draining.watch(server)
  const sockets = new WebSocketServer({ server, path: '/graphql', maxPayload: mostBodyBytes, verifyClient: (_info, take) => take(!leaving, notReadyStatus) })
  const protocol = serveSockets(sockets, { subgraph, readSeal, seals, operations })
  sockets.on('error', () => {})
  let closing: Promise<void> | undefined
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  return {
    port: (server.address() as import('node:net').AddressInfo).port,
    close() {
      closing ??= (async () => {
        leaving = true
        await protocol.dispose()
        // Meanwhile routers learn of the stop by any request, and requests under way are answered.
        await new Promise(resolve => setTimeout(resolve, options.drainMs ?? 0))
        const closed = new Promise(resolve => server.close(resolve))
        const cutting = setInterval(() => server.closeIdleConnections(), 50)
        const drained = draining.begin()
        await closed
        clearInterval(cutting)
        drained()
      })()
      return closing
    },
  }
}

/** Reads seals, and has log lines name whose they are. */
const logging =
  (seals: Pick<Seals, 'read'>): Seals['read'] =>
  async (token, opens) => {
    const viewer = await seals.read(token, opens)
    if (viewer.kind !== 'anonymous') callIs(loggedAs(viewer), viewer.organizationId)
    return viewer
  }

/** Asks the router to send the request to another replica, because nothing of it was done here. */
async function refer(request: IncomingMessage, response: ServerResponse, told: Problem): Promise<void> {
  request.resume()
  if (!request.complete) await new Promise(resolve => request.once('close', resolve).once('end', resolve))
  response.setHeader('connection', 'close').setHeader(notReadyHeader, '1')
  sendJson(response, told.status, told, problemType)
}

/** Answers a request that failed, as a problem with the code and the time to wait where it has them. */
function sendFailure(response: ServerResponse, error: unknown, { requestId, expose, log }: { requestId: string; expose: boolean; log: Logger }): void {
  const known = refusalOfThrown(error)
  // A client that leaves during a stream causes no error.
  const hasLeft = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE'
  if (known?.isWait) log.warn({ requestId, err: error }, 'request failed')
  else if (!known && !hasLeft) log.error({ requestId, err: error }, 'request failed')
  if (response.headersSent) return void response.destroy()
  const { code = 'INTERNAL_SERVER_ERROR', ...details } = known?.refusal.extensions ?? {}
  const body = problem(known?.status ?? 500, String(code), known?.refusal.message ?? accident(error, { requestId, expose }), requestId, details)
  const retryAfter = known && retryAfterOf(known)
  if (typeof retryAfter === 'number') response.setHeader('retry-after', String(retryAfter))
  sendJson(response, body.status, body, problemType)
}
