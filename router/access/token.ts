import { createHash } from 'node:crypto'
import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../platform/clock.ts'
import type { Authority } from '../../subgraphs/authority.ts'

/** How long published keys are cached, in milliseconds: a key that identity withdrew is rejected after that. */
const keptMs = 1000
/** Minimum milliseconds between two fetches of the keys for tokens with unknown key ids. */
const reloadMs = 5000
const mostKept = 2000

/** The claims of an access token of identity. */
export interface TokenClaims {
  readonly userId: string
  readonly sessionId: string
  readonly organizationId: string | null
  readonly context: 'personal' | 'organization'
  readonly roles: readonly string[]
  /** Scopes of an OAuth client's token; null for a person's own token. */
  readonly scopes: readonly string[] | null
  readonly expiresAt: Date
  /** Id of the key that signed the token. */
  readonly kid: string
  /**
   * When this router first read the token, in elapsed milliseconds: older cached answers may lack the token's session.
   */
  readonly seenAt: number
}

/** Reads a token: its claims, or why it is invalid. Throws only when identity cannot be reached. */
export type ReadToken = (token: string) => Promise<TokenClaims | 'invalid' | 'expired'>

/**
 * Creates a reader of access tokens: it verifies the signature by the published keys, issuer, audience, and times (RFC
 * 7519) by the given clock.
 * @param elapsed monotonic clock in ms, for the age of cached answers @default performance.now
 */
export function createTokenReader(
  authority: Pick<Authority, 'issuer' | 'audience' | 'jwks'>,
  clock: Clock,
  elapsed: () => number = () => performance.now(),
): ReadToken {
  let keys: Promise<ReturnType<typeof createLocalJWKSet>> | null = null
  let [loadedAt, urgedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let published: { readonly text: string; readonly set: ReturnType<typeof createLocalJWKSet> } | null = null
  const verified = new LRUCache<string, TokenClaims>({ max: mostKept })

  const load = () => {
    loadedAt = elapsed()
    const loading = authority.jwks().then(jwks => {
      const text = JSON.stringify(jwks)
      if (text === published?.text) return published.set
      // A token is valid only as long as the key that signed it.
      verified.clear()
      published = { text, set: createLocalJWKSet(jwks) }
      return published.set
    })
    keys = loading
    loading.catch(() => {
      if (keys === loading) keys = null
    })
    return loading
  }
  const present = () => (keys && elapsed() - loadedAt < keptMs ? keys : load())
  const verify = async (token: string, set: ReturnType<typeof createLocalJWKSet>) => {
    const options = { issuer: authority.issuer, audience: authority.audience, currentDate: clock.now(), requiredClaims: ['exp', 'sub', 'sid'] }
    try {
      return await jwtVerify(token, set, options)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || elapsed() - urgedAt < reloadMs) throw error
      urgedAt = elapsed()
      return await jwtVerify(token, await load(), options)
    }
  }

  return async token => {
    const set = await present()
    const digest = createHash('sha256').update(token).digest('base64')
    let claims = verified.get(digest)
    if (!claims) {
      try {
        const { payload, protectedHeader } = await verify(token, set)
        const read = claimsOf(payload, protectedHeader.kid ?? '', elapsed())
        if (!read) return 'invalid'
        claims = read
      } catch (error) {
        if (error instanceof errors.JWTExpired) return 'expired'
        if (error instanceof errors.JOSEError) return 'invalid'
        throw error
      }
      // Not cached if keys changed meanwhile: a forgotten token would come back.
      if (set === published?.set) verified.set(digest, claims)
    }
    return claims.expiresAt.getTime() <= clock.now().getTime() ? 'expired' : claims
  }
}

function claimsOf(payload: JWTPayload, kid: string, seenAt: number): TokenClaims | undefined {
  const { sub, sid, org, ctx, roles, scope, exp } = payload
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof exp !== 'number') return undefined
  if (scope !== undefined && typeof scope !== 'string') return undefined
  if (org !== null && org !== undefined && typeof org !== 'string') return undefined
  if (roles !== undefined && !(Array.isArray(roles) && roles.every(role => typeof role === 'string'))) return undefined
  return {
    userId: sub,
    sessionId: sid,
    organizationId: org ?? null,
    context: ctx === 'organization' && org ? 'organization' : 'personal',
    roles: roles ?? [],
    scopes: scope?.split(' ') ?? null,
    expiresAt: new Date(exp * 1000),
    kid,
    seenAt,
  }
}
