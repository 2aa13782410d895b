import type { Authority } from '../../authority.ts'
import { hashKey } from '../api-key/rules.ts'
import type { createKeyVerifier } from '../api-key/verify.ts'
import { accessTokenAudience } from '../session/rules.ts'
import type { createSessionReader } from '../stores/session.ts'
import { clearingCookies, readSessionToken } from './cookie.ts'

interface AuthorityParts {
  readonly issuer: string
  readonly secret: string
  readonly readKeys: Authority['jwks']
  readonly sessions: ReturnType<typeof createSessionReader>
  readonly keys: ReturnType<typeof createKeyVerifier>
  readonly ready: Authority['ready']
}

/** Answers the router's questions about credentials from our own tables. */
export function createAuthority({ issuer, secret, readKeys, sessions, keys, ready }: AuthorityParts): Authority {
  const secure = issuer.startsWith('https:')
  return {
    issuer,
    audience: accessTokenAudience,
    jwks: readKeys,
    sessions: sessions.byId,
    async cookie(headers) {
      const token = readSessionToken(headers, { secret, secure })
      if (token === null) return null
      return token === 'forged' ? 'stale' : ((await sessions.byToken(token)) ?? 'stale')
    },
    clearCookie: () => clearingCookies(secure),
    hashKey,
    keys: keys.byHash,
    keysById: keys.byId,
    touchKeys: keys.touch,
    ready,
  }
}
