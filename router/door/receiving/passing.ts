import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { doorRefusal } from '../errors.ts'
import { areTooSmall, tooSmall } from './pieces.ts'

/** A request body forwarded as a stream, at the speed at which it is read. */
export interface PassingBody {
  readonly stream: ReadableStream<Uint8Array>
  /** Whether the whole body has arrived. */
  readonly isWhole: boolean
  /** Why reading stopped: the body is too large, or ended early. */
  readonly refused: Error | null
  /**
   * Drains the rest of the body, for a limited time and size: a client that is still writing when it is answered would
   * see a broken pipe instead of the answer.
   */
  leave(): Promise<void>
}

/** Bytes of a body that may wait to be read before the source is paused. */
const mostWaiting = 128 * 1024
/** Limits on draining, in bytes and in ms. */
const leaving = { bytes: 16 * 1024 * 1024, ms: 5_000 } as const

/** @param limit bytes: a body that announces a larger size is not read at all */
export function passBody(source: IncomingMessage, limit: number): PassingBody {
  const tooLarge = () => doorRefusal(413, `The body is larger than ${limit} bytes: send less at once.`, { limit })
  if (Number(source.headers['content-length'] ?? 0) > limit) throw tooLarge()
  let bytes = 0
  let pieces = 0
  let leftBytes = 0
  let isWhole = false
  let isLeft = false
  let isStopped = false
  let refused: Error | null = null
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const over = Promise.withResolvers<void>()

  const refuse = (error: Error) => {
    refused ??= error
    if (!isLeft) controller.error(error)
    isLeft = true
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      pull() {
        source.resume()
      },
      cancel() {
        isLeft = true
        source.pause()
      },
    },
    { highWaterMark: mostWaiting, size: piece => piece!.byteLength },
  )
  source.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (isLeft) {
      leftBytes += piece.length
      if (leftBytes <= leaving.bytes) return
      source.pause()
      return over.resolve()
    }
    if (bytes > limit) {
      source.pause()
      return refuse(tooLarge())
    }
    if (areTooSmall(++pieces, bytes)) {
      isStopped = true
      return refuse(tooSmall())
    }
    controller.enqueue(piece)
    if ((controller.desiredSize ?? 0) <= 0) source.pause()
  })
  source.pause()
  source.once('end', () => {
    isWhole = true
    over.resolve()
    if (!isLeft) controller.close()
  })
  const ended = () => {
    if (!isWhole) refuse(doorRefusal(400, 'The body ended before it was complete.'))
    over.resolve()
  }
  source.once('close', ended)
  source.once('error', ended)
  return {
    stream,
    get isWhole() {
      return isWhole
    },
    get refused() {
      return refused
    },
    async leave() {
      if (isWhole || isStopped || source.destroyed) return
      isLeft = true
      source.resume()
      const timer = setTimeout(over.resolve, leaving.ms)
      await over.promise
      clearTimeout(timer)
      source.pause()
    },
  }
}

/** Timers that wait for the bodies of a connection; they would keep its requests in memory after it closed. */
const arriving = new WeakMap<Socket, Set<NodeJS.Timeout>>()

/**
 * @returns the timers that wait for bodies of a connection; they are cleared when the connection closes, because a
 * request that was answered before gets no event then
 */
function arrivingOf(socket: Socket): Set<NodeJS.Timeout> {
  const known = arriving.get(socket)
  if (known) return known
  const timers = new Set<NodeJS.Timeout>()
  arriving.set(socket, timers)
  socket.once('close', () => timers.forEach(clearTimeout))
  return timers
}

/**
 * Ends a connection whose request body does not arrive in time: Node's own limit is the same for all requests, and
 * streamed ones have none.
 * @param tell sends the answer, unless one was sent
 */
export function mustArriveWithin(request: IncomingMessage, ms: number, tell: () => void): void {
  const { headers, socket } = request
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return
  // An injected request has no connection.
  const timers = socket instanceof Socket ? arrivingOf(socket) : null
  const timer = setTimeout(() => {
    timers?.delete(timer)
    if (!request.complete) tell()
  }, ms)
  timers?.add(timer)
  const release = () => {
    clearTimeout(timer)
    timers?.delete(timer)
  }
  request.once('end', release).once('close', release)
}
