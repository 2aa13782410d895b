import { authPath } from '../place.ts'
import { endSession, type Session, SignedOut } from './session.ts'
import { keepToken, readToken, type Token } from './token.ts'

/** A token is renewed so long before its end, in ms. */
const early = 60_000

/** The session of a host whose token lies in this tab's session storage, and is renewed by the cookie. */
export function createTabSession(): Session {
  let renewing: Promise<string> | null = null
  const renew = () => {
    renewing ??= askForToken().finally(() => {
      renewing = null
    })
    return renewing
  }
  return {
    async token() {
      const kept = readToken()
      return kept && Date.parse(kept.expiresAt) - early > Date.now() ? kept.accessToken : renew()
    },
    renew,
    async signOut() {
      const kept = readToken()
      keepToken(null)
      await endSession(kept ? { authorization: `Bearer ${kept.accessToken}` } : {})
    },
  }
}

async function askForToken(): Promise<string> {
  const answer = await fetch(authPath('token'))
  if (answer.status === 401 || answer.status === 403) {
    keepToken(null)
    throw new SignedOut('the session has ended')
  }
  if (!answer.ok) throw new Error(`the token was not renewed: ${answer.status}`)
  const token = (await answer.json()) as Token
  keepToken(token)
  return token.accessToken
}
