import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
import { type Authority, type CookieSession, narrowedBy, rightsOf, type ValidKey, type ValidSession } from '../../subgraphs/authority.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import type { Hosts } from '../hosts.ts'
import { createSessionCache } from './known/session-cache.ts'
import { createSteady } from './known/steady.ts'
import { createTokenReader, type TokenClaims } from './token.ts'

/** The credential behind a viewer: the router checks by it when a stream has to end. */
export interface Credential {
  readonly kind: 'none' | 'token' | 'cookie' | 'key' | 'service' | 'foreign'
  /** Id of the session, or the hash by which identity knows a key; null for kinds none, service and foreign. */
  readonly id: string | null
  /**
   * Expiry of the credential itself; null for none. For a cookie, the router asks identity about its session instead.
   */
  readonly expiresAt: Date | null
  /** Id of the key that signed a token. A token whose key is no longer published is not trusted. */
  readonly kid?: string
  /** Scopes of an OAuth client's token, which may be fewer than its session has. */
  readonly scopes?: readonly string[]
  /**
   * For a service, and for a person with a token of another issuer: whether a call at this moment would have the same
   * viewer.
   */
  readonly stands?: () => Promise<boolean>
  /** Maximum requests a minute with the credential; undefined where it has no limit of its own. */
  readonly perMinute?: number
}

/** The caller and its credential. */
export interface Caller {
  readonly viewer: Viewer
  readonly credential: Credential
}

/** Result for an invalid credential: the whole request is rejected, never treated as anonymous. */
export interface Unauthenticated {
  readonly refusal: DomainError
  /** `Set-Cookie` lines for the answer: a cookie of an unknown session is deleted. */
  readonly setCookie: readonly string[]
  /** Whether the token is invalid only because it has expired. */
  readonly expired: boolean
}

export interface Authenticate {
  /**
   * Determines the caller from a request's headers. A cookie is accepted on web hosts only, and for unsafe use
   * (anything but reading by GET or HEAD) only with a trusted `Origin`. A credential in a header takes precedence over
   * a cookie, which browsers send automatically.
   * @throws DomainError UPSTREAM_FAILED when identity cannot be reached: then no caller is known, and none is treated as
   * anonymous
   */
  (headers: Headers, use: { readonly safe: boolean }): Promise<Caller | Unauthenticated>
  /** Clears the cached sessions and keys, so that the next request sees a sign-out. */
  forget(): void
}

/** Determines the caller from a service's token and the headers beside it. */
export type ByServiceToken = (token: string, headers: Headers) => Promise<Caller | Unauthenticated>

/** Determines the caller from an access token of another issuer and the headers beside it. */
export type ByToken = (token: string, headers: Headers) => Promise<Caller | Unauthenticated>

const nobody: Caller = { viewer: anonymous, credential: { kind: 'none', id: null, expiresAt: null } }

/** Authentication without identity: every caller is anonymous, whatever the headers say. */
export const nobodyIsKnown: Authenticate = Object.assign(async () => nobody, { forget() {} })

/** Maximum characters of a credential; a longer one is not examined. */
const mostCredentialLength = 8192

/** Maximum characters of an app's id that are examined: no app has as many. */
const mostAppLength = 80

/** Maximum number of sessions whose last report of use is remembered. */
const mostTold = 10_000

/** Interval in ms at which identity learns that a session is used. */
const tellEvery = 60_000

/** Form of a signed token, whoever signed it (RFC 7515). */
const isSigned = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Headers that carry a credential; a request has one of them. */
export const credentialHeaders = ['authorization', 'x-api-key', 'x-service-token'] as const

/** Headers that a service sends beside its token: its app, and for whom it acts. */
export const serviceHeaders = ['x-app-id', 'x-organization-id', 'x-on-behalf-of', 'x-for-user'] as const

export const isCaller = (result: Caller | Unauthenticated): result is Caller => 'viewer' in result

/**
 * Creates the function that turns credentials into viewers, for all protocols.
 * @param elapsed monotonic clock in ms, for the age of cached answers @default performance.now
 * @param others.byServiceToken authenticates services @default none
 * @param others.byToken authenticates people by the tokens of another issuer: then identity's own tokens and cookies
 * are invalid @default identity issues them
 */
