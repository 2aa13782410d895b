import { describe, expect, test } from 'vitest'
import { type Caller, createAuthenticate, isCaller, type Unauthenticated } from '../../../router/access/authenticate.ts'
import { callerName } from '../../../router/access/callers/claim.ts'
import { createHosts } from '../../../router/hosts.ts'
import { personalScopes, scopesOf } from '../../../subgraphs/scopes.ts'
import { anonymous, isPerson } from '../../../subgraphs/viewer.ts'
import { memoryAuthority } from '../../door/authority.ts'

const origin = 'https://platform.example'
const nobody = { viewer: anonymous, credential: { kind: 'none', id: null, expiresAt: null } }

/** The function that every door asks, over an identity in memory. */
async function door() {
  const identity = await memoryAuthority(origin)
  await identity.addSigningKey('first')
  let elapsed = 0
  const failures: unknown[] = []
  const log = { error: (details: { readonly err: unknown }) => void failures.push(details.err) }
  const authenticate = createAuthenticate(identity.authority, createHosts(origin, []), identity.clock, log as never, () => elapsed)
  const ask = (headers: Record<string, string>, safe = false) => authenticate(new Headers(headers), { safe })
  return {
    ...identity,
    failures,
    ask,
    pass: (milliseconds: number) => {
      elapsed += milliseconds
    },
    forget: () => authenticate.forget(),
    caller: async (headers: Record<string, string>, safe?: boolean) => (await ask(headers, safe)) as Caller,
    refused: async (headers: Record<string, string>, safe?: boolean) => {
      const { refusal, setCookie, expired } = (await ask(headers, safe)) as Unauthenticated
      return { code: refusal.code, setCookie, expired }
    },
    bearer: async (...token: Parameters<typeof identity.token>) => ({ authorization: `Bearer ${await identity.token(...token)}` }),
  }
}

const unauthenticated = { code: 'UNAUTHENTICATED', setCookie: [], expired: false }
const forbidden = { code: 'FORBIDDEN', setCookie: [], expired: false }

test('a caller without a credential is anonymous, without a lookup', async () => {
  const { ask, asked } = await door()
  for (const headers of [{}, { authorization: '' }, { 'x-api-key': '', host: 'platform.example' }] as Record<string, string>[])
    expect(await ask(headers)).toEqual(nobody)
  expect(asked).toEqual({ sessions: 0, jwks: 0, cookie: 0, keys: 0 })
  expect(isCaller(await ask({}))).toBe(true)
})

test('several credentials at once are refused, and a service token is by itself', async () => {
  const { ask, refused, bearer, signIn } = await door()
  signIn('one')
  const both = await ask({ ...(await bearer('one')), 'x-api-key': 'k' })
  expect(isCaller(both)).toBe(false)
  expect(await refused({ 'x-service-token': 's', 'x-api-key': 'k' })).toEqual({ code: 'BAD_USER_INPUT', setCookie: [], expired: false })
  expect(await refused({ 'x-service-token': 's' })).toEqual(unauthenticated)
})

