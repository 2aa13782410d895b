import { ApolloServer, type GraphQLRequestListener, HeaderMap, type HTTPGraphQLResponse } from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type GraphQLFormattedError, getOperationAST, Kind } from 'graphql'
import type { Logger } from 'pino'
import { causeNow, doFor } from '../../platform/caller/cause.ts'
import { Refusal, statusOf } from '../../platform/errors.ts'
import { type Authenticate, type Caller, isCaller } from '../access/authenticate.ts'
import { browserOf } from '../access/browser.ts'
import type { Engine, OperationRequest } from '../engine/engine.ts'
import { createGateway, type RequestContext } from '../engine/gateway.ts'
import type { Hosts } from '../hosts.ts'
import type { Asked, Hub } from '../live/shared/hub.ts'
import type { Shares } from '../live/shares.ts'
import type { Streams } from '../live/streams.ts'
import type { CountError } from '../metrics/operations.ts'
import { readJsonBodies } from './body.ts'
import { directAnswer, readDirect } from './direct.ts'
import { type Documents, unresolvedOperation } from './documents/documents.ts'
import type { Naming, Sources } from './documents/sources.ts'
import { doorRefusal, type Telling, tell, tellAsError } from './errors.ts'
import { prefersHtml, prefersResponseJson, takesJson, webHeaders } from './headers.ts'
import { landingPage } from './landing.ts'
import { refusedValues } from './limits.ts'
import { leavingSignal, rememberCaller } from './sending.ts'
import { sendStream } from './streaming/answer.ts'
import { type StreamForm, streamFormOf } from './streaming/form.ts'

export interface HttpDoor {
  readonly engine: Engine
  readonly documents: Documents
  readonly sources: Sources
  readonly authenticate: Authenticate
  /** What serves subscriptions. */
  readonly hub: Hub
  readonly streams: Streams
  /** What of operations, and of events, callers may have under way. */
  readonly shares: Shares
  /** And of beginnings of streams. */
  readonly beginnings: Shares
  readonly events: Shares
  /** Milliseconds between heartbeats of a stream. @default 10000 */
  readonly heartbeatMs?: number | undefined
  readonly hosts: Hosts
  readonly publicUrl: string
  readonly production: boolean
  /** Tells clients the text of internal errors. @default false */
  readonly exposeErrors?: boolean | undefined
  /** Counts what is refused before the engine is asked. @default nobody does */
  readonly countError?: CountError | undefined
  /** Whether usual requests are answered without Apollo Server, with the same answers. @default true */
  readonly direct?: boolean | undefined
  readonly log: Logger
}

