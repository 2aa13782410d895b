import { type ApolloServer, HeaderMap, type HTTPGraphQLResponse } from '@apollo/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type DocumentNode, getOperationAST, Kind } from 'graphql'
import { statusOf } from '../../../platform/errors.ts'
import { isCaller } from '../../access/authenticate.ts'
import { browserOf } from '../../access/browser.ts'
import type { Answer } from '../../engine/engine.ts'
import type { RequestContext } from '../../engine/gateway.ts'
import type { Hosts } from '../../hosts.ts'
import { readJsonBodies } from '../body.ts'
import { usesIncremental } from '../documents/deferring.ts'
import type { Graphs, ServedGraph } from '../documents/graphs.ts'
import { doorRefusal, type ErrorFormatting, formatError, sendErrors } from '../errors.ts'
import { prefersHtml, prefersResponseJson, takesJson, webHeaders } from '../headers.ts'
import { landingPage, sendRefusalPage } from '../landing.ts'
import { refusedValues } from '../limits.ts'
import { leavingSignal, rememberCaller } from '../sending.ts'
import { type StreamForm, streamFormOf } from '../streaming/form.ts'
import { incrementalWritingOf } from '../streaming/incremental-form.ts'
import { createApollo, isRequestFailure, tellingEngine } from './apollo.ts'
import { readAsked, withText } from './asked.ts'
import { cachingHeaders } from './caching.ts'
import { type DirectAnswer, directAnswer, readDirect } from './direct.ts'
import type { HttpDoor } from './door.ts'
import { answerIncrementally, mayAnswerLater } from './incremental.ts'
import { areVariables, eventFormOf, streamSubscription } from './subscription.ts'

/** One graph behind the door: Apollo Server for its unusual requests, and the door whose errors are formatted. */
interface Serving {
  readonly server: ApolloServer<RequestContext>
  readonly door: HttpDoor
}

/**
 * Serves `/graphql` over HTTP (GraphQL over HTTP, draft of the GraphQL foundation), and each variant of the graph at
 * `/graphql/<name>`: Apollo Server handles the protocol, the engine executes. Resolves when Apollo Server has started;
 * it stops with the app. That of a variant starts with its first request.
 */
export async function serveGraphql(app: FastifyInstance, shared: Omit<HttpDoor, keyof ServedGraph>, graphs: Graphs): Promise<void> {
  const started: ApolloServer<RequestContext>[] = []
  const start = async (graph: ServedGraph): Promise<Serving> => {
    const ready = new WeakSet<object>()
    const door = { ...shared, ...graph }
    const engine = tellingEngine(door, ready)
    const server = createApollo(door, engine, ready)
    await server.start()
    started.push(server)
    return { server, door: { ...door, engine } }
  }
  const whole = await start(graphs.whole)
  app.addHook('onClose', async () => void (await Promise.all(started.map(server => server.stop()))))
  await app.register(async scope => {
    readJsonBodies(scope)
    serveAt(scope, '/graphql', () => whole)
    for (const name of graphs.names) {
      let opened: Promise<Serving> | undefined
      serveAt(scope, `/graphql/${name}`, () => {
        opened ??= start(graphs.variant(name)).catch(error => {
          opened = undefined
          throw error
        })
        return opened
      })
    }
  })
}

