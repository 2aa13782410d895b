import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Clock } from '../../platform/clock.ts'
import { Refusal } from '../../platform/errors.ts'
import { type Authority, type CookieSession, narrowedBy, rightsOf, type ValidSession } from '../../subgraphs/authority.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import type { Hosts } from '../hosts.ts'
import { createSessionCache } from './known/session-cache.ts'
import { createSteady } from './known/steady.ts'
import { createTokenReader, type TokenClaims } from './token.ts'

/** What a viewer was made of: by it the router finds out when a stream has to end. */
export interface Credential {
  readonly kind: 'none' | 'token' | 'cookie' | 'key' | 'service' | 'foreign'
  /** Id of the session, or under what identity knows the secret of a key; null for kinds none, service and foreign. */
  readonly id: string | null
  /** When the credential itself runs out; null when it does not. A cookie's session is asked about instead. */
  readonly expiresAt: Date | null
  /** Of a token: the key that has signed it. One that is published no more may be anybody's. */
  readonly kid?: string
  /** Of an OAuth client's token: what it was made for, which may be less than its session gives. */
  readonly scopes?: readonly string[]
  /** Of a service, and of who comes with a token of another issuer: whether it would be the same viewer if it called now, by answers of this moment. */
  readonly stands?: () => Promise<boolean>
  /** For how many requests a minute it may be used; left out where it has no limit of its own. */
  readonly perMinute?: number
}

/** The caller and its credential. */
export interface Caller {
  readonly viewer: Viewer
  readonly credential: Credential
}

/** Credentials that do not count. The whole request is refused, never answered as anonymous. */
export interface Unauthenticated {
  readonly refusal: Refusal
  /** `Set-Cookie` lines for the answer: a cookie that names no session is taken back. */
  readonly setCookie: readonly string[]
  /** A token whose only fault is its age. */
  readonly expired: boolean
}

export interface Authenticate {
  /**
   * Makes a caller of a request's headers. A cookie counts on web hosts only, and for unsafe use (anything but reading by
   * GET or HEAD) only with a trusted `Origin`. A credential in a header comes before a cookie, which browsers send unasked.
   * @throws Refusal UPSTREAM_FAILED when identity cannot be reached: then nobody is anybody, and nobody is anonymous either
   */
  (headers: Headers, use: { readonly safe: boolean }): Promise<Caller | Unauthenticated>
  /** Drops what is remembered of sessions and keys: after a sign-out the next request must see it. */
  forget(): void
}

/** Makes a caller of a service's token and what it says beside it, in headers of its request. */
export type ByServiceToken = (token: string, headers: Headers) => Promise<Caller | Unauthenticated>

/** Makes a caller of an access token that another issuer has made, and of what its headers say beside it. */
export type ByToken = (token: string, headers: Headers) => Promise<Caller | Unauthenticated>

const nobody: Caller = { viewer: anonymous, credential: { kind: 'none', id: null, expiresAt: null } }

/** Where there is no identity to ask: everybody is anonymous, whatever the headers say. */
export const nobodyIsKnown: Authenticate = Object.assign(async () => nobody, { forget() {} })

/** Characters of the longest credential that is looked at. */
const mostCredentialLength = 8192

/** Characters of an app's name that are looked at: no app has so many. */
const mostAppLength = 80

/** Of how many sessions it is remembered that identity was told of their use. */
const mostTold = 10_000

/** How often identity is told that a session is used, in ms. */
const tellEvery = 60_000

/** What a signed token looks like, whoever signed it (RFC 7515). */
const isSigned = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** The headers that carry a credential; a request has one of them. */
export const credentialHeaders = ['authorization', 'x-api-key', 'x-service-token'] as const

/** What a service sends beside its token: its app and for whom it acts. */
export const serviceHeaders = ['x-app-id', 'x-organization-id', 'x-on-behalf-of', 'x-for-user'] as const

export const isCaller = (result: Caller | Unauthenticated): result is Caller => 'viewer' in result

