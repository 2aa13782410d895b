import { randomUUID } from 'node:crypto'
import { type IncomingMessage, maxHeaderSize, type ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import helmet from 'helmet'
import type { Logger } from 'pino'
import { plainAddress } from '../../platform/caller/address.ts'
import { type Cause, doFor, origin, program, readClient, readOrigin, readProgram } from '../../platform/caller/cause.ts'
import { below, type Span, type Tracing } from '../../platform/caller/trace.ts'
import { type DomainError, statusOf } from '../../platform/errors.ts'
import { openAiError } from '../../subgraphs/http/openai-error.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { type BytesInFlight, createBytesInFlight } from '../engine/data/in-flight.ts'
import { canonicalPath, type Hosts } from '../hosts.ts'
import { createPace, turnOf } from '../live/pace.ts'
import { onAnswered } from '../metrics/answered.ts'
import type { CountError } from '../metrics/operations.ts'
import { readTarget } from '../target.ts'
import { beginRequest, endRequest } from '../tracing/request.ts'
import { ignoreBodies } from './body.ts'
import { corsHeaders, decideCors, type OpenRoutes } from './cors.ts'
import { variantIn } from './documents/graphs.ts'
import { accident, doorRefusal, type ErrorFormatting, problem, problemType, refusalOfThrown, retryAfterOf, sendErrors } from './errors.ts'
import { prefersHtml, readRequestId } from './headers.ts'
import { sendRefusalPage } from './landing.ts'
import { mustArriveWithin } from './receiving/passing.ts'
import { refusePipelining, WatchedRequest } from './receiving/pieces.ts'
import { boundSending, type SendingLimits } from './sending.ts'

export interface AppOptions {
  /** Public origin under which browsers reach the platform. */
  readonly publicUrl: string
  /** Routes that pages of more origins may call. @default none */
  readonly openRoutes?: OpenRoutes | null
  readonly hosts: Hosts
  /**
   * Whether a service serves a method and path itself that would otherwise be forwarded to identity. @default no
   * service does
   */
  readonly isOwn?: ((slug: Slug, method: string, path: string) => boolean) | undefined
  /** Whether a proxy's forwarding headers determine the caller's address; an address list trusts those proxies only. */
  readonly trustProxy: boolean | string
  /** Tells clients the text of internal errors. @default false */
  readonly exposeErrors?: boolean | undefined
  /** Answers a browser at an unknown address; null sends the router's own page. @default the router's own page */
  readonly lost?: ((request: FastifyRequest, reply: FastifyReply) => FastifyReply | null) | undefined
  /** Limits on answers that wait for clients to read them. @default sendingLimits */
  readonly sending?: SendingLimits | undefined
  /** Counts the bytes of waiting answers. @default a count of its own */
  readonly inFlight?: BytesInFlight | undefined
  /** Counts rejected requests. @default not counted */
  readonly countError?: CountError | undefined
  /** @default none */
  readonly tracing?: Tracing | undefined
  readonly log: Logger
}

/** Longest value of a parameter in a path, in characters; nothing is found at a longer one. */
export const maxParamLength = 500

/** Milliseconds within which headers and body of a request must arrive. */
const requestTimeout = 60_000

/**
 * Host names that browsers trust without TLS (Secure Contexts §3.1). On other hosts without TLS, browsers ignore the
 * isolation headers and warn of each in the console.
 */
const ownMachine = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i

/** Statuses and messages for Node's errors about requests that it could not read. */
const unreadable: Readonly<Record<string, readonly [status: number, sentence: string]>> = {
  HPE_HEADER_OVERFLOW: [431, `Address and headers of a request have at most ${maxHeaderSize} bytes together: send a long query by POST.`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunks of the body carry too many extensions: send it without them.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, `The request was not complete within ${requestTimeout / 1000} seconds: send it faster, or less of it.`],
}

/**
 * Creates the HTTP application of the router: it maps hosts to paths, gives requests ids and a log line, decides CORS,
 * and handles errors in one place.
 */
export async function createApp({
  publicUrl,
  hosts,
  openRoutes = null,
  isOwn = () => false,
  trustProxy,
  exposeErrors: expose = false,
  lost = () => null,
  sending,
  inFlight = createBytesInFlight(),
  countError,
  tracing,
  log,
}: AppOptions): Promise<FastifyInstance> {
  /** Requests that are answered before routing: with the message of their rejection, or null for a request of `*`. */
  const unrouted = new WeakMap<IncomingMessage, string | null>()
  const app: FastifyInstance = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // The request log line is written below: Fastify's own would contain the query string.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    // Request loggers are unused, and creating one takes longer than writing a line.
    childLoggerFactory: logger => logger,
    trustProxy,
    // Streamed bodies have no time limit; the others have the one below.
    requestTimeout: 0,
    // Requests that arrive on an open connection while the server closes are answered normally.
    return503OnClosing: false,
    http: { shouldUpgradeCallback, headersTimeout: requestTimeout, IncomingMessage: WatchedRequest },
    routerOptions: { maxParamLength },
    rewriteUrl(request) {
      const target = readTarget(request, hosts.knows)
      if (typeof target !== 'string' && target.url !== '*') {
        if (target.host !== request.headers.host) request.headers.host = target.host
        return canonicalPath(hosts, target.host, target.url, (slug, path) => isOwn(slug, request.method ?? '', path))
      }
      unrouted.set(request, typeof target === 'string' ? target : null)
      return '/'
    },
    genReqId: readRequestId,
    // Invalid addresses are detected before any hook runs.
    frameworkErrors: (error, request, reply) => {
      reply.headers(corsHeaders(hosts, request.headers.origin))
      refuse(error, request, reply)
    },
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) return
      const [status, sentence] = unreadable[error.code] ?? [400, 'This is not a valid HTTP request.']
      socket.end(writtenProblem(status, sentence))
    },
  })
  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (isLeft(error, request)) {
      log.debug({ requestId: request.id, err: error }, 'client disconnected')
      return reply.code(400).send()
    }
    // Errors of a route's operation are counted where the operation ran.
    if (!causes.get(request.raw)?.errors) countError?.({ extensions: { code: codeShown(refusalOfThrown(error)) } })
    return tellRefusal(error, request, reply, { log, expose })
  }
  /** Log context of each request: its id, its caller once known, and its client program. */
  const causes = new WeakMap<IncomingMessage, Cause>()
  const spans = new WeakMap<IncomingMessage, Span>()
  beginInTurn(app)
  app.addHook('onRequest', ({ raw, id, ip, routeOptions }, _reply, done) => {
    // A pipelined request whose client has disconnected has no address, and nobody waits for its answer.
    if (ip === undefined) return done(Object.assign(new Error('The client has gone.'), { code: 'ECONNRESET' }))
    const from = readOrigin(plainAddress(ip), raw.headers['user-agent'])
    const cause: Cause = { requestId: id, ...clientOf(raw), [origin]: from }
    causes.set(raw, cause)
    const span = tracing && !isOperators(raw.url) ? beginRequest(tracing, raw, id, unrouted.has(raw) ? undefined : routeOptions.url) : undefined
    if (span) spans.set(raw, span)
    doFor(cause, () => below(span, done))
  })
  limitArrival(app)
  // The body arrives by events of its connection, which many requests share.
  app.addHook('preValidation', ({ raw }, _reply, done) => doFor(causes.get(raw) ?? null, () => below(spans.get(raw), done)))
  let warned = trustProxy !== false
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    const refused = unrouted.get(request.raw)
    if (refused === null) return void reply.code(204).header('allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS').send()
    if (refused !== undefined) return done(doorRefusal(400, refused))
    if (!warned && request.headers['x-forwarded-for'] !== undefined) {
      warned = true
      log.warn('X-Forwarded-For is ignored, so all callers behind a proxy share its address: set TRUST_PROXY if there is a proxy')
    }
    done()
  })
  decideCors(app, hosts, openRoutes)
  boundSending(app, log, inFlight, sending)
  const guards = helmetHeaders()
  app.addHook('onRequest', ({ protocol, hostname }, reply, done) => {
    reply.headers(guards)
    const trustworthy = protocol === 'https' || publicUrl.startsWith('https:') || ownMachine.test(hostname)
    if (trustworthy) reply.header('cross-origin-opener-policy', 'same-origin').header('origin-agent-cluster', '?1')
    done()
  })
  logAnswers(app, log, { unrouted, spans, causes })
  // A request for an unknown path is refused without reading its body.
  ignoreBodies(app)
  app.setErrorHandler<FastifyError>((error, request, reply) => refuse(error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!
    const refusal = doorRefusal(404, `There is nothing at ${request.method} ${path.slice(0, 200)}.`)
    const isOfPrograms = /^\/(?:[a-z]+\/)?api\//.test(path)
    if (isOfPrograms || !['GET', 'HEAD'].includes(request.method) || !prefersHtml(request.headers.accept)) return refuse(refusal, request, reply)
    countError?.({ extensions: { code: codeShown(refusalOfThrown(refusal)) } })
    return lost(request, reply) ?? sendRefusalPage(reply, 404, refusal.message)
  })
  return app
}

