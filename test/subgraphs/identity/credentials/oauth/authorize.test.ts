import { beforeEach, describe, expect, it } from 'vitest'
import { isRegisteredRedirect, readRedirectUris } from '../../../../../subgraphs/identity/credentials/oauth/rules.ts'
import { execute, freshIdentity, origin, userViewer } from '../../identity-world.ts'
import { callback, type OAuthWorld, oauthPath, oauthWorld, pkce, type TestClient, wanted } from './oauth-world.ts'

const open = freshIdentity()
let on: OAuthWorld
let app: TestClient
let cookie: string
const { challenge } = pkce()

beforeEach(async () => {
  on = await oauthWorld(open)
  app = await on.client()
  cookie = await on.signIn('ada@acme.test')
})

/** Where an answer leads: the address without its query, and the query. */
function led(answer: Response) {
  const location = answer.headers.get('location')
  if (location === null) return { status: answer.status, to: null, query: {} as Record<string, string> }
  const [to, query = ''] = location.split('?', 2) as [string, string?]
  return { status: answer.status, to, query: Object.fromEntries(new URLSearchParams(query)) }
}
const ask = async (fields: Record<string, string | undefined> = {}, more = '', as: string | null = cookie) =>
  led(await on.authorize(app, as, { code_challenge: challenge, ...fields }, more))

describe('where a client may be led back to', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example:8443/callback?kept=1',
    'https://app.example',
    'com.example.app:/callback',
    'com.example.app:/callback?kept=1',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:4711/callback',
    'http://[::1]/callback',
  ])('registers %s', uri => expect(readRedirectUris([uri])).toEqual([uri]))

  it.each([
    'http://app.example/callback',
    'http://localhost/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://127.0.0.2/callback',
    'https://*.app.example/callback',
    'https://app.example/*',
    'https://app.example/callback#',
    'https://app.example/callback#fragment',
    'https://user@app.example/callback',
    'https://user:pass@app.example/callback',
    'https://app.example\\@evil.example/callback',
    'https:///callback',
    'https:app.example/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'myapp:/callback',
    'app://callback',
    'file:///etc/passwd',
    ' https://app.example/callback',
    'https://app.example/call back',
    'https://app.example/\ncallback',
    'https://äpp.example/callback',
    '/callback',
    '',
    `https://app.example/${'x'.repeat(500)}`,
  ])('does not register %j', uri => expect(() => readRedirectUris([uri])).toThrow(/redirectUris/))

  it('is compared character by character', () => {
    const registered = ['https://app.example/callback?kept=1', 'com.example.app:/callback', 'http://127.0.0.1/callback', 'http://[::1]:9/callback']
    const good = [...registered, 'http://127.0.0.1:1/callback', 'http://127.0.0.1:65535/callback', 'http://[::1]/callback', 'http://[::1]:51999/callback']
    const bad = [
      'https://app.example/callback',
      'https://app.example/callback?kept=1&more=2',
      'https://app.example/callback?kept=1#',
      'https://app.example/callback/?kept=1',
      'https://APP.example/callback?kept=1',
      'https://app.example./callback?kept=1',
      'https://app.example:443/callback?kept=1',
      'https://app.example:8443/callback?kept=1',
      'https://app.example/%63allback?kept=1',
      'https://app.example/x/../callback?kept=1',
      'https://user@app.example/callback?kept=1',
      'https://app.example@evil.example/callback?kept=1',
      'http://app.example/callback?kept=1',
      'com.example.app:/Callback',
      'com.example.app://callback',
      'com.example.app:/callback/',
      'http://127.0.0.1:0x50/callback',
      'http://127.0.0.1:65536/callback',
      'http://127.0.0.1:80:80/callback',
      'http://127.0.0.1:80@evil.example/callback',
      'http://127.0.0.1:/callback',
      'http://127.0.0.1/callback/',
      'http://127.0.0.1/callback?x',
      'http://127.0.0.1/callback#x',
      'http://127.1/callback',
      'http://2130706433/callback',
      'http://localhost/callback',
      'http://[0:0:0:0:0:0:0:1]/callback',
      'http://[::1%25eth0]/callback',
      'https://127.0.0.1/callback',
    ]
    expect(good.filter(uri => !isRegisteredRedirect(registered, uri))).toEqual([])
    expect(bad.filter(uri => isRegisteredRedirect(registered, uri))).toEqual([])
  })
})

