import type { JSONWebKeySet } from 'jose'

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
  /** The `Set-Cookie` lines that remove every cookie of ours from the browser. */
  clearCookie(): readonly string[]
  /** What an API key is stored and looked up under: SHA-256, lower-case hex. */
  hashKey(clear: string): string
  /** Of the given hashes those of keys that may be used now, in one prepared statement; revoked and expired keys are missing. */
  keys(hashes: readonly string[]): Promise<ReadonlyMap<string, ValidKey>>
  /** The same by key id: how a stream that a key opened finds out that the key is gone. */
  keysById(ids: readonly string[]): Promise<ReadonlyMap<string, ValidKey>>
  /** Notes that keys were used. Written at most once a minute for each key, in the background; never throws. */
  touchKeys(ids: readonly string[]): void
  /** Rejects while nobody can sign in: identity or its database is away, or no token can be signed. */
  ready(): Promise<void>
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
}

export interface CookieSession extends ValidSession {
  readonly sessionId: string
}

/** An API key that may be used now. */
export interface ValidKey {
  readonly keyId: string
  readonly organizationId: string
  /** `slug:scope`, sorted. */
  readonly scopes: readonly string[]
  /** Null: it does not expire. */
  readonly expiresAt: Date | null
}
