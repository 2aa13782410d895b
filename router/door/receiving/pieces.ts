import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { doFor } from '../../../platform/caller/cause.ts'
import { DomainError } from '../../../platform/errors.ts'
import { doorRefusal } from '../errors.ts'

/**
 * Minimum size of a body's pieces: a number of pieces may be smaller, beyond it each must bring this many bytes on
 * average. A client that sends single bytes costs a thousand times more processor time than their number.
 */
export const piecesLimits = { small: 256, bytes: 128 } as const

/** @param pieces arrived so far @param bytes of all pieces together */
export const areTooSmall = (pieces: number, bytes: number): boolean => pieces > piecesLimits.small + bytes / piecesLimits.bytes

export const tooSmall = () => doorRefusal(413, 'The body came in too many small pieces: send more of it at once.')

/**
 * A request whose connection is never read again once its body came in too many small pieces, even before anybody reads
 * the body: Node takes up to 2 MB from a connection in one turn of the event loop, which are 350,000 pieces of a byte,
 * and buffers 65,536 of them. Whoever reads the body counts the same pieces, and refuses it.
 */
export class WatchedRequest extends IncomingMessage {
  #pieces = 0
  #bytes = 0
  #isStopped = false

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece) {
      this.#pieces += 1
      this.#bytes += piece.length
      if (!this.#isStopped && areTooSmall(this.#pieces, this.#bytes)) {
        this.#isStopped = true
        stopReading(this.socket)
      }
    }
    return super.push(piece, encoding)
  }

  override _read(size: number): void {
    if (!this.#isStopped) super._read(size)
  }
}

/** Requests that one connection may begin in one turn of the event loop: clients that pipeline send ten or so. */
export const mostAtOnce = 32

/** How many requests of a connection began in the latest turn in which some did. */
const begun = new WeakMap<Socket, { turn: number; requests: number; isOver: boolean }>()
let turn = 0
let isTurnCounted = false

/**
 * Stops reading a connection that sends too many requests without waiting for answers, and drops those that follow: Node
 * would begin all 50,000 of two megabytes in one turn of the event loop.
 * @throws RATE_LIMITED for the first that is too many; the connection has to close after the answer
 */
export function refusePipelining({ socket }: IncomingMessage): void {
  // An injected request has no connection.
  if (!(socket instanceof Socket)) return
  if (!isTurnCounted) {
    isTurnCounted = true
    doFor(null, () =>
      setImmediate(() => {
        isTurnCounted = false
        turn += 1
      }),
    )
  }
  const known = begun.get(socket)
  if (!known) return void begun.set(socket, { turn, requests: 1, isOver: false })
  known.requests = known.turn === turn ? known.requests + 1 : 1
  known.turn = turn
  if (known.requests <= mostAtOnce && !known.isOver) return
  known.isOver = true
  stopReading(socket)
  throw new DomainError('RATE_LIMITED', `A connection takes ${mostAtOnce} requests at once: wait for answers before you send more.`, { retryAfter: 1 })
}

/** Node's HTTP parser of a connection, with its callbacks for the headers of a request, a piece of its body, and its end. */
type Parser = Record<(typeof callbacks)[number], unknown>
const callbacks = [2, 3, 4] as const

/**
 * Stops reading a connection in the middle of what was read of it, and drops the rest of that. Pausing the socket would
 * leave the pieces that its parser has begun, each copied to a buffer of its own: 30 times the processor time. Node has
 * no other way than to take the parser's callbacks away. They are restored before the connection can close, which Node
 * does later in a turn of the event loop: it then gives the parser to another connection.
 */
function stopReading(socket: Socket): void {
  const { parser, _handle: handle } = socket as Socket & { parser?: Parser; _handle?: { readStop?(): void } }
  handle?.readStop?.()
  const taken = callbacks.map(at => [at, parser?.[at]] as const)
  if (!taken.every(([, callback]) => typeof callback === 'function')) return
  for (const at of callbacks) parser![at] = null
  setImmediate(() => {
    for (const [at, callback] of taken) parser![at] = callback
  })
}
