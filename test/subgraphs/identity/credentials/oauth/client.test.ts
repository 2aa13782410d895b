import { beforeEach, describe, expect, it } from 'vitest'
import { execute, freshIdentity } from '../../identity-world.ts'
import { basic, callback, type OAuthWorld, oauthPath, oauthWorld } from './oauth-world.ts'

const open = freshIdentity()
let on: OAuthWorld
beforeEach(async () => {
  on = await oauthWorld(open)
})

/** The reason, or else the code, with which the platform's admin is refused. */
const refusal = async (document: string, variables: Record<string, unknown> = {}) => {
  const { extensions } = (await execute(open.identity, on.platform, document, variables)).error!
  return extensions.reason ?? extensions.code
}

describe('an OAuth client', () => {
  const create =
    'mutation($input: CreateOAuthClientInput!) { createOAuthClient(input: $input) { secret client { id clientId name type redirectUris scopes trusted disabledAt } } }'
  const input = { name: 'A site', type: 'CONFIDENTIAL', redirectUris: ['https://site.example/callback'], scopes: ['publishing:posts.read', 'openid'] }

  it('is created with a secret that is shown once, or without one', async () => {
    const make = async (more: object = {}) => (await execute(open.identity, on.platform, create, { input: { ...input, ...more } })).data().createOAuthClient
    const site = await make({ idempotencyKey: 'once' })
    expect(site.secret).toMatch(/^sgo_[\w-]{43}$/)
    expect(site.client).toMatchObject({ name: 'A site', type: 'CONFIDENTIAL', scopes: ['openid', 'publishing:posts.read'], trusted: false, disabledAt: null })
    expect(await make({ idempotencyKey: 'once' })).toEqual({ ...site, secret: null })
    expect(await refusal(create, { input: { ...input, idempotencyKey: 'once', name: 'Another' } })).toBe('KEY_REUSED')
    open.clock.advance(1000)
    expect((await make({ type: 'PUBLIC' })).secret).toBe(null)
    const { oauthClients } = (await execute(open.identity, on.platform, '{ oauthClients { nodes { clientId } totalCount } }')).data()
    expect([oauthClients.totalCount, oauthClients.nodes[1].clientId]).toEqual([2, site.client.clientId])
    const [rows] = await open.database.sequelize.query('select c::text as row from identity.oauth_clients c')
    expect(JSON.stringify(rows)).not.toContain(site.secret)
  })

  it.each<[string, object]>([
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['publishing:*'] }],
    ['no address', { redirectUris: [] }],
    ['too many addresses', { redirectUris: Array.from({ length: 21 }, (_, at) => `https://site.example/${at}`) }],
    ['an empty name', { name: ' ' }],
    ['a name that turns the text around it', { name: 'a\u202eb' }],
  ])('is not made with %s', async (_, more) => expect(await refusal(create, { input: { ...input, ...more } })).toBe('BAD_USER_INPUT'))

  it('counts towards a hundred enabled ones', async () => {
    await open.database.sequelize.query(
      `insert into identity.oauth_clients (organization_id, id, client_id, name, type, redirect_uris, scopes, trusted, created_at, updated_at, created_by)
       select '${on.made.organizations.admin}', gen_random_uuid(), gen_random_uuid()::text, 'n', 'public', '{x}', '{openid}', false, now(), now(), 'test' from generate_series(1, 99)`,
    )
    const last = await on.client()
    expect(await refusal(create, { input })).toBe('QUOTA')
    await execute(open.identity, on.platform, `mutation { disableOAuthClient(input: { id: "${last.id}" }) { id } }`)
    expect((await on.client()).clientId).toBeTruthy()
  })

  const cookieOfAda = () => on.signIn('ada@acme.test')

  it('that loses scopes loses them at once, in existing and pending grants', async () => {
    const [app, cookie] = [await on.client(), await cookieOfAda()]
    const { fields } = await on.code(app, cookie)
    const { access_token, refresh_token } = await on.tokens(app, cookie)
    const update = `mutation { updateOAuthClient(input: { id: "${app.id}", scopes: ["openid", "offline_access"], name: "Renamed" }) { name scopes redirectUris } }`
    const { updateOAuthClient } = (await execute(open.identity, on.platform, update)).data()
    expect(updateOAuthClient).toEqual({ name: 'Renamed', scopes: ['offline_access', 'openid'], redirectUris: [callback] })
    const sid = JSON.parse(Buffer.from(access_token!.split('.')[1]!, 'base64url').toString()).sid
    expect((await open.identity.authority.sessions([sid])).get(sid)!.grant!.scopes.toSorted()).toEqual(['offline_access', 'openid'])
    expect((await on.renew(app, refresh_token!)).body.scope).toBe('openid offline_access')
    expect((await on.token(app, fields)).body.scope).toBe('openid offline_access')
  })

  it('that is disabled has nothing left, and gets nothing', async () => {
    const [app, site, cookie] = [await on.client(), await on.client({ type: 'CONFIDENTIAL' }), await cookieOfAda()]
    const { fields } = await on.code(app, cookie)
    const waiting = (await on.authorize(app, cookie, { code_challenge: 'x'.repeat(43), prompt: 'consent' })).headers.get('location')!
    const [its, others] = [await on.tokens(app, cookie), await on.tokens(site, cookie)]
    const disable = () => execute(open.identity, on.platform, `mutation { disableOAuthClient(input: { id: "${app.id}" }) { disabledAt } }`)
    const { disableOAuthClient } = (await disable()).data()
    expect(await Promise.all([its, others].map(({ access_token }) => on.stands(access_token!)))).toEqual([false, true])
    for (const answer of [await on.token(app, fields), await on.renew(app, its.refresh_token!)])
      expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect((await on.consent(waiting, cookie)).status).toBe(400)
    expect((await disable()).data()).toEqual({ disableOAuthClient })
    expect(await refusal(`mutation { updateOAuthClient(input: { id: "${app.id}", name: "x" }) { id } }`)).toBe('CONFLICT')
    expect((await on.audit('oauth_client.disabled')).map(({ tenant_id }) => tenant_id)).toEqual([on.made.organizations.admin])
  })
})

