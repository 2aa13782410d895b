import type { ExecutionResult } from 'graphql'
import { demoPassword } from '../../subgraphs/identity/setup/demo.ts'
import { type Answer, readAnswer } from './answer.ts'

/** A client of a running platform, signed in as one of the demo people. */
export interface Client {
  /** Its access token. */
  readonly token: string
  ask(document: string, variables?: Record<string, unknown>): Promise<Answer>
  /** Executes an operation and returns its data. @throws with the answer when it has errors */
  query<Data = Record<string, unknown>>(document: string, variables?: Record<string, unknown>): Promise<Data>
}

/** Executes an operation at a running platform, as whoever the headers say. */
export async function askAt(url: string, text: string, variables: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<Answer> {
  const body = JSON.stringify({ query: text, variables })
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  const as = Object.keys(headers).join(' and ') || 'nobody'
  return readAnswer((await response.json()) as ExecutionResult, { text, variables, as, requestId: response.headers.get('x-request-id') ?? '' })
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
  const ask: Client['ask'] = (document, variables) => askAt(url, document, variables, { authorization: `Bearer ${accessToken}` })
  return {
    token: accessToken,
    ask,
    query: async <Data>(document: string, variables?: Record<string, unknown>) => (await ask(document, variables)).data() as Data,
  }
}
