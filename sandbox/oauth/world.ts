import type { Clock } from '../../platform/clock.ts'
import type { Call, Faults, Reply } from '../network.ts'
import type { Collection } from '../state.ts'

/** A user of the network. */
export interface Account {
  readonly id: string
  readonly username: string
  readonly name: string
  /** Time of creation, ISO 8601. */
  readonly createdAt: string
}

/** A confidential application registered with the network. */
export interface Client {
  readonly id: string
  readonly secret: string
  readonly name: string
  /** Redirect URIs, compared character by character. */
  readonly redirectUris: readonly string[]
  /** The only scopes that the application may request. @default every scope of the network */
  readonly scopes?: readonly string[]
}

/** A permission that an account gave to an application: a family of tokens, of which only the latest pair is good. */
export interface Grant {
  readonly id: string
  readonly clientId: string
  readonly accountId: string
  readonly scopes: readonly string[]
  /** SHA-256 of the access token; null once the application has revoked it. */
  readonly access: { readonly hash: string; readonly expiresAt: number } | null
  /** The refresh token; null when none was issued. */
  readonly refresh: { readonly hash: string; readonly expiresAt: number } | null
  /** Whether the application requested no refresh token. @default false */
  readonly withoutRefresh?: boolean
  /** Hashes of the latest fifty refresh tokens that were already exchanged. */
  readonly spent: readonly string[]
}

/**
 * A new token pair in plain text, available only here. `refreshToken` is absent without the scope that the network
 * requires for it.
 */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Lifetime of the access token, in seconds. */
  readonly expiresIn: number
  /** Lifetime of the refresh token, in seconds; absent without a refresh token. */
  readonly refreshExpiresIn?: number
  /** Granted scopes, separated by spaces, or by commas on networks that use commas. */
  readonly scope: string
  /** Further fields of the network's token answer. */
  readonly told?: Readonly<Record<string, unknown>>
}

/** An authorization code; exchanged codes are kept until newer ones displace them, so that reuse is detected. */
export interface Code {
  readonly hash: string
  readonly clientId: string
  readonly accountId: string
  readonly redirectUri: string
  /** PKCE challenge; null where the network does not support PKCE. */
  readonly challenge: string | null
  readonly scopes: readonly string[]
  readonly withoutRefresh?: boolean
  /** Time of expiry, Unix time in milliseconds. */
  readonly expiresAt: number
  /** Id of the grant that the code was exchanged for, empty when its exchange failed; absent while unused. */
  readonly usedFor?: string
}

/** Kind of error in a token request. */
export type Wrong = 'form' | 'client' | 'grant type' | 'code' | 'redirect uri' | 'verifier' | 'token' | { readonly missing: string }

/** A network's own variations of OAuth 2.0. */
export interface Behaviour {
  /** Name in sentences, e.g. `X`. */
  readonly title: string
  /** What each scope lets an application do, by its name. */
  readonly scopes: Readonly<Record<string, string>>
  /** The scope without which no refresh token is granted; null: none is granted, `any`: to everybody. @default any */
  readonly refreshScope?: string | null
  /** How the digest of PKCE is written; null: the network knows no PKCE. @default base64url */
  readonly pkce?: 'base64url' | 'hex' | null
  /** What an authorization request calls the application. @default client_id */
  readonly clientParameter?: string
  /** What the network puts behind the address to which it sends the browser back, such as Instagram's `#_`. @default nothing */
  readonly redirectSuffix?: string
  /** Whether scopes are separated by commas; both are understood in requests. @default blanks */
  readonly scopesByComma?: boolean
  /** Milliseconds that a code is good for. */
  readonly codeLifetime: number
  /** Seconds that an access token is good for. */
  readonly accessLifetime: number
  /** Milliseconds that a refresh token is good for. */
  readonly refreshLifetime: number
  /** Whether a refresh token stays good when it is exchanged, up to the end that it had at first. @default false */
  readonly refreshStays?: boolean
  /** Whether a refresh token that stays is told again with what it is exchanged for. @default true */
  readonly tellsRefreshAgain?: boolean
  /** Whether an authorization request asks for a refresh token. @default every one does */
  asksRefresh?(query: URLSearchParams): boolean
  /** What an answer with tokens has beside, or in place of, what RFC 6749 says; undefined leaves a field out. */
  readonly tell?: (grant: Grant, tokens: Tokens) => Readonly<Record<string, unknown>>
  /** A fresh code, access token or refresh token. */
  newToken(kind: 'ac' | 'at' | 'rt', now: Date): string
  /** The application that shows itself in a request for a token. */
  authenticate(world: OauthWorld, call: Call): Client | undefined
  /** How it is said that a request for a token is wrong. */
  refuse(wrong: Wrong): Reply
}

/** What an authorization server knows and stands on. */
export interface OauthWorld {
  /** The network's name, by which faults are armed. */
  readonly name: string
  readonly behaviour: Behaviour
  readonly clock: Clock
  readonly faults: Faults
  readonly accounts: Collection<Account>
  readonly clients: Collection<Client>
  readonly codes: Collection<Code>
  readonly grants: Collection<Grant>
  /** The application and the account of the demo data, made at the first start. @param path of a further network that is played here */
  readonly demo: { readonly client: (path?: string) => Client; readonly account: () => Account }
  readonly newId: () => string
}
