import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import type { Clock } from '../../../../platform/clock.ts'

/** State of one attempt to sign in. */
interface Attempt {
  /** Hash that the password was compared with. */
  hash: string | null
  userId: string | null
  /** Token of the session that the attempt created. */
  token: string | null
}

/** Decides who may sign in with a right password; the credential library asks before it creates a session. */
export interface Admission {
  /** Runs an attempt; a person who may not sign in gets 401, as for a wrong password. */
  run(attempt: () => Promise<Response>): Promise<Response>
  /** Checks a password, as the credential library would by itself. */
  verify(given: { readonly hash: string; readonly password: string }): Promise<boolean>
  /** Whether a session may begin; it also records the time of the sign-in. @param token of the session */
  admits(userId: string, token: string): Promise<boolean>
}

const mayEnter = 'email_verified and suspended_at is null'
const stillHas = "exists (select from identity.accounts a where a.user_id = u.id and a.provider_id = 'credential' and a.password = $2)"

/**
 * Checks whether an account may sign in: its address is verified, it is not suspended, and the matched password is
 * still its own, because matching takes a while. The check is repeated after the session was created: a concurrent
 * password change locks the person's row and ends the sessions that it sees, so either it sees this one, or this check
 * sees the change.
 */
export function createAdmission(pool: pg.Pool, clock: Clock): Admission {
  const present = new AsyncLocalStorage<Attempt>()

  async function stands({ userId, hash }: Attempt): Promise<boolean> {
    const text = `select 1 from identity.users u where id = $1 and ${mayEnter} and ${stillHas}`
    return ((await pool.query({ name: 'still admitted', text, values: [userId, hash] })).rowCount ?? 0) > 0
  }

  return {
    async run(attempt) {
      const noted: Attempt = { hash: null, userId: null, token: null }
      const answer = await present.run(noted, attempt)
      if (!answer.ok || (await stands(noted))) return answer
      await pool.query({ name: 'end session by token', text: 'delete from identity.sessions where token = $1', values: [noted.token] })
      return new Response(null, { status: 401 })
    },

    async verify({ hash, password }) {
      const noted = present.getStore()
      if (noted) noted.hash = hash
      const { verifyPassword } = await import('better-auth/crypto')
      return verifyPassword({ hash, password })
    },

    async admits(userId, token) {
      const noted = present.getStore()
      if (!noted) return false
      Object.assign(noted, { userId, token })
      const text = `update identity.users u set last_signed_in_at = $3 where id = $1 and ${mayEnter} and ${stillHas}`
      return ((await pool.query({ name: 'admit', text, values: [userId, noted.hash, clock.now()] })).rowCount ?? 0) > 0
    },
  }
}
