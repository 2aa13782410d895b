import { SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHosts, hostsOf } from '../../router/hosts.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

type Platform = Awaited<ReturnType<typeof openRouter>>
let platform: Platform
beforeAll(async () => {
  platform = await openRouter(schemaEngine(smallGraph()))
})
afterAll(() => platform.close())
beforeEach(() => {
  platform.sessions.clear()
  platform.keys.clear()
  platform.fail(false)
  platform.signIn('one')
})

/** Every `.read` of every service, and what a member may write and use beside. */
const scopesOfMembers = [
  ...['agents.read', 'knowledge.read', 'reports.read', 'runs.invoke', 'workflows.read', 'workspace.read'].map(scope => `agents:${scope}`),
  ...['apps', 'dashboard', 'entitlements', 'launcher', 'launches', 'notifications', 'settings', 'widgets', 'workflows'].map(noun => `launcher:${noun}.read`),
  ...['analytics.read', 'audit.read', 'customers.read', 'dashboard.read', 'invoices.read', 'merchants.read', 'payments.create', 'payments.read'].map(
    scope => `payments:${scope}`,
  ),
  ...['reports', 'settings', 'transactions', 'venues'].map(noun => `payments:${noun}.read`),
  ...['ai.invoke', 'apps.read', 'usage.read'].map(scope => `providers:${scope}`),
  ...['accounts.read', 'analytics.read', 'calendar.read', 'calendar.write', 'dashboard.read', 'posts.read', 'posts.write'].map(scope => `publishing:${scope}`),
]

const whoQuery = '{ viewer { kind userId organizationId roles scopes } }'
const who = async (headers: Record<string, string>) => (await platform.gql(whoQuery, headers)).json?.data?.viewer
const bearer = async (...token: Parameters<Platform['token']>) => ({ authorization: `Bearer ${await platform.token(...token)}` })
const code = (answer: { json: { errors: { extensions: { code: string } }[] } }) => answer.json.errors[0]!.extensions.code

test('without credentials the viewer is anonymous', async () => {
  expect(await who({})).toEqual({ kind: 'anonymous', userId: null, organizationId: null, roles: [], scopes: [] })
  expect(await who({ authorization: '' })).toMatchObject({ kind: 'anonymous' })
})

