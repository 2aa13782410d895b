import { type Browser, browserCookie, fingerprintOf, newSecret, readBrowserSecret } from '../../subgraphs/http/browser.ts'
import type { Caller } from './authenticate.ts'

/** What is known of the browser behind a request that changes something. */
export interface KnownBrowser {
  readonly browser: Browser
  /** `Set-Cookie` of a browser that had no secret yet. */
  readonly setCookie: string | null
}

/**
 * The browser that a request comes from: one that sends its session cookie, or a page of the platform's own origin. Null for programs;
 * for browsers on another host than the platform's own, where a cookie would not come back to; and for pages of other origins that
 * call with a token, which need not keep the cookies of an answer.
 */
export function browserOf(headers: Headers, { credential }: Caller, publicUrl: string): KnownBrowser | null {
  const { host, origin } = new URL(publicUrl)
  if (headers.get('host')?.toLowerCase() !== host) return null
  if (credential.kind !== 'cookie' && headers.get('origin')?.toLowerCase() !== origin) return null
  const known = readBrowserSecret(headers.get('cookie'), publicUrl)
  const secret = known ?? newSecret()
  return { browser: { fingerprint: fingerprintOf(secret) }, setCookie: known === null ? browserCookie(secret, publicUrl) : null }
}