/** Lets requests begin in turns, and refuses those that a connection sends without waiting for answers. */
function beginInTurn(app: FastifyInstance): void {
  const pace = createPace()
  app.addHook('onRequest', ({ raw, ip }, reply, done) => {
    try {
      refusePipelining(raw)
    } catch (refusal) {
      reply.header('connection', 'close')
      return done(refusal as DomainError)
    }
    if (ip === undefined || isOperators(raw.url)) return done()
    try {
      pace.begin(turnOf(raw, ip), done)
    } catch (refusal) {
      done(refusal as DomainError)
    }
  })
}

/** Cuts requests whose bodies do not arrive in time, unless their route streams. */
function limitArrival(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    if (!(routeOptions.config as { readonly streams?: unknown } | undefined)?.streams)
      mustArriveWithin(raw, requestTimeout, () => {
        // An injected request has no connection to close.
        if (!(raw.socket instanceof Socket)) return
        const [status, sentence] = unreadable.ERR_HTTP_REQUEST_TIMEOUT!
        if (!reply.raw.headersSent) raw.socket.end(writtenProblem(status, sentence))
        raw.socket.destroySoon()
      })
    done()
  })
}

/** What is known of a request besides itself. */
interface Known {
  readonly unrouted: WeakMap<IncomingMessage, string | null>
  readonly spans: WeakMap<IncomingMessage, Span>
  readonly causes: WeakMap<IncomingMessage, Cause>
}

