import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  tokenIntrospection,
  tokenRevocation,
} from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRouter } from '../../../../../router/router.ts'
import type { Provisioned } from '../../../../../subgraphs/identity/setup/provision.ts'
import { askAt } from '../../../../kit/client.ts'
import { freePort } from '../../../../kit/launch.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { execute, password, userViewer, world } from '../../identity-world.ts'

const redirect = 'http://127.0.0.1:51999/callback'
const scopes = ['openid', 'profile', 'email', 'offline_access', 'publishing:posts.read', 'publishing:accounts.read']

const stack = new AsyncDisposableStack()
let url: string
let graph: Supergraph
let made: Provisioned

beforeAll(async () => {
  const port = await freePort()
  url = `http://localhost:${port}`
  graph = stack.use(await supergraph({ now: new Date().toISOString(), publicUrl: url }))
  const { platform, clock, job } = graph
  const router = await createRouter({
    engine: platform.engine,
    authority: platform.identity.authority,
    subgraphs: platform.subgraphs,
    host: 'localhost',
    port,
    publicUrl: url,
    environment: 'development',
    clock,
    log: job.log,
    readiness: [],
  })
  await router.listen()
  stack.defer(() => router.close())
  made = await platform.identity.provision(world)
})
afterAll(() => stack.disposeAsync())