describe('an invalid client gets no redirect', () => {
  it.each<[string, Record<string, string | undefined>, string]>([
    ['a client that there is not', { client_id: '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e' }, ''],
    ['no client', { client_id: undefined }, ''],
    ['a client with NUL in its name', { client_id: 'a\0b' }, ''],
    ['another address', { redirect_uri: 'https://evil.example/callback' }, ''],
    ['no address', { redirect_uri: undefined }, ''],
    ['two addresses, of which one is registered', {}, '&redirect_uri=https%3A%2F%2Fevil.example%2F'],
    ['two clients', {}, '&client_id=other'],
    ['an address of this machine with somebody’s name before it', { redirect_uri: 'http://127.0.0.1:80@evil.example/callback' }, ''],
    ['more than any application asks', { nonce: 'x'.repeat(9000) }, ''],
  ])('%s', async (_, fields, more) => {
    for (const as of [cookie, null]) {
      const answer = await on.authorize(app, as, { code_challenge: challenge, ...fields }, more)
      expect([answer.status, answer.headers.get('location'), answer.headers.get('content-type')]).toEqual([400, null, 'text/html; charset=utf-8'])
      expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(await answer.text()).not.toContain('evil.example')
    }
  })

  it('when it was disabled; before, other pages show its name escaped', async () => {
    const named = await on.client({ name: '<script>alert(1)</script>' })
    const strange = await on.authorize(named, cookie, { redirect_uri: 'https://evil.example/' })
    expect(await strange.text()).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    await execute(open.identity, on.platform, `mutation { disableOAuthClient(input: { id: "${app.id}" }) { id } }`)
    expect((await ask()).status).toBe(400)
  })
})

