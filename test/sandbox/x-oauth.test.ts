import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Stage } from './stage.ts'
import { callback, post, send, stage, wish } from './stage.ts'

async function freshCode({ sandbox }: Stage, changes: Record<string, string> = {}): Promise<Record<string, string>> {
  const { address, verifier } = wish(sandbox, changes)
  const code = new URL((await send(address.href)).headers.get('location')!).searchParams.get('code')!
  return { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier }
}

const invalid = (description: string) => ({ status: 400, body: { error: 'invalid_request', error_description: description } })

test('the consent page offers both decisions, names the application and the account, and loads nothing from elsewhere', async () => {
  await using world = await stage()
  const { address } = wish(world.sandbox, { sandbox_approve: '' })
  const page = await send(address.href)
  expect(page.status).toBe(200)
  for (const word of ['Approve', 'Deny', 'Demo application', '@demo_brand', 'tweet.write']) expect(page.body).toContain(word)
  expect(page.body).not.toMatch(/(src|href)=/)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")

  const decide = (decision: string) => send(address.href, { method: 'POST', body: new URLSearchParams({ decision }) })
  const approved = new URL((await decide('approve')).headers.get('location')!)
  expect(approved.searchParams.get('code')).toBeTruthy()
  const denied = new URL((await decide('deny')).headers.get('location')!)
  expect(Object.fromEntries(denied.searchParams)).toEqual({ error: 'access_denied', state: 'a state' })
})

test.each<[string, Record<string, string>]>([
  ['another callback address', { redirect_uri: `${callback}/` }],
  ['an unknown application', { client_id: 'nobody' }],
  ['another response type', { response_type: 'token' }],
  ['no state', { state: '' }],
  ['a state of more than 500 characters', { state: 'x'.repeat(501) }],
  ['no challenge', { code_challenge: '' }],
  ['the challenge method plain', { code_challenge_method: 'plain' }],
  ['a scope that is none', { scope: 'tweet.read tweet.everything' }],
  ['no scope', { scope: '' }],
])('an authorization request with %s stays on a page of the network', async (_what, changes) => {
  await using world = await stage()
  const answer = await send(wish(world.sandbox, changes).address.href)
  expect(answer.status).toBe(400)
  expect(answer.headers.get('location')).toBeNull()
  expect(answer.body).toContain('Something went wrong')
})

test('a code is valid once, and its second use ends what the first one gave', async () => {
  await using world = await stage()
  const form = await freshCode(world)
  const { body } = await post(world.sandbox, '/2/oauth2/token', form)
  expect((await world.call(body.access_token, 'GET', '/2/users/me')).status).toBe(200)
  expect(await post(world.sandbox, '/2/oauth2/token', form)).toMatchObject(invalid('Value passed for the authorization code was invalid.'))
  expect((await world.call(body.access_token, 'GET', '/2/users/me')).status).toBe(401)
})

test('a code is good for thirty seconds', async () => {
  await using world = await stage()
  const inTime = await freshCode(world)
  const late = await freshCode(world)
  world.clock.advance(29_999)
  expect((await post(world.sandbox, '/2/oauth2/token', inTime)).status).toBe(200)
  world.clock.advance(1)
  expect(await post(world.sandbox, '/2/oauth2/token', late)).toMatchObject(invalid('Value passed for the authorization code was invalid.'))
})

test.each<[string, Record<string, string>, string]>([
  ['another verifier', { code_verifier: 'x'.repeat(43) }, 'Value passed for the code verifier did not match the code challenge.'],
  ['another callback address', { redirect_uri: 'http://localhost/' }, 'Value passed for the redirect uri did not match the uri of the authorization code.'],
  ['a code of nobody', { code: 'nothing' }, 'Value passed for the authorization code was invalid.'],
  ['no verifier', { code_verifier: '' }, 'Missing required parameter [code_verifier].'],
])('the token endpoint refuses %s', async (_what, changes, description) => {
  await using world = await stage()
  expect(await post(world.sandbox, '/2/oauth2/token', { ...(await freshCode(world)), ...changes })).toMatchObject(invalid(description))
})

