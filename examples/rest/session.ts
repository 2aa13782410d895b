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
