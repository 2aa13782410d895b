import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { isScope, meaningOf } from '../../../scopes.ts'

/** Scopes of OpenID Connect, each with a sentence for people. */
const openid = {
  openid: 'Know that it is you',
  profile: 'See your name and your picture',
  email: 'See your mail address',
  offline_access: 'Go on while you are away, for up to 90 days',
} as const

/** Maximum lifetime of a family of refresh tokens in all, and without use, in ms. */
export const familyLife = { all: 90 * 86_400_000, unused: 30 * 86_400_000 } as const

/** Lifetime of an access token, in ms. */
export const accessLife = 600_000

/** Maximum number of enabled clients, and limits of each. */
export const most = { clients: 100, redirectUris: 20, redirectLength: 500 } as const

/** Scopes that a client may request: `openid` and the like, and full names of scopes. */
export const openidScopes: readonly string[] = Object.keys(openid)

export const isGrantable = (scope: string): boolean => Object.hasOwn(openid, scope) || isScope(scope)

/** Describes a scope in a sentence for people. */
export const wordsOf = (scope: string): string =>
  isScope(scope) ? meaningOf(scope) : Object.hasOwn(openid, scope) ? openid[scope as keyof typeof openid] : scope

/** Returns the granted scopes that the person still has. */
export const effectiveScopes = (granted: readonly string[], may: readonly string[]): readonly string[] =>
  granted.filter(scope => Object.hasOwn(openid, scope) || may.includes(scope))

/** @throws BAD_USER_INPUT for an empty list, and for an unknown scope */
export function readGrantable(asked: readonly string[]): string[] {
  if (asked.length === 0) throw new DomainError('BAD_USER_INPUT', 'scopes is empty: a client that may ask for nothing can do nothing.', { field: 'scopes' })
  const unknown = asked.find(scope => !isGrantable(scope))
  if (unknown !== undefined) {
    const sentence = `scopes names "${unknown.slice(0, 80)}", which nobody can grant: write ${openidScopes.join(', ')}, or full names such as publishing:posts.read.`
    throw new DomainError('BAD_USER_INPUT', sentence, { field: 'scopes' })
  }
  return [...new Set(asked)].sort()
}

/**
 * Matches the characters of a redirect address (RFC 3986), without fragment and wildcard: addresses are compared
 * literally.
 */
const addressCharacters = /^[\w\-.~:/?[\]@!$&'()+,;=%]+$/
/** Matches a private-use scheme: the reversed name of a domain (RFC 8252 §7.1), then a path. */
const privateUse = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\//
/** An address of this machine, with any port and path. */
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?([/?].*)?$/

/**
 * Checks where a client may be led back to.
 * @throws BAD_USER_INPUT for anything but https, a private-use scheme with a dot, and http on a loopback address
 */
export function readRedirectUris(given: readonly string[]): string[] {
  const refused = (sentence: string) => new DomainError('BAD_USER_INPUT', sentence, { field: 'redirectUris' })
  if (given.length === 0 || given.length > most.redirectUris) throw refused(`redirectUris takes 1 to ${most.redirectUris} addresses.`)
  for (const uri of given) {
    const shown = JSON.stringify(uri.slice(0, 100))
    if (uri.length > most.redirectLength) throw refused(`redirectUris holds ${shown}…, which is longer than ${most.redirectLength} characters.`)
    if (!addressCharacters.test(uri))
      throw refused(`redirectUris holds ${shown}: an address takes no wildcard, no fragment, and no character that is not written in it as it is.`)
    if (!isRedirectUri(uri))
      throw refused(
        `redirectUris holds ${shown}: write https://…, a scheme of the app with a dot (com.example.app:/callback), or http://127.0.0.1/… or http://[::1]/…, whose port is then free.`,
      )
  }
  return [...new Set(given)]
}

function isRedirectUri(uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const { protocol, username, password, hostname } = new URL(uri)
  if (username || password) return false
  if (protocol === 'https:') return /^https:\/\/[a-z\d.-]+(?::\d{1,5})?(?:[/?]|$)/i.test(uri) && hostname !== ''
  return loopback.test(uri) || privateUse.test(uri)
}

/**
 * Whether a client may be redirected to an address: identical to a registered one (RFC 9700 §2.1), except for the port
 * of a loopback address, which an app learns only when it listens (RFC 8252 §7.3).
 */
export function isRegisteredRedirect(registered: readonly string[], asked: string): boolean {
  if (registered.includes(asked)) return true
  const portless = withoutPort(asked)
  return portless !== null && registered.some(uri => withoutPort(uri) === portless)
}

function withoutPort(uri: string): string | null {
  const found = loopback.exec(uri)
  if (!found || !addressCharacters.test(uri) || Number(found[2] ?? 0) > 65_535) return null
  return `http://${found[1]}${found[3] ?? ''}`
}

/** Appends parameters to an address, which otherwise stays unchanged. */
export const withParameters = (uri: string, parameters: Readonly<Record<string, string | null>>): string =>
  `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null))}`

/** A challenge of the method S256: SHA-256 as base64url. */
export const isChallenge = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** Whether a verifier matches a challenge (RFC 7636 §4.6). */
export const meetsChallenge = (verifier: string, challenge: string): boolean =>
  /^[\w.~-]{43,128}$/.test(verifier) && createHash('sha256').update(verifier).digest('base64url') === challenge
