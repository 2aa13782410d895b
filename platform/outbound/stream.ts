import type { Dispatcher } from 'undici'
import { OutboundFailure } from './failure.ts'

/**
 * Calls a third party and returns its answer as a stream. It resolves with the answer's headers, and rejects with an
 * `OutboundFailure` where none arrive. Redirects are not followed, nothing is retried. In all cases, no socket, timer
 * or listener remains once the body has been read to its end or failure, left (`break`), or cancelled; a body that
 * nobody reads ends with `totalMs`.
 */
export type StreamOutbound = (url: string | URL, options?: StreamOptions) => Promise<StreamedAnswer>

/** A request body; one in pieces is sent as they arrive, at the receiver's speed. */
export type StreamBody = string | Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

export interface StreamOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: StreamBody | null | undefined
  /**
   * Time limit in ms from writing the request to the first byte of the answer's body, connecting included. @default
   * 60000
   */
  readonly firstByteMs?: number
  /**
   * Time limit in ms between two pieces of a body, sent or received; it does not run while the reader is slower.
   * @default 30000
   */
  readonly idleMs?: number
  /** Time limit in ms of the whole call; Infinity for none. @default 600000 */
  readonly totalMs?: number
  /** The longest body that an answer may have, in bytes. @default 33554432 */
  readonly mostBytes?: number
  /** As in `OutboundOptions`. @default false */
  readonly freshConnection?: boolean
  /** Closes the socket at once when aborted. */
  readonly signal?: AbortSignal | undefined
}

export interface StreamedAnswer {
  readonly status: number
  readonly headers: Headers
  /** Body to be read once. A failure after the headers rejects with an `OutboundFailure`; leaving the loop cancels. */
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the socket, unless the whole body was read. Idempotent. */
  cancel(): void
}

/** Bytes of an answer that may wait for their reader before the socket is paused; it resumes at half of that. */
const mostWaiting = 128 * 1024

const streamDefaults = { firstByteMs: 60_000, idleMs: 30_000, totalMs: 600_000, mostBytes: 32 * 1024 * 1024 } as const

const nothing = { value: undefined, done: true } as const

/**
 * Sends one request through an agent. @param target checked: it may be called
 * @throws OutboundFailure of kind `late`, `left`, `large` or `broken`
 */
export function streamThrough(agent: Dispatcher, target: URL, options: StreamOptions): Promise<StreamedAnswer> {
  const { method = 'GET', headers = {}, signal } = options
  const { firstByteMs, idleMs, totalMs, mostBytes } = { ...streamDefaults, ...options }
  const { promise, resolve, reject } = Promise.withResolvers<StreamedAnswer>()

  let controller: Dispatcher.DispatchController | undefined
  let state: 'asking' | 'answering' | 'over' = 'asking'
  let failure: OutboundFailure | undefined
  let taken = 0

  const reasonOf = (what: string) => `${target.origin} could not be asked: ${what}`
  const after = (ms: number, what: () => void) => (Number.isFinite(ms) ? setTimeout(what, ms) : undefined)
  const late = (what: string) => () => fail(new OutboundFailure(reasonOf(what), controller !== undefined, undefined, 'late'))
  /** Timer of the next expected byte. */
  let due: NodeJS.Timeout | undefined
  const total = after(totalMs, late(`not done within ${totalMs} ms`))

  const onAbort = () => fail(new OutboundFailure(reasonOf('nobody waits any more'), controller !== undefined, signal?.reason, 'left'))
  signal?.addEventListener('abort', onAbort, { once: true })

  const upload = pieces(options.body, {
    began: () => expect(idleMs, `nothing more to send came within ${idleMs} ms, or it was not taken`),
    ended: () => expect(firstByteMs, `no answer within ${firstByteMs} ms`),
  })

  function expect(ms: number, what: string): void {
    clearTimeout(due)
    due = state === 'over' || arrived.isFull ? undefined : after(ms, late(what))
  }

  /** Stops all timers and removes all listeners. */
  function end(): void {
    state = 'over'
    clearTimeout(due)
    clearTimeout(total)
    signal?.removeEventListener('abort', onAbort)
    upload.leave()
  }

  function fail(cause: OutboundFailure): void {
    if (state === 'over') return
    const wasAsking = state === 'asking'
    end()
    failure = cause
    controller?.abort(cause)
    if (wasAsking) reject(cause)
    arrived.fail(cause)
  }

  const cancel = () => {
    arrived.clear()
    fail(new OutboundFailure(reasonOf('its answer was left'), true, undefined, 'left'))
  }

  const arrived = createInbox({
    roomAgain() {
      if (state === 'over') return
      expect(idleMs, `nothing more came within ${idleMs} ms`)
      controller?.resume()
    },
    left: cancel,
  })

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given
      if (state === 'over') given.abort(failure ?? new Error('left'))
    },
    onResponseStart(_controller, status, found) {
      // An interim response (100, 103) is not the response yet.
      if (status < 200 || state !== 'asking') return
      state = 'answering'
      resolve({ status, headers: headersOf(found), body: { [Symbol.asyncIterator]: () => arrived.iterator }, cancel })
    },
    onResponseData(_controller, piece) {
      if (state !== 'answering') return
      const isFirst = taken === 0
      taken += piece.byteLength
      if (taken > mostBytes) return fail(new OutboundFailure(`${target.origin} answered with more than ${mostBytes} bytes`, true, undefined, 'large'))
      if (isFirst) expect(idleMs, `nothing more came within ${idleMs} ms`)
      else due?.refresh()
      if (!arrived.push(piece)) return
      clearTimeout(due)
      controller?.pause()
    },
    onResponseEnd() {
      if (state === 'over') return
      end()
      arrived.end()
    },
    onResponseError(_controller, error) {
      const why = (error as NodeJS.ErrnoException).code ?? error.message
      fail(error instanceof OutboundFailure ? error : new OutboundFailure(reasonOf(why), controller !== undefined, error))
    },
  }
  if (signal?.aborted) onAbort()
  else {
    upload.begin()
    const path = `${target.pathname}${target.search}`
    const request = { origin: target.origin, path, method: method as Dispatcher.HttpMethod, headers: { 'user-agent': 'supergraph', ...headers } }
    try {
      agent.dispatch({ ...request, body: upload.body as Buffer, headersTimeout: 0, bodyTimeout: 0 }, handler)
    } catch (error) {
      fail(new OutboundFailure(reasonOf((error as Error).message), false, error))
    }
  }
  return promise
}

