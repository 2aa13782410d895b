import type { ExecutionResult } from 'graphql'
import { type RawData, WebSocket } from 'ws'
import { isData } from '../data/merge.ts'
import type { ResultStream } from '../engine.ts'
import { errorFor } from '../errors.ts'
import { readRefusal, readResult } from './answer.ts'
import { UpstreamFailure } from './exchange.ts'

export interface SocketSubscription {
  readonly url: string
  readonly payload: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> }
  /** Names and values in turn: sent with the upgrade and as the payload of `connection_init`, because servers read either. */
  readonly headers: readonly string[]
  /** Milliseconds until the server must have accepted the connection. */
  readonly timeoutMs: number
  /** Milliseconds between pings; a server that answers none of them for that long is gone. */
  readonly pingMs: number
  /** What a pong is to carry, by what its ping carried; null for nothing. @default nothing */
  readonly answer?: ((asked: unknown) => Promise<Record<string, unknown>> | null) | undefined
  /** Ends the stream. */
  readonly signal: AbortSignal
  /** Ends the start: whoever asked for it is gone. */
  readonly leaving?: AbortSignal | undefined
}

/** Everything about these sockets that has a bound. */
const limits = {
  /** Bytes of one message. */
  messageBytes: 16 * 1024 * 1024,
  /** Events that wait to be taken, and their bytes; past it the stream ends with an error, for a gap in it would be silent. */
  waiting: 1000,
  waitingBytes: 32 * 1024 * 1024,
  /** Bytes that may wait for a server to read them: it sends pings without reading what they are answered. */
  unreadBytes: 1024 * 1024,
  /** Milliseconds that a closed socket has for its farewell. */
  farewellMs: 500,
} as const

/** What the protocol calls the one operation of a connection. */
const id = '1'

/** An event that waits to be taken. */
interface Waiting {
  readonly result: ExecutionResult
  readonly bytes: number
}

/**
 * Subscribes at a subgraph over a WebSocket of its own (graphql-transport-ws). Resolves when the subscription is sent. The stream
 * ends with an error result when the connection breaks: nothing is subscribed anew, because events may have been lost between.
 * `return()` tells the server at once and waits for nothing.
 * @throws UpstreamFailure when the connection does not come about
 */