describe('an access token', () => {
  test('yields its person as viewer, for as long as the token is valid', async () => {
    const { caller, bearer, signIn, clock } = await door()
    signIn('one')
    const expiresAt = new Date(Math.floor(clock.now().getTime() / 1000) * 1000 + 600_000)
    expect(await caller(await bearer('one'))).toEqual({
      viewer: {
        ...anonymous,
        kind: 'user',
        userId: 'user of one',
        organizationId: 'org-1',
        roles: ['member'],
        scopes: scopesOf(['member']),
        context: 'organization',
        sessionId: 'one',
      },
      credential: { kind: 'token', id: 'one', expiresAt, kid: 'first' },
    })
  })

  test('yields the same viewer object while identity’s answer is the same', async () => {
    const { caller, bearer, signIn, pass } = await door()
    signIn('one')
    const headers = await bearer('one')
    const { viewer } = await caller(headers)
    expect((await caller(headers)).viewer).toBe(viewer)
    // A session that is read anew says the same of the same person: seals that were made for the viewer count on.
    signIn('one')
    pass(1000)
    expect((await caller(headers)).viewer).toBe(viewer)
    signIn('one', { roles: ['owner'] })
    pass(1000)
    expect((await caller(headers)).viewer.roles).toEqual(['owner'])
  })

  test('for another organization than its session’s yields a separate viewer', async () => {
    const { caller, bearer, signIn } = await door()
    signIn('one')
    const [before, after] = [await bearer('one'), await bearer('one', { org: 'org-2' })]
    signIn('one', { organizationId: 'org-2', memberships: { 'org-1': ['member'], 'org-2': ['member'] } })
    const found = [await caller(before), await caller(after), await caller(before), await caller(after)].map(({ viewer }) => viewer)
    expect(found.map(({ organizationId }) => organizationId)).toEqual(['org-1', 'org-2', 'org-1', 'org-2'])
    expect([found[2] === found[0], found[3] === found[1]]).toEqual([true, true])
  })

  test('of a person without an organization yields personal context, whatever identity answers', async () => {
    const { caller, bearer, signIn } = await door()
    signIn('alone', { organizationId: null, roles: [], context: 'organization' })
    expect((await caller(await bearer('alone'))).viewer).toMatchObject({ organizationId: null, context: 'personal', scopes: personalScopes })
  })

  test('keeps its organization and context when the session moves on, with the present roles', async () => {
    const { caller, bearer, signIn, refused, pass } = await door()
    const memberships = { 'org-1': ['viewer'], 'org-2': ['owner'] }
    signIn('one')
    const headers = await bearer('one')
    const moved = { organizationId: 'org-2', roles: ['owner'], context: 'personal' as const }
    signIn('one', { ...moved, memberships })
    expect((await caller(headers)).viewer).toMatchObject({
      userId: 'user of one',
      organizationId: 'org-1',
      roles: ['viewer'],
      scopes: scopesOf(['viewer']),
      context: 'organization',
      sessionId: 'one',
    })
    expect((await caller(headers)).credential).toMatchObject({ kind: 'token', id: 'one' })
    signIn('one', { ...moved, memberships: { 'org-2': ['owner'] } })
    pass(1000)
    expect(await refused(headers)).toEqual(unauthenticated)
  })

  test('of an app yields a viewer with the person’s user id, no role, and the granted scopes', async () => {
    const { caller, bearer, signIn } = await door()
    const grant = { clientId: 'app', scopes: ['openid', 'publishing:posts.read', 'publishing:accounts.write'], trusted: false }
    signIn('one', { grant })
    const seen = { userId: 'user of one', organizationId: 'org-1', roles: [], scopes: ['publishing:posts.read'], clientId: 'app' }
    expect((await caller(await bearer('one'))).viewer).toMatchObject(seen)
    signIn('trusted', { grant: { ...grant, trusted: true } })
    expect((await caller(await bearer('trusted'))).viewer).toMatchObject({ roles: ['member'], scopes: scopesOf(['member']), clientId: null })
  })

  test('of an app with fewer scopes has fewer, beside one of the same session with all', async () => {
    const { caller, bearer, signIn } = await door()
    signIn('one', { grant: { clientId: 'app', scopes: ['openid', 'publishing:posts.read', 'publishing:analytics.read'], trusted: false } })
    const [whole, less] = [await bearer('one'), await bearer('one', { scope: 'openid publishing:posts.read publishing:posts.write' })]
    const scopes = async (headers: Record<string, string>) => (await caller(headers)).viewer.scopes
    for (let turn = 0; turn < 2; turn++) {
      expect(await scopes(whole)).toEqual(['publishing:analytics.read', 'publishing:posts.read'])
      expect(await scopes(less)).toEqual(['publishing:posts.read'])
    }
  })

  test('reports the use of its session to identity once a minute', async () => {
    const { ask, bearer, signIn, pass, touchedSessions } = await door()
    signIn('one')
    signIn('two')
    const [one, two] = [await bearer('one'), await bearer('two')]
    for (const headers of [one, one, two, one]) await ask(headers)
    await ask({ cookie: 'session=two', host: 'platform.example' }, true)
    expect(touchedSessions).toEqual(['one', 'two'])
    pass(59_999)
    await ask(one)
    pass(1)
    await ask(one)
    await ask({ cookie: 'session=none', host: 'platform.example' }, true)
    expect(touchedSessions).toEqual(['one', 'two', 'one'])
  })

  test('without an organization stays so when the session enters one', async () => {
    const { caller, bearer, signIn } = await door()
    signIn('one')
    const { viewer } = await caller(await bearer('one', { org: null, ctx: 'personal' }))
    expect(viewer).toMatchObject({ kind: 'user', organizationId: null, roles: [], scopes: personalScopes, context: 'personal' })
  })

  test.each<[what: string, header: (token: string) => string, isRead: boolean]>([
    ['in any case', token => `bEaReR ${token}`, true],
    ['with spaces before and behind it', token => `Bearer   ${token}  `, true],
    ['under another scheme', token => `Basic ${token}`, false],
    ['without a scheme', token => token, false],
    ['without a gap', token => `Bearer${token}`, false],
    ['behind something else', token => `x Bearer ${token}`, false],
    ['before something else', token => `Bearer ${token} x`, false],
    ['with a sign that is in none', token => `Bearer ${token}!`, false],
    ['that is none', () => 'Bearer', false],
  ])('%s', async (_what, header, isRead) => {
    const { ask, token, signIn, asked } = await door()
    signIn('one')
    const result = await ask({ authorization: header(await token('one')) })
    expect(isCaller(result)).toBe(isRead)
    if (!isRead) expect([(result as Unauthenticated).refusal.code, asked.jwks]).toEqual(['UNAUTHENTICATED', 0])
  })

  test('that has expired is reported as expired; one that is invalid for another reason is not', async () => {
    const { refused, bearer, signIn, clock, asked } = await door()
    signIn('one')
    const headers = await bearer('one')
    expect(await refused({ authorization: 'Bearer nonsense' })).toEqual(unauthenticated)
    expect(await refused(await bearer('one', { iss: 'https://elsewhere.example' }))).toEqual(unauthenticated)
    expect(asked.sessions).toBe(0)
    for (const bad of [await bearer('one', { aud: 'elsewhere' }), await bearer('one', { sid: 'gone' }), await bearer('one', { sub: 'somebody else' })])
      expect(await refused(bad)).toEqual(unauthenticated)
    clock.advance(601_000)
    expect(await refused(headers)).toEqual({ ...unauthenticated, expired: true })
  })

  test('that was created after its session was cached causes a new lookup', async () => {
    const { caller, bearer, signIn, pass, asked } = await door()
    signIn('one')
    await caller(await bearer('one'))
    signIn('one', { organizationId: 'org-2', roles: ['owner'] })
    pass(1)
    expect((await caller(await bearer('one'))).viewer).toMatchObject({ organizationId: 'org-2', roles: ['owner'] })
    expect(asked.sessions).toBe(2)
  })
})

