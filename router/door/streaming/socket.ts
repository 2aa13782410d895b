import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { CloseCode, type makeServer } from 'graphql-ws'
import type { Logger } from 'pino'
import { WebSocket } from 'ws'
import { type Cause, readClient } from '../../../platform/caller/cause.ts'
import type { Caller } from '../../access/authenticate.ts'
import { readRequestId } from '../headers.ts'

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
  /** Bytes of one message from a client. */
  messageBytes: 256 * 1024,
  /** Bytes that wait for a client to read them; past it the client is dropped with 1013 (try again later). */
  waitingBytes: 1024 * 1024,
  /** Milliseconds until `connection_init` must have come. */
  initMs: 5000,
  /** Milliseconds between pings. */
  pingMs: 12_000,
  /** Milliseconds that a closed socket has for its farewell. */
  farewellMs: 500,
} as const

/** Close code for a client that has too many sockets. Clients of graphql-ws do not dial again by themselves after it. */
export const tooManyCode = 4429
export const tooMany = 'too many connections'
/** Close code (IANA registry) after which clients dial again by themselves, after a while. */
export const tryAgainCode = 1013

/** What a socket carries through graphql-ws. */
export interface Extra {
  readonly request: IncomingMessage
  readonly id: string
  /** How many operations it has asked: their ids are numbered under its own. */
  asked: number
  /** What program dialled. */
  readonly program: Pick<Cause, 'client'>
  caller: Caller | null
  /** Under what everything counts that the caller does at once. */
  name: string
  /** Under what the socket is counted among those of its person or key; null while it is not. */
  viewer: string | null
  /** The upgrade's, with what `connection_init` brings in their place. */
  headers: Headers
  closed: boolean
  /** Aborts when the socket is gone: what it asked is for nobody then. */
  readonly leaving: AbortController
  end(code: number, reason: string): void
  /** Sends a message; a client with too much to read is dropped. */
  send(text: string): void
}

/** Ties one socket to the protocol: messages in, messages out under a bound, and a heartbeat. */
export function serve(
  protocol: ReturnType<typeof makeServer<Record<string, unknown> | undefined, Extra>>,
  socket: WebSocket,
  request: IncomingMessage,
  { log, pingMs = socketLimits.pingMs }: { readonly log: Logger; readonly pingMs?: number | undefined },
) {
  const end = (code: number, reason: string) => sayGoodbye(socket, code, reason)
  const client = readClient(name => request.headers[name])
  const program = client === undefined ? {} : { client }
  const id = readRequestId(request)
  const send = (text: string) => {
    if (socket.readyState !== socket.OPEN) return
    if (socket.bufferedAmount > socketLimits.waitingBytes) {
      log.info({ requestId: id, waiting: socket.bufferedAmount }, 'a client that reads too slowly was dropped')
      return end(tryAgainCode, 'Too slow: connect again')
    }
    socket.send(text)
  }
  const extra: Extra = {
    request,
    id,
    asked: 0,
    program,
    caller: null,
    name: '',
    viewer: null,
    headers: noHeaders,
    closed: false,
    leaving: new AbortController(),
    end,
    send,
  }
  // Every operation of the socket listens to it.
  setMaxListeners(0, extra.leaving.signal)
  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      close: end,
      onMessage(take) {
        socket.on('message', data => {
          take(String(data)).catch(err => {
            log.error({ err, requestId: extra.id }, 'a socket failed')
            end(CloseCode.InternalServerError, 'Internal server error')
          })
        })
      },
      send,
    },
    extra,
  )
  let left = false
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
  // A protocol violation or a cut connection: ws closes the socket itself.
  socket.on('error', err => log.debug({ err, requestId: extra.id }, 'a socket broke'))
  const over = (code: number, reason: string) => {
    if (left) return
    left = true
    closed(code, reason).catch(err => log.error({ err, requestId: extra.id }, 'a socket did not close cleanly'))
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

/** Closes with a code, and cuts the connection when the client does not answer: what waits for a slow reader would stay in memory. */
export function sayGoodbye(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === socket.CLOSING || socket.readyState === socket.CLOSED) return
  socket.close(code, reason)
  const cut = setTimeout(() => socket.terminate(), socketLimits.farewellMs)
  socket.once('close', () => clearTimeout(cut))
}

const noHeaders = new Headers()
