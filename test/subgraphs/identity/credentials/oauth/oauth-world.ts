import { createHash, randomBytes } from 'node:crypto'
import type { Provisioned } from '../../../../../subgraphs/identity/setup/provision.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { cookieOf, execute, type freshIdentity, origin, requestSignIn, userViewer, world } from '../../identity-world.ts'

export const oauthPath = '/identity/api/auth/oauth2'
export const callback = 'http://127.0.0.1/callback'
export const wanted = ['openid', 'email', 'offline_access', 'publishing:posts.read']

/** A client as a test knows it. */
export interface TestClient {
  readonly id: string
  readonly clientId: string
  readonly secret: string | null
}

type Fields = Readonly<Record<string, string | undefined>>

const given = (fields: Fields): [string, string][] => Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined)

/** A verifier and its challenge. */
export function pkce() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

/** The story of an authorization, step by step, at an identity of its own. */
export async function oauthWorld(open: ReturnType<typeof freshIdentity>) {
  const made: Provisioned = await open.identity.provision(world)
  const http = (path: string, init: RequestInit = {}) => open.identity.http(new Request(`${origin}${path}`, init))
  const platform: Viewer = userViewer(made.users['super@admin.test']!, made.organizations.admin!, ['platform_super_admin'])

  const client = async (more: object = {}): Promise<TestClient> => {
    const input = { name: 'An app', type: 'PUBLIC', redirectUris: [callback], scopes: wanted, ...more }
    const document = 'mutation($input: CreateOAuthClientInput!) { createOAuthClient(input: $input) { secret client { id clientId } } }'
    const { createOAuthClient } = (await execute(open.identity, platform, document, { input })).data()
    return { id: createOAuthClient.client.id, clientId: createOAuthClient.client.clientId, secret: createOAuthClient.secret }
  }

  const signIn = async (email: string): Promise<string> => cookieOf(await requestSignIn(open.identity, email))

  const authorize = (of: TestClient, cookie: string | null, fields: Fields = {}, more = '') => {
    const all = {
      response_type: 'code',
      client_id: of.clientId,
      redirect_uri: callback,
      scope: wanted.join(' '),
      state: 'st4te',
      code_challenge_method: 'S256',
      ...fields,
    }
    return http(`${oauthPath}/authorize?${new URLSearchParams(given(all))}${more}`, { headers: cookie ? { cookie } : {} })
  }

  const consent = (location: string, cookie: string, accept: unknown = true, headers: Record<string, string> = { origin }) =>
    http(`${oauthPath}/consent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, ...headers },
      body: JSON.stringify({ request: new URL(location, origin).searchParams.get('request'), accept }),
    })

  const form = (path: string, fields: Fields | string, headers: Record<string, string> = {}) =>
    http(`${oauthPath}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: typeof fields === 'string' ? fields : new URLSearchParams(given(fields)).toString(),
    })
  const shown = ({ clientId, secret }: TestClient): Record<string, string> => (secret ? { authorization: basic(clientId, secret) } : {})

  /** Through authorizing and consent to a code: the parameters of the redirect, and what the token endpoint wants with it. */
  const code = async (of: TestClient, cookie: string, fields: Fields = {}) => {
    const { verifier, challenge } = pkce()
    const answer = await authorize(of, cookie, { code_challenge: challenge, ...fields })
    let location = answer.headers.get('location') ?? ''
    if (location.includes('/identity/consent?')) location = (await (await consent(location, cookie)).json()).redirectTo
    const parameters = Object.fromEntries(new URL(location).searchParams)
    const redirect = fields.redirect_uri ?? callback
    return {
      parameters,
      fields: { grant_type: 'authorization_code', code: parameters.code!, redirect_uri: redirect, client_id: of.clientId, code_verifier: verifier } as Fields,
    }
  }

  /** Exchanges what is given. */
  const token = async (of: TestClient, fields: Fields, headers: Record<string, string> = shown(of)) => {
    const answer = await form('token', fields, headers)
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, string> }
  }
  const tokens = async (of: TestClient, cookie: string, fields: Fields = {}) => {
    const answer = await token(of, (await code(of, cookie, fields)).fields)
    if (answer.status !== 200) throw new Error(`the token endpoint answered ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const renew = (of: TestClient, refreshToken: string, more: Fields = {}) =>
    token(of, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: of.clientId, ...more })

  /** Whether the session of an access token stands. */
  const stands = async (accessToken: string): Promise<boolean> => {
    const { sid } = JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()) as { sid: string }
    return (await open.identity.authority.sessions([sid])).has(sid)
  }
  const look = async (of: TestClient, looked: string) => (await (await form('introspect', { token: looked }, shown(of))).json()) as Record<string, unknown>
  const audit = async (action: string) =>
    (await open.database.sequelize.query(`select actor, tenant_id, details from identity.audit_entries where action = '${action}'`))[0] as {
      actor: string
      tenant_id: string
      details: Record<string, unknown>
    }[]

  return { made, platform, http, client, signIn, authorize, consent, form, shown, code, token, tokens, renew, stands, look, audit }
}

export type OAuthWorld = Awaited<ReturnType<typeof oauthWorld>>