describe('client authentication', () => {
  const grant = { grant_type: 'refresh_token', refresh_token: 'none' }

  it('takes Basic of a confidential client, however its parts are encoded, and client_id of a public one', async () => {
    const [app, site] = [await on.client(), await on.client({ type: 'CONFIDENTIAL' })]
    const every = (text: string) => [...text].map(character => `%${character.charCodeAt(0).toString(16)}`).join('')
    const plain = `Basic ${Buffer.from(`${site.clientId}:${site.secret}`).toString('base64')}`
    const encoded = `bAsIc ${Buffer.from(`${every(site.clientId)}:${every(site.secret!)}`).toString('base64')}`
    for (const authorization of [plain, encoded, basic(site.clientId, site.secret!)])
      expect(await on.token(site, grant, { authorization })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await on.token(app, { ...grant, client_id: app.clientId })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  it('refuses everything else alike, with 401 and how to do it', async () => {
    const [app, site] = [await on.client(), await on.client({ type: 'CONFIDENTIAL' })]
    const header = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
    const own = basic(site.clientId, site.secret!)
    const tries: [Record<string, string>, Record<string, string>][] = [
      [{}, {}],
      [{ client_id: 'nobody' }, {}],
      [{ client_id: 'a\0b' }, {}],
      [{ client_id: site.clientId }, {}],
      [{ client_id: site.clientId, client_secret: site.secret! }, {}],
      [{ client_secret: site.secret! }, { authorization: own }],
      [{ client_id: app.clientId }, { authorization: own }],
      [{}, { authorization: basic(site.clientId, 'wrong') }],
      [{}, { authorization: basic(site.clientId, '') }],
      [{}, { authorization: basic('nobody', site.secret!) }],
      [{}, { authorization: basic(app.clientId, '') }],
      // With what is compared where there is no secret: it opens nothing.
      [{}, { authorization: basic(app.clientId, 'nobody') }],
      [{}, { authorization: basic('nobody', 'nobody') }],
      [{}, header(site.clientId)],
      [{}, header(`:${site.secret}`)],
      [{}, header(`${site.clientId}:%zz`)],
      [{}, { authorization: 'Basic' }],
      [{}, { authorization: 'Basic !!!' }],
      [{}, { authorization: `Bearer ${site.secret}` }],
    ]
    const texts = new Set<string>()
    for (const [fields, headers] of tries) {
      const { status, headers: answered, body } = await on.token(site, { ...grant, ...fields }, headers)
      if (fields.client_id !== 'a\0b')
        expect([status, answered.get('www-authenticate')], JSON.stringify([fields, headers])).toEqual([401, 'Basic realm="supergraph"'])
      else expect(status).toBe(400)
      if (status === 401) texts.add(JSON.stringify(body))
    }
    expect(texts.size).toBe(1)
  })
})

describe('the form of an endpoint', () => {
  it.each<[string, string, Record<string, string>, string?]>([
    ['a parameter twice', 'grant_type=refresh_token&grant_type=refresh_token&refresh_token=x&client_id=y', {}],
    ['a code twice', 'grant_type=authorization_code&code=a&code=b&redirect_uri=x&code_verifier=y&client_id=z', {}],
    ['JSON', '{"grant_type":"refresh_token"}', { 'content-type': 'application/json' }],
    ['a form with files', 'x', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['text that looks like a form', 'grant_type=refresh_token', { 'content-type': 'application/x-www-form-urlencodedly' }],
    ['nothing', '', {}],
    ['too much', `grant_type=refresh_token&refresh_token=${'x'.repeat(17_000)}`, {}],
    ['a secret in the address', 'grant_type=refresh_token&refresh_token=x', {}, '?client_secret=x'],
    ['a code in the address', 'grant_type=authorization_code&redirect_uri=x&code_verifier=y', {}, '?code=x'],
    ['no code', 'grant_type=authorization_code&redirect_uri=x&code_verifier=y&client_id=z', {}],
    ['no verifier', 'grant_type=authorization_code&redirect_uri=x&code=y&client_id=z', {}],
    ['no refresh token', 'grant_type=refresh_token&client_id=z', {}],
  ])('that is %s is refused, and nothing is kept', async (_, body, headers, query = '') => {
    const answer = await on.form(`token${query}`, body, headers)
    expect([answer.status, answer.headers.get('cache-control'), await answer.json()]).toEqual([
      400,
      'no-store',
      { error: 'invalid_request', error_description: expect.any(String) },
    ])
  })

  it('takes the two grants and no other', async () => {
    for (const grant_type of ['password', 'client_credentials', 'urn:ietf:params:oauth:grant-type:token-exchange', '__proto__', 'constructor'])
      expect(await (await on.form('token', { grant_type })).json()).toMatchObject({ error: 'unsupported_grant_type' })
  })

  it('with a cookie must come from a page of the platform', async () => {
    const cookie = await on.signIn('ada@acme.test')
    const asked = (headers: Record<string, string>) => on.form('revoke', { token: 'x', client_id: 'nobody' }, { cookie, ...headers })
    expect([(await asked({})).status, (await asked({ origin: 'https://evil.example' })).status]).toEqual([403, 403])
    expect((await asked({ origin: 'https://web.test' })).status).toBe(401)
  })

  it('is answered by no method but its own', async () => {
    for (const path of ['token', 'revoke', 'introspect', 'consent']) expect((await on.http(`${oauthPath}/${path}`)).status).toBe(404)
    expect((await on.http(`${oauthPath}/authorize`, { method: 'PUT' })).status).toBe(404)
  })
})
