import { passing, single } from './pieces.ts'

/**
 * Stores bytes under keys, for content too large for rows. Writing a key is atomic: readers see the whole object, or
 * none.
 */
export interface Storage {
  /**
   * Stores an object under a key, replacing an existing one; nothing is stored when the body breaks off.
   * @throws Error when the body's length differs from the announced one
   */
  put(key: string, body: Body, as: ObjectFacts): Promise<void>
  /**
   * Returns an object's bytes as a stream.
   * @param range the first and the last of them, counted from 0 @default all
   * @throws NotStored
   */
  get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>>
  /** Returns the length of an object; null when there is none. */
  stat(key: string): Promise<{ readonly bytes: number } | null>
  /** Removes an object, if there is one. */
  remove(key: string): Promise<void>
}

export type Body = Uint8Array | AsyncIterable<Uint8Array>

/** Properties of a stored object. */
export interface ObjectFacts {
  readonly contentType: string
  readonly bytes: number
}

/** A range of bytes that includes both ends. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** Opens the objects of one subgraph: all its keys are within its prefix. */
export type OpenStorage = (prefix: string) => Storage

/** Thrown for a key without an object. */
export class NotStored extends Error {
  constructor(key: string) {
    super(`nothing is stored under ${key}`)
    this.name = 'NotStored'
  }
}

const part = /^[a-z0-9_](?:[a-z0-9._-]{0,120}[a-z0-9_])?$/

/**
 * Returns a key in the form that drivers accept: parts of lower-case letters, digits, dots and hyphens, separated by
 * slashes; none of dots alone.
 * @throws Error for any other key, before a driver makes a path or an address of it
 */
export function checkedKey(prefix: string, key: string): string {
  const whole = `${prefix}/${key}`
  if (whole.length > 500 || !whole.split('/').every(each => part.test(each) && !each.includes('..'))) throw new Error('not a key of storage')
  return whole
}

/** Returns a body in pieces; it fails where the length differs from the announced one. */
export function piecesOf(body: Body, bytes: number): AsyncIterable<Uint8Array> {
  let seen = 0
  const wrong = () => new Error(`the object has ${seen > bytes ? 'more' : seen} bytes, and ${bytes} were promised`)
  const count = (piece: Uint8Array) => {
    seen += piece.byteLength
    if (seen > bytes) throw wrong()
    return piece
  }
  return passing(body instanceof Uint8Array ? single(body) : body, count, () => {
    if (seen !== bytes) throw wrong()
  })
}
