import type { JSONWebKeySet } from 'jose'
import { personalScopes, type Scope, type ServiceOperation, scopesOf } from './scopes.ts'

/**
 * The port through which the router turns credentials into viewers. Identity implements it; the router calls it in
 * process, or over HTTP where identity runs apart. Whoever calls caches verdicts for at most one second, so that
 * a revocation holds by then. A method that cannot reach the database throws; it never answers "unknown" for that.
 */
export interface Authority {
  /** The `iss` of every access token: the platform's public origin. */
  readonly issuer: string
  /** The `aud` of every access token. */
  readonly audience: string
  /** The public keys that access tokens are checked with, by `kid` (RFC 7517). Ask again when a kid is unknown: keys rotate. */
  jwks(): Promise<JSONWebKeySet>
  /** Of the given session ids those that still stand, in one statement; one that was signed out or has expired is missing. */
  sessions(ids: readonly string[]): Promise<ReadonlyMap<string, ValidSession>>
  /**
   * Reads the session cookie of a request.
   * @returns the session; `'stale'` when a cookie is there but names no session that stands (answer with `clearCookie`);
   *   null when there is no session cookie
   */
  cookie(headers: Headers): Promise<CookieSession | 'stale' | null>
  /** Notes that sessions were used, and lets them last longer by that. Written at most once a minute for each, in the background; never throws. */
  touchSessions(ids: readonly string[]): void
  /** The `Set-Cookie` lines that remove every cookie of ours from the browser. */
  clearCookie(): readonly string[]
  /** What an API key is stored and looked up under: SHA-256, lower-case hex. */
  hashKey(clear: string): string
  /**
   * Of the given hashes those of secrets that may be used now, in one prepared statement; those of revoked and expired keys are missing, and
   * former secrets whose time is over.
   */
  keys(hashes: readonly string[]): Promise<ReadonlyMap<string, ValidKey>>
  /** Notes that keys were used. Written at most once a minute for each key, in the background; never throws. */
  touchKeys(ids: readonly string[]): void
  /** Lends uses of keys to a router that is one of several, in the order in which it asks; what it has used of earlier loans comes with it. */
  lendKeys(asked: readonly KeyUse[]): Promise<readonly KeyLoan[]>
  /**
   * Counts calls that ask for no credentials, for all routers together.
   * @param neighbourhood whose they are, as `neighbourhoodOf` names client addresses
   * @returns how many of them may go on, and the milliseconds until the others may
   */
  countPublicPosts(neighbourhood: string, many: number): Promise<{ readonly granted: number; readonly waitMs: number }>
  /** How people stand to organizations, in one statement: of each question (`standingOf`) the answer; those that name no id have none. */
  standings(asked: readonly string[]): Promise<ReadonlyMap<string, Standing>>
  /** Of the people whom the configured issuer names so, those that are known; empty where identity itself issues tokens. */
  foreigners(subjects: readonly string[]): Promise<ReadonlyMap<string, ForeignPerson>>
  /** Makes the person of a subject of that issuer; who is there already stays as they are. */
  admit(newcomer: Newcomer): Promise<void>
  /** Rejects while nobody can sign in: identity or its database is away, or no token can be signed. */
  ready(): Promise<void>
}

/**
 * What the gateway to providers alone knows of services that call: the router asks it in process, or over HTTP where it runs apart, and remembers
 * answers for a second. It throws when the gateway's database cannot be reached.
 */
export interface ServiceClients {
  /** Of apps, and of hashes of tokens that the gateway issued and that count now, those that are its clients. That they were used is noted. */
  serviceClients(asked: readonly string[]): Promise<ReadonlyMap<string, ServiceClient>>
}

/** A session that stands, and what its person may do in its organization at this moment. */
export interface ValidSession {
  readonly userId: string
  /** Null: the person has no membership (any more) in the session's organization, and acts in personal context. */
  readonly organizationId: string | null
  readonly roles: readonly string[]
  readonly context: 'personal' | 'organization'
  /** The person's roles in every organization they belong to, by its id: a token may name another than the session's present one. */
  readonly memberships: Readonly<Record<string, readonly string[]>>
  readonly expiresAt: Date
  /** What an OAuth client was granted with this session; null for sessions of people. */
  readonly grant: Grant | null
}