test('only the application itself gets tokens, with its id and secret as they are', async () => {
  await using world = await stage()
  const { clientId, clientSecret } = world.sandbox.demo.x
  const form = await freshCode(world)
  const refusal = { status: 401, body: { error: 'unauthorized_client', error_description: 'Missing valid authorization header' } }
  for (const credentials of [`${clientId}:wrong`, `${clientId}:`, clientId, ':', `${clientId}:${clientSecret.replaceAll('-', '%2D')}`])
    expect(await post(world.sandbox, '/2/oauth2/token', form, credentials)).toMatchObject(refusal)
  const publicClient = await send(`${world.sandbox.origin}/x/2/oauth2/token`, { method: 'POST', body: new URLSearchParams({ ...form, client_id: clientId }) })
  expect(publicClient).toMatchObject(refusal)
  expect((await post(world.sandbox, '/2/oauth2/token', form)).status).toBe(200)
})

test('a refresh token is valid once, and using a spent one ends the whole family', async () => {
  await using world = await stage()
  const { grant, clientId } = world.sandbox.demo.x
  const bystander = await grant(clientId)
  const first = await grant(clientId)
  const refresh = (refreshToken: string) => post(world.sandbox, '/2/oauth2/token', { grant_type: 'refresh_token', refresh_token: refreshToken })
  const second = (await refresh(first.refreshToken)).body
  expect((await world.call(first.accessToken, 'GET', '/2/users/me')).status).toBe(401)
  const third = (await refresh(second.refresh_token)).body
  expect((await world.call(third.access_token, 'GET', '/2/users/me')).status).toBe(200)

  expect(await refresh(first.refreshToken)).toMatchObject(invalid('Value passed for the token was invalid.'))
  expect((await world.call(third.access_token, 'GET', '/2/users/me')).status).toBe(401)
  expect((await refresh(third.refresh_token)).status).toBe(400)
  expect((await world.call(bystander.accessToken, 'GET', '/2/users/me')).status).toBe(200)
})

test('an access token is valid for two hours, and a refresh token needs offline.access', async () => {
  await using world = await stage()
  const { body } = await post(world.sandbox, '/2/oauth2/token', await freshCode(world, { scope: 'tweet.read users.read' }))
  expect(body).not.toHaveProperty('refresh_token')
  expect(body.scope).toBe('tweet.read users.read')
  world.clock.advance(7_199_999)
  expect((await world.call(body.access_token, 'GET', '/2/users/me')).status).toBe(200)
  world.clock.advance(1)
  expect(await world.call(body.access_token, 'GET', '/2/users/me')).toMatchObject({
    status: 401,
    body: { title: 'Unauthorized', type: 'about:blank', status: 401 },
  })
})

test('a call beyond the granted scopes is forbidden', async () => {
  await using world = await stage()
  const tokenOf = async (scope: string) => (await post(world.sandbox, '/2/oauth2/token', await freshCode(world, { scope }))).body.access_token
  const forbidden = { status: 403, body: { title: 'Forbidden', detail: 'Forbidden', type: 'about:blank', status: 403 } }
  expect(await world.call(await tokenOf('tweet.read users.read'), 'POST', '/2/tweets', { text: 'no' })).toMatchObject(forbidden)
  expect(await world.call(await tokenOf('users.read'), 'GET', '/2/users/me')).toMatchObject(forbidden)
  expect(await world.received()).toEqual([])
})

test('tokens and codes are neither stored in clear text nor shown by the control routes', async () => {
  await using world = await stage()
  const form = await freshCode(world)
  const { body } = await post(world.sandbox, '/2/oauth2/token', form)
  await post(world.sandbox, '/2/oauth2/token', form)
  await world.call(body.access_token, 'GET', `/2/users/me?access_token=${body.access_token}`)
  const shown = JSON.stringify((await send(`${world.sandbox.origin}/_control/requests?network=x`)).body)
  expect(shown).toContain('/2/oauth2/token')
  const kept = readFileSync(join(world.folder, 'state.ndjson'), 'utf8')
  for (const secret of [form.code!, body.access_token, body.refresh_token]) for (const text of [shown, kept]) expect(text).not.toContain(secret)
  expect(shown).not.toContain(world.sandbox.demo.x.clientSecret)
})