/** Failures of the request itself, which `application/json` answers with 200 and `application/graphql-response+json` with 400. */
const requestFailures: ReadonlySet<unknown> = new Set(['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'OPERATION_RESOLUTION_FAILURE', 'BAD_USER_INPUT'])

/**
 * Serves `/graphql` over HTTP (GraphQL over HTTP, draft of the GraphQL foundation): Apollo Server speaks the protocol, the
 * engine executes. Resolves when Apollo Server has started; it stops with the app.
 */
export async function serveGraphql(app: FastifyInstance, door: HttpDoor): Promise<void> {
  const ready = new WeakSet<object>()
  const engine = tellingEngine(door, ready)
  const server = createApollo(door, engine, ready)
  const telling = { ...door, engine }
  await server.start()
  app.addHook('onClose', () => server.stop())
  await app.register(async scope => {
    readJsonBodies(scope)
    scope.route({ method: ['GET', 'POST'], url: '/graphql', handler: (request, reply) => answer(server, telling, request, reply) })
    scope.route({
      method: ['PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url: '/graphql',
      handler: (_request, reply) => {
        reply.header('allow', 'GET, POST')
        throw doorRefusal(405, 'GraphQL is asked by POST, or by GET for queries.')
      },
    })
  })
}

/** The engine with errors in the form in which they leave the platform. @param ready holds those that have it */
function tellingEngine({ engine, log, production, exposeErrors: expose }: HttpDoor, ready: WeakSet<object>): Engine {
  return {
    ...engine,
    get schema() {
      return engine.schema
    },
    async execute(request) {
      const result = await engine.execute(request)
      if (!result.errors) return result
      const errors = result.errors.map(error => tellAsError(error, { requestId: request.requestId, log, hideSuggestions: production, expose }))
      for (const error of errors) ready.add(error)
      return { ...result, errors }
    },
  }
}

function createApollo(
  { documents, log, production, exposeErrors: expose, countError }: HttpDoor,
  engine: Engine,
  ready: WeakSet<object>,
): ApolloServer<RequestContext> {
  /** Under which request an error came up: Apollo Server formats it without saying so. */
  const requestOf = new WeakMap<object, string>()
  return new ApolloServer<RequestContext>({
    gateway: createGateway(engine),
    logger: log,
    // The door has a rule of its own (`refusesUnasked`), and decides on introspection when it validates.
    csrfPrevention: false,
    introspection: true,
    // By what name a request calls its document was settled before.
    persistedQueries: false,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    allowBatchedHttpRequests: false,
    stringifyResult: value => JSON.stringify(value),
    formatError(formatted, error) {
      if (ready.has(error as object)) return formatted
      countError?.({ extensions: formatted.extensions })
      return tell({ ...formatted, originalError: error }, { requestId: requestOf.get(error as object) ?? '-', log, hideSuggestions: production, expose })
    },
    documentStore: {
      // Apollo's key is a digest of the schema and the SHA-256 of the text.
      get: async key => documents.known(key.slice(key.lastIndexOf(':') + 1)),
      set: async () => undefined,
      delete: async () => undefined,
    },
    plugins: [
      // The landing page is the door's own; Apollo Server would put its page before every GET that prefers HTML.
      ApolloServerPluginLandingPageDisabled(),
      {
        requestDidStart: async () => ({
          async didResolveOperation({ document, request }) {
            const unresolved = unresolvedOperation(document, request.operationName)
            if (unresolved) throw Object.assign(unresolved, { extensions: { ...unresolved.extensions, http: { status: 400 } } })
          },
          async didEncounterErrors({ errors, contextValue }) {
            for (const error of errors) requestOf.set(error, contextValue.requestId)
          },
          willSendResponse: async context => lowerStatus(context),
        }),
      },
    ],
  })
}

const isRequestFailure = ({ extensions }: Pick<GraphQLFormattedError, 'extensions'>): boolean => requestFailures.has(extensions?.code)

type Sending = Parameters<NonNullable<GraphQLRequestListener<RequestContext>['willSendResponse']>>[0]

async function lowerStatus({ request, response }: Sending): Promise<void> {
  if (response.body.kind !== 'single' || response.http.status !== 400) return
  const { errors, data } = response.body.singleResult
  if (data != null || !errors?.length || !errors.every(isRequestFailure)) return
  if (!prefersResponseJson(request.http?.headers.get('accept'))) response.http.status = 200
}

async function answer(server: ApolloServer<RequestContext>, door: HttpDoor, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const headers = webHeaders(request.headers)
  const accept = headers.get('accept')
  const query = new URL(request.url, 'http://door').search
  if (request.method === 'GET' && prefersHtml(accept) && !new URLSearchParams(query).has('query')) {
    const page = landingPage(door.publicUrl)
    return reply.headers(page.headers).send(page.html)
  }
  if (request.method === 'POST' && !isJson(headers)) throw doorRefusal(415, 'A GraphQL request is JSON: send Content-Type application/json.')
  if (refusesUnasked(headers, door.hosts))
    throw doorRefusal(
      400,
      'This request could have been sent by a foreign page: send it with Content-Type application/json or with the header Apollo-Require-Preflight.',
    )

  const caller = await door.authenticate(headers, { safe: request.method === 'GET' })
  const telling: Telling = { requestId: request.id, log: door.log, hideSuggestions: door.production, expose: door.exposeErrors }
  const refuse = (status: number, errors: readonly unknown[]) => {
    for (const error of errors) door.countError?.(error)
    return sendErrors(
      reply,
      status,
      errors.map(error => tell(error, telling)),
      accept,
    )
  }
  if (!isCaller(caller)) {
    for (const line of caller.setCookie) reply.header('set-cookie', line)
    if (caller.refusal.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer')
    return refuse(statusOf[caller.refusal.code], [caller.refusal])
  }
  const name = rememberCaller(request, caller.viewer)

  const refused = refusedValues(variablesOf(request, query))
  const naming = namingOf(request, query)
  const read = refused ? { errors: [refused] } : door.sources.find(naming, caller.viewer.kind !== 'anonymous')
  if (read && 'status' in read) return refuse(read.status!, read.errors)
  const operation = read && 'document' in read ? getOperationAST(read.document, operationNameOf(request, query)) : null
  const form = streamFormOf(accept, operation?.operation === 'subscription')
  if (read && 'errors' in read) return refuse(form || prefersResponseJson(accept) ? 400 : 200, read.errors)

  if (form && read && operation?.operation === 'subscription') {
    const variables = variablesOf(request, query)
    if (variables !== undefined && variables !== null && (typeof variables !== 'object' || Array.isArray(variables)))
      throw doorRefusal(400, 'The variables of an operation are a JSON object.')
    return streamSubscription(
      door,
      form,
      reply,
      { caller, name },
      {
        tellErrors: errors => errors.map(error => tell(error, telling)),
        request: {
          document: read.document,
          operationName: operation.name?.value,
          variables: (variables as Record<string, unknown> | null | undefined) ?? undefined,
          viewer: caller.viewer,
          requestId: request.id,
          headers,
          inTurn: inTurnOf(door.events, name),
        },
      },
    )
  }

  const changes = read?.document.definitions.some(definition => definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'mutation')
  const known = changes ? browserOf(headers, caller, door.publicUrl) : null
  if (known?.setCookie) reply.header('set-cookie', known.setCookie)
  const signal = leavingSignal(reply.raw)
  const place = door.shares.enter(name, signal)
  if (place) await place
  const asked = read && 'text' in read ? withText(request, query, naming, read.text) : { body: request.body, search: query }
  const direct = !form && operation && request.method === 'POST' && door.direct !== false && takesJson(accept) ? readDirect(asked.body) : null
  let result: HTTPGraphQLResponse
  try {
    if (direct && read && 'document' in read) {
      const { variables } = direct
      const context = { viewer: caller.viewer, requestId: request.id, headers, browser: known?.browser, signal }
      const executed = await door.engine.execute({ ...context, document: read.document, operationName: operation?.name?.value, variables })
      const { status, headers: own, body } = directAnswer(executed, executed.errors, accept, isRequestFailure)
      return reply.code(status).headers(own).send(body)
    }
    result = await server.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method: request.method, headers: headersFor(form, headers), ...asked },
      context: async () => ({ viewer: caller.viewer, requestId: request.id, headers, browser: known?.browser, signal }),
    })
  } finally {
    door.shares.leave(name)
  }
  for (const [name, value] of result.headers) reply.header(name, value)
  if (result.body.kind !== 'complete') throw new Error('the engine answers whole')
  // One event, and no more: a client that speaks nothing else asks everything so.
  if (form && (result.status ?? 200) === 200)
    return reply
      .code(200)
      .header('content-type', form.contentType)
      .send(`${form.next(result.body.string.trimEnd())}${form.complete}`)
  return reply.code(result.status ?? 200).send(result.body.string)
}

/** An answer that goes into a stream is made as one that stands alone, with the status that says whether anything was executed. */
function headersFor(form: StreamForm | null, headers: Headers): HeaderMap {
  const own = new HeaderMap(headers)
  if (form) own.set('accept', 'application/graphql-response+json')
  return own
}

const inTurnOf = (events: Shares, name: string): OperationRequest['inTurn'] => {
  const cause = causeNow() ?? null
  return work => doFor(cause, () => events.run(name, work))
}

/** Who asks, and under what it counts. */
interface Asker {
  readonly caller: Caller
  readonly name: string
}

/** Answers a subscription with its events, or with why it does not start. */
async function streamSubscription(door: HttpDoor, form: StreamForm, reply: FastifyReply, { caller, name }: Asker, asked: Asked): Promise<FastifyReply> {
  const place = door.hub.reserve(name)
  if (place instanceof Refusal) throw place
  const signal = leavingSignal(reply.raw)
  let joined: Awaited<ReturnType<Hub['join']>>
  try {
    joined = await door.beginnings.run(name, () => door.hub.join({ ...asked, request: { ...asked.request, signal } }, place), signal)
  } catch (cause) {
    place()
    throw cause
  }
  if ('listen' in joined) return sendStream(reply, form, joined, { caller, requestId: asked.request.requestId }, door)
  const errors = joined.errors && asked.tellErrors(joined.errors)
  // Nothing was executed: that is no event.
  if (joined.data === undefined) return sendErrors(reply, 400, errors ?? [], 'application/graphql-response+json')
  return reply
    .code(200)
    .header('content-type', form.contentType)
    .send(`${form.begin}${form.next(JSON.stringify({ ...joined, ...(errors && { errors }) }))}${form.complete}`)
}

/** The name of the operation to run; what is no name says Apollo Server. */
function operationNameOf(request: FastifyRequest, query: string): string | undefined {
  const named =
    request.method === 'GET' ? new URLSearchParams(query).get('operationName') : (request.body as { operationName?: unknown } | null | undefined)?.operationName
  return typeof named === 'string' ? named : undefined
}

/** What a request says of its document. What cannot be read of it Apollo Server says is wrong. */
function namingOf(request: FastifyRequest, query: string): Naming {
  if (request.method !== 'GET') return (request.body as Naming | null | undefined) ?? {}
  const parameters = new URLSearchParams(query)
  let extensions: unknown
  try {
    extensions = JSON.parse(parameters.get('extensions') ?? 'null')
  } catch {}
  return { query: parameters.get('query'), documentId: parameters.get('documentId'), extensions }
}

/** A request as it would be had it brought the text of its document, which it may have named in another way. */
function withText(
  { method, body }: FastifyRequest,
  search: string,
  { query, documentId, extensions }: Naming,
  text: string,
): { body: unknown; search: string } {
  const { persistedQuery, ...others } = (extensions as Record<string, unknown> | null | undefined) ?? {}
  if (query === text && persistedQuery === undefined && (documentId ?? null) === null) return { body, search }
  const left = Object.keys(others).length > 0 ? others : undefined
  if (method !== 'GET') {
    const { documentId: _named, extensions: _all, ...rest } = body as Record<string, unknown>
    return { body: { ...rest, query: text, ...(left && { extensions: left }) }, search }
  }
  const parameters = new URLSearchParams(search)
  parameters.set('query', text)
  parameters.delete('extensions')
  if (left) parameters.set('extensions', JSON.stringify(left))
  return { body, search: `?${parameters}` }
}

/** The variables that a request brings; undefined when they cannot be read, of which Apollo Server says what is wrong. */
function variablesOf(request: FastifyRequest, query: string): unknown {
  if (request.method !== 'GET') return (request.body as { variables?: unknown } | null | undefined)?.variables
  try {
    return JSON.parse(new URLSearchParams(query).get('variables') ?? 'null') as unknown
  } catch {
    return undefined
  }
}

/** Sends errors in place of an execution, in the type that the client prefers. */
export function sendErrors(reply: FastifyReply, status: number, errors: readonly GraphQLFormattedError[], accept: string | null | undefined): FastifyReply {
  const type = prefersResponseJson(accept) ? 'application/graphql-response+json' : 'application/json'
  return reply.code(status).header('content-type', `${type}; charset=utf-8`).send(JSON.stringify({ errors }))
}

const isJson = (headers: Headers) => /^\s*application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')

/**
 * A browser sends some requests for foreign pages without asking first. One of that shape is refused if it carries what a
 * foreign page could abuse: a cookie, a foreign Origin, or a Sec-Fetch-Site that says so.
 */
function refusesUnasked(headers: Headers, hosts: Hosts): boolean {
  if (isJson(headers) || headers.has('apollo-require-preflight') || headers.has('x-apollo-operation-name')) return false
  const [origin, site] = [headers.get('origin'), headers.get('sec-fetch-site')]
  return headers.has('cookie') || (origin !== null && !hosts.trusts(origin)) || (site !== null && site !== 'same-origin' && site !== 'none')
}
