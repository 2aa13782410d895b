import { beforeEach, describe, expect, it } from 'vitest'
import { anonymous } from '../../../../../subgraphs/viewer.ts'
import { freshIdentity, origin, requestSignIn } from '../../identity-world.ts'
import { type OAuthWorld, oauthPath, oauthWorld, type TestClient } from './oauth-world.ts'

const open = freshIdentity()
let on: OAuthWorld
let app: TestClient
let site: TestClient
let cookie: string
let ada: string

beforeEach(async () => {
  on = await oauthWorld(open)
  app = await on.client()
  site = await on.client({
    type: 'CONFIDENTIAL',
    scopes: ['openid', 'profile', 'email', 'offline_access', 'publishing:posts.read', 'publishing:accounts.write'],
  })
  cookie = await on.signIn('ada@acme.test')
  ada = on.made.users['ada@acme.test']!
})

const sql = (text: string) => open.database.sequelize.query(text)

describe('introspection', () => {
  it('describes to a confidential client its own tokens, with the present scopes', async () => {
    const scope = 'openid offline_access publishing:posts.read publishing:accounts.write'
    const { access_token, refresh_token } = await on.tokens(site, cookie, { scope })
    const access = await on.look(site, access_token!)
    expect(access).toEqual({
      active: true,
      token_type: 'Bearer',
      iss: origin,
      aud: 'supergraph',
      sub: ada,
      sid: expect.any(String),
      client_id: site.clientId,
      org: on.made.organizations.acme,
      // A member does not have accounts.write: granted, and worth nothing at present.
      scope: 'openid offline_access publishing:posts.read',
      iat: expect.any(Number),
      exp: (access.iat as number) + 600,
    })
    expect(await on.look(site, refresh_token!)).toEqual({
      active: true,
      iss: origin,
      sub: ada,
      client_id: site.clientId,
      scope: 'openid offline_access publishing:posts.read',
      exp: expect.any(Number),
    })
    await sql(`update identity.memberships set roles = '{admin}' where user_id = '${ada}'`)
    expect((await on.look(site, access_token!)).scope).toBe(scope)
  })

  it('describes every other token as inactive only', async () => {
    const [own, other] = [await on.tokens(site, cookie), await on.tokens(app, cookie)]
    const { accessToken } = await (await requestSignIn(open.identity, 'ada@acme.test')).json()
    const next = (await on.renew(site, own.refresh_token!)).body
    const [head, payload, signature] = next.access_token!.split('.')
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const dead = [
      'unknown',
      'sgr_short',
      `sgr_${'x'.repeat(86)}`,
      other.access_token!,
      other.refresh_token!,
      accessToken,
      own.refresh_token!,
      own.id_token!,
      `${part({ alg: 'none' })}.${payload}.`,
      `${head}.${part({ ...JSON.parse(Buffer.from(payload!, 'base64url').toString()), sub: on.made.users['owner@acme.test'] })}.${signature}`,
      'a.b.c',
      '\u{1F600}',
    ]
    for (const token of dead) expect(await on.look(site, token), token).toEqual({ active: false })
    expect((await on.look(site, next.access_token!)).active).toBe(true)
  })

  it('calls a token inactive as soon as it does not stand', async () => {
    const ends: (() => Promise<unknown>)[] = [
      () => sql(`update identity.users set suspended_at = created_at where id = '${ada}'`),
      () =>
        sql(
          `update identity.memberships set organization_id = '${on.made.organizations.admin}' where user_id = '${ada}' and organization_id = '${on.made.organizations.acme}'`,
        ),
    ]
    const { access_token, refresh_token } = await on.tokens(site, cookie)
    for (const end of ends) {
      await end()
      for (const token of [access_token!, refresh_token!]) expect(await on.look(site, token)).toEqual({ active: false })
      await sql(`update identity.users set suspended_at = null where id = '${ada}'`)
    }
  })

  it('is for services and clients with a secret: a service may ask about any token', async () => {
    const { access_token } = await on.tokens(app, cookie)
    const asked = (headers: Record<string, string>, fields: Record<string, string> = {}) => on.form('introspect', { token: access_token!, ...fields }, headers)
    expect((await asked({})).status).toBe(401)
    expect((await asked({}, { client_id: app.clientId })).status).toBe(401)
    const wrong = await asked(on.shown({ ...site, secret: 'wrong' }))
    expect([wrong.status, (await wrong.json()).error]).toEqual([401, 'invalid_client'])
    const { accessToken } = await (await requestSignIn(open.identity, 'ada@acme.test')).json()
    for (const [token, clientId] of [
      [access_token!, app.clientId],
      [accessToken, undefined],
    ]) {
      const request = new Request(`${origin}${oauthPath}/introspect`, { method: 'POST', body: new URLSearchParams({ token: token! }) })
      const answer = await open.identity.http(request, { ...anonymous, kind: 'service', appId: 'app_agents' })
      expect(await answer.json()).toMatchObject({ active: true, sub: ada, ...(clientId && { client_id: clientId }) })
      const elsewhere = new Request(`${origin}${oauthPath}/introspect`, { method: 'POST', body: new URLSearchParams({ token: token! }) })
      expect((await open.identity.http(elsewhere, { ...anonymous, kind: 'service', appId: 'app_agents', onlyAt: 'providers' })).status).toBe(401)
    }
  })
})

