import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, handleProtocols } from 'graphql-ws'
import type { Logger } from 'pino'
import type { WebSocketServer } from 'ws'
import { neighbourhoodOf } from '../../../platform/caller/address.ts'
import { createCounter } from '../../../platform/limit.ts'
import type { AddressOf } from '../../access/address.ts'
import type { Hosts } from '../../hosts.ts'
import { readTarget } from '../../target.ts'
import { type Graphs, variantIn } from '../documents/graphs.ts'
import { sayGoodbye, socketLimits, tooMany, tooManyCode } from './socket.ts'

/** What upgrading needs of the door. */
interface UpgradeDoor {
  readonly hosts: Hosts
  readonly addressOf: AddressOf
  readonly perAddress?: number | undefined
  /** The graphs that sockets can ask. */
  readonly graphs: Pick<Graphs, 'names'>
  readonly log: Logger
}

/** Handles upgrade requests: opens a socket, or refuses it by its address, its protocol or the number of open ones. */
export function createUpgrade(
  server: WebSocketServer,
  { hosts, addressOf, perAddress = socketLimits.perAddress, graphs: { names: variants }, log }: UpgradeDoor,
) {
  const addresses = createCounter()
  return (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const target = readTarget(request, hosts.knows)
    if (typeof target === 'string') return turnAway(duplex, '400 Bad Request', target)
    request.headers.host = target.host
    const variant = variantIn(target.url)
    if (variant === undefined || (variant !== null && !variants.includes(variant)))
      return turnAway(duplex, '404 Not Found', 'WebSockets are served at /graphql, and at /graphql/<name> of each variant.')
    const protocols = request.headers['sec-websocket-protocol']
    // A client that offers subprotocols refuses a handshake without one of them.
    if (protocols !== undefined && !handleProtocols(protocols)) return turnAway(duplex, '400 Bad Request', noSubprotocol)
    if (server.clients.size >= socketLimits.sockets) return turnAway(duplex, '503 Service Unavailable', 'Too many connections: try again later.')
    const address = neighbourhoodOf(addressOf(request))
    const open = addresses.enter(address)
    duplex.once('close', () => addresses.leave(address))
    // Closing with a code takes a handshake, and keeps the socket until the client has read it: repeat offenders are
    // disconnected without one.
    if (open > 2 * perAddress) return turnAway(duplex, '429 Too Many Requests', 'Too many connections: close some first.')
    return server.handleUpgrade(request, duplex, head, socket => {
      if (open > perAddress) {
        socket.on('error', err => log.debug({ err }, 'refused socket failed'))
        sayGoodbye(socket, tooManyCode, tooMany)
      } else if (protocols === undefined) {
        socket.on('error', err => log.debug({ err }, 'refused socket failed'))
        sayGoodbye(socket, CloseCode.SubprotocolNotAcceptable, noSubprotocol)
      } else server.emit('connection', socket, request, variant ?? undefined)
    })
  }
}

function turnAway(duplex: Duplex, status: string, sentence: string): void {
  duplex.on('error', () => duplex.destroy())
  duplex.end(
    `HTTP/1.1 ${status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(sentence)}\r\nconnection: close\r\n\r\n${sentence}`,
  )
}

const noSubprotocol = `The subprotocol is ${GRAPHQL_TRANSPORT_WS_PROTOCOL}: clients call it graphql-ws.`