/** Pieces of an answer's body that wait for their reader. */
interface Inbox {
  readonly iterator: AsyncIterator<Uint8Array, undefined>
  /** Whether so much waits that the sender must pause. */
  readonly isFull: boolean
  /** Adds a piece, or gives it to a reader that waits. @returns whether the sender must pause from now on */
  push(piece: Uint8Array): boolean
  /** Drops the waiting pieces. */
  clear(): void
  end(): void
  fail(cause: OutboundFailure): void
}

/**
 * @param told.roomAgain called when the sender may continue
 * @param told.left called when the reader stops reading
 */
function createInbox({ roomAgain, left }: { roomAgain(): void; left(): void }): Inbox {
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  let [isFull, isOver] = [false, false]
  let failure: OutboundFailure | undefined
  let reader: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined
  return {
    iterator: {
      next() {
        const piece = waiting.shift()
        if (piece) {
          waitingBytes -= piece.byteLength
          if (isFull && waitingBytes < mostWaiting / 2) {
            isFull = false
            roomAgain()
          }
          return Promise.resolve({ value: piece, done: false })
        }
        if (failure) return Promise.reject(failure)
        if (isOver) return Promise.resolve(nothing)
        reader = Promise.withResolvers()
        return reader.promise
      },
      return() {
        left()
        return Promise.resolve(nothing)
      },
    },
    get isFull() {
      return isFull
    },
    push(piece) {
      if (reader) {
        const { resolve } = reader
        reader = undefined
        resolve({ value: piece, done: false })
        return false
      }
      waiting.push(piece)
      waitingBytes += piece.byteLength
      if (waitingBytes < mostWaiting || isFull) return false
      isFull = true
      return true
    },
    clear() {
      waiting.length = 0
    },
    end() {
      isOver = true
      reader?.resolve(nothing)
      reader = undefined
    },
    fail(cause) {
      isOver = true
      failure = cause
      waiting.length = 0
      reader?.reject(cause)
      reader = undefined
    },
  }
}

interface Pieces {
  readonly body: StreamBody | null
  begin(): void
  /** Cancels the rest of the body. */
  leave(): void
}

/** Wraps a body with callbacks for its pieces, so that the pause between two of them can be limited. */
function pieces(body: StreamBody | null | undefined, told: { began(): void; ended(): void }): Pieces {
  if (body === null || body === undefined || typeof body === 'string' || ArrayBuffer.isView(body)) {
    return { body: body ?? null, begin: told.ended, leave() {} }
  }
  // Keeps the reader of a web stream, because it can be cancelled while a read waits.
  const streamed = body instanceof ReadableStream ? body.getReader() : undefined
  const inner = streamed ? undefined : (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  let isOver = false
  const leave = () => {
    if (isOver) return
    isOver = true
    if (streamed) streamed.cancel().catch(() => {})
    else void Promise.resolve(inner!.return?.()).catch(() => {})
  }
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      told.began()
      const piece = (await (streamed ? streamed.read() : inner!.next())) as IteratorResult<Uint8Array>
      if (!piece.done) {
        told.began()
        return piece
      }
      isOver = true
      told.ended()
      return piece
    },
    async return() {
      leave()
      return nothing
    },
  }
  return { body: { [Symbol.asyncIterator]: () => iterator } as AsyncIterable<Uint8Array>, begin: told.began, leave }
}

export function headersOf(found: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers()
  for (const name in found) {
    const value = found[name]
    if (typeof value === 'string') headers.append(name, value)
    else for (const one of value ?? []) headers.append(name, one)
  }
  return headers
}