export function createAuthenticate(
  authority: Authority,
  hosts: Hosts,
  clock: Clock,
  log: Pick<Logger, 'error'>,
  elapsed?: () => number,
  { byServiceToken, byToken: byForeignToken }: { readonly byServiceToken?: ByServiceToken | undefined; readonly byToken?: ByToken | undefined } = {},
): Authenticate {
  const readToken = createTokenReader(authority, clock, elapsed)
  const sessions = createSessionCache(ids => authority.sessions(ids), elapsed)
  const keys = createSessionCache(hashes => authority.keys(hashes), elapsed)

  /** Viewers by identity's answers: each is computed once, so that caches keyed by the viewer object hit. */
  const viewers = new WeakMap<object, Viewer>()
  const remembered = (answer: object, make: () => Viewer): Viewer => {
    const known = viewers.get(answer) ?? steady(make())
    viewers.set(answer, known)
    return known
  }
  const kept = createSteady()
  const steady = (viewer: Viewer): Viewer => kept(`${viewer.sessionId ?? viewer.keyId} ${viewer.organizationId}`, viewer)

  const used = createReporter(authority, elapsed)

  const byToken = async (header: string, headers: Headers): Promise<Caller | Unauthenticated> => {
    const token = /^bearer +([\w~+/.-]+=*) *$/i.exec(header)?.[1]
    if (!token) return refused('The Authorization header is not a bearer token: send "Authorization: Bearer <access token>".')
    if (byForeignToken) return byForeignToken(token, headers)
    const claims = await readToken(token)
    if (claims === 'expired') return refused('The access token has expired: get a new one from /identity/api/auth/token.', { expired: true })
    if (claims === 'invalid')
      return refused(
        isSigned.test(token)
          ? 'The access token is not valid: sign in again to get a new one.'
          : 'This is no access token of this platform: sign in. Programs send an API key, sgk_…, as X-API-Key.',
      )
    const session = await sessions.of(claims.sessionId, claims.seenAt)
    if (!session || session.userId !== claims.userId) return refused('The session of this access token has ended: sign in again.')
    const grant = narrowedBy(session.grant, claims.scopes)
    if (session.organizationId === claims.organizationId && grant === session.grant) {
      used(claims.sessionId)
      return { viewer: remembered(session, () => person(claims.sessionId, session)), credential: tokenOf(claims) }
    }
    // A token keeps the organization it was issued for, with the roles that the person has there now.
    const roles = claims.organizationId === null ? [] : session.memberships[claims.organizationId]
    if (!roles) return refused('The access token is for an organization that you no longer belong to: get a new one from /identity/api/auth/token.')
    used(claims.sessionId)
    const { userId } = session
    const viewer = steady(person(claims.sessionId, { userId, organizationId: claims.organizationId, roles, context: claims.context, grant }))
    return { viewer, credential: tokenOf(claims) }
  }

  const byKey = async (clear: string): Promise<Caller | Unauthenticated> => {
    const hash = authority.hashKey(clear)
    const key = await keys.of(hash)
    if (!key || (key.expiresAt && key.expiresAt.getTime() <= clock.now().getTime()))
      return refused('The API key is not valid: it is unknown, revoked or expired. Make a new one in the settings of the organization.')
    authority.touchKeys([key.keyId])
    const viewer = remembered(key, () => ofKey(key))
    return { viewer, credential: { kind: 'key', id: hash, expiresAt: key.expiresAt, perMinute: key.rateLimit } }
  }

  const byCookie = async (headers: Headers, safe: boolean): Promise<Caller | Unauthenticated> => {
    const session = await authority.cookie(headers)
    if (session === null) return nobody
    const origin = headers.get('origin')
    // A page of our own origin may omit Origin; any other request with a cookie must send it.
    const trusted = origin === null ? safe || headers.get('sec-fetch-site') === 'same-origin' : hosts.trusts(origin)
    if (!trusted)
      return unauthenticated(
        new DomainError(
          'FORBIDDEN',
          `The session cookie does not count ${origin === null ? 'without an Origin header' : `for requests from ${origin}`}: call from one of the platform's own pages.`,
        ),
      )
    if (session === 'stale') return refused('The session has ended: sign in again.', { setCookie: authority.clearCookie() })
    used(session.sessionId)
    return { viewer: steady(person(session.sessionId, session)), credential: { kind: 'cookie', id: session.sessionId, expiresAt: null } }
  }

  const known = async (headers: Headers, use: { readonly safe: boolean }): Promise<Caller | Unauthenticated> => forApp(await read(headers, use), headers, kept)
  const read = async (headers: Headers, use: { readonly safe: boolean }): Promise<Caller | Unauthenticated> => {
    const given = credentialHeaders.filter(name => headers.get(name))
    if (given.length > 1) return unauthenticated(new DomainError('BAD_USER_INPUT', `Send one credential, not several: ${given.join(' and ')} came together.`))
    const value = given[0] && headers.get(given[0])!
    if (value && value.length > mostCredentialLength) return refused(`The ${given[0]} header is longer than any credential.`)
    switch (given[0]) {
      case 'authorization':
        return byToken(value!, headers)
      case 'x-api-key':
        return byKey(value!)
      case 'x-service-token':
        return byServiceToken?.(value!, headers) ?? refused('The X-Service-Token is not valid: no service has a token here.')
      default:
        return !byForeignToken && headers.get('cookie') && hosts.isWeb(headers.get('host')) ? byCookie(headers, use.safe) : nobody
    }
  }
  const authenticate: (...asked: Parameters<typeof read>) => ReturnType<typeof read> = (headers, use) =>
    known(headers, use).catch(err => {
      if (err instanceof DomainError) throw err
      log.error({ err }, 'identity could not verify a caller')
      throw new DomainError('UPSTREAM_FAILED', 'The service "identity" did not answer, so your credentials could not be checked; try again in a moment.', {
        service: 'identity',
      })
    })
  return Object.assign(authenticate, {
    forget() {
      sessions.forget()
      keys.forget()
    },
  })
}