describe('an API key', () => {
  test('yields a viewer with its own scopes and no person, for as long as the key is valid', async () => {
    const { caller, keys, touched, clock } = await door()
    const expiresAt = new Date(clock.now().getTime() + 1)
    const scopes = ['publishing:posts.read']
    keys.set('hash of k', { keyId: 'key-1', organizationId: 'org-1', userId: null, rateLimit: 600, scopes, expiresAt })
    const first = await caller({ 'x-api-key': 'k' })
    expect(first).toEqual({
      viewer: { ...anonymous, kind: 'apiKey', organizationId: 'org-1', context: 'organization', scopes, keyId: 'key-1' },
      credential: { kind: 'key', id: 'hash of k', expiresAt, perMinute: 600 },
    })
    expect((await caller({ 'x-api-key': 'k' })).viewer).toBe(first.viewer)
    expect(touched).toEqual(['key-1', 'key-1'])
  })

  test('that acts as a service account is a key still: no person, without roles, of the account', async () => {
    const { caller, keys } = await door()
    keys.set('hash of k', { keyId: 'key-1', organizationId: 'org-1', userId: 'robot', rateLimit: 600, scopes: [], expiresAt: null })
    const { viewer } = await caller({ 'x-api-key': 'k' })
    expect(viewer).toEqual({ ...anonymous, kind: 'apiKey', userId: 'robot', organizationId: 'org-1', context: 'organization', keyId: 'key-1' })
    expect([isPerson(viewer), callerName(viewer, '10.0.0.1')]).toEqual([false, 'key:key-1'])
  })

  test('is rejected when it is unknown or has expired, and does not count as used', async () => {
    const { refused, caller, keys, touched, clock } = await door()
    keys.set('hash of k', { keyId: 'key-1', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: clock.now() })
    keys.set('hash of endless', { keyId: 'key-2', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    expect(await refused({ 'x-api-key': 'k' })).toEqual(unauthenticated)
    expect(await refused({ 'x-api-key': 'guess' })).toEqual(unauthenticated)
    expect(touched).toEqual([])
    expect((await caller({ 'x-api-key': 'endless' })).credential).toEqual({ kind: 'key', id: 'hash of endless', expiresAt: null, perMinute: 600 })
  })

  test('is looked up with 8,192 characters, and not with one more', async () => {
    const { refused, asked } = await door()
    expect(await refused({ 'x-api-key': 'k'.repeat(8193) })).toEqual(unauthenticated)
    expect(asked.keys).toBe(0)
    expect(await refused({ 'x-api-key': 'k'.repeat(8192) })).toEqual(unauthenticated)
    expect(asked.keys).toBe(1)
  })
})

describe('the session cookie', () => {
  const host = 'platform.example'
  const cookie = 'session=one'

  test('yields its person as viewer, for as long as the session is valid', async () => {
    const { caller, signIn } = await door()
    signIn('one')
    const { viewer, credential } = await caller({ cookie, host, origin })
    expect((await caller({ cookie, host, origin })).viewer).toBe(viewer)
    expect(viewer).toMatchObject({ kind: 'user', userId: 'user of one', organizationId: 'org-1', context: 'organization', sessionId: 'one' })
    expect(credential).toEqual({ kind: 'cookie', id: 'one', expiresAt: null })
  })

  test.each<[what: string, headers: Record<string, string>, safe: boolean, counts: boolean]>([
    ['from a trusted origin', { origin }, false, true],
    ['for reading, from a trusted origin', { origin }, true, true],
    ['for reading, without an origin', {}, true, true],
    ['without an origin', {}, false, false],
    ['without an origin, of which the browser says that it is ours', { 'sec-fetch-site': 'same-origin' }, false, true],
    ['without an origin, of which the browser says that it is a neighbour', { 'sec-fetch-site': 'same-site' }, false, false],
    ['from a foreign origin', { origin: 'https://evil.example' }, false, false],
    ['for reading, from a foreign origin', { origin: 'https://evil.example' }, true, false],
    ['from a foreign origin that is said to be ours', { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, false, false],
    ['from a page without an origin of its own', { origin: 'null' }, true, false],
  ])('%s (%o, safe %s) counts: %s', async (_what, headers, safe, counts) => {
    const { ask, refused, signIn } = await door()
    signIn('one')
    expect(isCaller(await ask({ cookie, host, ...headers }, safe))).toBe(counts)
    if (!counts) expect(await refused({ cookie, host, ...headers }, safe)).toEqual(forbidden)
  })

  test('of an unknown session is deleted, only where it would be accepted', async () => {
    const { refused, authority } = await door()
    expect(await refused({ cookie, host, origin })).toEqual({ code: 'UNAUTHENTICATED', setCookie: authority.clearCookie(), expired: false })
    expect(await refused({ cookie, host, origin: 'https://evil.example' })).toEqual(forbidden)
  })

  test('is not read on other hosts; and another cookie identifies nobody', async () => {
    const { ask, asked, signIn } = await door()
    signIn('one')
    expect(await ask({ cookie, host: 'api.example', origin })).toEqual(nobody)
    expect(await ask({ host, origin })).toEqual(nobody)
    expect(asked.cookie).toBe(0)
    expect(await ask({ cookie: 'theme=dark', host, origin: 'https://evil.example' })).toEqual(nobody)
  })

  test('is ignored when a header has a credential', async () => {
    const { caller, bearer, signIn, asked } = await door()
    signIn('two')
    expect((await caller({ cookie, host, origin: 'https://evil.example', ...(await bearer('two')) })).viewer.userId).toBe('user of two')
    expect(asked.cookie).toBe(0)
  })
})

test('cached sessions and keys are looked up again after clearing the cache', async () => {
  const { ask, bearer, signIn, sessions, keys, forget } = await door()
  signIn('one')
  keys.set('hash of k', { keyId: 'key-1', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
  const both = [await bearer('one'), { 'x-api-key': 'k' }]
  const count = async () => (await Promise.all(both.map(headers => ask(headers)))).map(isCaller)
  expect(await count()).toEqual([true, true])
  sessions.clear()
  keys.clear()
  expect(await count()).toEqual([true, true])
  forget()
  expect(await count()).toEqual([false, false])
})

test.each([
  ['token', (bearer: Record<string, string>) => bearer],
  ['key', () => ({ 'x-api-key': 'k' })],
  ['cookie', () => ({ cookie: 'session=one', host: 'platform.example', origin })],
])('identity that cannot be asked about a %s fails the request: nobody is taken for a stranger, and the log says why', async (_what, make) => {
  const { ask, bearer, signIn, fail, failures } = await door()
  signIn('one')
  const headers = make(await bearer('one'))
  fail(true)
  await expect(ask(headers)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', extensions: { service: 'identity' } })
  expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('down') })])
})