/** A browser in which somebody has signed in: it goes where it is led, agrees to what is asked, and stops at the application. */
async function browser(email: string) {
  const answer = await fetch(`${url}/identity/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!
  return async (address: URL): Promise<URL> => {
    const location = new URL((await fetch(address, { headers: { cookie }, redirect: 'manual' })).headers.get('location')!)
    if (location.origin !== url) return location
    const body = JSON.stringify({ request: location.searchParams.get('request'), accept: true })
    const headers = { cookie, origin: url, 'content-type': 'application/json' }
    const { redirectTo } = (await (await fetch(`${url}/identity/api/auth/oauth2/consent`, { method: 'POST', headers, body })).json()) as { redirectTo: string }
    return new URL(redirectTo)
  }
}

async function relyingParty(type: 'PUBLIC' | 'CONFIDENTIAL', more: object = {}): Promise<Configuration> {
  const platform = userViewer(made.users['super@admin.test']!, made.organizations.admin!, ['platform_super_admin'])
  const input = { name: `A ${type} app`, type, redirectUris: ['http://127.0.0.1/callback'], scopes, ...more }
  const document = 'mutation($input: CreateOAuthClientInput!) { createOAuthClient(input: $input) { secret client { clientId } } }'
  const { secret, client } = (await execute(graph.platform.identity, platform, document, { input })).data().createOAuthClient
  const config = await discovery(new URL(url), client.clientId, undefined, secret ? ClientSecretBasic(secret) : None(), { execute: [allowInsecureRequests] })
  enableNonRepudiationChecks(config)
  return config
}

async function enter(config: Configuration, go: (address: URL) => Promise<URL>) {
  const [verifier, state, nonce] = [randomPKCECodeVerifier(), randomState(), randomNonce()]
  const address = buildAuthorizationUrl(config, {
    redirect_uri: redirect,
    scope: scopes.join(' '),
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
  return authorizationCodeGrant(config, await go(address), { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true })
}

const viewerOf = async (token: string) => {
  const answer = await askAt(url, '{ viewer { kind roles scopes user { id email } organization { slug } } }', {}, { authorization: `Bearer ${token}` })
  return answer.partial.data?.viewer
}
const refusedAt = (token: string) =>
  fetch(`${url}/graphql?query={viewer{kind}}`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status)

describe.each(['PUBLIC', 'CONFIDENTIAL'] as const)('a certified relying party, as a client that is %s, from discovery alone', type => {
  it('signs in, gets consent, refreshes, and is rejected within a second of its revocation', async () => {
    const [config, go] = [await relyingParty(type), await browser('ada@acme.test')]
    const tokens = await enter(config, go)
    const ada = made.users['ada@acme.test']!
    expect(tokens.claims()).toMatchObject({ sub: ada, iss: url })
    expect(await fetchUserInfo(config, tokens.access_token, ada)).toEqual({ sub: ada, name: 'Ada Both', email: 'ada@acme.test', email_verified: true })
    const granted = ['publishing:accounts.read', 'publishing:posts.read']
    expect(await viewerOf(tokens.access_token)).toEqual({
      kind: 'USER',
      roles: [],
      scopes: granted,
      user: { id: ada, email: null },
      organization: { slug: 'acme' },
    })
    expect(await refusedAt(tokens.id_token!)).toBe(401)

    const next = await refreshTokenGrant(config, tokens.refresh_token!)
    expect(next.claims()).toMatchObject({ sub: ada, auth_time: tokens.claims()!.auth_time })
    const less = await refreshTokenGrant(config, next.refresh_token!, { scope: 'publishing:posts.read' })
    expect((await viewerOf(less.access_token)).scopes).toEqual(['publishing:posts.read'])
    expect((await viewerOf(next.access_token)).scopes).toEqual(granted)

    if (type === 'CONFIDENTIAL')
      expect(await tokenIntrospection(config, less.access_token)).toMatchObject({ active: true, sub: ada, scope: 'publishing:posts.read' })
    else await expect(tokenIntrospection(config, less.access_token)).rejects.toThrow()
    await tokenRevocation(config, less.refresh_token!)
    await expect.poll(() => refusedAt(less.access_token), { timeout: 2000 }).toBe(401)
    if (type === 'CONFIDENTIAL') expect(await tokenIntrospection(config, less.access_token)).toEqual({ active: false })
    await expect(refreshTokenGrant(config, less.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' })
  })

  it('sees by issuer, state and nonce who answers, and hears of a no', async () => {
    const [config, go] = [await relyingParty(type), await browser('owner@acme.test')]
    const verifier = randomPKCECodeVerifier()
    const asked = {
      redirect_uri: redirect,
      scope: 'openid',
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: 's',
    }
    const address = buildAuthorizationUrl(config, asked)
    const checks = { pkceCodeVerifier: verifier, expectedState: 's' }
    const back = await go(address)
    const mixed = new URL(back)
    mixed.searchParams.set('iss', 'https://evil.example')
    await expect(authorizationCodeGrant(config, mixed, checks)).rejects.toMatchObject({ cause: { message: expect.stringContaining('"iss"') } })
    const without = new URL(back)
    without.searchParams.delete('iss')
    await expect(authorizationCodeGrant(config, without, checks)).rejects.toMatchObject({ cause: { message: expect.stringContaining('"iss"') } })
    const silent = await go(buildAuthorizationUrl(config, { ...asked, scope: 'openid email', prompt: 'none' }))
    await expect(authorizationCodeGrant(config, silent, checks)).rejects.toMatchObject({ error: 'consent_required' })
  })
})

describe('a client of the platform', () => {
  it('acts as the person does, with roles and policies', async () => {
    const [config, go] = [await relyingParty('PUBLIC', { trusted: true }), await browser('owner@acme.test')]
    const { access_token } = await enter(config, go)
    const answer = await askAt(url, '{ viewer { roles user { email } } consents { id } }', {}, { authorization: `Bearer ${access_token}` })
    expect(answer.data()).toEqual({ viewer: { roles: ['OWNER'], user: { email: 'owner@acme.test' } }, consents: expect.any(Array) })
  })
})

describe('an app with a grant', () => {
  it('meets no policy of the platform, of the organization or of people', async () => {
    const [config, go] = [await relyingParty('PUBLIC'), await browser('super@admin.test')]
    const { access_token } = await enter(config, go)
    for (const document of [
      '{ oauthClients { nodes { id } } }',
      '{ consents { id } }',
      '{ memberships { nodes { id } } }',
      'mutation { revokeConsent(input: { id: "x" }) { id } }',
    ])
      expect((await askAt(url, document, {}, { authorization: `Bearer ${access_token}` })).code, document).toBe('UNAUTHORIZED_FIELD_OR_TYPE')
  })

  it('loses what its person loses, at once', async () => {
    const [config, go] = [await relyingParty('PUBLIC'), await browser('admin@acme.test')]
    const { access_token } = await enter(config, go)
    expect((await viewerOf(access_token)).scopes).toContain('publishing:posts.read')
    await graph.rows(`update identity.memberships set roles = '{}' || array['nothing'] where user_id = '${made.users['admin@acme.test']}'`)
    await expect.poll(async () => (await viewerOf(access_token)).scopes, { timeout: 2000 }).toEqual([])
  })
})
