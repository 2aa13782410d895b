import { passing, single } from './pieces.ts'

/** Bytes under keys: what is too large for rows. A key is written once as a whole: whoever reads one sees all of it, or none. */
export interface Storage {
  /**
   * Keeps an object under a key, in place of what was there; nothing is kept of a body that breaks off.
   * @throws Error when the body has another length than was said
   */
  put(key: string, body: Body, as: ObjectFacts): Promise<void>
  /**
   * Its bytes, as they are read.
   * @param range the first and the last of them, counted from 0 @default all
   * @throws NotStored
   */
  get(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>>
  /** How long an object is; null when there is none. */
  stat(key: string): Promise<{ readonly bytes: number } | null>
  /** Removes an object; nothing happens where there is none. */
  remove(key: string): Promise<void>
}

export type Body = Uint8Array | AsyncIterable<Uint8Array>

/** What is said of an object that is kept. */
export interface ObjectFacts {
  readonly contentType: string
  readonly bytes: number
}

/** Both ends belong to it. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** Opens the objects of one subgraph: nothing that it names lies outside its prefix. */
export type OpenStorage = (prefix: string) => Storage

/** Thrown where nothing is kept under a key. */
export class NotStored extends Error {
  constructor(key: string) {
    super(`nothing is stored under ${key}`)
    this.name = 'NotStored'
  }
}

const part = /^[a-z0-9_](?:[a-z0-9._-]{0,120}[a-z0-9_])?$/

/**
 * A key as drivers take it: parts of small letters, digits, dots and hyphens with slashes between; none of dots alone.
 * @throws Error for any other, before a driver makes a path or an address of it
 */
export function checkedKey(prefix: string, key: string): string {
  const whole = `${prefix}/${key}`
  if (whole.length > 500 || !whole.split('/').every(each => part.test(each) && !each.includes('..'))) throw new Error('not a key of storage')
  return whole
}

/** A body in pieces; it fails where it has another length than was said. */
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
