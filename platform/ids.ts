import { createHash, randomUUID } from 'node:crypto'
import { DomainError } from './errors.ts'

/**
 * Creates a UUIDv7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then random bits, so that ids of one table sort by
 * creation and pages keep their order.
 */
export function newId(now: Date = new Date()): string {
  const time = now.getTime().toString(16).padStart(12, '0')
  // Uses a random UUID for all but the first bits, because Node draws random bytes for many UUIDs at once.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/**
 * Creates a UUIDv7 with a counter after the milliseconds (RFC 9562 §6.2, method 1): ids of one millisecond sort by
 * `turn`, which restarts after 4,095.
 */
export function newIdInTurn(now: Date, turn: number): string {
  const id = newId(now)
  return `${id.slice(0, 15)}${(turn % 0x1000).toString(16).padStart(3, '0')}${id.slice(18)}`
}

/**
 * Creates a UUIDv5 (RFC 9562 §5.5): the same for the same name within the same namespace, so that a repeated creation
 * finds the record.
 */
export function idOfName(within: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(within.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
  bytes[6] = 0x50 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const isId = (value: unknown): value is string => typeof value === 'string' && uuid.test(value)

/**
 * Returns the id in lower case; an invalid one is rejected before it reaches SQL.
 * @param field the argument's name as the client wrote it, for the message
 */
export function requireId(value: string, field: string): string {
  if (!isId(value))
    throw new DomainError(
      'BAD_USER_INPUT',
      `${field} is ${value === '' ? 'missing' : 'not an id'}: expected a UUID such as 0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e.`,
      { field },
    )
  return value.toLowerCase()
}

/** Like `requireId`, for an optional id: null for none. */
export const readId = (value: string | null | undefined, field: string): string | null =>
  value === null || value === undefined ? null : requireId(value, field)

/**
 * Returns a valid text of any length.
 * @param field the argument's name as the client wrote it, for the message
 * @throws BAD_USER_INPUT for NUL and unpaired surrogates, which neither the database nor another service can store
 */
export function checkText(text: string, field: string): string {
  if (text.includes('\0') || !text.isWellFormed()) throw new DomainError('BAD_USER_INPUT', `${field} holds a NUL or half a character: remove it.`, { field })
  return text
}

/**
 * Returns a text that people wrote, without surrounding white space; null for an empty one.
 * @param field the argument's name as the client wrote it, for the message
 * @param most  maximum user-perceived characters
 * @throws BAD_USER_INPUT for a text that is too long, or that the database cannot store
 */
export function readText(given: string | null | undefined, field: string, most: number): string | null {
  const text = checkText(given?.trim() ?? '', field)
  const { length } = [...text]
  if (length > most) throw new DomainError('BAD_USER_INPUT', `${field} has ${length} characters: the maximum is ${most}.`, { field })
  return text || null
}

/** Like `readText`, for a required text. @param least minimum characters @throws BAD_USER_INPUT */
export function requireText(given: string, field: string, most: number, least = 1): string {
  const text = checkText(given.trim(), field)
  const { length } = [...text]
  if (length >= least && length <= most) return text
  throw new DomainError('BAD_USER_INPUT', `${field} has ${length} characters: it takes ${least} to ${most}.`, { field })
}

/**
 * Matches characters that a name must not contain: control characters, line breaks, and those that change the text
 * direction.
 */
/** Whether a text is valid in a name: a single line, no change of text direction, and storable in the database. */
export const isNamable = (text: string): boolean => text.isWellFormed() && !unnamable.test(text)

const unnamable = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/**
 * Returns a name that people gave, without surrounding white space: one line that fits into a sentence.
 * @param field the argument's name as the client wrote it, for the message
 * @param most  maximum user-perceived characters
 * @throws BAD_USER_INPUT for an empty or too long name, or one that is not a single line of text
 */
export function requireName(given: string, field: string, most: number): string {
  const name = given.trim()
  const { length } = [...name]
  if (length < 1 || length > most) throw new DomainError('BAD_USER_INPUT', `${field} has ${length} characters: a name takes 1 to ${most}.`, { field })
  if (!isNamable(name))
    throw new DomainError(
      'BAD_USER_INPUT',
      `${field} takes 1 to ${most} characters on one line, without control characters, half ones and marks of direction.`,
      {
        field,
      },
    )
  return name
}
