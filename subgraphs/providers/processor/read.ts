import { DomainError } from '../../../platform/errors.ts'
import { longestKey } from '../../../platform/idempotency.ts'

const wrong = (field: string, sentence: string): DomainError => new DomainError('BAD_USER_INPUT', `${field} ${sentence}`, { field })

/** Reads an id of the processor: letters, digits, `_` and `-`. @throws BAD_USER_INPUT */
export function readProcessorId(id: string, field = 'id'): string {
  if (/^[A-Za-z\d][A-Za-z\d_-]{0,254}$/.test(id)) return id
  throw wrong(field, 'is not an id of the processor: it has up to 255 letters, digits, _ and -.')
}

export const readProcessorIdMaybe = (id: string | null | undefined, field: string): string | undefined =>
  id === null || id === undefined ? undefined : readProcessorId(id, field)

/**
 * Reads an idempotency key for the processor: it is passed on unchanged and must fit into a header.
 * @throws BAD_USER_INPUT
 */
export function readKey(key: string): string {
  if (key === '')
    throw wrong('idempotencyKey', `is missing: give each change one of its own, 1 to ${longestKey} characters, and send it again with the same change.`)
  if (key.length >= 1 && key.length <= longestKey && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key)) return key
  throw wrong('idempotencyKey', `must have 1 to ${longestKey} characters of ASCII, and no blank at its ends.`)
}

/** Reads metadata as the processor stores it; numbers and Booleans become text. @throws BAD_USER_INPUT */
export function readMetadata(metadata: unknown): Record<string, string> | undefined {
  if (metadata === null || metadata === undefined) return undefined
  if (typeof metadata !== 'object' || Array.isArray(metadata)) throw wrong('metadata', 'is an object of names with texts.')
  const entries = Object.entries(metadata)
  if (entries.length > 50) throw wrong('metadata', 'has at most 50 names.')
  const read = entries.map(([name, value]) => {
    if (name.length > 40 || /[[\]]/.test(name) || name === '') throw wrong('metadata', 'has names of 1 to 40 characters without brackets.')
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    if (typeof text !== 'string' || text.length > 500) throw wrong(`metadata.${name}`, 'is a text of at most 500 characters.')
    return [name, text] as const
  })
  return Object.fromEntries(read)
}

/** A whole number within bounds. @throws BAD_USER_INPUT */
export function readWhole(value: number, field: string, least: number, most: number): number {
  if (value >= least && value <= most) return value
  throw wrong(field, `is ${value}: a whole number from ${least} to ${most} is needed.`)
}

/** Reads a text of 1 to a maximum of characters. @throws BAD_USER_INPUT */
export function readWords(value: string, field: string, most: number): string {
  if (value.trim() !== '' && value.length <= most) return value
  throw wrong(field, `must have 1 to ${most} characters.`)
}

export const readWordsMaybe = (value: string | null | undefined, field: string, most: number): string | undefined =>
  value === null || value === undefined ? undefined : readWords(value, field, most)

/** An address that a browser is sent to. @throws BAD_USER_INPUT */
export function readPage(value: string, field: string): string {
  const address = value.replaceAll('{CHECKOUT_SESSION_ID}', 'id')
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) && value.length <= 5000) return value
  throw wrong(field, 'is not an address such as https://shop.example.com/thanks.')
}

/** Converts an enum value to the processor's spelling. */
export const lower = <Word extends string>(word: Word): Lowercase<Word> => word.toLowerCase() as Lowercase<Word>

/** Converts an enum value of the processor to the graph's spelling. */
export const upper = (word: string | null | undefined): string | null => word?.toUpperCase().replaceAll('-', '_') ?? null

/** A moment of the processor's, which counts seconds. */
export const momentOf = (seconds: number): Date => new Date(seconds * 1000)

/** Returns the id of an object that the processor returns expanded or as id. */
export const idOf = (value: string | { readonly id: string } | null | undefined): string | null => (typeof value === 'string' ? value : (value?.id ?? null))
