import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import type { Clock } from '../../../../platform/clock.ts'

/** What one attempt to sign in has come to. */
interface Attempt {
  /** What the password was compared with. */
  hash: string | null
  userId: string | null
  /** The session that it made. */
  token: string | null
}

/** Who may sign in by a right password, asked by the credential library before it makes a session. */
export interface Admission {
  /** Runs an attempt; whoever may not sign in is answered 401, as for a wrong password. */
  run(attempt: () => Promise<Response>): Promise<Response>
  /** Checks a password, as the credential library would by itself. */
  verify(given: { readonly hash: string; readonly password: string }): Promise<boolean>
  /** Whether a session may begin; it says when the person signed in last. @param token of the session */
  admits(userId: string, token: string): Promise<boolean>
}

const mayEnter = 'email_verified and suspended_at is null'
const stillHas = "exists (select from identity.accounts a where a.user_id = u.id and a.provider_id = 'credential' and a.password = $2)"

/**
 * Looks whether an account may be signed in to: its address is verified, nobody has suspended it, and the password that was right is still its
 * own, for checking it takes a while. That is asked again when the session is there: who sets a new password meanwhile ends the sessions
 * that they see, and holds the person's row, so either they see this one, or this sees what they have done.
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
