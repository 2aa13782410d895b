import type { ExecutionResult } from 'graphql'
import { createClient } from 'graphql-ws/client'
import { WebSocket } from 'ws'
import type { ResultStream } from '../../engine.ts'
import { clientSocket } from '../../repairs/ws-client-socket/client-socket.ts'
import { readRefusal, readResult } from '../answer.ts'
import { UpstreamFailure } from '../exchange.ts'
import { refusalIn } from './ordinary.ts'
import { brokenOff, createResults, failed, messageBytes } from './results.ts'

export interface SocketSubscription {
  readonly url: string
  readonly payload: { readonly query: string; readonly variables: Record<string, unknown> }
  /**
   * Header names and values, alternating: sent with the upgrade and as the payload of `connection_init`, because
   * servers read either.
   */
  readonly headers: readonly string[]
  /** Milliseconds within which the server must accept the connection. */
  readonly timeoutMs: number
  /** Milliseconds between pings; a server that answers none of them for that long counts as lost. */
  readonly pingMs: number
  /** Returns the payload of a pong from its ping's payload; null for none. @default none */
  readonly answer?: ((asked: unknown) => Promise<Record<string, unknown>> | null) | undefined
  /**
   * Whether the server reports by a ping that the stream began (`begun`): then a rejection is an answer in place of a
   * stream. @default false
   */
  readonly reportsStart?: boolean | undefined
  /** Ends the stream when aborted. */
  readonly signal: AbortSignal
  /** Aborts the start, because its caller has left. */
  readonly leaving?: AbortSignal | undefined
}

/** Key in the payload of the ping that reports a stream's begin. */
export const begun = 'x-begun'

/** Header that says for how many ms the subscribers have received nothing, after another stream of theirs broke. */
export const unheardHeader = 'x-unheard-ms'

/** Limits of these sockets. */
const limits = {
  /** Maximum bytes that wait for a server to read them: a server may send pings without reading the pongs. */
  unreadBytes: 1024 * 1024,
  /** Milliseconds that a closing socket has for the close handshake. */
  farewellMs: 500,
} as const

/** Id of the connection's only operation, in the protocol's messages. */
const id = '1'

/**
 * Subscribes at a subgraph over a separate WebSocket: graphql-ws's client speaks graphql-transport-ws, the limits are
 * enforced here. Resolves when the subscription is sent, or has begun where the server reports that; in the latter case
 * also to the errors of a rejection. The stream ends with an error result when the connection breaks: it never
 * resubscribes, because events may have been lost meanwhile. `return()` notifies the server at once and waits for
 * nothing.
 * @throws UpstreamFailure when the connection cannot be established
 */
export async function subscribeOverSocket(subscription: SocketSubscription): Promise<ResultStream | ExecutionResult> {
  const { url, payload, headers, timeoutMs, pingMs, answer, reportsStart: tellsBeginning = false, signal, leaving } = subscription
  if (signal.aborted) throw new UpstreamFailure('unsent', 'The router is stopping')
  if (leaving?.aborted || timeoutMs <= 0) throw new UpstreamFailure('unsent', 'Nobody waits for it any more')
  const named = Object.fromEntries(pairs(headers))
  const socket = open(url, { headers: named, maxPayload: messageBytes, handshakeTimeout: timeoutMs, perMessageDeflate: false })
  const started = Promise.withResolvers<ExecutionResult | undefined>()
  const isBegun = () => {
    clearTimeout(late)
    leaving?.removeEventListener('abort', leave)
    started.resolve(undefined)
  }
  /** Bytes of the message that the client is reading. */
  let weight = 0
  let silence: NodeJS.Timeout | undefined

  const results = createResults(() => {
    clearTimeout(late)
    clearTimeout(silence)
    signal.removeEventListener('abort', leave)
    leaving?.removeEventListener('abort', leave)
    started.reject(nobodyWaits)
    // The router reports the reason to the subgraph unless the subgraph closed the socket.
    unsubscribe()
    farewell(socket)
  })
  const leave = () => results.end()
  const broken = (failure: UpstreamFailure) => {
    if (results.isEnded()) return
    started.reject(failure)
    results.end(brokenOff(), 'lost')
  }
  const late = setTimeout(() => broken(new UpstreamFailure('late', `No WebSocket within ${timeoutMs} ms`)), timeoutMs)
  const pong = (carried?: Record<string, unknown>) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'pong', payload: carried }))
  }

  socket.on('error', cause => broken(new UpstreamFailure('cut', 'No WebSocket could be opened, or it broke', cause)))
  // Runs before the client is notified, because it would reconnect after a normal closure.
  socket.on('close', (code, reason) => broken(new UpstreamFailure('cut', `The WebSocket was closed with ${code} ${reason}`)))

  const client = createClient({
    url,
    webSocketImpl: clientSocket(socket, id, bytes => {
      weight = bytes
    }),
    connectionParams: named,
    generateID: () => id,
    retryAttempts: 0,
    keepAlive: pingMs,
    disablePong: true,
    on: {
      connected() {
        // The client has sent its subscription by then.
        if (!tellsBeginning) setImmediate(isBegun)
      },
      ping(received, asked) {
        if (results.isEnded()) return
        if (!received) silence = setTimeout(() => socket.terminate(), pingMs)
        else if (tellsBeginning && isBeginning(asked)) isBegun()
        else if (socket.bufferedAmount > limits.unreadBytes) socket.terminate()
        else {
          // Without an answer the server hears none to this ping, and asks again.
          const carried = answer?.(asked)
          if (carried) carried.then(pong, () => {})
          else pong()
        }
      },
      pong: received => received && clearTimeout(silence),
    },
  })
  const unsubscribe = client.subscribe(payload, {
    next(message) {
      if (results.isEnded()) return
      const result = readResult(message as Record<string, unknown>)
      // The subscription has not started, so this is the reason.
      if (tellsBeginning) started.resolve(refusalIn(result))
      results.add(result ?? { errors: [] }, weight)
    },
    error(cause) {
      const [refused] = Array.isArray(cause) ? cause : []
      const refusal = refused && (readRefusal(refused.serverErrors) ?? failed('The subscription was refused without a reason.'))
      if (refusal && tellsBeginning) started.resolve(refusal)
      if (refusal) results.end(refusal)
      else broken(new UpstreamFailure('cut', 'It sent a message that is none of the protocol', cause))
    },
    complete: leave,
  })
  signal.addEventListener('abort', leave)
  leaving?.addEventListener('abort', leave)
  const refusal = await started.promise
  if (refusal) {
    leave()
    results.drop()
    return refusal
  }
  return results.stream
}

/** An address or a header that cannot be sent is refused at once. */
function open(url: string, options: WebSocket.ClientOptions): WebSocket {
  try {
    return new WebSocket(url, 'graphql-transport-ws', options)
  } catch (cause) {
    throw new UpstreamFailure('unsent', 'No WebSocket could be opened', cause)
  }
}

const isBeginning = (asked: unknown): boolean => typeof asked === 'object' && asked !== null && begun in asked

const nobodyWaits = new UpstreamFailure('late', 'Nobody waits for it any more')

/** Closes a socket with a handshake; it is cut when the server does not answer. */
function farewell(socket: WebSocket): void {
  if (socket.readyState === WebSocket.CLOSED) return
  socket.close(1000, 'Normal Closure')
  const cut = setTimeout(() => socket.terminate(), limits.farewellMs)
  socket.once('close', () => clearTimeout(cut))
}

function* pairs(headers: readonly string[]): Generator<[string, string]> {
  for (let index = 0; index + 1 < headers.length; index += 2) yield [headers[index]!, headers[index + 1]!]
}
