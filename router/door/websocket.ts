import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql'
import { CloseCode, type Context, GRAPHQL_TRANSPORT_WS_PROTOCOL, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws'
import type { Logger } from 'pino'
import { type WebSocket, WebSocketServer } from 'ws'
import { neighbourhoodOf } from '../../platform/caller/address.ts'
import { type Cause, doFor, organization } from '../../platform/caller/cause.ts'
import { finished, type Span, type Tracing } from '../../platform/caller/trace.ts'
import { Refusal } from '../../platform/errors.ts'
import { createCounter } from '../../platform/limit.ts'
import { loggedAs } from '../../subgraphs/viewer.ts'
import type { AddressOf } from '../access/address.ts'
import { type Authenticate, type Caller, credentialHeaders, isCaller, serviceHeaders } from '../access/authenticate.ts'
import { type Claim, claimOf } from '../access/callers/claim.ts'
import { credentialsIn } from '../access/parameters.ts'
import type { BytesInFlight } from '../engine/data/in-flight.ts'
import type { Engine, OperationRequest } from '../engine/engine.ts'
import type { Hosts } from '../hosts.ts'
import type { KeyRates } from '../live/key-rates.ts'
import type { Hub } from '../live/shared/hub.ts'
import type { Told } from '../live/shared/told.ts'
import { inTurnOf, type Shares } from '../live/shares.ts'
import { forbiddenCode, type Streams, tryAgainCode } from '../live/streams.ts'
import { createNames } from '../metrics/names.ts'
import { anonymous, describeOperation, markOperation } from '../metrics/operation-span.ts'
import { type CountError, productOf } from '../metrics/operations.ts'
import { readTarget } from '../target.ts'
import { type Documents, type Reading, unresolvedOperation } from './documents/documents.ts'
import type { Found, Sources } from './documents/sources.ts'
import { tell } from './errors.ts'
import { webHeaders } from './headers.ts'
import { refusedValues } from './limits.ts'
import { forNobody, toldBy, toldUnder, underWay, unlessOver } from './streaming/pushed.ts'
import { type Extra, LeavingSocket, sayGoodbye, serve, socketLimits, tooMany, tooManyCode } from './streaming/socket.ts'

export interface WebSocketDoor {
  readonly engine: Engine
  readonly documents: Documents
  readonly sources: Sources
  readonly authenticate: Authenticate
  readonly streams: Streams
  /** What serves subscriptions. */
  readonly hub: Hub
  /** What of operations, of starts of streams, and of their events callers may have under way. */
  readonly keyRates: KeyRates
  readonly shares: Shares
  readonly starts: Shares
  readonly events: Shares
  /** Where the bytes of answers are counted that wait to be read. */
  readonly inFlight: BytesInFlight
  readonly hosts: Hosts
  /** Who dials: one address may not take every socket. */
  readonly addressOf: AddressOf
  readonly hideSuggestions: boolean
  /** Tells clients the text of internal errors. @default false */
  readonly exposeErrors?: boolean | undefined
  /** Open sockets of one address, or of one network of IPv6 with 64 bits. @default 100 */
  readonly perAddress?: number | undefined
  /** Open sockets of one person, or of one API key. @default 50 */
  readonly perViewer?: number | undefined
  /** Messages of one socket a second, and ten times as many at once. @default 100 */
  readonly messages?: number | undefined
  /** Milliseconds between pings; a client that answers none of them for that long is gone. @default 12000 */
  readonly pingMs?: number | undefined
  /** Counts what is refused before the engine is asked. @default nobody does */
  readonly countError?: CountError | undefined
  /** @default none */
  readonly tracing?: Tracing | undefined
  readonly log: Logger
}

/** GraphQL over WebSocket (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md) at `/graphql`. */
export interface Sockets {
  /** Takes the upgrade requests of an HTTP server. */
  attach(server: Server): void
  /** How many are open. */
  readonly size: number
  /** Says goodbye (1001) to every client and takes no new one. */
  close(): void
}

/** How many names of operations spans are called by: they are of callers' own making. */
const mostNames = 500

type Socket = Context<Record<string, unknown> | undefined, Extra>

interface Asked extends OperationRequest {
  readonly cause: Cause
  readonly claim: Claim
  readonly by: Caller
  /** Aborts when the operation is over before there is a result. */
  readonly signal: AbortSignal
  /** Sends an event of the operation. */
  tell(told: Told): void
  /** Gives back the place that it has among its caller's subscriptions. */
  place(): void
}

/** A message that subscribes, and how many bytes it has. */
interface Subscribing {
  readonly id: string
  readonly payload: SubscribePayload
  readonly cause: Cause & { readonly requestId: string }
  readonly bytes: number
}

/** What an operation of a socket carries through graphql-ws. */
interface Operation extends ExecutionArgs {
  readonly contextValue: Asked
}

export function createSockets(door: WebSocketDoor): Sockets {
  const { engine, documents, sources, authenticate, keyRates, streams, shares, starts, events, log } = door
  const { perAddress = socketLimits.perAddress, perViewer = socketLimits.perViewer } = door
  const manner = { log, hideSuggestions: door.hideSuggestions, expose: door.exposeErrors }
  const unwatch = new WeakMap<Extra, () => void>()
  const addresses = createCounter()
  const viewers = createCounter()

  const protocol = makeServer<Record<string, unknown> | undefined, Extra>({
    connectionInitWaitTimeout: socketLimits.initMs,
    async onConnect({ connectionParams, extra }) {
      const { origin } = extra.request.headers
      // Browsers do not apply CORS to WebSockets, so the server refuses foreign origins here.
      if (origin !== undefined && !door.hosts.trusts(origin)) {
        extra.end(CloseCode.Unauthorized, 'Pages of this origin may not connect: CORS_ORIGINS of the platform names those that may.')
        return false
      }
      const credentials = credentialsIn(connectionParams)
      if (credentials instanceof Refusal) {
        extra.end(CloseCode.Unauthorized, credentials.message)
        return false
      }
      extra.headers = withCredentials(extra.request, credentials)
      let result: Awaited<ReturnType<Authenticate>>
      try {
        result = await authenticate(extra.headers, { safe: false })
      } catch (error) {
        extra.end(tryAgainCode, (error as Error).message)
        return false
      }
      if (!isCaller(result)) {
        if (result.expired) extra.end(forbiddenCode, 'token expired')
        else extra.end(CloseCode.Unauthorized, result.refusal.message)
        return false
      }
      extra.caller = result
      extra.claim = claimOf(result.viewer, door.addressOf(extra.request))
      // The socket closed while identity was asked: nobody else would remove it from the list.
      if (extra.closed) return false
      const viewer = result.viewer.keyId ?? result.viewer.userId
      if (viewer !== null) {
        extra.viewer = viewer
        if (viewers.enter(viewer) > perViewer) {
          extra.end(tooManyCode, tooMany)
          return false
        }
      }
      if (result.credential.kind !== 'none') unwatch.set(extra, streams.watch({ caller: result, end: extra.end }))
      return true
    },
    onSubscribe(context: Socket, id: string, payload: SubscribePayload) {
      const { extra } = context
      const requestId = `${extra.id}.${++extra.asked}`
      const { viewer } = extra.caller!
      const cause: Subscribing['cause'] = { requestId, ...extra.program, ...(viewer.kind !== 'anonymous' && { caller: loggedAs(viewer) }) }
      if (viewer.organizationId) cause[organization] = viewer.organizationId
      if (Object.keys(context.subscriptions).length > socketLimits.operations)
        return [new GraphQLError(`At most ${socketLimits.operations} operations may run at the same time on one connection: end one first.`, limited)]
      if (id.length > socketLimits.idCharacters)
        return [new GraphQLError(`The id of an operation has at most ${socketLimits.idCharacters} characters: choose a shorter one.`, wrong)]
      if (extra.malformed !== null) return [new GraphQLError(extra.malformed, malformed)]
      const refused = refusedValues(payload.variables)
      if (refused) return [refused]
      const message = { id, payload, cause, bytes: extra.bytes }
      const found = doFor(cause, () => sources.find(payload, { name: extra.claim.caller, isKnown: viewer.kind !== 'anonymous' }))
      // The protocol requires a query text: clients that send a document id send an empty one.
      if (!(found instanceof Promise)) return begin(context, message, found ?? documents.read(payload.query))
      const { signal, kept } = underWay()
      context.subscriptions[id] = kept
      return found.then(read => (signal.aborted ? forNobody() : begin(context, message, read)))
    },
    async execute({ contextValue }) {
      const asked = contextValue as Asked
      const began = performance.now()
      const result = await inShare(shares, asked, request => engine.execute(request))
      log.info({ ...asked.cause, door: 'websocket', ms: Math.round(performance.now() - began) }, 'answered')
      return unlessOver(result, asked.signal)
    },
    async subscribe({ contextValue }) {
      const asked = contextValue as Asked
      const tellErrors = (errors: readonly GraphQLError[]) =>
        doFor(asked.cause, () => errors.map(error => tell(error, { ...manner, requestId: asked.requestId })))
      const began = performance.now()
      const joined = await inShare(starts, asked, request => door.hub.join({ request, tellErrors }, asked.place))
      log.info({ ...asked.cause, door: 'websocket', ms: Math.round(performance.now() - began) }, 'answered')
      if ('listen' in joined) return unlessOver(toldBy(joined, asked.tell), asked.signal)
      // If its turn never came, the place is released here.
      asked.place()
      return unlessOver(joined, asked.signal)
    },
    onNext: (_context, _id, _payload, { contextValue }, { errors, data, extensions }) => {
      if (!errors) return undefined
      const { requestId, cause } = contextValue as Asked
      return {
        errors: doFor(cause, () => errors.map(error => tell(error, { ...manner, requestId }))),
        ...(data !== undefined && { data }),
        ...(extensions && { extensions }),
      }
    },
    onError({ extra }, _id, _payload, errors) {
      for (const error of errors) door.countError?.(error)
      return errors.map(error => tell(error, { ...manner, requestId: extra.id }))
    },
    onClose({ extra }) {
      extra.closed = true
      unwatch.get(extra)?.()
      if (extra.viewer !== null) viewers.leave(extra.viewer)
    },
  })

  /** Returns what graphql-ws runs for a subscribe message whose document was looked for, or why nothing can be run. */
  function begin({ extra, subscriptions }: Socket, { id, payload, cause, bytes }: Subscribing, read: Found | Reading): readonly GraphQLError[] | Operation {
    if ('errors' in read) return read.errors
    const unresolved = unresolvedOperation(read.document, payload.operationName)
    if (unresolved) return [unresolved]
    const { claim } = extra
    let place = () => {}
    if (getOperationAST(read.document, payload.operationName)?.operation === 'subscription') {
      if (bytes > socketLimits.subscriptionBytes)
        return [new GraphQLError(`A message that subscribes has at most ${socketLimits.subscriptionBytes} bytes: ask for less at once.`, wrong)]
      const reserved = door.hub.reserve(claim.caller)
      if (reserved instanceof Refusal) return [new GraphQLError(reserved.message, { extensions: reserved.extensions })]
      place = reserved
    }
    const { signal, kept } = underWay()
    subscriptions[id] = kept
    const request: Asked = {
      claim,
      by: extra.caller!,
      inTurn: inTurnOf(events, claim, cause),
      cause,
      document: read.document,
      operationName: payload.operationName ?? undefined,
      variables: payload.variables ?? undefined,
      viewer: extra.caller!.viewer,
      requestId: cause.requestId,
      headers: extra.headers,
      signal,
      tell: toldUnder(id, extra.send),
      place,
    }
    return {
      schema: engine.schema,
      document: read.document,
      operationName: payload.operationName,
      variableValues: payload.variables,
      contextValue: request,
    } satisfies Operation
  }

  /** Runs what a socket asked when its caller has a place for it; a refusal is a result, for a throw would end the socket. */
  async function inShare<Result>(of: Shares, asked: Asked, work: (asked: Asked) => Promise<Result>): Promise<Result | ExecutionResult> {
    try {
      const counted = keyRates.count(asked.by)
      if (counted) await counted
      const run = () => of.run(asked.claim, () => work(asked), asked.signal)
      const span = door.tracing && beginMessage(door.tracing, asked)
      return await doFor(asked.cause, () => (span ? finished(span, run) : run()))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (!asked.signal.aborted) door.countError?.(error)
      return { errors: [new GraphQLError(error.message, { extensions: error.extensions })] }
    }
  }

  const names = createNames(mostNames)
  /** Begins the span of an operation that a message asks for. */
  function beginMessage(tracing: Tracing, { document, operationName, headers, requestId, cause }: Asked): Span {
    const definition = getOperationAST(document, operationName)
    const { name, facts } = describeOperation(definition?.operation ?? 'query', names(definition?.name?.value ?? anonymous))
    const more = { requestId, 'network.protocol.name': 'websocket', client: productOf(cause.client) }
    const span = tracing.begin(name, 'server', headers?.get('traceparent'), { ...facts, ...more })
    markOperation(span)
    return span
  }

  // Handles one message per turn of the event loop, so that one client's burst does not delay the others.
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: socketLimits.messageBytes,
    maxFragments: socketLimits.messagePieces,
    maxBufferedChunks: socketLimits.messagePieces,
    handleProtocols,
    allowSynchronousEvents: false,
    WebSocket: LeavingSocket,
  })
  server.on('connection', (socket: WebSocket, request: IncomingMessage) => serve(protocol, socket, request, door))

  return {
    get size() {
      return server.clients.size
    },
    attach(http) {
      http.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
        const target = readTarget(request, door.hosts.knows)
        if (typeof target === 'string') return turnAway(duplex, '400 Bad Request', target)
        request.headers.host = target.host
        if (!/^\/graphql\/?(?:\?|$)/.test(target.url)) return turnAway(duplex, '404 Not Found', 'WebSockets are served at /graphql.')
        const protocols = request.headers['sec-websocket-protocol']
        // A client that offers subprotocols refuses a handshake without one of them.
        if (protocols !== undefined && !handleProtocols(protocols)) return turnAway(duplex, '400 Bad Request', noSubprotocol)
        if (server.clients.size >= socketLimits.sockets) return turnAway(duplex, '503 Service Unavailable', 'Too many connections: try again later.')
        const address = neighbourhoodOf(door.addressOf(request))
        const open = addresses.enter(address)
        duplex.once('close', () => addresses.leave(address))
        // Closing with a code takes a handshake, and keeps the socket until the client has read it: repeat offenders are cut without.
        if (open > 2 * perAddress) return turnAway(duplex, '429 Too Many Requests', 'Too many connections: close some first.')
        return server.handleUpgrade(request, duplex, head, socket => {
          if (open > perAddress) {
            socket.on('error', err => log.debug({ err }, 'refused socket failed'))
            sayGoodbye(socket, tooManyCode, tooMany)
          } else if (protocols === undefined) {
            socket.on('error', err => log.debug({ err }, 'refused socket failed'))
            sayGoodbye(socket, CloseCode.SubprotocolNotAcceptable, noSubprotocol)
          } else server.emit('connection', socket, request)
        })
      })
    },
    close() {
      for (const socket of server.clients) sayGoodbye(socket, 1001, 'Going away')
      server.close()
    },
  }
}

/** The upgrade's headers with the credentials of `connection_init` in place of its own. */
function withCredentials(request: IncomingMessage, credentials: ReadonlyMap<string, string>): Headers {
  const headers = webHeaders(request.headers)
  for (const name of [...credentialHeaders, ...serviceHeaders]) headers.delete(name)
  for (const [name, value] of credentials) headers.set(name, value)
  return headers
}

function turnAway(duplex: Duplex, status: string, sentence: string): void {
  duplex.on('error', () => duplex.destroy())
  duplex.end(
    `HTTP/1.1 ${status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(sentence)}\r\nconnection: close\r\n\r\n${sentence}`,
  )
}

const noSubprotocol = `The subprotocol is ${GRAPHQL_TRANSPORT_WS_PROTOCOL}: clients call it graphql-ws.`

const limited = { extensions: { code: 'RATE_LIMITED' } }
const wrong = { extensions: { code: 'BAD_USER_INPUT' } }
const malformed = { extensions: { code: 'BAD_REQUEST' } }
