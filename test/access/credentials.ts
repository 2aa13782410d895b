import { createHash, randomBytes } from 'node:crypto'
import type { ServiceTokens } from '../../router/access/callers/services.ts'
import { everyScope, type Scope } from '../../subgraphs/scopes.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { Door } from '../kit/door.ts'
import type { Supergraph } from '../kit/supergraph.ts'
import type { Other, World } from './others.ts'

export type Credentials = Readonly<Record<string, string>>

const redirect = 'http://127.0.0.1/callback'
const oauth = '/identity/api/auth/oauth2'

/** Apps that are registered for the scopes of rows, one for each set of them, and their tokens. */
export function appsOf(scopeSets: readonly (readonly Scope[])[]) {
  const named = new Map(scopeSets.map(scopes => [scopes.join(' '), scopes]))
  const apps = [...named].map(([name, asks], index) => ({ name, asks, appId: `app_of_row_${index}`, token: randomBytes(32).toString('hex') }))
  const tokens: ServiceTokens = { own: new Map(apps.map(({ appId, token }) => [appId, [token]])), gateway: [], dedicated: [] }
  const headersOf = (scopes: readonly Scope[]): Credentials => {
    const app = apps.find(({ name }) => name === scopes.join(' '))!
    return { 'x-service-token': app.token, 'x-app-id': app.appId }
  }
  return { tokens, apps: apps.map(({ appId, asks }) => ({ slug: 'launcher' as const, appId, asks })), headersOf }
}

/** Makes the credentials with which the router makes the viewers of `others.ts`: as people, apps and services get them. */
export async function credentialsOfOthers(
  graph: Supergraph,
  door: Door,
  { world, password, serviceHeaders }: { readonly world: World; readonly password: string; readonly serviceHeaders: (scopes: readonly Scope[]) => Credentials },
) {
  const input = { name: 'Of the matrix', type: 'PUBLIC', redirectUris: [redirect], scopes: everyScope }
  const document = 'mutation($input: CreateOAuthClientInput!) { createOAuthClient(input: $input) { client { clientId } } }'
  const platform: Viewer = { ...world.owner, userId: world.superAdmin, organizationId: world.admin, roles: ['platform_super_admin'], scopes: everyScope }
  const clientId: string = (await graph.execute(document, { input }, { as: platform })).data().createOAuthClient.client.clientId
  const origin = new URL(graph.publicUrl).origin

  let turn = 0
  /** One address may not call as often as people sign in here: once for each row and each of those of whom no row says anything. */
  const elsewhere = (): string => `198.18.${++turn >> 8}.${turn & 255}`

  /** Through authorizing and consent to an access token of the app. */
  const byApp = async (scopes: readonly Scope[]): Promise<Credentials> => {
    const from = elsewhere()
    const signedIn = await door.ask('POST', '/identity/api/auth/sign-in/email', { from, body: { email: 'owner@test.test', password } })
    const cookie = [signedIn.headers['set-cookie'] ?? []].flat().join('; ')
    const verifier = randomBytes(32).toString('base64url')
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const asked = { client_id: clientId, redirect_uri: redirect, scope: scopes.join(' '), code_challenge: challenge, code_challenge_method: 'S256' }
    const authorized = await door.ask('GET', `${oauth}/authorize?${new URLSearchParams({ response_type: 'code', ...asked })}`, { from, headers: { cookie } })
    let location = String(authorized.headers.location)
    if (location.includes('/identity/consent?')) {
      const body = { request: new URL(location, origin).searchParams.get('request'), accept: true }
      location = (await door.ask('POST', `${oauth}/consent`, { from, headers: { cookie, origin }, body })).json.redirectTo
    }
    const code = new URL(location, origin).searchParams.get('code')
    const fields = { grant_type: 'authorization_code', code: code!, redirect_uri: redirect, client_id: clientId, code_verifier: verifier }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await door.ask('POST', `${oauth}/token`, { from, headers, body: Buffer.from(String(new URLSearchParams(fields))) })
    if (answer.status !== 200) throw new Error(`an app gets no token: ${answer.status} ${answer.text}`)
    return { authorization: `Bearer ${answer.json.access_token}` }
  }

  const personally = async (): Promise<Credentials> => {
    const query = 'mutation { switchContext(input: { context: PERSONAL }) { accessToken } }'
    const { json } = await door.ask('POST', '/graphql', { headers: await door.signIn('owner@test.test', password, elsewhere()), body: { query } })
    return { authorization: `Bearer ${json.data.switchContext.accessToken}` }
  }

  /** Rows may have made a member of another organization of them, where they would be active then. */
  const looksAfterThePlatform = async (): Promise<Credentials> => {
    const query = `mutation { switchOrganization(input: { organizationId: "${world.admin}" }) { accessToken } }`
    const { json } = await door.ask('POST', '/graphql', { headers: await door.signIn('super@test.test', password, elsewhere()), body: { query } })
    return { authorization: `Bearer ${json.data.switchOrganization.accessToken}` }
  }

  const inAcme = { 'x-organization-id': world.owner.organizationId! }
  const ways: Readonly<Record<Other, (scopes: readonly Scope[]) => Credentials | Promise<Credentials>>> = {
    'super admin': looksAfterThePlatform,
    'in personal context': personally,
    app: byApp,
    service: scopes => ({ ...serviceHeaders(scopes), ...inAcme }),
    'service for a member': scopes => ({ ...serviceHeaders(scopes), ...inAcme, 'x-on-behalf-of': world.member.userId! }),
  }
  return async (name: Other, scopes: readonly Scope[]): Promise<Credentials> => ways[name](scopes)
}
