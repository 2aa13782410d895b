import { describe, expect, it } from 'vitest'
import { createIdentity, receive, tokens } from '../../mobile/core/core.ts'
import { startPlatform } from '../browser/platform.ts'
import { askAt, signIn } from '../kit/client.ts'

const redirectUri = 'test.mobile.app:/callback'
const scopes = ['openid', 'profile', 'email', 'offline_access']

/** A platform with a client for phones, and a browser in which a person is signed in. */
async function openPhone(stack: AsyncDisposableStack) {
  const { url } = await startPlatform(stack)
  const admin = await signIn(url, 'super@admin.test')
  const { createOAuthClient } = await admin.query<{ createOAuthClient: { client: { clientId: string } } }>(
    'mutation($input: CreateOAuthClientInput!) { createOAuthClient(input: $input) { client { clientId } } }',
    { input: { name: 'Phone', type: 'PUBLIC', redirectUris: [redirectUri], scopes, trusted: true } },
  )
  const entered = await fetch(`${url}/identity/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email: 'owner@demo.test', password: 'supergraph-demo' }),
  })
  const cookie = entered.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  const kept = new Map<string, string>()
  let at = Date.now()
  const changes: boolean[] = []
  const identity = createIdentity({
    issuer: url,
    clientId: createOAuthClient.client.clientId,
    redirectUri,
    store: {
      get: async key => kept.get(key) ?? null,
      set: async (key, value) => void kept.set(key, value),
      remove: async key => void kept.delete(key),
    },
    browse: async address => (await fetch(address, { headers: { cookie }, redirect: 'manual' })).headers.get('location')!,
    now: () => at,
  })
  identity.onChange(isSignedIn => changes.push(isSignedIn))
  return { url, identity, kept, changes, pass: (ms: number) => (at += ms) }
}

describe('createIdentity', () => {
  it('W-11 signs in, stores the refresh token only, renews once for all that wait, and forgets everything at sign-out', async () => {
    await using stack = new AsyncDisposableStack()
    const { url, identity, kept, changes, pass } = await openPhone(stack)
    expect(await identity.accessToken()).toBeNull()
    expect(await identity.person()).toBeNull()
    await identity.signIn()
    const first = await identity.accessToken()
    expect(await identity.person()).toMatchObject({ email: 'owner@demo.test', id: expect.any(String) })
    const asked = await askAt(url, '{ viewer { user { email } } }', {}, { authorization: `Bearer ${first}` })
    expect(asked.data()).toEqual({ viewer: { user: { email: 'owner@demo.test' } } })
    expect([...kept.keys()]).toEqual(['supergraph.refresh-token'])
    expect([...kept.values()].join()).not.toContain(first)
    const before = [...kept.values()][0]
    pass(9.5 * 60_000)
    const renewed = await Promise.all([identity.accessToken(), identity.accessToken(), identity.accessToken()])
    expect(new Set(renewed).size).toBe(1)
    // An access token of the same second is the same text: the refresh token shows the renewal.
    expect([...kept.values()]).not.toContain(before)
    await identity.signOut()
    expect([kept.size, await identity.accessToken()]).toEqual([0, null])
    expect(changes).toEqual([true, false])
  })

  it('forgets everything when somebody signs out while a token is renewed', async () => {
    await using stack = new AsyncDisposableStack()
    const { identity, kept, pass } = await openPhone(stack)
    await identity.signIn()
    pass(9.5 * 60_000)
    const renewal = identity.accessToken()
    await identity.signOut()
    expect([await renewal, kept.size, await identity.accessToken()]).toEqual([null, 0, null])
  })

  it('reports that nobody is signed in when the refresh token is invalid', async () => {
    await using stack = new AsyncDisposableStack()
    const { identity, kept, changes } = await openPhone(stack)
    kept.set('supergraph.refresh-token', 'revoked')
    expect(await identity.accessToken()).toBeNull()
    expect([kept.size, changes]).toEqual([0, [false]])
  })

  it('refuses an issuer that is not https, but for this machine', () => {
    const options = { clientId: 'one', redirectUri, store: { get: async () => null, set: async () => {}, remove: async () => {} }, browse: async () => '' }
    expect(() => createIdentity({ ...options, issuer: 'http://platform.example' })).toThrow('not https')
    expect(() => createIdentity({ ...options, issuer: 'http://localhost:4000' })).not.toThrow()
  })
})

describe('receive', () => {
  const origins = ['https://launcher.example']

  it.each([
    ['https://launcher.example/launch/abc?code=xyz', { kind: 'launch', serviceId: 'abc', code: 'xyz' }],
    ['https://launcher.example/actions/7?app=x', { kind: 'page', path: '/actions/7?app=x' }],
    ['https://launcher.example/launch/abc', { kind: 'refused' }],
    ['https://evil.example/launch/abc?code=xyz', { kind: 'refused' }],
    ['https://launcher.example@evil.example/launch/abc?code=xyz', { kind: 'refused' }],
    ['http://launcher.example/dashboard', { kind: 'refused' }],
    ['https://launcher.example/dashboard?access_token=x', { kind: 'refused' }],
    ['https://launcher.example/dashboard#id_token=x', { kind: 'refused' }],
    ['no address', { kind: 'refused' }],
  ])('reads %s', (url, received) => {
    expect(receive(url, origins)).toEqual(received)
  })
})

describe('design tokens', () => {
  it('equal those of the pages', () => {
    expect(tokens.color.accent.light).toBe('#4338CA')
  })
})
