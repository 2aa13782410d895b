import type { BodyReader } from './events.ts'

/** One part of a multipart body. */
export interface Part {
  readonly text: string
  /** Bytes of the text. */
  readonly bytes: number
}

/** Maximum bytes before the first part, and of the headers of one. */
const mostHeadBytes = 16 * 1024

const blank = Buffer.from('\r\n\r\n')

/**
 * Reads the parts of a multipart body (RFC 2046, section 5.1.1), without their headers; a part that the end of the body
 * cuts off is passed over.
 * @param take receives each part, and null when the closing delimiter has come
 */
export function createPartReader(boundary: string, mostBytes: number, take: (part: Part | null) => void): BodyReader {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter has no line before it that it would have to end.
  const held = createHeld(Buffer.from('\r\n'))
  /** What the next bytes belong to: the beginning, the two bytes behind a delimiter, a part, or what follows the last. */
  let state: 'before' | 'behind' | 'within' | 'over' = 'before'
  return {
    read(chunk) {
      held.append(chunk)
      while (state !== 'over') {
        if (state === 'behind') {
          // They say whether the delimiter is the closing one.
          if (held.length < 2) return
          state = held.slice(0, 2).toString('latin1') === '--' ? 'over' : 'within'
          if (state === 'over') take(null)
          continue
        }
        const at = held.find(delimiter)
        if (at < 0) break
        // The part is whole, whatever follows: some servers send the rest of the delimiter with the next one.
        if (state === 'within') take(partIn(held.slice(0, at)))
        held.drop(at + delimiter.length)
        state = 'behind'
      }
      if (state === 'over') held.drop(held.length)
      else if (held.length > (state === 'within' ? mostBytes + mostHeadBytes : mostHeadBytes)) throw new Error(`a part has more than ${mostBytes} bytes`)
    },
  }
}

/** Reads what stands between two delimiters: spaces and a line's end, headers, an empty line, the text. */
function partIn(bytes: Buffer): Part {
  const head = bytes.indexOf(blank)
  // Without headers the empty line follows the delimiter's own.
  if (head < 0) throw new Error('a part has no end of its headers')
  const text = bytes.subarray(head + blank.length)
  return { text: text.toString('utf8'), bytes: text.byteLength }
}

/** Bytes that arrive in pieces: none is copied or looked at more than a few times. */
function createHeld(first: Buffer) {
  let store = Buffer.alloc(16 * 1024)
  let length = first.copy(store)
  /** Up to where no delimiter begins. */
  let searched = 0
  return {
    get length() {
      return length
    },
    append(chunk: Uint8Array) {
      if (length + chunk.byteLength > store.byteLength) {
        const larger = Buffer.alloc(Math.max(2 * store.byteLength, length + chunk.byteLength))
        store.copy(larger, 0, 0, length)
        store = larger
      }
      store.set(chunk, length)
      length += chunk.byteLength
    },
    find(sought: Buffer): number {
      const at = store.subarray(0, length).indexOf(sought, searched)
      searched = at < 0 ? Math.max(0, length - sought.length + 1) : at
      return at
    },
    slice: (from: number, to: number) => Buffer.from(store.subarray(from, to)),
    drop(bytes: number) {
      store.copyWithin(0, bytes, length)
      length -= bytes
      searched = 0
    },
  }
}