describe('I-01 an access token', () => {
  test('makes its person the viewer, with the scopes of the roles', async () => {
    expect(await who(await bearer('one'))).toEqual({
      kind: 'user',
      userId: 'user of one',
      organizationId: 'org-1',
      roles: ['member'],
      scopes: scopesOfMembers,
    })
  })

  test.each([
    ['with a changed signature', async () => `${(await platform.token('one')).slice(0, -8)}AAAAAAAA`],
    ['of another issuer', () => platform.token('one', { iss: 'https://elsewhere.example' })],
    ['for another audience', () => platform.token('one', { aud: 'somebody else' })],
    ['that has expired', () => platform.token('one', { exp: Math.floor(platform.clock.now().getTime() / 1000) - 1 })],
    ['without a session', () => platform.token('one', { sid: undefined })],
    ['of a session that ended', async () => platform.token('one', { sid: 'gone' })],
    ['of another person’s session', () => platform.token('one', { sub: 'somebody else' })],
    ['that no key of ours signed', () => new SignJWT({ sid: 'one', sub: 'user of one' }).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32))],
    ['that is none', async () => 'nonsense'],
  ])('%s is 401 for the whole request', async (_what, token) => {
    const answer = await platform.gql('{ __typename }', { authorization: `Bearer ${await token()}` })
    expect([answer.status, code(answer)]).toEqual([401, 'UNAUTHENTICATED'])
    expect(answer.json).not.toHaveProperty('data')
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  test('with another authentication scheme is 401', async () => {
    expect((await platform.gql('{ __typename }', { authorization: 'Basic b3duZXI6eA==' })).status).toBe(401)
  })

  test('expires by the platform’s clock, although the router read it before', async () => {
    const headers = await bearer('one')
    expect((await platform.gql('{ __typename }', headers)).status).toBe(200)
    platform.clock.advance(601_000)
    const answer = await platform.gql('{ __typename }', headers)
    expect([answer.status, answer.json.errors[0].message]).toEqual([401, expect.stringContaining('expired')])
  })

  test('signed with a new key is accepted: keys are fetched again, but not for every unknown key id', async () => {
    await using fresh = await openRouter(schemaEngine(smallGraph()))
    fresh.signIn('one')
    expect((await fresh.gql('{ __typename }', { authorization: `Bearer ${await fresh.token('one')}` })).status).toBe(200)
    const loaded = fresh.asked.jwks
    const unknown = await new SignJWT({ sid: 'one', sub: 'user of one' })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'unknown' })
      .sign((await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])).privateKey)
    for (let round = 0; round < 10; round += 1) expect((await fresh.gql('{ __typename }', { authorization: `Bearer ${unknown}` })).status).toBe(401)
    expect(fresh.asked.jwks - loaded).toBeLessThanOrEqual(1)

    await using rotated = await openRouter(schemaEngine(smallGraph()))
    rotated.signIn('one')
    await rotated.addSigningKey('second')
    expect((await rotated.gql('{ __typename }', { authorization: `Bearer ${await rotated.token('one')}` })).status).toBe(200)
  })

  test('loses its organization when its person’s membership ends', async () => {
    platform.signIn('leaving member')
    const headers = await bearer('leaving member')
    platform.signIn('leaving member', { organizationId: null, roles: [], context: 'personal' })
    platform.pass(1000)
    expect((await platform.gql('{ __typename }', headers)).status).toBe(401)
  })

  test('keeps its organization when the session moves to another one, with its person’s present roles', async () => {
    const memberships = { 'org-1': ['member'], 'org-2': ['owner'] }
    platform.signIn('moving', { memberships })
    const headers = await bearer('moving')
    platform.signIn('moving', { organizationId: 'org-2', roles: ['owner'], memberships: { ...memberships, 'org-1': ['viewer'] } })
    platform.pass(1000)
    expect(await who(headers)).toMatchObject({ kind: 'user', organizationId: 'org-1', roles: ['viewer'] })
    platform.signIn('moving', { organizationId: 'org-2', roles: ['owner'], memberships: { 'org-2': ['owner'] } })
    platform.pass(1000)
    expect((await platform.gql('{ __typename }', headers)).status).toBe(401)
  })

  test('is invalid within a second after its session signs out', async () => {
    platform.signIn('signing out')
    const headers = await bearer('signing out')
    expect(await who(headers)).toMatchObject({ kind: 'user' })
    platform.sessions.delete('signing out')
    platform.pass(1000)
    expect((await platform.gql('{ __typename }', headers)).status).toBe(401)
  })
})

test('thirty requests of one person cause a single session lookup at identity', async () => {
  platform.signIn('busy')
  const headers = await bearer('busy')
  const before = platform.asked.sessions
  for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 10 }, () => platform.gql('{ hello }', headers)))
  expect(platform.asked.sessions - before).toBeLessThanOrEqual(3)
})

test.each([
  ['token', () => bearer('never asked about before')],
  ['key', async () => ({ 'x-api-key': 'never asked about before' })],
  ['cookie', async () => ({ cookie: 'session=one', origin: platform.origin })],
])('identity that cannot say whose %s it is has failed: nobody is taken for a stranger, and the log says why', async (_what, make) => {
  platform.signIn('never asked about before')
  const headers: Record<string, string> = await make()
  platform.fail(true)
  const answer = await platform.gql('{ hello }', headers)
  expect([answer.status, answer.json.errors[0].extensions]).toEqual([502, { code: 'UPSTREAM_FAILED', service: 'identity' }])
  expect(answer.headers['retry-after']).toBe('1')
  expect(answer.text).not.toContain('database')
  expect(answer.json).not.toHaveProperty('data')
  expect(platform.lines.some(line => line.includes('the database of identity is down'))).toBe(true)
  expect((await platform.gql('{ hello }')).status).toBe(200)
})

