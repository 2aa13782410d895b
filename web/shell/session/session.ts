import { app, authPath, base } from '../place.ts'

/** What says who is signed in, on one host. */
export interface Session {
  /** The access token for the next request, renewed a minute before its end; null where a cookie says it. @throws SignedOut */
  token(): Promise<string | null>
  /** After a 401: another token, one request for all that wait. @throws SignedOut when nobody is signed in any more */
  renew(): Promise<string | null>
  /** Ends it, here, on the server and in other tabs, and leaves for the page of sign-in. */
  signOut(): Promise<void>
  /** Whether its token ends before somebody could do much on another page. @default it is renewed without leaving the page */
  endsSoon?(): boolean
  /** Whether this host cannot go on in another organization by itself: its token comes from where people sign in. @default it can */
  readonly isBound?: true
}

/** Nobody is signed in. */
export class SignedOut extends Error {}

/** The code with which somebody came was used, or is too old. */
export class CodeRefused extends Error {}

/** Tabs of one browser and host tell each other who leaves. */
const tabs = new BroadcastChannel(`supergraph.${app}.session`)

/** Who asks for sign-in over the page, once there is a page. */
let ask: (() => void) | null = null

/** Has a listener ask for sign-in over the page, in place of leaving it. @returns ends it */
export function onSignedOut(listener: () => void): () => void {
  ask = listener
  return () => {
    ask = null
  }
}

/** Asks for sign-in: over the page where somebody can, else by leaving it for the page that comes back here. */
export function leaveForSignIn({ asks = true }: { readonly asks?: boolean } = {}): void {
  if (asks && ask) {
    ask()
    return
  }
  const here = `${location.pathname.slice(base.length)}${location.search}`
  location.replace(`${base}/login?return_to=${encodeURIComponent(here)}`)
}

/** Follows another tab that signs out. */
export const followOtherTabs = (): void => {
  tabs.addEventListener('message', () => location.replace(`${base}/login`))
}

/** Asks identity to end the session, and tells the other tabs. @param to where the browser goes then @default the host's own page of sign-in */
export async function endSession(headers: Readonly<Record<string, string>>, to = `${base}/login`): Promise<void> {
  await fetch(authPath('sign-out'), { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })
  tabs.postMessage('signed out')
  location.replace(to)
}
