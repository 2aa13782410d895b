import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { ExecutionResult, GraphQLError } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { WebSocketServer } from 'ws'
import { addressHeader, agentHeader, type Cause, callIs, doFor, origin, readClient, readOrigin } from '../../platform/caller/cause.ts'
import { finished, type Tracing } from '../../platform/caller/trace.ts'
import { codeOf, Refusal } from '../../platform/errors.ts'
import { goOnFrom } from '../../platform/events.ts'
import { newId } from '../../platform/ids.ts'
import { browserHeader } from '../../subgraphs/http/browser.ts'
import { readableOf } from '../../subgraphs/http/streamed.ts'
import { aForward, anAsk, forAsk, forForward, forOperation, forStream, isAddressed, isFor, isUntimely, sealHeader } from '../../subgraphs/seal.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { loggedAs, type Viewer } from '../../subgraphs/viewer.ts'
import { claimOf } from '../access/callers/claim.ts'
import { readBody } from '../door/body.ts'
import { accident, doorRefusal, type Problem, problem, problemType, refusalOfThrown, retryAfterOf, tell } from '../door/errors.ts'
import { webHeaders } from '../door/headers.ts'
import { createReadiness, type ReadinessCheck } from '../door/health.ts'
import { mustArriveWithin, passBody } from '../door/passing.ts'
import { leavingSignal } from '../door/sending.ts'
import { createDraining, type Draining } from '../door/streaming/draining.ts'
import { requireFits } from '../engine/data/bytes.ts'
import type { BytesInFlight } from '../engine/data/in-flight.ts'
import type { Fetch, FetchCall } from '../engine/engine.ts'
import { createEmbeddedTransport } from '../engine/transport/embedded.ts'
import { notReadyHeader, notReadyStatus } from '../engine/transport/replicas.ts'
import { begun, unheardHeader } from '../engine/transport/socket.ts'
import { finish, Work } from '../engine/work.ts'
import { mayRead } from '../metrics/reader.ts'
import { readTarget } from '../target.ts'
import { beginRequest } from '../tracing/request.ts'
import type { Seals } from './ask.ts'
import { coded, createDocuments } from './documents.ts'
import { type FactDoor, factsPath, mostFactBytes } from './facts.ts'
import { createRenewal, type Renewal } from './renewal.ts'

export interface SubgraphServerOptions {
  readonly subgraph: Subgraph
  readonly seals: Pick<Seals, 'read' | 'streaming'>
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Origin under which clients reach the platform: forwarded requests carry addresses of it. */
  readonly publicUrl: string
  /** Tells the router, and it clients, the text of internal errors. @default false */
  readonly exposeErrors?: boolean | undefined
  readonly readiness: readonly ReadinessCheck[]
  /** Milliseconds for which it goes on to answer, when it closes, that it takes no requests any more: routers ask another replica then. @default 0 */
  readonly drainMs?: number | undefined
  /** Ends requests and streams of forwarded answers when it closes. @default both have 2.5 s */
  readonly draining?: Draining | undefined
  /** Questions of the router beside GraphQL, by path: JSON in, JSON out. */
  readonly internal?: ReadonlyMap<string, (viewer: Viewer, asked: unknown) => Promise<unknown>>
  /** Where bytes are counted that are held for operations. @default only those of one operation are bounded */
  readonly inFlight?: BytesInFlight | undefined
  /** The figures at `/metrics`, and the token for reading them from elsewhere. @default nothing */
  readonly metrics?: { readonly registry: Registry; readonly token: string | null } | undefined
  /** @default none */
  readonly tracing?: Tracing | undefined
  /** Takes facts of other subgraphs, which bear a signature in place of a seal. @default no questions are accepted */
  readonly facts?: FactDoor | undefined
  readonly log: Logger
}

export interface SubgraphServer {
  readonly port: number
  /** Says that it is not ready, ends sockets with 1001, lets running requests end, and stops. Safe to call twice. */
  close(): Promise<void>
}

