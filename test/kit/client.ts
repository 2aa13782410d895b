import { demoPassword } from '../../subgraphs/identity/setup/demo.ts'

/** A client of a running platform, signed in as one of the demo people. */
export interface Client {
  /** Its access token. */
  readonly token: string
  /** Executes an operation and returns its data. @throws with the answer when it has errors */
  query<Data = Record<string, unknown>>(document: string, variables?: Record<string, unknown>): Promise<Data>
}

/** Signs in at a running platform. */
export async function signIn(url: string, email = 'owner@demo.test', password = demoPassword): Promise<Client> {
  const answer = await fetch(`${url}/identity/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  if (!answer.ok) throw new Error(`sign-in as ${email}: ${answer.status} ${await answer.text()}`)
  const { accessToken } = (await answer.json()) as { accessToken: string }
  return {
    token: accessToken,
    async query<Data>(query: string, variables = {}) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
        body: JSON.stringify({ query, variables }),
      })
      const { data, errors } = (await response.json()) as { data: Data; errors?: unknown }
      if (errors) throw new Error(JSON.stringify(errors))
      return data
    },
  }
}
