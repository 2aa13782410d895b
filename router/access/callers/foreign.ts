import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Clock } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { isNamable } from '../../../platform/ids.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import type { Authority, ForeignPerson, Newcomer } from '../../../subgraphs/authority.ts'
import { personalScopes, scopesOf } from '../../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import type { ByToken, Caller, Unauthenticated } from '../authenticate.ts'
import { createSessionCache } from '../known/session-cache.ts'
import { createSteady } from '../known/steady.ts'

/** An issuer of access tokens in place of identity, and the address of its keys. */
export interface ForeignIssuer {
  readonly issuer: string
  readonly jwksUrl: string
  readonly audience: string
}

/** Accepted signature algorithms: only asymmetric ones, so that only the issuer can sign. */
const algorithms = ['EdDSA', 'ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
/**
 * How long the issuer's keys are cached, and the minimum time between two fetches for an unknown key or after a
 * failure, in ms.
 */
const [keptMs, againMs] = [300_000, 10_000]
/** Milliseconds that the issuer may take; requests wait for it. */
const timeoutMs = 3_000
const mostTokens = 2_000
/** Maximum characters of a `sub`: OpenID Connect allows 255. */
const longestSubject = 255
/** Characters to which a name is cut. */
const longestName = 80

/** The keys of the issuer. */
export interface Keys {
  /**
   * Returns the keys; outdated ones are fetched first, and callers wait for the issuer. @throws UPSTREAM_FAILED when no
   * keys are cached and none can be fetched
   */
  present(): Promise<KeySet>
  /** Returns the cached keys at once; outdated ones are fetched in the background. @throws as `present` does */
  known(): KeySet
  /** Fetches the keys, unless they were fetched just now. */
  renewed(): Promise<KeySet>
}

type KeySet = ReturnType<typeof createLocalJWKSet>

/** Fetches and caches the keys at an address: fetched on demand, with a time limit, and cached for five minutes. */
export function createKeys(url: string, outbound: Outbound, elapsed: () => number, log: Pick<Logger, 'warn'>): Keys {
  let known: KeySet | null = null
  let [goodUntil, askedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let asking: Promise<void> | null = null
  /** Whether the last fetch from the issuer failed: then callers with a cached key do not wait for it. */
  let isAway = false

  const load = async () => {
    askedAt = elapsed()
    try {
      const { status, text } = await outbound(url, { headers: { accept: 'application/json' }, timeoutMs: timeoutMs })
      if (status !== 200) throw new Error(`the issuer answered ${status}`)
      const set = JSON.parse(text) as JSONWebKeySet
      const keys = createLocalJWKSet(set)
      // An issuer that signs has a key: an empty key set comes from one that is starting or broken.
      if (set.keys.length === 0) throw new Error('the issuer publishes no keys')
      known = keys
      goodUntil = elapsed() + keptMs
      isAway = false
    } catch (err) {
      isAway = true
      log.warn({ err }, 'keys of the external issuer could not be fetched: known keys stay in use')
    }
  }
  const askOnce = (): Promise<void> => {
    asking ??= load().finally(() => {
      asking = null
    })
    return asking
  }
  const mayAsk = () => asking !== null || elapsed() - askedAt >= againMs
  const orRefusal = (): KeySet => {
    if (known) return known
    throw new DomainError('UPSTREAM_FAILED', 'The issuer of access tokens does not answer, so yours could not be checked; try again in a moment.', {
      service: 'issuer',
    })
  }
  return {
    async present() {
      if ((!known || elapsed() >= goodUntil) && mayAsk()) {
        const asked = askOnce()
        if (!known || !isAway) await asked
      }
      return orRefusal()
    },
    known() {
      if (elapsed() >= goodUntil && mayAsk()) void askOnce()
      return orRefusal()
    },
    async renewed() {
      if (mayAsk()) await askOnce()
      return orRefusal()
    },
  }
}

/** The claims of a token about its person. */
interface Claims extends Newcomer {
  readonly expiresAt: Date
}

/**
 * Creates authentication by the tokens of another issuer. The token says who the person is; identity says to which
 * organizations the person belongs and with which rights. A person is created at the first sign-in.
 * @param elapsed monotonic clock in ms, for the age of cached answers
 */
export function createForeignCallers(
  { issuer, jwksUrl, audience }: ForeignIssuer,
  authority: Pick<Authority, 'foreigners' | 'admit'>,
  {
    outbound,
    clock,
    log,
    elapsed = () => performance.now(),
  }: { outbound: Outbound; clock: Clock; log: Pick<Logger, 'warn'>; elapsed?: (() => number) | undefined },
): ByToken {
  const keys = createKeys(jwksUrl, outbound, elapsed, log)
  const people = createSessionCache<ForeignPerson>(subjects => authority.foreigners(subjects), elapsed)
  /** Verified claims of tokens, valid while the keys that verified them are in use. */
  let verified = { by: null as KeySet | null, claims: new LRUCache<string, Claims>({ max: mostTokens }) }

  const verify = async (token: string, set: KeySet) => {
    const options = { issuer, audience, algorithms, currentDate: clock.now(), requiredClaims: ['exp', 'sub'] }
    try {
      return await jwtVerify(token, set, options)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const renewed = await keys.renewed()
      if (renewed === set) throw error
      return await jwtVerify(token, renewed, options)
    }
  }

  const read = async (token: string, set: KeySet): Promise<Claims | 'invalid' | 'expired'> => {
    if (verified.by !== set) verified = { by: set, claims: new LRUCache<string, Claims>({ max: mostTokens }) }
    const { claims: known } = verified
    const digest = createHash('sha256').update(token).digest('base64')
    let claims = known.get(digest)
    if (!claims) {
      try {
        const found = claimsOf((await verify(token, set)).payload)
        if (!found) return 'invalid'
        claims = found
      } catch (error) {
        if (error instanceof errors.JWTExpired) return 'expired'
        if (error instanceof errors.JOSEError || error instanceof TypeError) return 'invalid'
        throw error
      }
      known.set(digest, claims)
    }
    return claims.expiresAt <= clock.now() ? 'expired' : claims
  }

  const personOf = async ({ subject, name, email }: Claims, since?: number): Promise<ForeignPerson | undefined> => {
    const known = await people.of(subject, since)
    if (known) return known
    const admitted = elapsed()
    await authority.admit({ subject, name, email })
    return people.of(subject, admitted)
  }

  const kept = createSteady()
  const steady = (viewer: Viewer): Viewer => kept(`${viewer.userId} ${viewer.organizationId}`, viewer)
  /**
   * @param since elapsed milliseconds: older answers of identity are not used @default answers of the last second are
   */
  const viewerOf = async (claims: Claims, organizationId: string | null, since?: number): Promise<Viewer | DomainError> => {
    const person = await personOf(claims, since)
    if (!person || person.suspended) return invalid()
    const roles = organizationId === null ? [] : Object.hasOwn(person.memberships, organizationId) ? person.memberships[organizationId]! : null
    if (!roles) return new DomainError('FORBIDDEN', 'You are no member of the organization in X-Organization-Id.', { field: 'X-Organization-Id' })
    const scopes = organizationId === null ? personalScopes : scopesOf(roles)
    const context = organizationId === null ? 'personal' : 'organization'
    return steady({ ...anonymous, kind: 'user', userId: person.userId, organizationId, roles, scopes, context })
  }

  return async (token, headers): Promise<Caller | Unauthenticated> => {
    const claims = await read(token, await keys.present())
    if (claims === 'expired')
      return { refusal: new DomainError('UNAUTHENTICATED', 'The access token has expired: get a new one from its issuer.'), setCookie: [], expired: true }
    if (claims === 'invalid') return { refusal: invalid(), setCookie: [], expired: false }
    const organizationId = headers.get('x-organization-id') || null
    const viewer = await viewerOf(claims, organizationId)
    if (viewer instanceof DomainError) return { refusal: viewer, setCookie: [], expired: false }
    // Fetches the keys again, because the issuer may have revoked the key that signed this token. Every open stream
    // waits for this, so it must not wait for the issuer.
    const stands = async () => {
      const present = await read(token, keys.known())
      return typeof present !== 'string' && isDeepStrictEqual(await viewerOf(present, organizationId, elapsed()), viewer)
    }
    return { viewer, credential: { kind: 'foreign', id: null, expiresAt: claims.expiresAt, stands } }
  }
}

const invalid = () => new DomainError('UNAUTHENTICATED', 'The access token is not valid here: get a new one from its issuer.')

function claimsOf({ sub, exp, name, email, email_verified: isVerified }: JWTPayload): Claims | undefined {
  if (typeof sub !== 'string' || sub === '' || sub.length > longestSubject || typeof exp !== 'number') return undefined
  // People are looked up in one statement: one id that the database rejects would refuse all of them.
  if (!isNamable(sub)) return undefined
  return {
    subject: sub,
    name: typeof name === 'string' && name.trim() !== '' && isNamable(name.trim()) ? [...name.trim()].slice(0, longestName).join('') : null,
    email: isVerified === true && typeof email === 'string' ? email : null,
    expiresAt: new Date(exp * 1000),
  }
}