/** Bytes of a request's headers: those of a forwarded one, as many as a door of Node's takes, and the router's own. */
const mostHeaderBytes = 32 * 1024
/** Bytes of a request: representations of many entities are large. */
const mostBodyBytes = 16 * 1024 * 1024
/** Bytes of a forwarded one: those of a recording, at most. The router has held it to the bounds of its row. */
const mostForwardBytes = 32 * 1024 * 1024
/** Milliseconds that the start of a stream, and each of its events, may take. What is asked over HTTP has the router's patience: it hangs up. */
const streamMs = 30_000
/** Bytes of an answer that the router reads at most. */
const mostAnswerBytes = 32 * 1024 * 1024
/** Milliseconds within which a body must have come, unless it streams. */
const arriveMs = 300_000

/**
 * Serves one subgraph in a process of its own: GraphQL over HTTP and WebSocket at `/graphql`, forwarded requests everywhere else,
 * health. Whatever it does beside health and facts it does for a viewer whom the router sealed, for just that; without such a seal it answers
 * 401 and closes sockets with 4403.
 * @throws with code EADDRINUSE when the port is taken
 */
export async function serveSubgraph(options: SubgraphServerOptions): Promise<SubgraphServer> {
  const { subgraph, seals, publicUrl, readiness, internal, facts, metrics, tracing, inFlight, exposeErrors: expose = false, log } = options
  const { slug } = subgraph.registration
  const readSeal: Seals['read'] = async (token, opens) => {
    const viewer = await seals.read(token, opens)
    if (viewer.kind !== 'anonymous') callIs(loggedAs(viewer), viewer.organizationId)
    return viewer
  }
  const look = createReadiness(readiness)
  const transport = createEmbeddedTransport(new Map([[slug, subgraph]]))
  let leaving = false
  const draining = options.draining ?? createDraining()
  const read = createDocuments(slug, subgraph.schema)
  const callOf = (viewer: Viewer, requestId: string, variables: unknown, address: unknown, signal?: AbortSignal): FetchCall => ({
    variables: (variables ?? {}) as Record<string, unknown>,
    viewer,
    requestId,
    operation: new Work(requestId, signal, undefined, () => performance.now(), inFlight, claimOf(viewer, typeof address === 'string' ? address : '')),
    signal,
  })
  const tellable = ({ data, errors, extensions }: ExecutionResult, requestId: string): ExecutionResult => ({
    ...(data !== undefined && { data }),
    ...(extensions && { extensions }),
    ...(errors && { errors: errors.map(error => tell(error, { requestId, log, hideSuggestions: false, expose })) as unknown as readonly GraphQLError[] }),
  })

  const answerGraphql = async (request: IncomingMessage, response: ServerResponse, viewer: Viewer, requestId: string): Promise<ExecutionResult> => {
    const { query, variables } = jsonOf(await readBody(request, mostBodyBytes)) as { query?: unknown; variables?: unknown }
    const fetch = read(typeof query === 'string' ? query : '')
    if (!('text' in fetch)) return { errors: fetch }
    if (fetch.kind === 'subscription') return { errors: [coded('A subscription is asked over WebSocket.')] }
    if (!isVariables(variables)) return { errors: [coded('Variables are one object.', 'BAD_USER_INPUT')] }
    const fingerprint = request.headers[browserHeader]
    const signal = leavingSignal(response)
    const call = {
      ...callOf(viewer, requestId, variables, request.headers[addressHeader], signal),
      ...(typeof fingerprint === 'string' && { browser: { fingerprint } }),
    }
    try {
      const result = await transport.fetch(fetch, call)
      // The router would reject a longer answer, and repeated text is long only once it is serialized.
      requireFits(result.data, mostAnswerBytes)
      return result
    } catch (cause) {
      if (codeOf(cause) === 'INTERNAL_SERVER_ERROR') throw cause
      return { errors: [coded((cause as Error).message, codeOf(cause), (cause as Partial<Refusal>).extensions)] }
    } finally {
      const { operation } = call
      // Data that was read goes into the answer, which is held until the router has received it.
      if (operation.taken > 0 && !signal.aborted) response.once('close', () => finish(operation))
      else finish(operation)
    }
  }

  /** Whether a forwarded request's body comes as a stream: its subgraph says where, and there has to be one. */
  const streams = ({ headers }: IncomingMessage, target: string): boolean =>
    (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0) && (subgraph.streams ?? []).some(path => target.startsWith(path))

  const forward = async (request: IncomingMessage, response: ServerResponse, target: string): Promise<void> => {
    const { method = 'GET' } = request
    const headers = webHeaders(request.headers)
    const seal = headers.get(sealHeader)
    headers.delete(sealHeader)
    const head = { method, target, address: headers.get(addressHeader) ?? '' }
    const passing = streams(request, target) ? passBody(request, Number.POSITIVE_INFINITY) : null
    if (!passing) await readSeal(seal, isAddressed(aForward(head)))
    const body = passing || method === 'GET' || method === 'HEAD' ? Buffer.alloc(0) : await readBody(request, mostForwardBytes)
    const viewer = await readSeal(seal, isFor(passing ? forStream(head) : forForward(head, body)))
    if (!subgraph.http) throw doorRefusal(404, `The service ${slug} serves no HTTP beside GraphQL.`)
    const signal = leavingSignal(response)
    const sent = passing ? { body: passing.stream, duplex: 'half' } : body.length > 0 && { body: new Uint8Array(body) }
    const asked = new Request(`${publicUrl}${target}`, { method, headers, signal, redirect: 'manual', ...sent } as RequestInit)
    const answer = await subgraph.http(asked, viewer)
    // No client waits for the answer any more.
    const streamed = readableOf(answer)
    if (response.destroyed) return void streamed?.destroy()
    response.statusCode = answer.status
    for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
    const cookies = answer.headers.getSetCookie()
    if (cookies.length > 0) response.setHeader('set-cookie', cookies)
    if (answer.headers.get('content-type')?.startsWith('text/event-stream')) draining.spare(response)
    if (streamed) await pipeline(streamed, response)
    else response.end()
  }

  /** Has the router send the same to another replica: nothing of it was done here. */
  const refer = async (request: IncomingMessage, response: ServerResponse, told: Problem): Promise<void> => {
    request.resume()
    if (!request.complete) await new Promise(resolve => request.once('close', resolve).once('end', resolve))
    response.setHeader('connection', 'close').setHeader(notReadyHeader, '1')
    sendJson(response, told.status, told, problemType)
  }

  const handle = async (request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> => {
    const target = readTarget(request, () => false)
    if (typeof target === 'string') throw doorRefusal(400, target)
    const { method = 'GET' } = request
    const path = target.url.split('?', 1)[0]!
    if (request.method === 'GET' && path === '/health/live') return sendJson(response, 200, { status: 'live' })
    if (metrics && method === 'GET' && path === '/metrics') {
      if (!mayRead({ address: request.socket.remoteAddress ?? '', headers: request.headers }, metrics.token))
        throw new Refusal('UNAUTHENTICATED', 'Metrics are read from the machine itself, or with METRICS_TOKEN as Authorization: Bearer.')
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
      if (method !== 'POST') throw doorRefusal(405, 'The router asks by POST here.')
      const body = await readBody(request, mostBodyBytes)
      const viewer = await readSeal(seal, isFor(forAsk(method, target.url, body)))
      return sendJson(response, 200, await ask(viewer, jsonOf(body)))
    }
    if (path !== '/graphql') return forward(request, response, target.url)
    const viewer = await readSeal(seal, isFor(forOperation))
    if (method !== 'POST') throw doorRefusal(405, 'GraphQL is asked by POST here.')
    return sendJson(response, 200, tellable(await answerGraphql(request, response, viewer, requestId), requestId))
  }

  /** The template of a path, for spans: what is forwarded only its subgraph reads. */
  const routeOf = (url: string): string => {
    const path = url.split('?', 1)[0]!
    if (path === '/graphql' || path === factsPath || internal?.has(path)) return path
    return path.startsWith(`/${slug}/`) ? `/${slug}/*` : '/*'
  }

  // Streamed bodies have no time limit; the others have the one below.
  const server = createServer({ maxHeaderSize: mostHeaderBytes, requestTimeout: 0, headersTimeout: 60_000 }, (request, response) => {
    if (!streams(request, request.url ?? '')) mustArriveWithin(request, arriveMs, () => request.destroy())
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
    ).catch(error => {
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
    })
  })
  draining.watch(server)
  const sockets = new WebSocketServer({ server, path: '/graphql', maxPayload: mostBodyBytes, verifyClient: (_info, take) => take(!leaving, notReadyStatus) })
  const protocol = useServer<Record<string, unknown>, { viewer?: Viewer; renewal?: Renewal }>(
    {
      async onConnect({ connectionParams, extra }) {
        const viewer = await readSeal(connectionParams?.[sealHeader], isFor(forOperation)).catch(() => null)
        if (!viewer) return false
        const renewal = createRenewal(extra.socket)
        extra.renewal = renewal
        extra.viewer = seals.streaming(viewer, renewal.ask)
        return true
      },
      onPong: ({ extra }, payload) => extra.renewal?.heard(payload),
      onClose: ({ extra }) => extra.renewal?.end(),
      onSubscribe({ extra, connectionParams }, _id, { query, variables }) {
        const fetch = read(query)
        if (!('text' in fetch)) return fetch
        const requestId = String(connectionParams?.['x-request-id'] ?? newId()).slice(0, mostIdCharacters)
        const cause = { ...causeOf(requestId, name => connectionParams?.[name]), caller: loggedAs(extra.viewer!) }
        return {
          schema: subgraph.schema,
          document: fetch.document,
          contextValue: {
            fetch,
            cause,
            call: callOf(extra.viewer!, requestId, variables, connectionParams?.[addressHeader]),
            since: sinceOf(connectionParams),
          },
        }
      },
      execute: ({ contextValue }) => {
        const { fetch, call, cause } = contextValue as Started
        return doFor(cause, () => transport.fetch(fetch, call))
      },
      subscribe: (({ contextValue }: { contextValue: Started }) =>
        doFor(contextValue.cause, () => {
          const { fetch, call, since } = contextValue
          const begin = () => transport.subscribe(fetch, { ...call, deadline: performance.now() + streamMs, eventMs: streamMs })
          return since === null ? begin() : goOnFrom(since, begin)
        })) as never,
      // The listener receives events from here on, which the router must learn.
      onOperation({ extra }, _id, _payload, _args, result) {
        if (Symbol.asyncIterator in result) extra.socket.send(JSON.stringify({ type: 'ping', payload: { [begun]: true } }))
      },
      onNext(_context, _id, _payload, { contextValue }, result) {
        const { call, cause } = contextValue as Started
        return doFor(cause, () => tellable(result as ExecutionResult, call.requestId)) as never
      },
    },
    sockets,
  )
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

interface Started {
  readonly fetch: Fetch
  readonly call: FetchCall
  readonly cause: Cause
  /** Of a stream in place of one that broke: since when nobody has heard it. */
  readonly since: number | null
}

/** Milliseconds that are looked back at most: a router gives up sooner. */
const mostUnheardMs = 5 * 60_000

function sinceOf(said: Readonly<Record<string, unknown>> | undefined): number | null {
  const ms = Number(said?.[unheardHeader])
  return ms > 0 ? performance.now() - Math.min(ms, mostUnheardMs) : null
}

/** Characters of a request's id, with the number of an operation of a socket behind it. */
const mostIdCharacters = 80

function causeOf(requestId: string, header: (name: string) => unknown): Cause {
  const client = readClient(header)
  // Trusted because everything here requires the router's seal, which carries both values.
  const address = header(addressHeader)
  return {
    requestId,
    ...(client !== undefined && { client }),
    ...(typeof address === 'string' && { [origin]: readOrigin(address, header(agentHeader) ?? header('user-agent')) }),
  }
}

const isVariables = (value: unknown) => value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value))

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) ?? {}
  } catch {
    throw doorRefusal(400, 'The body is not valid JSON.')
  }
}

function sendJson(response: ServerResponse, status: number, value: unknown, type = 'application/json'): void {
  const text = JSON.stringify(value) ?? 'null'
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' }).end(text)
}
