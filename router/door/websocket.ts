import type { IncomingMessage, Server } from 'node:http'
import { GraphQLError } from 'graphql'
import { handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws'
import type { Logger } from 'pino'
import { type WebSocket, WebSocketServer } from 'ws'
import { doFor, organization } from '../../platform/caller/cause.ts'
import type { Tracing } from '../../platform/caller/trace.ts'
import { loggedAs } from '../../subgraphs/viewer.ts'
import type { AddressOf } from '../access/address.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { BytesInFlight } from '../engine/data/in-flight.ts'
import type { Engine, Payload } from '../engine/engine.ts'
import type { Hosts } from '../hosts.ts'
import type { KeyRates } from '../live/key-rates.ts'
import type { Hub } from '../live/shared/hub.ts'
import { formatPayload } from '../live/shared/message.ts'
import type { Shares } from '../live/shares.ts'
import type { Streams } from '../live/streams.ts'
import type { CountError } from '../metrics/operations.ts'
import type { Graphs } from './documents/graphs.ts'
import { formatError } from './errors.ts'
import { refusedValues } from './limits.ts'
import { createConnections } from './streaming/connect.ts'
import { type Asked, createOperations, type Socket, type Subscribing } from './streaming/operation.ts'
import { eventsOf, forNobody, underWay, unlessOver } from './streaming/pushed.ts'
import { type Extra, LeavingSocket, sayGoodbye, serve, socketLimits } from './streaming/socket.ts'
import { createUpgrade } from './streaming/upgrade.ts'

export interface WebSocketDoor {
  readonly engine: Engine
  readonly graphs: Graphs
  readonly authenticate: Authenticate
  readonly streams: Streams
  /** Serves subscriptions. */
  readonly hub: Hub
  /** Limits the concurrent operations, starts of streams, and events of callers. */
  readonly keyRates: KeyRates
  readonly shares: Shares
  readonly starts: Shares
  readonly events: Shares
  /** Counts the bytes of answers that wait to be read. */
  readonly inFlight: BytesInFlight
  readonly hosts: Hosts
  /** Returns the client's address: sockets are limited by address. */
  readonly addressOf: AddressOf
  readonly hideSuggestions: boolean
  /** Tells clients the text of internal errors. @default false */
  readonly exposeErrors?: boolean | undefined
  /** Maximum open sockets of one address, or of one IPv6 network of 64 bits. @default 100 */
  readonly perAddress?: number | undefined
  /** Maximum open sockets of one person, or of one API key. @default 50 */
  readonly perViewer?: number | undefined
  /** Maximum messages of one socket a second, and ten times as many at once. @default 100 */
  readonly messages?: number | undefined
  /** Milliseconds between pings; a client that answers none of them for that long counts as lost. @default 12000 */
  readonly pingMs?: number | undefined
  /** Counts requests rejected before they reach the engine. @default not counted */
  readonly countError?: CountError | undefined
  /** @default none */
  readonly tracing?: Tracing | undefined
  readonly log: Logger
}

/** Serves GraphQL over WebSocket (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md) at `/graphql`, and at `/graphql/<name>` of each variant. */
export interface Sockets {
  /** Handles the upgrade requests of an HTTP server. */
  attach(server: Server): void
  /** Number of open sockets. */
  readonly size: number
  /** Closes every socket with 1001 and accepts no new one. */
  close(): void
}

export function createSockets(door: WebSocketDoor): Sockets {
  const { engine, graphs, shares, starts, log } = door
  const manner = { log, hideSuggestions: door.hideSuggestions, expose: door.exposeErrors }
  const connections = createConnections(door)
  const { begin, inShare, executeLater } = createOperations(door)

  const protocol = makeServer<Record<string, unknown> | undefined, Extra>({
    connectionInitWaitTimeout: socketLimits.initMs,
    onConnect: connections.connect,
    onSubscribe(context: Socket, id: string, payload: SubscribePayload) {
      const { extra } = context
      const requestId = `${extra.id}.${++extra.asked}`
      const { viewer } = extra.caller!
      const cause: Subscribing['cause'] = { requestId, ...extra.sender, ...(viewer.kind !== 'anonymous' && { caller: loggedAs(viewer) }) }
      if (viewer.organizationId) cause[organization] = viewer.organizationId
      if (Object.keys(context.subscriptions).length > socketLimits.operations)
        return [new GraphQLError(`At most ${socketLimits.operations} operations may run at the same time on one connection: end one first.`, limited)]
      if (id.length > socketLimits.idCharacters)
        return [new GraphQLError(`The id of an operation has at most ${socketLimits.idCharacters} characters: choose a shorter one.`, wrong)]
      if (extra.malformed !== null) return [new GraphQLError(extra.malformed, malformed)]
      const refused = refusedValues(payload.variables)
      if (refused) return [refused]
      const message = { id, payload, cause, bytes: extra.bytes }
      const { documents, sources } = extra.variant === undefined ? graphs.whole : graphs.variant(extra.variant)
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
      const result = asked.incremental ? await executeLater(shares, asked) : await inShare(shares, asked, request => engine.execute(request))
      log.info({ ...asked.cause, door: 'websocket', ms: Math.round(performance.now() - began) }, 'answered')
      if (asked.signal.aborted && 'return' in result) void result.return(undefined)
      return unlessOver(result, asked.signal)
    },
    async subscribe({ contextValue }) {
      const asked = contextValue as Asked
      const formatErrors = (errors: readonly GraphQLError[]) =>
        doFor(asked.cause, () => errors.map(error => formatError(error, { ...manner, requestId: asked.requestId })))
      const began = performance.now()
      const joined = await inShare(starts, asked, request => door.hub.join({ request, formatErrors }, asked.place))
      log.info({ ...asked.cause, door: 'websocket', ms: Math.round(performance.now() - began) }, 'answered')
      if ('listen' in joined) return unlessOver(eventsOf(joined, asked.send, asked.open), asked.signal)
      // An operation that never started releases its slot here.
      asked.place()
      return unlessOver(joined, asked.signal)
    },
    onNext: (_context, _id, _payload, { contextValue }, result) => {
      const { requestId, cause } = contextValue as Asked
      const formatted = (errors: readonly unknown[]) => doFor(cause, () => errors.map(error => formatError(error, { ...manner, requestId })))
      if ('hasNext' in result) return formatPayload(result as Payload, formatted)
      const { errors, data, extensions } = result
      if (!errors) return undefined
      return {
        errors: formatted(errors),
        ...(data !== undefined && { data }),
        ...(extensions && { extensions }),
      }
    },
    onError({ extra }, _id, _payload, errors) {
      for (const error of errors) door.countError?.(error)
      return errors.map(error => formatError(error, { ...manner, requestId: extra.id }))
    },
    onClose({ extra }) {
      connections.close(extra)
    },
  })

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
  const upgrade = createUpgrade(server, door)
  server.on('connection', (socket: WebSocket, request: IncomingMessage, variant?: string) => serve(protocol, socket, request, { ...door, variant }))

  return {
    get size() {
      return server.clients.size
    },
    attach(http) {
      http.on('upgrade', upgrade)
    },
    close() {
      for (const socket of server.clients) sayGoodbye(socket, 1001, 'Going away')
      server.close()
    },
  }
}

const limited = { extensions: { code: 'RATE_LIMITED' } }
const wrong = { extensions: { code: 'BAD_USER_INPUT' } }
const malformed = { extensions: { code: 'BAD_REQUEST' } }
