import type { ExecutionResult } from 'graphql'
import { createClient, type SubscribePayload } from 'graphql-ws'
import { WebSocket } from 'ws'
import { isData } from '../data/merge.ts'
import type { ResultStream } from '../engine.ts'
import { errorFor } from '../errors.ts'
import { readAnswer } from './answer.ts'
import { UpstreamFailure } from './exchange.ts'

export interface SocketSubscription {
  readonly url: string
  readonly payload: SubscribePayload
  /** Names and values in turn: sent with the upgrade and as the payload of `connection_init`, because servers read either. */
  readonly headers: readonly string[]
  /** Milliseconds until the server must have accepted the connection. */
  readonly timeoutMs: number
  /** Ends the stream. */
  readonly signal: AbortSignal
}

/** Everything about these sockets that has a bound. */
const limits = {
  /** Bytes of one message. */
  messageBytes: 16 * 1024 * 1024,
  /** Events that wait to be taken; past it the stream ends with an error, for a gap in it would be silent. */
  waiting: 1000,
  /** Milliseconds between pings; a server that answers none of them for that long is gone. */
  pingMs: 12_000,
  /** Milliseconds that a closed socket has for its farewell. */
  farewellMs: 500,
} as const

/**
 * Subscribes at a subgraph over a WebSocket of its own (graphql-transport-ws). Resolves when the subscription is sent. The stream
 * ends with an error result when the connection breaks: nothing is subscribed anew, because events may have been lost between.
 * `return()` tells the server at once and waits for nothing.
 * @throws UpstreamFailure when the connection does not come about
 */
export async function subscribeOverSocket({ url, payload, headers, timeoutMs, signal }: SocketSubscription): Promise<ResultStream> {
  const named = Object.fromEntries(pairs(headers))
  let socket: WebSocket | null = null
  class Socket extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers: named, maxPayload: limits.messageBytes, handshakeTimeout: timeoutMs, perMessageDeflate: false })
      socket = this
    }
  }

  const waiting: ExecutionResult[] = []
  const pending: ((result: IteratorResult<ExecutionResult>) => void)[] = []
  let over = false
  const push = (result: ExecutionResult) => {
    if (over) return
    const settle = pending.shift()
    if (settle) return settle({ value: result, done: false })
    if (waiting.push(result) <= limits.waiting) return
    waiting.pop()
    waiting.push(failed('Events came faster than they could be taken.'))
    end()
  }
  const end = () => {
    if (over) return
    over = true
    clearInterval(heartbeat)
    for (const settle of pending.splice(0)) settle({ value: undefined, done: true })
    unsubscribe()
    farewell(socket)
    signal.removeEventListener('abort', end)
  }

  if (signal.aborted) throw new UpstreamFailure('unsent', 'The router is stopping')
  signal.addEventListener('abort', end)
  const started = Promise.withResolvers<void>()
  const client = createClient({
    url,
    webSocketImpl: Socket,
    connectionParams: named,
    connectionAckWaitTimeout: timeoutMs,
    lazyCloseTimeout: 0,
    retryAttempts: 0,
    on: {
      connected: () => started.resolve(),
      pong: received => {
        if (received) answered = true
      },
      closed: event => {
        const { code, reason } = event as { code: number; reason: string }
        started.reject(new UpstreamFailure('cut', `The WebSocket was closed with ${code} ${reason}`))
        push(failed('The events ended, for the connection broke; subscribe again.'))
        end()
      },
      error: cause => started.reject(new UpstreamFailure('cut', 'No WebSocket could be opened', cause)),
    },
  })
  let answered = true
  const heartbeat = setInterval(() => {
    if (socket?.readyState !== WebSocket.OPEN) return
    if (!answered) return socket.terminate()
    answered = false
    socket.send('{"type":"ping"}')
  }, limits.pingMs)
  heartbeat.unref()
  const late = setTimeout(() => started.reject(new UpstreamFailure('late', `No WebSocket within ${timeoutMs} ms`)), timeoutMs)
  const unsubscribe = client.subscribe<Record<string, unknown>>(payload, {
    next: result => push(isData(result) ? (result as ExecutionResult) : { errors: [] }),
    error: cause => {
      if (Array.isArray(cause)) push(refusalOf(cause))
      end()
    },
    complete: () => end(),
  })
  try {
    await started.promise
  } catch (failure) {
    end()
    throw failure
  } finally {
    clearTimeout(late)
  }

  const stream: ResultStream = {
    next() {
      const value = waiting.shift()
      if (value) return Promise.resolve({ value, done: false })
      if (over) return Promise.resolve({ value: undefined, done: true })
      return new Promise(settle => pending.push(settle))
    },
    return() {
      waiting.length = 0
      end()
      return Promise.resolve({ value: undefined, done: true })
    },
    throw(cause: unknown) {
      waiting.length = 0
      end()
      return Promise.reject(cause)
    },
    [Symbol.asyncIterator]: () => stream,
  }
  return stream
}

const failed = (message: string): ExecutionResult => ({ errors: [errorFor('UPSTREAM_FAILED', message)] })

function refusalOf(errors: readonly unknown[]): ExecutionResult {
  try {
    return readAnswer({ status: 200, text: JSON.stringify({ errors }) })
  } catch (cause) {
    return failed((cause as Error).message)
  }
}

/** The client closes the socket in good order; one whose server does not answer is cut. */
function farewell(socket: WebSocket | null): void {
  if (!socket || socket.readyState === WebSocket.CLOSED) return
  if (socket.readyState === WebSocket.CONNECTING) {
    socket.terminate()
    return
  }
  const cut = setTimeout(() => socket.terminate(), limits.farewellMs)
  socket.once('close', () => clearTimeout(cut))
}

function* pairs(headers: readonly string[]): Generator<[string, string]> {
  for (let index = 0; index + 1 < headers.length; index += 2) yield [headers[index]!, headers[index + 1]!]
}