describe('I-02 an API key', () => {
  beforeEach(() => {
    platform.keys.set('hash of secret-key', {
      keyId: 'key-1',
      organizationId: 'org-1',
      userId: null,
      rateLimit: 600,
      scopes: ['publishing:posts.read'],
      expiresAt: null,
    })
  })

  test('makes a viewer with its own scopes and no person', async () => {
    expect(await who({ 'x-api-key': 'secret-key' })).toEqual({
      kind: 'apiKey',
      userId: null,
      organizationId: 'org-1',
      roles: [],
      scopes: ['publishing:posts.read'],
    })
  })

  test('is recorded as used when it is valid, and not otherwise', async () => {
    platform.touched.length = 0
    await platform.gql('{ hello }', { 'x-api-key': 'guess' })
    expect(platform.touched).toEqual([])
    await platform.gql('{ hello }', { 'x-api-key': 'secret-key' })
    expect(platform.touched).toEqual(['key-1'])
  })

  test('is rejected from the moment of its expiry, whatever identity’s cached answer says', async () => {
    const now = platform.clock.now().getTime()
    const statusOf = async (name: string, expiresAt: Date) => {
      platform.keys.set(`hash of ${name}`, { keyId: name, organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt })
      return (await platform.gql('{ __typename }', { 'x-api-key': name })).status
    }
    expect(await statusOf('expires now', new Date(now))).toBe(401)
    expect(await statusOf('expired', new Date(now - 1))).toBe(401)
    expect(await statusOf('expires', new Date(now + 1))).toBe(200)
    platform.clock.advance(1)
    expect((await platform.gql('{ __typename }', { 'x-api-key': 'expires' })).status).toBe(401)
  })

  test('of 8,192 characters is looked up, and a longer one is not', async () => {
    for (const [length, status] of [
      [8192, 200],
      [8193, 401],
    ] as const) {
      const clear = 'k'.repeat(length)
      platform.keys.set(`hash of ${clear}`, { keyId: 'long', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
      const asked = platform.asked.keys
      const answer = await platform.gql('{ __typename }', { 'x-api-key': clear })
      expect([answer.status, platform.asked.keys - asked]).toEqual([status, status === 200 ? 1 : 0])
      if (status === 401) expect(answer.json.errors[0].message).toContain('longer than any credential')
    }
  })

  test('is 401 when it is unknown, and so is a service token while there are none', async () => {
    expect((await platform.gql('{ __typename }', { 'x-api-key': 'guess' })).status).toBe(401)
    expect((await platform.gql('{ __typename }', { 'x-service-token': 'guess' })).status).toBe(401)
  })

  test('together with another credential is rejected with a message', async () => {
    const answer = await platform.gql('{ __typename }', { 'x-api-key': 'secret-key', ...(await bearer('one')) })
    expect([answer.status, code(answer)]).toEqual([400, 'BAD_USER_INPUT'])
    expect(answer.json.errors[0].message).toContain('authorization and x-api-key')
  })
})

describe('the session cookie', () => {
  const cookie = { cookie: 'session=one' }
  test('is accepted on a web host, from a trusted origin', async () => {
    expect(await who({ ...cookie, origin: platform.origin })).toMatchObject({ kind: 'user', userId: 'user of one' })
    const host = `web.publishing.localhost:${platform.port}`
    expect(await who({ ...cookie, host, origin: `http://${host}` })).toMatchObject({ kind: 'user' })
    expect(await who({ ...cookie, 'sec-fetch-site': 'same-origin' })).toMatchObject({ kind: 'user' })
  })

  test('is ignored on other hosts', async () => {
    expect(await who({ ...cookie, host: 'api.example', origin: platform.origin })).toMatchObject({ kind: 'anonymous' })
  })

  test('is accepted from every page that may read answers, and from no other', async () => {
    const settings = { publicUrl: platform.origin, environment: 'production', corsOrigins: ['https://app.example'], serviceOrigins: [] } as const
    await using configured = await openRouter(schemaEngine(smallGraph()), { environment: 'production', hosts: hostsOf(settings) })
    configured.signIn('one')
    const statusFrom = async (origin: string, from = configured) => (await from.gql('{ __typename }', { ...cookie, host: 'localhost', origin })).status
    expect(await statusFrom('https://app.example')).toBe(200)
    expect(await statusFrom('http://localhost:5173')).toBe(403)
    expect(await statusFrom('http://localhost:5173', platform)).toBe(200)
  })

  test('is ignored on a host for programs only, although its service answers there and its pages are trusted', async () => {
    const origins = [
      { slug: 'publishing', role: 'api', origin: 'https://api.publishing.example' },
      { slug: 'publishing', role: 'web', origin: 'https://publishing.example' },
      { slug: 'launcher', role: 'dashboard', origin: 'https://launcher.example' },
    ] as const
    const hosts = createHosts('https://platform.example', origins)
    await using router = await openRouter(schemaEngine(smallGraph()), { environment: 'production', hosts })
    router.signIn('one')
    const kindAt = async (host: string) =>
      (await router.gql('{ viewer { kind } }', { ...cookie, host, origin: 'https://api.publishing.example' })).json.data.viewer.kind
    expect(await kindAt('api.publishing.example')).toBe('anonymous')
    for (const host of ['publishing.example', 'launcher.example', 'platform.example']) expect([host, await kindAt(host)]).toEqual([host, 'user'])
    expect([hosts.serviceOf('api.publishing.example'), hosts.isWeb('api.publishing.example')]).toEqual(['publishing', false])
  })

  test('causes a rejection, not an anonymous request, with a foreign or missing origin', async () => {
    for (const origin of [{ origin: 'https://evil.example' }, { origin: 'null' }, {}] as Record<string, string>[]) {
      const answer = await platform.gql('{ __typename }', { ...cookie, ...origin })
      expect([answer.status, code(answer)]).toEqual([403, 'FORBIDDEN'])
    }
  })

  test('of an unknown session is 401 and gets deleted', async () => {
    const answer = await platform.gql('{ __typename }', { cookie: 'session=gone', origin: platform.origin })
    expect([answer.status, answer.headers['set-cookie']]).toEqual([401, ['session=; Max-Age=0; Path=/', 'other=; Max-Age=0; Path=/']])
  })

  test('is ignored when a header has a credential', async () => {
    expect(await who({ cookie: 'session=gone', origin: platform.origin, ...(await bearer('one')) })).toMatchObject({ kind: 'user' })
  })

  test('is not read from cookies of other names', async () => {
    expect(await who({ cookie: 'theme=dark', origin: platform.origin })).toMatchObject({ kind: 'anonymous' })
  })
})

test('S-11 no credential appears in the log', async () => {
  const headers = await bearer('one')
  await platform.gql('{ crash }', { ...headers })
  await platform.ask(`/graphql?query=${encodeURIComponent('{ hello(name: "private-words") }')}`, { headers: { 'x-api-key': 'private-key' } })
  await platform.gql('{ hello }', { cookie: 'session=private-session', origin: platform.origin })
  platform.router.app.log.info(
    { headers: { authorization: 'private-a', cookie: 'private-b' }, token: 'private-c', deep: { it: { password: 'private-d' } } },
    'said',
  )
  const log = platform.lines.join('')
  expect(log).toContain('"msg":"said"')
  expect(log).not.toContain('private-')
  expect(log).not.toContain(headers.authorization.slice(7))
})
