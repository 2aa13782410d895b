import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { heldUp, together } from '../../../../kit/together.ts'
import { execute, freshIdentity, origin, userViewer } from '../../identity-world.ts'
import { type OAuthWorld, oauthWorld, type TestClient } from './oauth-world.ts'

const open = freshIdentity()
let on: OAuthWorld
let app: TestClient
let cookie: string
let ada: string

beforeEach(async () => {
  on = await oauthWorld(open)
  app = await on.client()
  cookie = await on.signIn('ada@acme.test')
  ada = on.made.users['ada@acme.test']!
})

const day = 86_400_000
const twenty = <Result>(make: () => Promise<Result>) => Promise.all(Array.from({ length: 20 }, make))
const refused = { status: 400, body: { error: 'invalid_grant' } }

/** Two that come before either is through. @returns the statuses of their answers */
async function two(work: () => Promise<{ readonly status: number }>): Promise<number[]> {
  const answers = await together(open.database.url, 'identity.oauth_families', work, work)
  return answers.map(answer => (answer instanceof Error ? Number.NaN : answer.status)).sort()
}

describe('an authorization code', () => {
  it('gives tokens to the client, for the address and the verifier that it was made for', async () => {
    const { parameters, fields } = await on.code(app, cookie, { nonce: 'n0nce' })
    expect(parameters).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/), state: 'st4te', iss: origin })
    const { status, headers, body } = await on.token(app, fields)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'openid email offline_access publishing:posts.read' })
    const access = decodeJwt(body.access_token!)
    expect(access).toMatchObject({
      iss: origin,
      aud: 'supergraph',
      sub: ada,
      org: on.made.organizations.acme,
      ctx: 'organization',
      roles: [],
      client_id: app.clientId,
      scope: 'openid email offline_access publishing:posts.read',
    })
    expect(access.exp! - access.iat!).toBe(600)
    const session = (await open.identity.authority.sessions([access.sid as string])).get(access.sid as string)
    expect(session!.grant).toEqual({ clientId: app.clientId, scopes: body.scope!.split(' '), trusted: false })
    const id = decodeJwt(body.id_token!)
    expect(id).toMatchObject({ iss: origin, aud: app.clientId, sub: ada, nonce: 'n0nce', auth_time: expect.any(Number) })
    expect(Object.keys(id).sort()).toEqual(['aud', 'auth_time', 'exp', 'iat', 'iss', 'nonce', 'sub'])
  })

  it('gives no refresh token without offline_access and no ID token without openid, and its session ends with the access token', async () => {
    const body = await on.tokens(app, cookie, { scope: 'publishing:posts.read' })
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type'])
    open.clock.advance(599_000)
    expect(await on.stands(body.access_token!)).toBe(true)
    open.clock.advance(1000)
    expect(await on.stands(body.access_token!)).toBe(false)
  })

  it.each<[string, (fields: Record<string, string | undefined>) => object]>([
    ['a wrong verifier', () => ({ code_verifier: 'y'.repeat(43) })],
    ['the challenge in place of the verifier', ({ code_verifier }) => ({ code_verifier: `${code_verifier}=` })],
    ['another address', () => ({ redirect_uri: 'http://127.0.0.1/elsewhere' })],
    ['another port than was asked for', () => ({ redirect_uri: 'http://127.0.0.1:8080/callback' })],
  ])('is used up by %s', async (_, wrong) => {
    const { fields } = await on.code(app, cookie)
    expect(await on.token(app, { ...fields, ...wrong(fields) })).toMatchObject(refused)
    expect(await on.token(app, fields)).toMatchObject(refused)
  })

  it('is used up by another client, and by whoever does not know the secret', async () => {
    const [other, site] = [await on.client(), await on.client({ type: 'CONFIDENTIAL' })]
    // The person has agreed to the other one too: nothing but whose code it is stands in its way.
    await on.tokens(other, cookie)
    const first = (await on.code(app, cookie)).fields
    expect(await on.token(other, { ...first, client_id: other.clientId })).toMatchObject(refused)
    expect(await on.token(app, first)).toMatchObject(refused)
    const second = (await on.code(site, cookie)).fields
    const stranger = await on.token(site, second, on.shown({ ...site, secret: 'sgo_guessed' }))
    expect(stranger).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(stranger.headers.get('www-authenticate')).toMatch(/^Basic /)
    expect(await on.token(site, second)).toMatchObject(refused)
  })

  it('is good for a minute', async () => {
    const [early, late] = [(await on.code(app, cookie)).fields, (await on.code(app, cookie)).fields]
    open.clock.advance(59_000)
    expect((await on.token(app, early)).status).toBe(200)
    open.clock.advance(1000)
    expect(await on.token(app, late)).toMatchObject(refused)
  })

  it('that comes again ends what it gave, months later too, and the record says so', async () => {
    const { fields } = await on.code(app, cookie)
    const { body } = await on.token(app, fields)
    let last = body
    for (let month = 0; month < 2; month++) {
      open.clock.advance(29 * day)
      last = (await on.renew(app, last.refresh_token!)).body
    }
    // Codes that were used are not among those of which a person has twenty at most.
    const later = await on.signIn('ada@acme.test')
    for (let made = 0; made < 20; made++) await on.code(app, later)
    expect(await on.stands(last.access_token!)).toBe(true)
    expect(await on.token(app, fields)).toMatchObject(refused)
    expect(await on.stands(last.access_token!)).toBe(false)
    expect(await on.renew(app, last.refresh_token!)).toMatchObject(refused)
    expect(await on.audit('oauth.token_reused')).toEqual([
      { actor: expect.any(String), tenant_id: on.made.organizations.acme, details: { clientId: app.clientId, what: 'code' } },
    ])
  })

  it('has one winner of twenty concurrent uses, whose tokens the later uses revoke', async () => {
    const { fields } = await on.code(app, cookie)
    const answers = await twenty(() => on.token(app, fields))
    const won = answers.filter(({ status }) => status === 200)
    expect([won.length, answers.filter(({ body }) => body.error === 'invalid_grant').length]).toEqual([1, 19])
    expect(await on.stands(won[0]!.body.access_token!)).toBe(false)
    expect((await on.audit('session.created')).filter(({ details }) => details.kind === 'oauth')).toHaveLength(1)
  })

  it('makes a concurrent second use wait, which then finds it used', async () => {
    const { fields } = await on.code(app, cookie)
    expect(await two(() => on.token(app, fields))).toEqual([200, 400])
  })

  it('gives no tokens once consent, membership or account have ended', async () => {
    const sql = (text: string) => open.database.sequelize.query(text)
    const taken = [
      async () => {
        const viewer = userViewer(ada, on.made.organizations.acme!, ['member'])
        const { consents } = (await execute(open.identity, viewer, '{ consents { id } }')).data()
        await execute(open.identity, viewer, `mutation { revokeConsent(input: { id: "${consents[0].id}" }) { id } }`)
      },
      () => sql(`delete from identity.memberships where user_id = '${ada}' and organization_id = '${on.made.organizations.acme}'`),
      () => sql(`update identity.users set suspended_at = created_at where id = '${ada}'`),
    ]
    const codes = []
    for (const _ of taken) codes.push((await on.code(app, cookie)).fields)
    for (const [at, take] of taken.entries()) {
      await take()
      expect(await on.token(app, codes[at]!), String(at)).toMatchObject(refused)
    }
  })

  it('gives nothing once the sign-in has ended that asked for it, or that agreed', async () => {
    const trusted = await on.client({ trusted: true, name: 'Of the platform' })
    for (const client of [app, trusted]) {
      const stranger = await on.signIn('ada@acme.test')
      const { fields } = await on.code(client, stranger)
      await on.http('/identity/api/auth/sign-out', { method: 'POST', headers: { cookie: stranger, origin } })
      expect(await on.token(client, fields), client.clientId).toMatchObject(refused)
    }
  })
})

