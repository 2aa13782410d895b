import type { Dispatcher } from 'undici'
import { OutboundFailure } from './failure.ts'

/**
 * Calls a third party and passes its answer on as a stream. It resolves with the answer's headers, and rejects with an `OutboundFailure`
 * where none come. Redirects are not followed, nothing is tried again. Whatever happens, no socket, timer or listener is left behind once
 * the body has been read to its end or its failure, left (`break`), or cancelled; a body that nobody reads ends with `totalMs`.
 */
export type StreamOutbound = (url: string | URL, options?: StreamOptions) => Promise<StreamedAnswer>

/** What may be sent as a body: one that comes in pieces is sent as they come, and as fast as the other side takes them. */
export type StreamBody = string | Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

export interface StreamOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: StreamBody | null | undefined
  /** From when the request is written until the first byte of the answer's body, a connection included. @default 60000 */
  readonly firstByteMs?: number
  /** Between two pieces of the body, of the one that is sent in pieces and of the answer's; while the reader is slower, nothing is due. @default 30000 */
  readonly idleMs?: number
  /** For all of it; Infinity for none. @default 600000 */
  readonly totalMs?: number
  /** The longest body that an answer may have, in bytes. @default 33554432 */
  readonly mostBytes?: number
  /** As `OutboundOptions` has it. @default false */
  readonly freshConnection?: boolean
  /** Aborts: the socket is closed at once. */
  readonly signal?: AbortSignal | undefined
}

export interface StreamedAnswer {
  readonly status: number
  readonly headers: Headers
  /** To be read once. A failure after the headers rejects with an `OutboundFailure`; leaving the loop cancels. */
  readonly body: AsyncIterable<Uint8Array>
  /** Leaves it: closes the socket, unless all of it was read. May be called at any time, and again. */
  cancel(): void
}

/** Bytes of an answer that wait for their reader before the socket is not read any more, and until they are fewer than half of that. */
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
  const waiting: Uint8Array[] = []
  let waitingBytes = 0
  let taken = 0
  let isPaused = false
  let reader: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined

  const reasonOf = (what: string) => `${target.origin} could not be asked: ${what}`
  const after = (ms: number, what: () => void) => (Number.isFinite(ms) ? setTimeout(what, ms) : undefined)
  const late = (what: string) => () => fail(new OutboundFailure(reasonOf(what), controller !== undefined, undefined, 'late'))
  /** What is due next: the first byte, or another one. */
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
    due = state === 'over' || isPaused ? undefined : after(ms, late(what))
  }

  /** Nothing is due any more, and nobody is listened to. */
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
    waiting.length = 0
    controller?.abort(cause)
    if (wasAsking) reject(cause)
    reader?.reject(cause)
    reader = undefined
  }

  const cancel = () => {
    waiting.length = 0
    fail(new OutboundFailure(reasonOf('its answer was left'), true, undefined, 'left'))
  }

  const iterator: AsyncIterator<Uint8Array, undefined> = {
    next() {
      const piece = waiting.shift()
      if (piece) {
        waitingBytes -= piece.byteLength
        if (isPaused && waitingBytes < mostWaiting / 2) {
          isPaused = false
          if (state !== 'over') {
            expect(idleMs, `nothing more came within ${idleMs} ms`)
            controller?.resume()
          }
        }
        return Promise.resolve({ value: piece, done: false })
      }
      if (failure) return Promise.reject(failure)
      if (state === 'over') return Promise.resolve(nothing)
      reader = Promise.withResolvers()
      return reader.promise
    },
    return() {
      cancel()
      return Promise.resolve(nothing)
    },
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given
      if (state === 'over') given.abort(failure ?? new Error('left'))
    },
    onResponseStart(_controller, status, found) {
      // An interim response (100, 103) is not the response yet.
      if (status < 200 || state !== 'asking') return
      state = 'answering'
      resolve({ status, headers: headersOf(found), body: { [Symbol.asyncIterator]: () => iterator }, cancel })
    },
    onResponseData(_controller, piece) {
      if (state !== 'answering') return
      const isFirst = taken === 0
      taken += piece.byteLength
      if (taken > mostBytes) return fail(new OutboundFailure(`${target.origin} answered with more than ${mostBytes} bytes`, true, undefined, 'large'))
      if (isFirst) expect(idleMs, `nothing more came within ${idleMs} ms`)
      else due?.refresh()
      if (reader) {
        const { resolve: give } = reader
        reader = undefined
        return give({ value: piece, done: false })
      }
      waiting.push(piece)
      waitingBytes += piece.byteLength
      if (waitingBytes < mostWaiting || isPaused) return
      isPaused = true
      clearTimeout(due)
      controller?.pause()
    },
    onResponseEnd() {
      if (state === 'over') return
      end()
      reader?.resolve(nothing)
      reader = undefined
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

interface Pieces {
  readonly body: StreamBody | null
  begin(): void
  /** Cancels the rest of it. */
  leave(): void
}

/** A body that tells when its pieces come: they may take their time, but none may take for ever. */
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
