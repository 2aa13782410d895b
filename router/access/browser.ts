import { type Browser, browserCookie, fingerprintOf, newSecret, readBrowserSecret } from '../../subgraphs/browser.ts'
import type { Hosts } from '../door/hosts.ts'
import type { Caller } from './authenticate.ts'

/** What is known of the browser behind a request that changes something. */
export interface KnownBrowser {
  readonly browser: Browser
  /** `Set-Cookie` of a browser that had no secret yet. */
  readonly setCookie: string | null
}

/**
 * The browser that a request comes from: one that sends its session cookie, or the Origin of a page of ours. Null for programs, and
 * for browsers on another host than the platform's own, where a cookie would not come back to.
 */
export function browserOf(headers: Headers, { credential }: Caller, hosts: Pick<Hosts, 'trusts'>, publicUrl: string): KnownBrowser | null {
  if (headers.get('host')?.toLowerCase() !== new URL(publicUrl).host) return null
  const origin = headers.get('origin')
  const isOurPage = origin !== null && hosts.trusts(origin) && headers.get('sec-fetch-site') !== 'cross-site'
  if (credential.kind !== 'cookie' && !isOurPage) return null
  const known = readBrowserSecret(headers.get('cookie'), publicUrl)
  const secret = known ?? newSecret()
  return { browser: { fingerprint: fingerprintOf(secret) }, setCookie: known === null ? browserCookie(secret, publicUrl) : null }
}
