import type { IncomingMessage } from 'node:http'
import { CloseCode, type makeServer } from 'graphql-ws'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { type Cause, origin, program, readClient, readOrigin, readProgram } from '../../../platform/caller/cause.ts'
import type { AddressOf } from '../../access/address.ts'
import type { Caller } from '../../access/authenticate.ts'
import type { Claim } from '../../access/callers/claim.ts'
import type { BytesInFlight } from '../../engine/data/in-flight.ts'
import type { IncrementalForm } from '../../engine/engine.ts'
import type { Membership } from '../../live/shared/channel.ts'
import { tryAgainCode } from '../../live/streams.ts'
import { isDearToParse } from '../body.ts'
import { readRequestId } from '../headers.ts'
import { readableSubscribe } from './subscribe-message.ts'

/** Everything about sockets that has a bound. */
export const socketLimits = {
  /** Maximum open sockets of one process. */
  sockets: 10_000,
  /** Maximum open sockets of one address, or of one IPv6 network of 64 bits. */
  perAddress: 100,
  /** Maximum open sockets of one person, or of one API key. */
  perViewer: 50,
  /** Maximum concurrent operations on one socket. */
  operations: 100,
  /**
   * Maximum characters of a client's operation id: every message about the operation repeats it, and it is kept while
   * the operation runs.
   */
  idCharacters: 1000,
  /** Maximum bytes of a message that subscribes: it is kept for as long as the subscription is open. */
  subscriptionBytes: 32 * 1024,
  /** Maximum bytes of one message from a client. */
  messageBytes: 256 * 1024,
  /**
   * Maximum frames of one message, and pieces in which one frame arrives: each costs a hundred bytes of memory more
   * than its content.
   */
  messagePieces: 1024,
  /**
   * Messages that a client may send each second on average, and the number of seconds' worth that may come at once.
   * Messages that have arrived are read even after the client left.
   */
  messages: 100,
  messagesAtOnceSeconds: 10,
  /**
   * Maximum bytes that wait for a client to read them; above it the client is disconnected with 1013 (try again later).
   */
  waitingBytes: 1024 * 1024,
  /** Characters up to which a message is not counted while it waits: the limit of each socket covers small ones. */
  smallCharacters: 64 * 1024,
  /** Milliseconds within which `connection_init` must arrive. */
  initMs: 5000,
  /** Milliseconds between pings. */
  pingMs: 12_000,
  /** Milliseconds that a closing socket has for the close handshake. */
  farewellMs: 500,
} as const

/**
 * Close code for a client with too many sockets or messages. Clients of graphql-ws do not reconnect by themselves after
 * it.
 */
export const tooManyCode = 4429
export const tooMany = 'too many connections'

/** Data that a socket carries through graphql-ws. */
export interface Extra {
  readonly request: IncomingMessage
  readonly id: string
  /** Name of the variant of the graph that the socket asks; undefined for the whole graph. */
  readonly variant: string | undefined
  /** Number of operations so far: their ids are numbered under the socket's. */
  asked: number
  /** Bytes of the message that is being read. */
  bytes: number
  /** What is wrong with the payload of the current message; null when it can be read. */
  malformed: string | null
  /** The client program that connected, and its origin. */
  sender: Pick<Cause, 'client' | typeof origin | typeof program>
  caller: Caller | null
  /** Identity under which the caller's concurrent use is counted. */
  claim: Claim
  /** Name under which the socket counts for its person or key; null while it does not count. */
  viewer: string | null
  /** Headers of the upgrade request, replaced by those that `connection_init` brings. */
  headers: Headers
  /** Form in which the client takes deferred fragments; null for a client that takes none. */
  incremental: IncrementalForm | null
  /** Subscriptions whose events have parts that come later. */
  readonly open: Set<Membership>
  closed: boolean
  end(code: number, reason: string): void
  /** Sends a message; a client with too much to read is dropped. */
  send(text: string): void
}

interface ServeOptions {
  /** Name of the variant of the graph that the socket asks. @default the whole graph */
  readonly variant?: string | undefined
  readonly log: Logger
  /** Returns the address from which a client connected. */
  readonly addressOf: AddressOf
  /** Counts the bytes of answers that wait to be read. */
  readonly inFlight: BytesInFlight
  readonly pingMs?: number | undefined
  readonly messages?: number | undefined
}

