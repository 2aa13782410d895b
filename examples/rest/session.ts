import type { paths } from './routes.generated.ts'

type SignedIn = paths['/identity/api/auth/sign-in/email']['post']['responses']['200']['content']['application/json']

/** Signs in as one of the demo world's people. @returns an access token for the next ten minutes */
export async function signIn(url: string, email = 'owner@demo.test', password = 'supergraph-demo'): Promise<string> {
  const answer = await fetch(`${url}/identity/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  if (!answer.ok) throw new Error(`nobody could sign in: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as SignedIn).accessToken
}

/** The same address for WebSockets. */
export const socketOf = (url: string): string => `${url.replace(/^http/, 'ws')}/graphql`

/** Ends the session of a token, and with it every stream that it opened. */
export async function signOut(url: string, accessToken: string): Promise<void> {
  const answer = await fetch(`${url}/identity/api/auth/sign-out`, { method: 'POST', headers: { authorization: `Bearer ${accessToken}` } })
  if (!answer.ok) throw new Error(`nobody could sign out: ${answer.status} ${await answer.text()}`)
}

/** Waits before a stream is opened anew: a second at first, ten at most, and not as long as everybody else who lost it too. */
export const waitBefore = (retries: number): Promise<void> =>
  new Promise(resolve => setTimeout(resolve, Math.min(1000 * 2 ** retries, 10_000) * (0.5 + Math.random() / 2)))
