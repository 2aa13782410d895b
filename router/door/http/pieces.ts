import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
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

/** Node's HTTP parser of a connection, with its callbacks for the headers of a request and for a piece of its body. */
interface Parser {
  [onHeaders]?: unknown
  [onPiece]?: unknown
}
const onHeaders = 2
const onPiece = 3

/**
 * Stops reading a connection in the middle of what was read of it, and drops the rest of that. Pausing the socket would
 * leave the pieces that its parser has begun, each copied to a buffer of its own: 30 times the processor time. Node has
 * no other way than to take the parser's callbacks away. They are back before the connection can close in this turn of
 * the event loop, because Node uses parsers again.
 */
function stopReading(socket: IncomingMessage['socket']): void {
  if (!(socket instanceof Socket)) return
  const { parser, _handle: handle } = socket as Socket & { parser?: Parser; _handle?: { readStop?(): void } }
  handle?.readStop?.()
  const { [onHeaders]: headers, [onPiece]: piece } = parser ?? {}
  if (typeof headers !== 'function' || typeof piece !== 'function') return
  Object.assign(parser!, { [onHeaders]: null, [onPiece]: null })
  setImmediate(() => Object.assign(parser!, { [onHeaders]: headers, [onPiece]: piece }))
}
