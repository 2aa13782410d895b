import { randomBytes } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { hashOfSecret } from '../../platform/cipher.ts'

/**
 * A browser is told from others by a secret that it alone keeps, in a cookie of this host: what was begun in one browser is not
 * finished in another. It names nobody and opens nothing; whoever has to remember it keeps its fingerprint.
 */
export interface Browser {
  /** SHA-256 of the secret, in hex. */
  readonly fingerprint: string
}

/** The header in which a subgraph that runs apart finds the fingerprint. From outside it is never believed. */
export const browserHeader = 'x-browser-fingerprint'

export const fingerprintOf = (secret: string): string => hashOfSecret(secret)

/** 256 random bits, as a cookie or a form field carries them. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** With the prefix a browser takes the cookie only from this very host; it wants HTTPS. */
const nameAt = (publicUrl: string): string => (publicUrl.startsWith('https:') ? '__Host-browser' : 'browser')

/** The secret in a Cookie header; null when there is none of ours. */
export function readBrowserSecret(cookies: string | null | undefined, publicUrl: string): string | null {
  const value = parseCookie(cookies ?? '')[nameAt(publicUrl)] ?? ''
  return /^[\w-]{43}$/.test(value) ? value : null
}

/** The `Set-Cookie` line that has a browser keep a secret until it is closed. Lax: it comes along when another site sends the person here. */
export const browserCookie = (secret: string, publicUrl: string): string =>
  stringifySetCookie({ name: nameAt(publicUrl), value: secret, path: '/', httpOnly: true, sameSite: 'lax', secure: publicUrl.startsWith('https:') })
