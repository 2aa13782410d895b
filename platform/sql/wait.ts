import { DomainError } from '../errors.ts'
import { awayCause } from './away.ts'

/** SQLSTATEs of a statement that waited too long for a lock or in total, and of an idle transaction. */
const waitedTooLong = new Set(['55P03', '57014', '25P03'])

/**
 * Converts an error of a busy or unavailable database to an error that asks the client to retry; returns other errors
 * unchanged.
 */
export function toldAsWait(error: unknown): unknown {
  const { name, code, parent } = (error ?? {}) as { name?: string; code?: unknown; parent?: { code?: unknown } }
  if (name === 'SequelizeConnectionAcquireTimeoutError')
    return new DomainError('RATE_LIMITED', 'The database is overloaded: try again in a few seconds.', { retryAfter: 5 })
  // The caller may retry: with the same idempotency key nothing is done twice.
  if (awayCause(error) !== null)
    return Object.assign(new DomainError('UPSTREAM_FAILED', 'A part that this service needs is not available; try again in a moment.'), { cause: error })
  if (!waitedTooLong.has(String(parent?.code ?? code))) return error
  return new DomainError('RATE_LIMITED', 'Another request is changing the same record, and waiting for it took too long: try again in a second.', {
    retryAfter: 1,
  })
}
