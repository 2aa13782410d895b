import { hashOfSecret } from '../../../platform/cipher.ts'
import type { Authority } from '../../authority.ts'
import type { createKeyVerifier } from '../api-key/verify.ts'
import { accessTokenAudience } from '../session/rules.ts'
import type { createSessionReader } from '../stores/session.ts'
import { clearingCookies, readSessionToken } from './cookie.ts'

interface AuthorityParts {
  readonly issuer: string
  readonly secret: string
  readonly secure: boolean
  readonly readKeys: Authority['jwks']
  readonly sessions: ReturnType<typeof createSessionReader>
  readonly keys: ReturnType<typeof createKeyVerifier>
  readonly lendKeys: Authority['lendKeys']
  readonly countPublicPosts: Authority['countPublicPosts']
  readonly standings: Authority['standings']
  readonly foreigners: Authority['foreigners']
  readonly admit: Authority['admit']
  readonly ready: Authority['ready']
}

/** Answers the router's requests about credentials from our own tables. */
export function createAuthority({
  issuer,
  secret,
  secure,
  readKeys,
  sessions,
  keys,
  lendKeys,
  countPublicPosts,
  standings,
  foreigners,
  admit,
  ready,
}: AuthorityParts): Authority {
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
    touchSessions: sessions.touch,
    clearCookie: () => clearingCookies(secure),
    hashKey: hashOfSecret,
    keys: keys.byHash,
    touchKeys: keys.touch,
    lendKeys,
    countPublicPosts,
    standings,
    foreigners,
    admit,
    ready,
  }
}