/** Writes a log line for each answer, and ends its span. */
function logAnswers(app: FastifyInstance, log: Logger, { unrouted, spans, causes }: Known): void {
  // These log lines contain no caller input, so they need no redaction, which takes longer than writing them.
  const answers = log.child({}, { redact: [] })
  onAnswered(app, (request, reply) => {
    const { method, routeOptions, ip, id } = request
    const route = unrouted.has(request.raw) ? undefined : routeOptions.url
    const span = spans.get(request.raw)
    if (span) endRequest(span, reply.statusCode)
    const line = {
      requestId: id,
      caller: undefined,
      ...causes.get(request.raw),
      method,
      route: route ?? 'none',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      ip,
    }
    if (routeOptions.url?.startsWith('/health/')) answers.debug(line, 'answered')
    else answers.info(line, 'answered')
  })
}

/** Returns the headers that helmet adds to every answer. They are constant and computed once. */
function helmetHeaders(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  const response = {
    setHeader(name: string, value: string) {
      headers[name.toLowerCase()] = value
    },
    removeHeader() {},
  } as unknown as ServerResponse
  const add = helmet({ crossOriginEmbedderPolicy: false, crossOriginOpenerPolicy: false, originAgentCluster: false })
  add({} as IncomingMessage, response, () => {})
  return headers
}

