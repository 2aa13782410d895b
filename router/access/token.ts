import { createHash } from 'node:crypto'
import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import { createLru } from '../../platform/lru.ts'
import type { Authority } from '../../subgraphs/authority.ts'

/** Keys are asked for again at most this often, in milliseconds, however many unknown key ids arrive. */
const reloadMs = 5000
const mostKept = 2000

/** What an access token of identity says. */
export interface TokenClaims {
  readonly userId: string
  readonly sessionId: string
  readonly organizationId: string | null
  readonly context: 'personal' | 'organization'
  readonly roles: readonly string[]
  readonly expiresAt: Date
}

/** Reads a token: its claims, or why it does not count. Throws only when identity cannot be reached. */
export type ReadToken = (token: string) => Promise<TokenClaims | 'invalid' | 'expired'>

/** Makes a reader of access tokens: signature by the published keys, issuer, audience, time (RFC 7519) by the given clock. */
export function createTokenReader(authority: Pick<Authority, 'issuer' | 'audience' | 'jwks'>, clock: Clock): ReadToken {
  let keys: Promise<ReturnType<typeof createLocalJWKSet>> | null = null
  let loadedAt = Number.NEGATIVE_INFINITY
  const verified = createLru<string, TokenClaims>(mostKept)

  const load = () => {
    loadedAt = performance.now()
    const loading = authority.jwks().then(createLocalJWKSet)
    keys = loading
    loading.catch(() => {
      if (keys === loading) keys = null
    })
    return loading
  }
  const verify = async (token: string) => {
    const options = { issuer: authority.issuer, audience: authority.audience, currentDate: clock.now(), requiredClaims: ['exp', 'sub', 'sid'] }
    try {
      return await jwtVerify(token, await (keys ?? load()), options)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || performance.now() - loadedAt < reloadMs) throw error
      return await jwtVerify(token, await load(), options)
    }
  }

  return async token => {
    const digest = createHash('sha256').update(token).digest('base64')
    let claims = verified.get(digest)
    if (!claims) {
      try {
        const read = claimsOf((await verify(token)).payload)
        if (!read) return 'invalid'
        claims = read
      } catch (error) {
        if (error instanceof errors.JWTExpired) return 'expired'
        if (error instanceof errors.JOSEError) return 'invalid'
        throw error
      }
      verified.set(digest, claims)
    }
    return claims.expiresAt.getTime() <= clock.now().getTime() ? 'expired' : claims
  }
}

function claimsOf(payload: JWTPayload): TokenClaims | undefined {
  const { sub, sid, org, ctx, roles, exp } = payload
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof exp !== 'number') return undefined
  if (org !== null && org !== undefined && typeof org !== 'string') return undefined
  if (roles !== undefined && !(Array.isArray(roles) && roles.every(role => typeof role === 'string'))) return undefined
  return {
    userId: sub,
    sessionId: sid,
    organizationId: org ?? null,
    context: ctx === 'organization' && org ? 'organization' : 'personal',
    roles: roles ?? [],
    expiresAt: new Date(exp * 1000),
  }
}