/** Serves a graph at a path. @param serving returns it, as a promise where it is being opened */
function serveAt(scope: FastifyInstance, path: string, serving: () => Serving | Promise<Serving>): void {
  for (const url of [path, `${path}/`]) {
    scope.route({
      method: ['GET', 'POST'],
      url,
      handler(request, reply) {
        const opened = serving()
        return 'server' in opened ? answer(opened, request, reply) : opened.then(late => answer(late, request, reply))
      },
    })
    scope.route({
      method: ['PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url,
      handler: (_request, reply) => {
        reply.header('allow', 'GET, POST')
        throw doorRefusal(405, 'Send GraphQL requests by POST, or queries by GET.')
      },
    })
  }
}

async function answer({ server, door }: Serving, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const headers = webHeaders(request.headers)
  const accept = headers.get('accept')
  const asked = readAsked(request)
  if (request.method === 'GET' && prefersHtml(accept) && asked.naming.query === null) {
    // In production no page is served that loads programs from other origins.
    if (door.production) return sendRefusalPage(reply, 400, 'This is the GraphQL endpoint for programs: send POST, or GET with a query.')
    const page = landingPage(door.publicUrl, door.variant)
    return reply.headers(page.headers).send(page.html)
  }
  if (request.method === 'POST' && !isJson(headers)) throw doorRefusal(415, 'A GraphQL request must be JSON: send Content-Type application/json.')
  if (refusesUnasked(headers, door.hosts))
    throw doorRefusal(
      400,
      'This request could have been sent by a foreign page: send it with Content-Type application/json or with the header Apollo-Require-Preflight.',
    )

  const caller = await door.authenticate(headers, { safe: request.method === 'GET' })
  const formatting: ErrorFormatting = { requestId: request.id, log: door.log, hideSuggestions: door.production, expose: door.exposeErrors }
  const formatErrors = (errors: readonly unknown[]) => errors.map(error => formatError(error, formatting))
  const refuse = (status: number, errors: readonly unknown[]) => {
    for (const error of errors) door.countError?.(error)
    return sendErrors(reply, status, formatErrors(errors), accept)
  }
  if (!isCaller(caller)) {
    for (const line of caller.setCookie) reply.header('set-cookie', line)
    if (caller.refusal.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer')
    const { retryAfter } = caller.refusal.extensions as { readonly retryAfter?: number }
    if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
    return refuse(statusOf[caller.refusal.code], [caller.refusal])
  }
  const claim = rememberCaller(request, caller.viewer)

  const refused = refusedValues(asked.variables)
  const found = refused ? { errors: [refused] } : await door.sources.find(asked.naming, { name: claim.caller, isKnown: caller.viewer.kind !== 'anonymous' })
  if (found && 'errors' in found) {
    const status = streamFormOf(accept, false) || prefersResponseJson(accept) ? 400 : 200
    return refuse(found.status ?? status, found.errors)
  }
  const operation = found && getOperationAST(found.document, asked.operationName)
  const form = streamFormOf(accept, operation?.operation === 'subscription')
  const context = { viewer: caller.viewer, claim, requestId: request.id, graphVariant: door.variant, headers, signal: leavingSignal(reply.raw) }
  if (form && found && operation?.operation === 'subscription') {
    const incremental = eventFormOf(door, form, found.document, accept)
    const subscription = { ...context, document: found.document, operationName: operation.name?.value, variables: asked.variables, incremental }
    return streamSubscription(door, reply, subscription, { form, caller, claim, formatErrors })
  }

  const changes = found?.document.definitions.some(each => each.kind === Kind.OPERATION_DEFINITION && each.operation === 'mutation')
  const known = changes ? browserOf(headers, caller, door.publicUrl) : null
  if (known?.setCookie) reply.header('set-cookie', known.setCookie)
  const whole = { ...context, browser: known?.browser }
  const sent = found ? withText(asked, found.text) : asked.sent
  const isUsual = found && operation && !form && request.method === 'POST' && door.direct !== false && takesJson(accept)
  const direct = isUsual ? readDirect(sent.body, found.document, operation) : null
  const writing = found && operation ? incrementalWritingOf(accept, () => mayAnswerLater(door, found.document, operation, request.method)) : null
  if (writing && areVariables(asked.variables)) {
    const { document } = found!
    const later = { ...whole, document, operationName: operation!.name?.value, variables: asked.variables ?? undefined, incremental: writing.form }
    return answerIncrementally(door, reply, later, { writing, caller, claim, accept, formatErrors })
  }
  const run = async () => {
    if (direct) {
      const executed = await door.engine.execute({ ...whole, ...direct })
      return directAnswer(executed, executed.errors, accept, isRequestFailure)
    }
    let executed: Answer = {}
    const answered = (answer: Answer) => {
      executed = answer
    }
    const httpGraphQLRequest = { method: request.method, headers: headersFor(form, headers, found?.document), ...sent }
    const response = answerOf(await server.executeHTTPGraphQLRequest({ httpGraphQLRequest, context: async () => ({ ...whole, answered }) }))
    return form ? response : { ...response, headers: { ...response.headers, ...cachingHeaders(executed) } }
  }
  const { status, headers: own, body } = await door.shares.run(claim, run, context.signal)
  reply.code(status).headers(own)
  // Sends a single event: a client that accepts only event streams uses them for every operation.
  if (form && status === 200) return reply.header('content-type', form.contentType).send(`${form.next(body.trimEnd())}${form.complete}`)
  return reply.send(body)
}

/**
 * Headers for a streamed operation's first answer: it is requested in GraphQL's own media type, whose status says
 * whether anything was executed. A client that takes incremental answers, or sends `@defer`, gets JSON where it names
 * no form of JSON.
 */
function headersFor(form: StreamForm | null, headers: Headers, document: DocumentNode | undefined): HeaderMap {
  const own = new HeaderMap(headers)
  const accept = headers.get('accept')
  if (form) own.set('accept', 'application/graphql-response+json')
  else if (!takesJson(accept) && (/multipart\/mixed|text\/event-stream/i.test(accept ?? '') || (document && usesIncremental(document))))
    own.set('accept', 'application/json')
  return own
}

function answerOf({ status = 200, headers, body }: HTTPGraphQLResponse): DirectAnswer {
  if (body.kind !== 'complete') throw new Error('the engine answers whole')
  return { status, headers: Object.fromEntries(headers), body: body.string }
}

const isJson = (headers: Headers) => /^\s*application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '')

/**
 * Whether to reject a request that browsers send across origins without a preflight. It is rejected if it carries what
 * a foreign page could abuse: a cookie, a foreign Origin, or a Sec-Fetch-Site header of another site. A request from
 * our own page, as the browser itself reports, is accepted: an EventSource cannot send custom headers.
 */
function refusesUnasked(headers: Headers, hosts: Hosts): boolean {
  if (isJson(headers) || headers.has('apollo-require-preflight') || headers.has('x-apollo-operation-name')) return false
  const [origin, site] = [headers.get('origin'), headers.get('sec-fetch-site')]
  const isOurs = origin === null ? site === 'same-origin' : hosts.trusts(origin)
  return !isOurs && (headers.has('cookie') || origin !== null || (site !== null && site !== 'none'))
}