describe('a refresh token', () => {
  it('works once, and so does the next one', async () => {
    let last = await on.tokens(app, cookie)
    const seen = new Set([last.refresh_token])
    for (let turn = 0; turn < 3; turn++) {
      const next = await on.renew(app, last.refresh_token!)
      expect([next.status, next.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(next.body).toMatchObject({ expires_in: 600, scope: last.scope })
      expect(decodeJwt(next.body.access_token!).sid).toBe(decodeJwt(last.access_token!).sid)
      expect(decodeJwt(next.body.id_token!)).toMatchObject({ auth_time: decodeJwt(last.id_token!).auth_time, sub: ada })
      last = next.body
      seen.add(last.refresh_token)
    }
    expect(seen.size).toBe(4)
  })

  it('that comes again ends its whole family, however many came after it', async () => {
    const first = await on.tokens(app, cookie)
    const second = (await on.renew(app, first.refresh_token!)).body
    const third = (await on.renew(app, second.refresh_token!)).body
    const other = await on.tokens(app, cookie)
    expect(await on.renew(app, first.refresh_token!)).toMatchObject(refused)
    expect(await on.stands(third.access_token!)).toBe(false)
    expect(await on.renew(app, third.refresh_token!)).toMatchObject(refused)
    expect(await on.stands(other.access_token!)).toBe(true)
    expect((await on.audit('oauth.token_reused')).map(({ details }) => details)).toEqual([{ clientId: app.clientId, what: 'refresh token' }])
  })

  it('of twenty at once one is answered, and the family has ended', async () => {
    const first = await on.tokens(app, cookie)
    const answers = await twenty(() => on.renew(app, first.refresh_token!))
    const won = answers.filter(({ status }) => status === 200)
    expect([won.length, answers.filter(({ body }) => body.error === 'invalid_grant').length]).toEqual([1, 19])
    expect(await on.stands(won[0]!.body.access_token!)).toBe(false)
    expect(await on.renew(app, won[0]!.body.refresh_token!)).toMatchObject(refused)
  })

  it('makes a concurrent second use wait, which then ends the family', async () => {
    const { refresh_token } = await on.tokens(app, cookie)
    expect(await two(() => on.renew(app, refresh_token!))).toEqual([200, 400])
  })

  it('ends when it was not used for 30 days, and after 90 in all', async () => {
    const unused = await on.tokens(app, cookie)
    let used = (await on.tokens(app, cookie)).refresh_token!
    open.clock.advance(30 * day - 1000)
    used = (await on.renew(app, used)).body.refresh_token!
    open.clock.advance(1000)
    expect(await on.renew(app, unused.refresh_token!)).toMatchObject(refused)
    open.clock.advance(29 * day)
    used = (await on.renew(app, used)).body.refresh_token!
    open.clock.advance(29 * day)
    used = (await on.renew(app, used)).body.refresh_token!
    open.clock.advance(2 * day - 300_000)
    const last = await on.renew(app, used)
    expect(last).toMatchObject({ status: 200, body: { expires_in: 300 } })
    open.clock.advance(300_000)
    expect(await on.stands(last.body.access_token!)).toBe(false)
    expect(await on.renew(app, last.body.refresh_token!)).toMatchObject(refused)
  })

  it('is useless to another client, and continues for its own', async () => {
    const [first, other] = [await on.tokens(app, cookie), await on.client()]
    expect(await on.renew(other, first.refresh_token!)).toMatchObject(refused)
    expect((await on.renew(app, first.refresh_token!)).status).toBe(200)
  })

  it('may give less, and next time everything again; never more', async () => {
    const first = await on.tokens(app, cookie, { scope: 'offline_access openid publishing:posts.read' })
    for (const scope of ['email', 'openid email', 'publishing:posts.read email openid'])
      expect(await on.renew(app, first.refresh_token!, { scope }), scope).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    const less = (await on.renew(app, first.refresh_token!, { scope: 'publishing:posts.read' })).body
    expect([less.scope, less.id_token, decodeJwt(less.access_token!).scope]).toEqual(['publishing:posts.read', undefined, 'publishing:posts.read'])
    expect((await on.renew(app, less.refresh_token!)).body.scope).toBe(first.scope)
  })

  it('ends with the membership, the account and the client', async () => {
    const sql = (text: string) => open.database.sequelize.query(text)
    const ends = [
      () => sql(`update identity.users set suspended_at = created_at where id = '${ada}'`),
      () => sql(`delete from identity.memberships where user_id = '${ada}' and organization_id = '${on.made.organizations.acme}'`),
    ]
    for (const end of ends) {
      const { refresh_token } = await on.tokens(app, cookie)
      await end()
      expect(await on.renew(app, refresh_token!)).toMatchObject(refused)
      await sql(`update identity.users set suspended_at = null where id = '${ada}'`)
      expect(await on.renew(app, refresh_token!)).toMatchObject(refused)
    }
  })

  it('ends with a removed membership, and stays invalid with the next one', async () => {
    const { refresh_token, access_token } = await on.tokens(app, cookie)
    const sql = async (text: string) => (await open.database.sequelize.query(text))[0] as { id: string }[]
    const hers = `identity.memberships where user_id = '${ada}' and organization_id = '${on.made.organizations.acme}'`
    await sql(`create table public.kept as select * from ${hers}`)
    const [membership] = await sql(`select id from ${hers}`)
    const owner = userViewer(on.made.users['owner@acme.test']!, on.made.organizations.acme!, ['owner'])
    expect((await execute(open.identity, owner, `mutation { removeMember(input: { id: "${membership!.id}" }) { id } }`)).code).toBeUndefined()
    await sql('insert into identity.memberships select * from public.kept; drop table public.kept')
    expect([await on.stands(access_token!), (await on.renew(app, refresh_token!)).status]).toEqual([false, 400])
  })

  it('and every code are kept as hashes alone', async () => {
    const { fields } = await on.code(app, cookie)
    const { body } = await on.token(app, fields)
    const [rows] = (await open.database.sequelize.query(
      `select c::text from identity.oauth_codes c union all select f::text from identity.oauth_families f union all select s::text from identity.sessions s
       union all select a::text from identity.audit_entries a union all select k::text from identity.oauth_clients k`,
    )) as unknown as [{ c: string }[]]
    const kept = rows.map(row => Object.values(row).join()).join('\n')
    for (const secret of [fields.code!, body.refresh_token!, body.refresh_token!.slice(4, 47), body.access_token!, fields.code_verifier!])
      expect(kept.includes(secret)).toBe(false)
  })
})

describe('token requests interrupted by a killed process', () => {
  /** Lets work come as far as to what it writes of its family, then cuts its connection: what it wrote so far is undone. */
  const cut = async <Result>(work: () => Promise<Result>): Promise<Result | Error> =>
    (await heldUp(open.database.url, 'identity.oauth_families', [work], (holder, waiting) => holder.query(`select pg_terminate_backend(pid) ${waiting}`)))[0]!
  const sessions = async () =>
    (await open.database.sequelize.query(`select count(*)::int as n from identity.sessions where kind = 'oauth'`))[0] as { n: number }[]

  it('give no tokens for a code, which is valid once after that', async () => {
    const { fields } = await on.code(app, cookie)
    expect(await cut(() => on.token(app, fields))).toBeInstanceOf(Error)
    expect(await sessions()).toEqual([{ n: 0 }])
    const { status, body } = await on.token(app, fields)
    expect([status, await sessions()]).toEqual([200, [{ n: 1 }]])
    expect(await on.token(app, fields)).toMatchObject(refused)
    expect(await on.stands(body.access_token!)).toBe(false)
  })

  it('does not use a refresh token up', async () => {
    const { refresh_token } = await on.tokens(app, cookie)
    expect(await cut(() => on.renew(app, refresh_token!))).toBeInstanceOf(Error)
    const next = await on.renew(app, refresh_token!)
    expect([next.status, (await on.renew(app, next.body.refresh_token!)).status, await sessions()]).toEqual([200, 200, [{ n: 1 }]])
  })

  /** What comes of work while nothing can be signed. */
  async function unsigned<Result>(work: () => Promise<Result>): Promise<Result | Error> {
    await open.database.sequelize.query('alter table identity.signing_keys rename to away')
    try {
      return await work().catch((error: Error) => error)
    } finally {
      await open.database.sequelize.query('alter table identity.away rename to signing_keys')
    }
  }

  it('give nothing for a code that cannot be signed, and once when it can', async () => {
    const { fields } = await on.code(app, cookie)
    expect(await unsigned(() => on.token(app, fields))).toBeInstanceOf(Error)
    const [first, second] = [await on.token(app, fields), await on.token(app, fields)]
    expect([first.status === 200, second.status]).toEqual([true, 400])
  })

  it('do not use up a refresh token when signing fails', async () => {
    const { refresh_token } = await on.tokens(app, cookie)
    expect(await unsigned(() => on.renew(app, refresh_token!))).toBeInstanceOf(Error)
    const next = await on.renew(app, refresh_token!)
    expect([next.status, await on.audit('oauth.token_reused')]).toEqual([200, []])
  })
})