/** What an OAuth client may do for the person whose session it has. */
export interface Grant {
  readonly clientId: string
  /** As they were granted: `publishing:posts.read` and the like, and those of OpenID Connect. */
  readonly scopes: readonly string[]
  /** A trusted client acts as the person does; any other as an app, by its scopes alone. */
  readonly trusted: boolean
}

export interface CookieSession extends ValidSession {
  readonly sessionId: string
}

/** What one of several routers tells of a key, and asks for. */
export interface KeyUse {
  /** Which router. */
  readonly router: string
  readonly keyId: string
  /** The key's limit: uses in any minute. */
  readonly perMinute: number
  /** What it used of its last loan, and how many milliseconds ago. What it does not name it gives back. */
  readonly used: readonly { readonly agoMs: number; readonly count: number }[]
  /** Uses that wait. */
  readonly want: number
  /** Uses that it would like to have at hand for the next second. */
  readonly spare: number
}

export interface KeyLoan {
  /** How many of those that wait may go on. */
  readonly granted: number
  /** How many more may, within a second. */
  readonly spare: number
  /** Milliseconds after which the next one may, where not all of them did. */
  readonly waitMs: number
}

/** A secret of an API key that may be used now. */
export interface ValidKey {
  readonly keyId: string
  readonly organizationId: string
  /** The service account that it acts as; null: none. */
  readonly userId: string | null
  /** `slug:scope`, sorted: of a service account's those that its roles give at this moment. */
  readonly scopes: readonly string[]
  /** Requests in any minute, with both secrets of the key together. */
  readonly rateLimit: number
  /** When this secret ends; null: it does not expire. */
  readonly expiresAt: Date | null
}

/** How a person stands to an organization. */
export interface Standing {
  /** Whether there is the organization that was asked about. */
  readonly organization: boolean
  /** The person's roles in it, or none without an organization; null for who is no member, is suspended, or is nobody. */
  readonly roles: readonly string[] | null
}

/** The question how a person stands to an organization: each of them may be left out. */
export const standingOf = ({ organizationId, userId }: { readonly organizationId: string | null; readonly userId: string | null }): string =>
  `${organizationId ?? ''} ${userId ?? ''}`

/** An app that may call the gateway to providers. */
export interface ServiceClient {
  readonly appId: string
  /** Whether it may call at all. */
  readonly active: boolean
  readonly operations: readonly ServiceOperation[]
}

/** What a session lets its holder do in one place. */
export interface Rights {
  /** None for an app, which goes by its scopes alone. */
  readonly roles: readonly string[]
  /** Sorted. */
  readonly scopes: readonly Scope[]
  /** The OAuth client that acts for the person; null for people themselves, trusted clients included. */
  readonly clientId: string | null
}

/**
 * What is left of a grant by a token that was made for less of it, as an app may ask for (RFC 6749 §6).
 * @param scopes what the token says; null or undefined: all of it
 */
export function narrowedBy(grant: Grant | null, scopes: readonly string[] | null | undefined): Grant | null {
  if (!grant || !scopes || grant.scopes.every(scope => scopes.includes(scope))) return grant
  return { ...grant, scopes: grant.scopes.filter(scope => scopes.includes(scope)) }
}

/**
 * What a session gives at this moment: in an organization what the person's roles there give, in personal context what everybody has; to an
 * app of that what it was granted.
 * @param place.organizationId null: personal context
 * @param place.roles          the person's there
 */
export function rightsOf(
  { organizationId, roles }: { readonly organizationId: string | null; readonly roles: readonly string[] },
  grant: Grant | null,
): Rights {
  const scopes = organizationId === null ? personalScopes : scopesOf(roles)
  if (!grant || grant.trusted) return { roles, scopes, clientId: null }
  return { roles: [], scopes: scopes.filter(scope => grant.scopes.includes(scope)), clientId: grant.clientId }
}

/** A person who is known by what another issuer calls them. */
export interface ForeignPerson {
  readonly userId: string
  readonly suspended: boolean
  /** Roles by organization. */
  readonly memberships: Readonly<Record<string, readonly string[]>>
}

/** What another issuer says of a person. */
export interface Newcomer {
  /** Its `sub`. */
  readonly subject: string
  readonly name: string | null
  /** Only one that the issuer has verified. */
  readonly email: string | null
}
