import { Refusal } from '../../../../platform/errors.ts'
import { createSemaphore, type Lane } from '../guessing/queue.ts'

/** How many new passwords are hashed at once: with those that sign-in checks, three of the four threads of a process. And how many may wait. */
const atOnce = 1
const mostWaiting = { known: 30, strangers: 30 }

/** Hashes passwords as the credential library does (scrypt), a bounded number at a time. */
export interface Hashing {
  /**
   * Hashes a password when its turn has come.
   * @param lane whoever has shown the present password or a code is known, and does not wait behind strangers, who sign up as they like
   * @param stillWanted asked then: what it throws is thrown, and nothing is hashed for it
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
      if (hashed === null) throw new Refusal('RATE_LIMITED', 'Too many people choose a password at this moment: try again in a few seconds.', { retryAfter: 5 })
      return hashed
    },
    async verify(hash, password) {
      const { verifyPassword } = await import('better-auth/crypto')
      return verifyPassword({ hash, password })
    },
  }
}
