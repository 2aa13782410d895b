import { createHash } from 'node:crypto'
import { DomainError } from './errors.ts'

/** Idempotency key of a creation, and a hash of its content: the same key with the same content creates one record. */
export interface Idempotency {
  readonly key: string
  readonly hash: string
}

/** The most characters of a key. */
export const longestKey = 255

/**
 * Reads the idempotency key of an input; null when it has none.
 * @throws BAD_USER_INPUT for a key that is empty, longer than 255 characters, or with a NUL or half a character: the
 * database holds neither, and keys
 *   that differ in one of them alone would be the same
 */
export function readIdempotency({ idempotencyKey: key, ...content }: { readonly idempotencyKey?: string | null | undefined }): Idempotency | null {
  if (key === '' || (key && (key.length > longestKey || key.includes('\0') || !key.isWellFormed())))
    throw new DomainError('BAD_USER_INPUT', `idempotencyKey must have 1 to ${longestKey} characters, none of them NUL or half of one.`, {
      field: 'idempotencyKey',
    })
  if (!key) return null
  const sorted = Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    key,
    hash: createHash('sha256')
      .update(JSON.stringify(sorted, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)))
      .digest('hex'),
  }
}

/**
 * Checks that a key was not used for other content.
 * @param what kind of record: `post`
 * @throws CONFLICT, reason KEY_REUSED
 */
export function checkSameContent(earlierHash: string | null, { hash }: Idempotency, what: string): void {
  if (earlierHash === hash) return
  throw new DomainError('CONFLICT', `This idempotencyKey was used for a ${what} with another content: choose a new key for a new ${what}.`, {
    reason: 'KEY_REUSED',
    field: 'idempotencyKey',
  })
}