export async function subscribeOverSocket(subscription: SocketSubscription): Promise<ResultStream> {
  const { url, payload, headers, timeoutMs, pingMs, answer, signal, leaving } = subscription
  if (signal.aborted) throw new UpstreamFailure('unsent', 'The router is stopping')
  if (leaving?.aborted || timeoutMs <= 0) throw new UpstreamFailure('unsent', 'Nobody waits for it any more')
  const named = Object.fromEntries(pairs(headers))
  const socket = open(url, { headers: named, maxPayload: limits.messageBytes, handshakeTimeout: timeoutMs, perMessageDeflate: false })
  const started = Promise.withResolvers<void>()
  const waiting: Waiting[] = []
  const pending: ((result: IteratorResult<ExecutionResult>) => void)[] = []
  let waitingBytes = 0
  let state: 'connecting' | 'subscribed' | 'over' = 'connecting'
  let answered = true

  const push = (result: ExecutionResult, bytes = 0) => {
    if (state === 'over') return
    const settle = pending.shift()
    if (settle) return settle({ value: result, done: false })
    waiting.push({ result, bytes })
    waitingBytes += bytes
    if (waiting.length <= limits.waiting && waitingBytes <= limits.waitingBytes) return
    waiting.pop()
    waiting.push({ result: failed('Events came faster than they could be taken.'), bytes: 0 })
    end()
  }
  const send = (message: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  const pong = (asked: unknown) => {
    const carried = answer?.(asked)
    if (!carried) return send({ type: 'pong' })
    // Without one the server hears no answer to this ping, and asks again.
    carried.then(
      payload => send({ type: 'pong', payload }),
      () => {},
    )
  }
  /** @param complete whether the server knows that the operation is over */
  const end = (complete = false) => {
    if (state === 'over') return
    if (state === 'subscribed' && !complete) send({ id, type: 'complete' })
    state = 'over'
    clearInterval(heartbeat)
    clearTimeout(late)
    signal.removeEventListener('abort', leave)
    leaving?.removeEventListener('abort', leave)
    for (const settle of pending.splice(0)) settle({ value: undefined, done: true })
    farewell(socket)
  }
  const broken = (failure: UpstreamFailure) => {
    started.reject(failure)
    push(failed('The events ended, for the connection broke; subscribe again.'))
    end(true)
  }
  const leave = () => {
    started.reject(new UpstreamFailure('late', 'Nobody waits for it any more'))
    end()
  }
  const heartbeat = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (!answered) return socket.terminate()
    answered = false
    send({ type: 'ping' })
  }, pingMs)
  heartbeat.unref()
  const late = setTimeout(() => broken(new UpstreamFailure('late', `No WebSocket within ${timeoutMs} ms`)), timeoutMs)

  const take = (data: RawData) => {
    const message = messageOf(data)
    switch (message?.type) {
      case 'connection_ack':
        if (state !== 'connecting') return
        state = 'subscribed'
        clearTimeout(late)
        leaving?.removeEventListener('abort', leave)
        send({ id, type: 'subscribe', payload })
        return started.resolve()
      case 'ping':
        return socket.bufferedAmount > limits.unreadBytes ? socket.terminate() : pong(message.payload)
      case 'pong':
        answered = true
        return
    }
    if (state !== 'subscribed' || !message) return broken(new UpstreamFailure('cut', 'It sent a message that is none of the protocol'))
    if (message.id !== id) return
    switch (message.type) {
      case 'next':
        return push((isData(message.payload) && readResult(message.payload)) || { errors: [] }, sizeOf(data))
      case 'error':
        push(readRefusal(message.payload) ?? failed('The subscription was refused without a reason.'))
        return end(true)
      case 'complete':
        return end(true)
    }
  }
  socket.on('open', () => send({ type: 'connection_init', payload: named }))
  socket.on('message', data => {
    if (state !== 'over') take(data)
  })
  socket.on('close', (code, reason) => broken(new UpstreamFailure('cut', `The WebSocket was closed with ${code} ${reason}`)))
  socket.on('error', cause => started.reject(new UpstreamFailure('cut', 'No WebSocket could be opened', cause)))
  signal.addEventListener('abort', leave)
  leaving?.addEventListener('abort', leave)
  await started.promise

  const stream: ResultStream = {
    next() {
      const first = waiting.shift()
      if (first) {
        waitingBytes -= first.bytes
        return Promise.resolve({ value: first.result, done: false })
      }
      if (state === 'over') return Promise.resolve({ value: undefined, done: true })
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

/** An address or a header that cannot be sent is refused at once. */
function open(url: string, options: WebSocket.ClientOptions): WebSocket {
  try {
    return new WebSocket(url, 'graphql-transport-ws', options)
  } catch (cause) {
    throw new UpstreamFailure('unsent', 'No WebSocket could be opened', cause)
  }
}

interface Message {
  readonly type?: unknown
  readonly id?: unknown
  readonly payload?: unknown
}

function messageOf(data: RawData): Message | null {
  try {
    const message: unknown = JSON.parse(String(data))
    return isData(message) ? message : null
  } catch {
    return null
  }
}

const sizeOf = (data: RawData): number => (Array.isArray(data) ? data.reduce((bytes, piece) => bytes + piece.length, 0) : data.byteLength)

const failed = (message: string): ExecutionResult => ({ errors: [errorFor('UPSTREAM_FAILED', message)] })

/** Closes a socket in good order; one whose server does not answer is cut. */
function farewell(socket: WebSocket): void {
  if (socket.readyState === WebSocket.CLOSED) return
  if (socket.readyState === WebSocket.CONNECTING) {
    socket.terminate()
    return
  }
  socket.close(1000, 'Normal Closure')
  const cut = setTimeout(() => socket.terminate(), limits.farewellMs)
  socket.once('close', () => clearTimeout(cut))
}

function* pairs(headers: readonly string[]): Generator<[string, string]> {
  for (let index = 0; index + 1 < headers.length; index += 2) yield [headers[index]!, headers[index + 1]!]
}