describe('other faults come back to the client, with state and issuer', () => {
  it.each<[string, Record<string, string | undefined>, string, string?]>([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a challenge without its method, which would be plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a challenge that is none', { code_challenge: 'short' }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['two response types', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['no response type', { response_type: undefined }, 'invalid_request'],
    ['a response in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['no scope', { scope: undefined }, 'invalid_scope'],
    ['a scope that the client may not ask for', { scope: 'openid publishing:posts.write' }, 'invalid_scope'],
    ['a scope that there is not', { scope: 'publishing:*' }, 'invalid_scope'],
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    ['a request object elsewhere', { request_uri: 'http://169.254.169.254/' }, 'request_uri_not_supported'],
    ['a prompt that there is not', { prompt: 'create' }, 'invalid_request'],
    ['none and another prompt', { prompt: 'none consent' }, 'invalid_request'],
    ['an age that is no number', { max_age: '-1' }, 'invalid_request'],
    ['a nonce with NUL', { nonce: 'a\0b' }, 'invalid_request'],
    ['a parameter twice', {}, 'invalid_request', '&scope=openid'],
    ['a challenge twice', {}, 'invalid_request', '&code_challenge=x'],
  ])('%s', async (_, fields, error, more = '') => {
    const { status, to, query } = await ask(fields, more)
    expect({ status, to, ...query }).toEqual({ status: 302, to: callback, error, error_description: expect.any(String), state: 'st4te', iss: origin })
  })

  it('but never a repeated or too long state', async () => {
    expect((await ask({}, '&state=other')).query).toEqual({ error: 'invalid_request', error_description: expect.any(String), iss: origin })
    expect((await ask({ state: 's'.repeat(3000) })).query).toEqual({ error: 'invalid_request', error_description: expect.any(String), iss: origin })
  })

  it('keeping the registered address’s query, and the state', async () => {
    const its = await on.client({ redirectUris: ['https://app.example/callback?kept=a%20b+c'] })
    const state = 'ä &=+#%"<>\u{1F600}'
    const answer = await on.authorize(its, cookie, {
      redirect_uri: 'https://app.example/callback?kept=a%20b+c',
      state,
      prompt: 'none',
      code_challenge: challenge,
    })
    const location = answer.headers.get('location')!
    expect(location.startsWith('https://app.example/callback?kept=a%20b+c&error=consent_required&')).toBe(true)
    expect(new URL(location).searchParams.get('state')).toBe(state)
    expect(/[^!-~]/.test(location)).toBe(false)
  })
})

describe('signing in for an authorization', () => {
  const login = `${origin}/identity/login`

  it('comes first, and returns to the same request', async () => {
    for (const as of [null, 'identity.session_token=forged.signature']) {
      const { status, to, query } = await ask({ nonce: 'n' }, '', as)
      expect([status, to]).toEqual([302, login])
      const back = new URL(query.return_to!, origin)
      expect([back.pathname, back.searchParams.get('nonce'), back.searchParams.get('code_challenge')]).toEqual([`${oauthPath}/authorize`, 'n', challenge])
    }
  })

  it('is required once with prompt=login, or when the last one is older than the client accepts', async () => {
    open.clock.advance(60_000)
    for (const fields of [{ prompt: 'login' }, { prompt: 'login consent' }, { max_age: '59' }, { max_age: '0' }]) {
      const { to, query } = await ask(fields)
      expect([to, Object.keys(query)]).toEqual([login, ['return_to']])
      const back = new URL(query.return_to!, origin).searchParams
      expect([back.get('max_age'), back.get('prompt')?.includes('login') ?? false]).toEqual([null, false])
    }
    expect((await ask({ max_age: '61' })).to).toBe(`${origin}/identity/consent`)
  })

  it('is not offered with prompt=none', async () => {
    expect((await ask({ prompt: 'none' }, '', null)).query.error).toBe('login_required')
    open.clock.advance(60_000)
    expect((await ask({ prompt: 'none', max_age: '10' })).query.error).toBe('login_required')
    expect((await ask({ prompt: 'none' })).query.error).toBe('consent_required')
  })

  it('takes place at the issuer’s host, to which other hosts redirect', async () => {
    const query = `?client_id=${app.clientId}`
    const answer = await on.http(`${oauthPath}/authorize${query}`, { headers: { cookie, 'x-client-host': 'publishing.localhost:4000' } })
    expect(led(answer)).toMatchObject({ status: 302, to: `${origin}${oauthPath}/authorize` })
  })
})

describe('consent', () => {
  const consentUrl = `${origin}/identity/consent`
  const location = async (fields: Record<string, string | undefined> = {}) =>
    (await on.authorize(app, cookie, { code_challenge: challenge, ...fields })).headers.get('location')!

  it('is required for new scopes, and remembered by person, client and scope', async () => {
    await on.code(app, cookie, { scope: 'openid' })
    expect((await ask({ scope: 'openid' })).query.code).toMatch(/^[\w-]{43}$/)
    expect((await ask({ scope: 'openid', prompt: 'none' })).query.code).toMatch(/^[\w-]{43}$/)
    expect((await ask({ scope: 'openid', prompt: 'consent' })).to).toBe(consentUrl)
    expect((await ask({ scope: 'openid email' })).to).toBe(consentUrl)
    expect((await ask({ scope: 'openid' }, '', await on.signIn('owner@acme.test'))).to).toBe(consentUrl)
    const other = await on.client()
    expect(led(await on.authorize(other, cookie, { code_challenge: challenge, scope: 'openid' })).to).toBe(consentUrl)
    await on.code(app, cookie, { scope: 'email' })
    expect((await ask({ scope: 'openid email' })).to).toBe(callback)
    expect((await on.audit('consent.granted')).map(({ details }) => details.scopes)).toEqual(['openid', 'email'])
  })

  it('is not required for a client of the platform, which acts as the person does', async () => {
    const own = await on.client({ trusted: true })
    const body = await on.tokens(own, cookie)
    const viewer = JSON.parse(Buffer.from(body.access_token!.split('.')[1]!, 'base64url').toString())
    expect([viewer.roles, viewer.client_id]).toEqual([['member'], own.clientId])
    expect(led(await on.authorize(own, cookie, { code_challenge: challenge, prompt: 'consent' })).to).toBe(consentUrl)
  })

  it('accepts one decision, within ten minutes, of the same person', async () => {
    const [first, second, third] = [await location(), await location(), await location()]
    const stranger = await on.signIn('owner@acme.test')
    expect((await on.consent(first, stranger)).status).toBe(400)
    expect((await on.consent(first, cookie)).status).toBe(200)
    const again = await on.consent(first, cookie)
    expect([again.status, await again.json()]).toEqual([400, { error: 'invalid_request', error_description: expect.any(String) }])
    const no = new URL((await (await on.consent(second, cookie, false)).json()).redirectTo)
    expect(Object.fromEntries(no.searchParams)).toEqual({ error: 'access_denied', error_description: expect.any(String), state: 'st4te', iss: origin })
    expect((await on.consent(second, cookie)).status).toBe(400)
    open.clock.advance(600_000)
    expect((await on.consent(third, cookie)).status).toBe(400)
  })

  it('accepts one of twenty concurrent decisions', async () => {
    const waiting = await location()
    const answers = await Promise.all(Array.from({ length: 20 }, () => on.consent(waiting, cookie)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(400)])
  })

  it('is given on a page of the platform only', async () => {
    const waiting = await location()
    for (const headers of [{}, { origin: 'https://evil.example' }, { origin: 'null' }] as Record<string, string>[])
      expect((await on.consent(waiting, cookie, true, headers)).status).toBe(403)
    for (const accept of ['true', 1, null, {}]) expect((await on.consent(waiting, cookie, accept)).status).toBe(400)
    expect((await on.consent(waiting, '', true)).status).toBe(401)
    expect((await on.consent(waiting, cookie)).status).toBe(200)
  })

  it('is pending for at most twenty requests of a person, so that a page that redirects repeatedly fills nothing', async () => {
    for (let turn = 0; turn < 25; turn++) await location()
    const [rows] = await open.database.sequelize.query('select count(*)::int as n from identity.oauth_codes')
    expect(rows).toEqual([{ n: 20 }])
  })

  const page = (path: string, more: RequestInit = {}) => on.http(path, { ...more, headers: { cookie, ...more.headers } })
  const pathOf = (url: string) => url.slice(origin.length)

  it('has a page that says who asks, for what, where, and where it leads, and that no other page frames', async () => {
    app = await on.client({ name: 'Ann & Bob’s <app>' })
    const answer = await page(pathOf(await location()))
    const text = await answer.text()
    for (const words of [
      'Ann &amp; Bob’s &lt;app&gt;',
      'Ada Both',
      'Acme',
      'See your mail address',
      'See drafts, scheduled, published and failed posts',
      'an application on this device',
    ])
      expect(text).toContain(words)
    expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('referrer-policy')]).toEqual([200, 'no-store', 'no-referrer'])
    expect(answer.headers.get('content-security-policy')).toMatch(/form-action 'self'.*frame-ancestors 'none'/)
    expect(text).not.toMatch(/<script|onload|javascript:/i)
  })

  it('has a form that no other page can send, and leads on without a redirect', async () => {
    const waiting = await location()
    const shown = await page(pathOf(waiting))
    const [token, own] = [/name="token" value="([^"]+)"/.exec(await shown.text())![1]!, shown.headers.getSetCookie()[0]!.split(';')[0]!]
    const send = (fields: Record<string, string>, cookies: string) =>
      page('/identity/consent', {
        method: 'POST',
        headers: { cookie: cookies },
        body: new URLSearchParams({ request: new URL(waiting).searchParams.get('request')!, ...fields }),
      })
    for (const [fields, cookies] of [
      [{ accept: 'true' }, cookie],
      [{ accept: 'true', token }, cookie],
      [{ accept: 'true', token: 'guessed' }, `${cookie}; ${own}`],
      [{ accept: 'yes', token }, `${cookie}; ${own}`],
    ] as const)
      expect((await send(fields, cookies)).status).toBe(400)
    const done = await send({ accept: 'true', token }, `${cookie}; ${own}`)
    const leads = /^0; url=(.+)$/.exec(done.headers.get('refresh')!)![1]!
    expect([done.status, done.headers.get('location'), new URL(leads).searchParams.get('state')]).toEqual([200, null, 'st4te'])
    expect(await done.text()).toContain(leads.replaceAll('&', '&amp;'))
    const over = await send({ accept: 'true', token }, `${cookie}; ${own}`)
    expect([over.status, await over.text()]).toEqual([400, expect.stringContaining('start again')])
  })

  it('has a page that tells nothing to others, and asks who is nobody to sign in', async () => {
    const waiting = pathOf(await location())
    const stranger = await on.signIn('owner@acme.test')
    expect((await on.http(waiting, { headers: { cookie: stranger } })).status).toBe(400)
    const nobody = led(await on.http(waiting))
    expect([nobody.to, nobody.query.return_to]).toEqual([`${origin}/identity/login`, waiting])
    expect((await page('/identity/consent')).status).toBe(400)
  })

  it('is seen and taken back by the person alone, which ends what the client has of them', async () => {
    const ada = userViewer(on.made.users['ada@acme.test']!, on.made.organizations.acme!, ['member'])
    const owner = userViewer(on.made.users['owner@acme.test']!, on.made.organizations.acme!, ['owner'])
    const [hers, site] = [await on.tokens(app, cookie), await on.client({ name: 'A site' })]
    open.clock.advance(1000)
    const [elsewhere, his] = [await on.tokens(site, cookie), await on.tokens(app, await on.signIn('owner@acme.test'))]
    const list = async () => (await execute(open.identity, ada, '{ consents { id clientName scopes grantedAt } }')).data().consents
    const [latest, first] = await list()
    expect([latest.clientName, first.clientName, first.scopes]).toEqual(['A site', 'An app', [...wanted].sort()])
    const revoke = (as = ada) => execute(open.identity, as, `mutation { revokeConsent(input: { id: "${first.id}" }) { id clientName } }`)
    expect((await revoke(owner)).code).toBe('NOT_FOUND')
    expect((await revoke()).data().revokeConsent.clientName).toBe('An app')
    expect((await revoke()).code).toBe('NOT_FOUND')
    expect(await Promise.all([hers, elsewhere, his].map(({ access_token }) => on.stands(access_token!)))).toEqual([false, true, true])
    expect(await on.renew(app, hers.refresh_token!)).toMatchObject({ body: { error: 'invalid_grant' } })
    expect((await ask()).to).toBe(consentUrl)
    expect((await list()).map(({ clientName }: { clientName: string }) => clientName)).toEqual(['A site'])
    expect((await on.audit('consent.revoked')).map(({ details }) => details)).toEqual([{ clientId: app.clientId }])
  })
})