/** Writes a complete HTTP answer for bytes that are no readable request; the connection ends with it. */
export function writtenProblem(status: number, sentence: string): string {
  const text = JSON.stringify(problem(status, 'BAD_USER_INPUT', sentence, randomUUID()))
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${problemType}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close`
  return `${head}\r\n\r\n${text}`
}

/**
 * Declines HTTP/2 upgrades (`Upgrade: h2c`), which some clients offer with every request, such as Java's: they are
 * answered in HTTP/1.1.
 */
export const shouldUpgradeCallback = (request: IncomingMessage): boolean => /^websocket$/i.test(request.headers.upgrade ?? '')

/** Answers every request that failed: GraphQL errors on `/graphql` and below it, problem+json elsewhere. */
function tellRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply, { log, expose }: Pick<ErrorFormatting, 'log' | 'expose'>): FastifyReply {
  const known = refusalOfThrown(error)
  const onGraphql = variantIn(request.url) !== undefined
  if (!known) log.error({ requestId: request.id, err: error }, 'request failed')
  else if (known.isWait) log.warn({ requestId: request.id, err: error }, 'request failed')
  const status = known?.status ?? 500
  const { code: _code, ...details } = known?.refusal.extensions ?? {}
  const sentence = known?.refusal.message ?? accident(error, { requestId: request.id, expose })
  const shownCode = codeShown(known)
  // The unread rest of the body must neither be parsed as the next request nor be read for ever.
  if (status === 413) {
    reply.header('connection', 'close')
    // Node would continue to read the body while it closes the connection, possibly hundreds of thousands of pieces in
    // one turn.
    reply.raw.once('finish', () => request.raw.socket.destroy())
  }
  if (status === statusOf.UNAUTHENTICATED) reply.header('www-authenticate', 'Bearer')
  const retryAfter = known && retryAfterOf(known)
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter))
  if (onGraphql) return sendErrors(reply, status, [{ message: sentence, extensions: { ...details, code: shownCode } }], request.headers.accept)
  return reply
    .code(status)
    .header('content-type', problemType)
    .send(
      JSON.stringify(
        problem(status, shownCode, sentence, request.id, isOpenAis(request) ? { ...details, error: openAiError(shownCode, sentence, details) } : details),
      ),
    )
}

/** Whether a request came to an address that speaks as OpenAI's do (`ForwardRow.problems`). */
const isOpenAis = ({ routeOptions }: FastifyRequest): boolean => (routeOptions.config as { readonly problems?: unknown } | undefined)?.problems === 'openai'

/** The client program of a request, as its log context and use of the schema name it. */
function clientOf({ headers }: IncomingMessage): Pick<Cause, 'client' | typeof program> {
  const header = (name: string) => headers[name]
  const client = readClient(header)
  return { ...(client !== undefined && { client }), [program]: readProgram(header) }
}

/** Whether a request failed only because its client left while sending, waiting or receiving. */
const isLeft = (error: unknown, { raw }: FastifyRequest): boolean => {
  const { name, code } = (error ?? {}) as NodeJS.ErrnoException
  // Work for a client is aborted when the client leaves (`leavingSignal`), and fails with that error.
  const hasGone = raw.socket.destroyed || raw.socket.remoteAddress === undefined
  return hasGone && (name === 'AbortError' || ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(code)))
}

/** Returns the code to show; 404 has its own entry in the table of codes. */
const codeShown = (known: ReturnType<typeof refusalOfThrown>): string =>
  known?.status === 404 ? 'NOT_FOUND' : String(known?.refusal.extensions.code ?? 'INTERNAL_SERVER_ERROR')

/** Whether a path belongs to operators' probes, which come many times a minute and are not logged. */
const isOperators = (url = ''): boolean => /^\/(?:health\/|metrics(?:\?|$))/.test(url)