/** Returns the function that reports to identity that a session is in use, at most once in a while for each. */
function createReporter(authority: Authority, elapsed?: () => number): (sessionId: string) => void {
  /** When the use of each session was last reported, in elapsed milliseconds: identity stores it once a minute. */
  const told = new LRUCache<string, number>({ max: mostTold })
  return sessionId => {
    const now = (elapsed ?? performance.now.bind(performance))()
    if (now - (told.get(sessionId) ?? Number.NEGATIVE_INFINITY) < tellEvery) return
    told.set(sessionId, now)
    authority.touchSessions([sessionId])
  }
}

/** Returns the viewer of a person or key who names an app in a header: the same object for each app name. */
function forApp(caller: Caller | Unauthenticated, headers: Headers, kept: ReturnType<typeof createSteady>): Caller | Unauthenticated {
  const named = headers.get('x-app-id')?.slice(0, mostAppLength)
  if (!named || !isCaller(caller) || (caller.viewer.kind !== 'user' && caller.viewer.kind !== 'apiKey')) return caller
  const { viewer } = caller
  return { ...caller, viewer: kept(`${viewer.sessionId ?? viewer.keyId ?? viewer.userId} ${viewer.organizationId} ${named}`, { ...viewer, forApp: named }) }
}

const tokenOf = ({ sessionId, expiresAt, kid, scopes }: TokenClaims): Credential => ({
  kind: 'token',
  id: sessionId,
  expiresAt,
  kid,
  ...(scopes && { scopes }),
})

const unauthenticated = (refusal: DomainError, more: Partial<Unauthenticated> = {}): Unauthenticated => ({ refusal, setCookie: [], expired: false, ...more })

const refused = (sentence: string, more: Partial<Unauthenticated> = {}) => unauthenticated(new DomainError('UNAUTHENTICATED', sentence), more)

type OfPerson = Pick<ValidSession | CookieSession, 'userId' | 'organizationId' | 'roles' | 'context' | 'grant'>

const person = (sessionId: string, { userId, organizationId, roles, context, grant }: OfPerson): Viewer => ({
  ...anonymous,
  kind: 'user',
  userId,
  organizationId,
  ...rightsOf({ organizationId, roles }, grant),
  context: organizationId === null ? 'personal' : context,
  sessionId,
})

const ofKey = (key: ValidKey): Viewer => ({
  ...anonymous,
  kind: 'apiKey',
  userId: key.userId,
  organizationId: key.organizationId,
  context: 'organization',
  scopes: key.scopes,
  keyId: key.keyId,
})
