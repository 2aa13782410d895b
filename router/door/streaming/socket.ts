import type { IncomingMessage } from 'node:http'
import { CloseCode, type makeServer } from 'graphql-ws'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { type Cause, origin, readClient, readOrigin } from '../../../platform/caller/cause.ts'
import type { AddressOf } from '../../access/address.ts'
import type { Caller } from '../../access/authenticate.ts'
import type { Claim } from '../../access/callers/claim.ts'
import type { BytesInFlight } from '../../engine/data/in-flight.ts'
import { tryAgainCode } from '../../live/streams.ts'
import { readRequestId } from '../headers.ts'
import { readableSubscribe } from './subscribe-message.ts'

/** Everything about sockets that has a bound. */
export const socketLimits = {
  /** Open sockets of one process. */
  sockets: 10_000,
  /** Open sockets of one address, or of one network of IPv6 with 64 bits. */
  perAddress: 100,
  /** Open sockets of one person, or of one API key. */
  perViewer: 50,
  /** Operations at the same time on one socket. */
  operations: 100,
  /** Characters of the id that a client gives an operation: it stands in every message about it, and is kept while it runs. */
  idCharacters: 1000,
  /** Bytes of a message that subscribes: all of it is kept for as long as the subscription is open. */
  subscriptionBytes: 32 * 1024,
  /** Bytes of one message from a client. */
  messageBytes: 256 * 1024,
  /** Frames of one message, and pieces in which one frame arrives: each costs a hundred bytes more than it brings. */
  messagePieces: 1024,
  /** Messages that a client may send each second for as long as it likes, and how many seconds' worth at once: what is sent is read also when it has gone. */
  messages: 100,
  messagesAtOnceSeconds: 10,
  /** Bytes that wait for a client to read them; past it the client is dropped with 1013 (try again later). */
  waitingBytes: 1024 * 1024,
  /** Characters of a message up to which it is not counted while it waits: a bound of each socket holds them all. */
  smallCharacters: 64 * 1024,
  /** Milliseconds until `connection_init` must have come. */
  initMs: 5000,
  /** Milliseconds between pings. */
  pingMs: 12_000,
  /** Milliseconds that a closed socket has for its farewell. */
  farewellMs: 500,
} as const

/** Close code for a client that has too many sockets, or sends too many messages. Clients of graphql-ws do not dial again by themselves after it. */
export const tooManyCode = 4429
export const tooMany = 'too many connections'

/** What a socket carries through graphql-ws. */
export interface Extra {
  readonly request: IncomingMessage
  readonly id: string
  /** How many operations it has asked: their ids are numbered under its own. */
  asked: number
  /** Bytes of the message that is being read. */
  bytes: number
  /** What is wrong with the payload of the message that is being read; null when it can be read. */
  malformed: string | null
  /** What program dialled, and from where. */
  readonly program: Pick<Cause, 'client' | typeof origin>
  caller: Caller | null
  /** Under what everything counts that the caller does at once. */
  claim: Claim
  /** Under what the socket is counted among those of its person or key; null while it is not. */
  viewer: string | null
  /** The upgrade's, with what `connection_init` brings in their place. */
  headers: Headers
  closed: boolean
  end(code: number, reason: string): void
  /** Sends a message; a client with too much to read is dropped. */
  send(text: string): void
}

interface ServeOptions {
  readonly log: Logger
  /** The address that it was dialled from. */
  readonly addressOf: AddressOf
  /** Where the bytes of answers are counted that wait to be read. */
  readonly inFlight: BytesInFlight
  readonly pingMs?: number | undefined
  readonly messages?: number | undefined
}

/** Ties one socket to the protocol: messages in, messages out under a bound, and a heartbeat. */
export function serve(
  protocol: ReturnType<typeof makeServer<Record<string, unknown> | undefined, Extra>>,
  socket: WebSocket,
  request: IncomingMessage,
  { log, addressOf, inFlight, pingMs = socketLimits.pingMs, messages = socketLimits.messages }: ServeOptions,
) {
  const end = (code: number, reason: string) => sayGoodbye(socket, code, reason)
  const client = readClient(name => request.headers[name])
  const program = { ...(client !== undefined && { client }), [origin]: readOrigin(addressOf(request), request.headers['user-agent']) }
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
    asked: 0,
    bytes: 0,
    malformed: null,
    program,
    caller: null,
    claim: nobody,
    viewer: null,
    headers: noHeaders,
    closed: false,
    end,
    send,
  }
  /** When all messages so far would have come evenly (generic cell rate algorithm). */
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

/** Says that it is about to close as soon as either side does: nothing more is worked out for it, however long the farewell takes. */
export class LeavingSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    this.emit('leaving', code ?? 1005, String(reason ?? ''))
    super.close(code, reason)
  }
}

/**
 * Closes with a code, and cuts the connection when the client does not answer: what waits for a slow reader would stay in memory.
 * @param reason of which as much is said as a frame holds
 */
export function sayGoodbye(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === socket.CLOSING || socket.readyState === socket.CLOSED) return
  // As a stream: a character of which only a part has room is left out.
  socket.close(code, new TextDecoder().decode(Buffer.from(reason).subarray(0, mostReasonBytes), { stream: true }))
  const cut = setTimeout(() => socket.terminate(), socketLimits.farewellMs)
  socket.once('close', () => clearTimeout(cut))
}

/** RFC 6455 §5.5: a control frame holds 125 bytes, two of them the code. */
const mostReasonBytes = 123

/** graphql-ws reads what servers send, and throws when a client sends it. */
const isOfServers = (error: unknown): boolean => error instanceof Error && error.message.startsWith('Unexpected message of type')

const noHeaders = new Headers()

/** Until the caller is authenticated. */
const nobody: Claim = { caller: '', organization: '' }
