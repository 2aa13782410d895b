import { DomainError } from '../../../../platform/errors.ts'
import { createSemaphore, type Lane } from '../guessing/queue.ts'

/**
 * Maximum number of concurrent hashes: together with sign-in checks they use three of a process's four threads. And the
 * maximum number of waiting ones.
 */
const atOnce = 1
const mostWaiting = { known: 30, strangers: 30 }

/** Hashes passwords like the credential library (scrypt), a limited number at a time. */
export interface Hashing {
  /**
   * Hashes a password when its turn has come.
   * @param lane people who have shown their password or a code are known, and do not wait behind anonymous sign-ups
   * @param stillWanted called before hashing: if it throws, nothing is hashed
   * @throws RATE_LIMITED when too many wait
   */
  hash(password: string, lane: Lane, stillWanted?: () => Promise<unknown>): Promise<string>
  verify(hash: string, password: string): Promise<boolean>
}

export function createHashing(): Hashing {
  const turns = createSemaphore(atOnce, mostWaiting)
  return {
    async hash(password, lane, stillWanted) {
      const hashed = await turns.use(lane, async () => {
        await stillWanted?.()
        const { hashPassword } = await import('better-auth/crypto')
        return hashPassword(password)
      })
      if (hashed === null)
        throw new DomainError('RATE_LIMITED', 'Too many people choose a password at this moment: try again in a few seconds.', { retryAfter: 5 })
      return hashed
    },
    async verify(hash, password) {
      const { verifyPassword } = await import('better-auth/crypto')
      return verifyPassword({ hash, password })
    },
  }
}