/** Connects one socket with the protocol: incoming messages, outgoing messages within limits, and a heartbeat. */
export function serve(
  protocol: ReturnType<typeof makeServer<Record<string, unknown> | undefined, Extra>>,
  socket: WebSocket,
  request: IncomingMessage,
  { variant, log, addressOf, inFlight, pingMs = socketLimits.pingMs, messages = socketLimits.messages }: ServeOptions,
) {
  const end = (code: number, reason: string) => sayGoodbye(socket, code, reason)
  const header = (name: string) => request.headers[name]
  const client = readClient(header)
  const from = readOrigin(addressOf(request), request.headers['user-agent'])
  const sender = { ...(client !== undefined && { client }), [origin]: from, [program]: readProgram(header) }
  const id = readRequestId(request)
  const send = (text: string) => {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > socketLimits.waitingBytes) {
      log.info({ requestId: id, waiting: socket.bufferedAmount }, 'connection closed: client reads too slowly')
      return end(tryAgainCode, 'Too slow: connect again')
    }
    if (text.length <= socketLimits.smallCharacters) return socket.send(text)
    const bytes = Buffer.byteLength(text)
    const { claim } = extra
    if (inFlight.take(claim, bytes)) {
      log.info({ requestId: id, bytes }, 'connection closed: too many answers wait for the client')
      return end(tryAgainCode, 'Too many answers wait to be read: read them, then connect again')
    }
    // Also called after the socket has closed.
    socket.send(text, () => inFlight.release(claim, bytes))
  }
  const extra: Extra = {
    request,
    id,
    variant,
    asked: 0,
    bytes: 0,
    malformed: null,
    sender,
    caller: null,
    claim: nobody,
    viewer: null,
    headers: noHeaders,
    incremental: 'v0.2',
    open: new Set(),
    closed: false,
    end,
    send,
  }
  /** When all messages so far would have arrived at an even rate (generic cell rate algorithm). */
  let even = 0
  const isTooMany = (): boolean => {
    const now = performance.now()
    even = Math.max(now, even) + 1000 / messages
    return even - now > 1000 * socketLimits.messagesAtOnceSeconds
  }
  let left = false
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      close: end,
      onMessage(take) {
        socket.on('message', data => {
          // Ignores messages that ws still delivers after the socket was closed or its connection broke.
          if (socket.readyState !== socket.OPEN) return
          if (isTooMany()) return end(tooManyCode, 'too many messages')
          if (isDearToParse(data as Buffer)) return end(CloseCode.BadRequest, 'Invalid message received')
          extra.bytes = (data as Buffer).length
          const { text, malformed } = readableSubscribe(String(data))
          extra.malformed = malformed
          take(text).catch(err => {
            if (isOfServers(err)) return end(CloseCode.BadRequest, 'Invalid message received')
            log.error({ err, requestId: extra.id }, 'socket failed')
            end(CloseCode.InternalServerError, 'Internal server error')
          })
        })
      },
      send,
    },
    extra,
  )
  let answered = true
  const heartbeat = setInterval(() => {
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, pingMs)
  heartbeat.unref()
  socket.on('pong', () => {
    answered = true
  })
  // On a protocol violation or a lost connection ws closes the socket itself.
  socket.on('error', err => log.debug({ err, requestId: extra.id }, 'socket connection failed'))
  const over = (code: number, reason: string) => {
    if (left) return
    left = true
    closed(code, reason).catch(err => log.error({ err, requestId: extra.id }, 'socket did not close cleanly'))
  }
  socket.once('leaving', over)
  socket.once('close', (code, reason) => {
    clearInterval(heartbeat)
    over(code, String(reason))
  })
}

/**
 * A socket that reports its closing as soon as either side begins it: no more results are computed for it during the
 * handshake.
 */
export class LeavingSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    this.emit('leaving', code ?? 1005, String(reason ?? ''))
    super.close(code, reason)
  }
}

/**
 * Closes with a code, and cuts the connection when the client does not answer: data that waits for a slow reader would
 * stay in memory.
 * @param reason cut to what a close frame holds
 */
export function sayGoodbye(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === socket.CLOSING || socket.readyState === socket.CLOSED) return
  // As a stream: a character of which only a part has room is left out.
  socket.close(code, new TextDecoder().decode(Buffer.from(reason).subarray(0, mostReasonBytes), { stream: true }))
  const cut = setTimeout(() => socket.terminate(), socketLimits.farewellMs)
  socket.once('close', () => clearTimeout(cut))
}

/** Maximum bytes of a close reason: RFC 6455 §5.5 allows 125 bytes in a control frame, two of them the code. */
const mostReasonBytes = 123

/** Whether a client sent a message that only servers send: graphql-ws parses it and throws. */
const isOfServers = (error: unknown): boolean => error instanceof Error && error.message.startsWith('Unexpected message of type')

const noHeaders = new Headers()

/** Claim of a socket until its caller is authenticated. */
const nobody: Claim = { caller: '', organization: '' }