/**
 * Makes the one function that turns credentials into viewers, for every door.
 * @param elapsed milliseconds since some beginning, by which it is decided what is still remembered @default performance.now
 * @param others.byServiceToken knows services @default nobody does
 * @param others.byToken knows people by the tokens of another issuer: then identity's own, and its cookies, count no more @default identity issues them
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

  /** What identity's answer makes of a viewer is worked out once an answer: what hangs on the viewer is then found again. */
  const viewers = new WeakMap<object, Viewer>()
  const remembered = (answer: object, make: () => Viewer): Viewer => {
    const known = viewers.get(answer) ?? steady(make())
    viewers.set(answer, known)
    return known
  }
  const kept = createSteady()
  const steady = (viewer: Viewer): Viewer => kept(`${viewer.sessionId ?? viewer.keyId} ${viewer.organizationId}`, viewer)

  /** When use was last told of each session, in elapsed milliseconds: identity writes it once a minute. */
  const told = new LRUCache<string, number>({ max: mostTold })
  const used = (sessionId: string) => {
    const now = (elapsed ?? performance.now.bind(performance))()
    if (now - (told.get(sessionId) ?? Number.NEGATIVE_INFINITY) < tellEvery) return
    told.set(sessionId, now)
    authority.touchSessions([sessionId])
  }

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
    const viewer = remembered(key, () => ({
      ...anonymous,
      kind: 'apiKey',
      userId: key.userId,
      organizationId: key.organizationId,
      context: 'organization',
      scopes: key.scopes,
      keyId: key.keyId,
    }))
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
        new Refusal(
          'FORBIDDEN',
          `The session cookie does not count ${origin === null ? 'without an Origin header' : `for requests from ${origin}`}: call from one of the platform's own pages.`,
        ),
      )
    if (session === 'stale') return refused('The session has ended: sign in again.', { setCookie: authority.clearCookie() })
    used(session.sessionId)
    return { viewer: steady(person(session.sessionId, session)), credential: { kind: 'cookie', id: session.sessionId, expiresAt: null } }
  }

  /** The viewer of a person or a key that names an app on whose behalf they work: for each such name one and the same object. */
  const forApp = (caller: Caller | Unauthenticated, headers: Headers): Caller | Unauthenticated => {
    const named = headers.get('x-app-id')?.slice(0, mostAppLength)
    if (!named || !isCaller(caller) || (caller.viewer.kind !== 'user' && caller.viewer.kind !== 'apiKey')) return caller
    const { viewer } = caller
    return { ...caller, viewer: kept(`${viewer.sessionId ?? viewer.keyId ?? viewer.userId} ${viewer.organizationId} ${named}`, { ...viewer, forApp: named }) }
  }

  const known = async (headers: Headers, use: { readonly safe: boolean }): Promise<Caller | Unauthenticated> => forApp(await read(headers, use), headers)
  const read = async (headers: Headers, use: { readonly safe: boolean }): Promise<Caller | Unauthenticated> => {
    const given = credentialHeaders.filter(name => headers.get(name))
    if (given.length > 1) return unauthenticated(new Refusal('BAD_USER_INPUT', `Send one credential, not several: ${given.join(' and ')} came together.`))
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
      if (err instanceof Refusal) throw err
      log.error({ err }, 'identity could not verify a caller')
      throw new Refusal('UPSTREAM_FAILED', 'The service "identity" did not answer, and nobody else knows who you are; try again in a moment.', {
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

const tokenOf = ({ sessionId, expiresAt, kid, scopes }: TokenClaims): Credential => ({
  kind: 'token',
  id: sessionId,
  expiresAt,
  kid,
  ...(scopes && { scopes }),
})

const unauthenticated = (refusal: Refusal, more: Partial<Unauthenticated> = {}): Unauthenticated => ({ refusal, setCookie: [], expired: false, ...more })

const refused = (sentence: string, more: Partial<Unauthenticated> = {}) => unauthenticated(new Refusal('UNAUTHENTICATED', sentence), more)

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
