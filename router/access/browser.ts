import { type Browser, browserCookie, fingerprintOf, newSecret, readBrowserSecret } from '../../subgraphs/http/browser.ts'
import type { Caller } from './authenticate.ts'

/** What is known of the browser behind a mutation. */
export interface KnownBrowser {
  readonly browser: Browser
  /** `Set-Cookie` line for a browser without a secret. */
  readonly setCookie: string | null
}

/**
 * Returns the browser that sent a request: it sends a session cookie, or the page is of the platform's own origin. Null
 * for programs, for browsers on another host than the platform's own (the cookie would not come back), and for pages of
 * other origins that call with a token (they may drop the cookies of an answer).
 */
export function browserOf(headers: Headers, { credential }: Caller, publicUrl: string): KnownBrowser | null {
  const { host, origin } = new URL(publicUrl)
  if (headers.get('host')?.toLowerCase() !== host) return null
  if (credential.kind !== 'cookie' && headers.get('origin')?.toLowerCase() !== origin) return null
  const known = readBrowserSecret(headers.get('cookie'), publicUrl)
  const secret = known ?? newSecret()
  return { browser: { fingerprint: fingerprintOf(secret) }, setCookie: known === null ? browserCookie(secret, publicUrl) : null }
}
