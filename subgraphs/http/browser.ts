import { randomBytes } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { hashOfSecret } from '../../platform/cipher.ts'

/**
 * Identifies a browser by a secret in a cookie of this host, so that a flow that began in one browser cannot be
 * completed in another. The secret identifies no person and grants no access; only its SHA-256 is stored.
 */
export interface Browser {
  /** SHA-256 of the secret, in hex. */
  readonly fingerprint: string
}

/** Header with the fingerprint for subgraphs in distributed mode. It is never trusted from outside. */
export const browserHeader = 'x-browser-fingerprint'

export const fingerprintOf = (secret: string): string => hashOfSecret(secret)

/** Generates 256 random bits, in the form for a cookie or a form field. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** With this prefix, browsers accept the cookie only from this host, and only over HTTPS. */
const nameAt = (publicUrl: string): string => (publicUrl.startsWith('https:') ? '__Host-browser' : 'browser')

/** Returns the secret in a Cookie header; null when it contains none of ours. */
export function readBrowserSecret(cookies: string | null | undefined, publicUrl: string): string | null {
  const value = parseCookie(cookies ?? '')[nameAt(publicUrl)] ?? ''
  return /^[\w-]{43}$/.test(value) ? value : null
}

/**
 * Returns the `Set-Cookie` line of a secret that the browser keeps until it is closed. Lax: the cookie is also sent
 * when another site leads the person here.
 */
export const browserCookie = (secret: string, publicUrl: string): string =>
  stringifySetCookie({ name: nameAt(publicUrl), value: secret, path: '/', httpOnly: true, sameSite: 'lax', secure: publicUrl.startsWith('https:') })
