import { app, base } from '../place.ts'
import { returnPath } from './return.ts'
import { CodeRefused, endSession, type Session, SignedOut } from './session.ts'
import type { Token } from './token.ts'

/** A token with less than this before its end is fetched anew by the next navigation, in ms. */
const soonMs = 120_000

/**
 * The session of a host that keeps its token in memory alone: nothing of it is in any storage, cookie or address. It comes by a code at
 * `/callback`, and when it ends, or the page is loaded anew, the browser goes through sign-in and back to the same address.
 * @param start the page to open where the code leads to none
 */
export function createMemorySession(start: string): Session {
  let token: Token | null = null
  let coming: Promise<void> | null = location.pathname === `${base}/callback` ? exchange() : null

  async function exchange(): Promise<void> {
    const code = new URLSearchParams(location.search).get('sso_code')
    // The address loses the code before anything else is done.
    history.replaceState(null, '', `${base}/callback`)
    const answer = await fetch(`/${app}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
      credentials: 'omit',
    })
    if (!answer.ok) throw new CodeRefused(`the code was answered ${answer.status}`)
    const { returnTo, ...made } = (await answer.json()) as Token & { readonly returnTo: string | null }
    token = made
    const path = returnPath(returnTo)
    history.replaceState(null, '', `${base}${path === null || path === '/' ? start : path}`)
  }

  const isOver = (marginMs: number) => token === null || Date.parse(token.expiresAt) - marginMs <= Date.now()
  return {
    async token() {
      await coming
      if (isOver(0)) throw new SignedOut('the token has ended')
      return token!.accessToken
    },
    async renew() {
      token = null
      coming = null
      throw new SignedOut('the token does not count any more')
    },
    endsSoon: () => isOver(soonMs),
    isBound: true,
    async signOut() {
      const headers = token ? { authorization: `Bearer ${token.accessToken}` } : {}
      token = null
      // Where people sign in they may still be signed in: there they are asked before they come back.
      const found = await fetch(`/${app}/api/service-identity`).catch(() => null)
      const { addresses } = found?.ok ? ((await found.json()) as { readonly addresses: { readonly auth: string } }) : { addresses: null }
      await endSession(headers, addresses ? `${addresses.auth}/identity/login?service=${app}&stay=1` : undefined)
    },
  }
}
