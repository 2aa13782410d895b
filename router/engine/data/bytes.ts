import { TooMuch } from '../errors.ts'

/** Maximum size of an answer as JSON in UTF-8, in bytes. @default 16 MiB */
export const mostAnswerBytes = 16 * 1024 * 1024

/** Measures a text with its quotes, in bytes of JSON. */
export type Measure = (text: string) => number

/**
 * Upper bound of a text's bytes in JSON: a control character, or half of a surrogate pair, is written as six bytes. It
 * costs no more than reading the text's length.
 */
export const atMost: Measure = text => text.length * 6 + 2

/** Exact size of a text as `JSON.stringify` writes it, in bytes. */
export const exactly: Measure = text => {
  let bytes = text.length + 2
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20) bytes += code === 8 || code === 9 || code === 10 || code === 12 || code === 13 ? 1 : 5
    else if (code < 0x80) bytes += code === 0x22 || code === 0x5c ? 1 : 0
    else if (code < 0x800) bytes += 1
    else if (code < 0xd800 || code > 0xdfff) bytes += 2
    else if (code < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      // A surrogate pair is four bytes in UTF-8.
      bytes += 2
      index++
    } else bytes += 5
  }
  return bytes
}

/** Returns the size of any JSON-safe value, in bytes. */
export function sizeOf(value: unknown, measure: Measure = atMost): number {
  if (typeof value === 'string') return measure(value)
  if (typeof value === 'number') return measure === atMost ? 24 : String(value).length
  if (typeof value !== 'object' || value === null) return 5
  let bytes = 2
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item, measure) + 1
  else for (const key in value) bytes += measure(key) + sizeOf((value as Record<string, unknown>)[key], measure) + 2
  return bytes
}

/**
 * Checks that a JSON-safe value fits. It counts exactly only where the quick upper bound leaves the answer open.
 * @throws TooMuch for a value that takes more bytes
 */
export function requireFits(value: unknown, most: number): void {
  if (sizeOf(value) > most && sizeOf(value, exactly) > most) throw new TooManyBytes(most)
}

export class TooManyBytes extends TooMuch {
  constructor(most: number) {
    super('OPERATION_TOO_EXPENSIVE', `The answer would have more than ${mebibytes(most)}; ask for fewer entries at once, or for fewer long fields.`)
  }
}

export const mebibytes = (bytes: number) => (bytes >= 1024 * 1024 ? `${Math.round((bytes / 1024 / 1024) * 10) / 10} MiB` : `${bytes} bytes`)