describe('authorization by a form', () => {
  const fields = (more: Record<string, string> = {}) =>
    new URLSearchParams({
      response_type: 'code',
      client_id: app.clientId,
      redirect_uri: callback,
      scope: wanted.join(' '),
      state: 's',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...more,
    })
  const send = (body: URLSearchParams | string, headers: Record<string, string> = {}) =>
    open.identity.http(
      new Request(`${origin}${oauthPath}/authorize`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: String(body),
      }),
    )

  it('is answered as by GET when the session cookie is sent, from any page', async () => {
    const byGet = led(await on.authorize(app, cookie, { code_challenge: challenge }))
    for (const from of [origin, 'https://app.example']) {
      const { status, to, query } = led(await send(fields(), { cookie, origin: from }))
      expect([status, to, Object.keys(query)]).toEqual([byGet.status, byGet.to, Object.keys(byGet.query)])
    }
    expect(led(await send(fields({ code_challenge_method: 'plain' }), { cookie })).query).toMatchObject({ error: 'invalid_request', state: 's', iss: origin })
  })

  it('redirects to GET without a session, because browsers omit the cookie in another site’s form', async () => {
    const answer = await send(fields({ prompt: 'none' }))
    expect([answer.status, answer.headers.get('location')]).toEqual([302, `${origin}${oauthPath}/authorize?${fields({ prompt: 'none' })}`])
  })

  it('has no redirect for an unregistered client, and for anything but a form', async () => {
    expect(led(await send(fields({ client_id: 'none-such' })))).toMatchObject({ status: 400, to: null })
    expect(led(await send(fields({ redirect_uri: 'https://evil.example' }), { cookie }))).toMatchObject({ status: 400, to: null })
    expect(led(await send(JSON.stringify({}), { 'content-type': 'application/json' }))).toMatchObject({ status: 400, to: null })
  })

  it('accepts a parameter once, in address and form together', async () => {
    const answer = await open.identity.http(
      new Request(`${origin}${oauthPath}/authorize?state=other`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
        body: String(fields()),
      }),
    )
    expect(led(answer).query).toMatchObject({ error: 'invalid_request' })
  })
})