describe('revocation', () => {
  it('ends the family of any of its tokens', async () => {
    for (const which of ['access_token', 'refresh_token', 'used'] as const) {
      const first = await on.tokens(app, cookie)
      const last = (await on.renew(app, first.refresh_token!)).body
      const token = which === 'used' ? first.refresh_token : last[which]
      const answer = await on.form('revoke', { token, client_id: app.clientId, token_type_hint: 'anything' })
      expect([answer.status, await answer.text(), answer.headers.get('cache-control')]).toEqual([200, '', 'no-store'])
      expect(await on.stands(last.access_token!)).toBe(false)
      expect(await on.renew(app, last.refresh_token!)).toMatchObject({ body: { error: 'invalid_grant' } })
    }
  })

  it('ignores unknown, invalid and others’ tokens', async () => {
    const [own, { accessToken }] = [await on.tokens(app, cookie), await (await requestSignIn(open.identity, 'ada@acme.test')).json()]
    for (const token of ['unknown', own.access_token!, own.refresh_token!, accessToken])
      expect((await on.form('revoke', { token }, on.shown(site))).status).toBe(200)
    expect([await on.stands(own.access_token!), await on.stands(accessToken)]).toEqual([true, true])
    for (let turn = 0; turn < 2; turn++) expect((await on.form('revoke', { token: own.refresh_token, client_id: app.clientId })).status).toBe(200)
    expect((await on.form('revoke', { token: own.refresh_token }, on.shown({ ...site, secret: 'wrong' }))).status).toBe(401)
    expect((await on.form('revoke', { client_id: app.clientId })).status).toBe(400)
  })
})

describe('userinfo', () => {
  const userinfo = (token: string | null, method = 'GET') =>
    on.http(`${oauthPath}/userinfo`, { method, headers: token === null ? {} : { authorization: `Bearer ${token}` } })

  it.each<[string, object]>([
    ['openid', {}],
    ['openid profile', { name: 'Ada Both' }],
    ['openid email', { email: 'ada@acme.test', email_verified: true }],
  ])('tells with %s who the person is, and nothing else', async (scope, more) => {
    const { access_token } = await on.tokens(site, cookie, { scope })
    for (const method of ['GET', 'POST']) {
      const answer = await userinfo(access_token!, method)
      expect([answer.status, answer.headers.get('cache-control'), await answer.json()]).toEqual([200, 'no-store', { sub: ada, ...more }])
    }
  })

  it('accepts access tokens of enabled clients with openid', async () => {
    const { access_token } = await on.tokens(site, cookie, { scope: 'publishing:posts.read' })
    const less = await userinfo(access_token!)
    expect([less.status, less.headers.get('www-authenticate')]).toEqual([403, 'Bearer error="insufficient_scope", scope="openid"'])
    const { accessToken } = await (await requestSignIn(open.identity, 'ada@acme.test')).json()
    expect((await userinfo(accessToken)).status).toBe(403)
    const whole = await on.tokens(site, cookie)
    for (const token of [null, 'x', whole.id_token!, whole.refresh_token!]) expect((await userinfo(token)).status).toBe(401)
    await on.form('revoke', { token: whole.refresh_token }, on.shown(site))
    const dead = await userinfo(whole.access_token!)
    expect([dead.status, dead.headers.get('www-authenticate'), (await dead.json()).error]).toEqual([401, 'Bearer error="invalid_token"', 'invalid_token'])
  })

  it('returns the token’s own scopes, not all of its session', async () => {
    const { refresh_token } = await on.tokens(site, cookie)
    const { access_token } = (await on.renew(site, refresh_token!, { scope: 'openid' })).body
    expect(await (await userinfo(access_token!)).json()).toEqual({ sub: ada })
    expect((await on.look(site, access_token!)).scope).toBe('openid')
  })
})
