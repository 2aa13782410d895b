import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../../../subgraphs/identity/setup/provision.ts'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { cookieOf, execute, freshIdentity, origin, password, quotas, requestSignIn, userViewer, world } from '../../identity-world.ts'

const open = freshIdentity({ started: true })
let made: Provisioned
let owner: Viewer
let outsider: Viewer

beforeEach(async () => {
  made = await open.identity.provision(world)
  owner = userViewer(made.users['owner@acme.test']!, made.organizations.acme!, ['owner'])
  outsider = userViewer(made.users['out@other.test']!, made.organizations.other!, ['owner'])
  await open.database.sequelize.query('delete from identity.facts')
  open.clock.advance(1_000)
})

const stranger = 'new@example.test'
const read = async (sql: string) => (await open.database.sequelize.query(sql))[0] as Record<string, unknown>[]
const run = (viewer: Viewer, source: string, variables?: Record<string, unknown>) => execute(open.identity, viewer, source, variables)
const invite = async (email: string, roles: readonly string[] = ['MEMBER']): Promise<{ id: string; code: string }> => {
  const document = 'mutation($email: EmailAddress!, $roles: [Role!]!) { inviteMember(input: { email: $email, roles: $roles }) { id } }'
  const { id } = (await run(owner, document, { email, roles })).data().inviteMember
  return { id, code: await open.mailbox.code(email, 'invitation') }
}
const post = (body: object, headers: Record<string, string> = {}) =>
  open.identity.http(
    new Request(`${origin}/identity/api/auth/accept-invitation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client-address': '10.3.0.1', 'user-agent': 'test', ...headers },
      body: JSON.stringify(body),
    }),
  )
const problem = async (answer: Response) => {
  const { status, code, reason, field } = (await answer.json()) as Record<string, unknown>
  return [status, code, reason ?? field]
}
const given = { name: ' New Person ', password: 'a long enough password' }
const members = () => read(`select count(*)::int as n from identity.memberships where organization_id = '${made.organizations.acme}'`)

describe('accepting an invitation without an account', () => {
  it('I-01 creates the account with its address verified, the membership with its roles, and a session', async () => {
    const { code } = await invite(stranger, ['ADMIN', 'VIEWER'])
    const answer = await post({ code, ...given })
    const body = (await answer.json()) as { accessToken: string; expiresAt: string; user: { id: string } }
    expect([answer.status, answer.headers.get('cache-control'), body.user]).toEqual([
      200,
      'no-store',
      { id: body.user.id, email: stranger, name: 'New Person' },
    ])
    expect(decodeJwt(body.accessToken)).toMatchObject({ sub: body.user.id, org: made.organizations.acme, roles: ['admin', 'viewer'] })
    expect(await open.identity.authority.cookie(new Headers({ cookie: cookieOf(answer) }))).toMatchObject({
      userId: body.user.id,
      organizationId: made.organizations.acme,
      roles: ['admin', 'viewer'],
    })
    expect(await read(`select email_verified, kind, last_signed_in_at from identity.users where id = '${body.user.id}'`)).toEqual([
      { email_verified: true, kind: 'human', last_signed_in_at: open.clock.now() },
    ])
    expect((await requestSignIn(open.identity, stranger, given.password)).status).toBe(200)
    const actions = await read(`select action from identity.audit_entries where actor = 'user:${body.user.id}' and action not like 'session%' order by action`)
    expect(actions.map(({ action }) => action)).toEqual(['account.created', 'invitation.accepted', 'membership.added'])
    expect((await read('select kind from identity.facts order by kind')).map(({ kind }) => kind)).toEqual(['attention.closed', 'membership.added'])
    expect(await problem(await post({ code, ...given }))).toEqual([400, 'BAD_USER_INPUT', 'CODE'])
  })

  it('is done by no page of another site, for its visitors would go on as somebody else: with a cookie or without one', async () => {
    const { code } = await invite(stranger)
    for (const from of ['https://evil.example', 'null']) {
      const answer = await post({ code, ...given }, { origin: from })
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []])
    }
    expect((await post({ code, ...given }, { origin })).status).toBe(200)
  })

  it('leaves the code good when a password or a name is refused', async () => {
    const { code } = await invite(stranger)
    expect(await problem(await post({ code, ...given, password: 'short' }))).toEqual([400, 'BAD_USER_INPUT', 'password'])
    expect(await problem(await post({ code, ...given, password: stranger }))).toEqual([400, 'BAD_USER_INPUT', 'password'])
    expect(await problem(await post({ code, ...given, name: ' ' }))).toEqual([400, 'BAD_USER_INPUT', 'name'])
    expect((await post({ code, ...given })).status).toBe(200)
  })

  it('is refused for an address that has an account, and the code stays good', async () => {
    const { code } = await invite('out@other.test')
    for (let turn = 0; turn < 2; turn++) expect(await problem(await post({ code, ...given }))).toEqual([409, 'CONFLICT', 'ACCOUNT'])
    expect(await read('select count(*)::int as n from identity.codes')).toEqual([{ n: 1 }])
    expect((await requestSignIn(open.identity, 'out@other.test', password)).status).toBe(200)
  })

  it.each(['unknown', 'missing', 'revoked', 'declined', 'expired', 'sent again since', 'of another purpose'])('takes no code that is %s', async what => {
    const { id, code } = await invite('out@other.test')
    const by = (as: Viewer, mutation: string) => run(as, `mutation($id: ID!) { ${mutation}(input: { id: $id }) { id } }`, { id })
    if (what === 'revoked') (await by(owner, 'revokeInvitation')).data()
    if (what === 'declined') (await by(outsider, 'declineInvitation')).data()
    if (what === 'expired') open.clock.advance(7 * 24 * 3_600_000)
    if (what === 'sent again since') {
      open.clock.advance(1)
      ;(await by(owner, 'resendInvitation')).data()
    }
    if (what === 'of another purpose') await open.database.sequelize.query(`update identity.codes set purpose = 'verify-email'`)
    const sent = what === 'unknown' ? 'x'.repeat(43) : what === 'missing' ? undefined : code
    expect(await problem(await post({ ...given, code: sent }))).toEqual([400, 'BAD_USER_INPUT', 'CODE'])
  })

  it('I-01 creates one account and one member for 20 concurrent uses of one code', async () => {
    const { code } = await invite(stranger)
    const before = (await members())[0]!.n as number
    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ code, ...given })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(19).fill(400)])
    expect(await members()).toEqual([{ n: before + 1 }])
    expect(await read(`select count(*)::int as n from identity.users where email = '${stranger}'`)).toEqual([{ n: 1 }])
  })

  it('creates nothing when the organization is full, and the code stays valid', async () => {
    const { code } = await invite(stranger)
    const account = 'mutation($name: String!) { createServiceAccount(input: { name: $name, roles: [VIEWER] }) { id } }'
    for (let at = (await members())[0]!.n as number; at < quotas.membersAnOrganization; at++) (await run(owner, account, { name: `a${at}` })).data()
    expect(await problem(await post({ code, ...given }))).toEqual([409, 'CONFLICT', 'QUOTA'])
    expect(await read(`select id from identity.users where email = '${stranger}'`)).toEqual([])
    expect(await read('select count(*)::int as n from identity.codes')).toEqual([{ n: 1 }])
  })

  it('ignores a cookie that another site’s page sends', async () => {
    const { code } = await invite(stranger)
    expect(await problem(await post({ code, ...given }, { cookie: 'a=b', origin: 'https://evil.test' }))).toEqual([403, 'FORBIDDEN', undefined])
  })
})

describe('the invitation page', () => {
  const at = (path: string, init: RequestInit = {}) => open.identity.http(new Request(`${origin}${path}`, init))
  const page = '/identity/invitation'
  const shown = async (query = '', cookie?: string) => {
    const answer = await at(`${page}${query}`, { headers: cookie ? { cookie } : {} })
    const text = await answer.text()
    const line = answer.headers.getSetCookie()[0]?.split(';')[0]
    return { status: answer.status, text, cookie: line, token: /name="token" value="([^"]+)"/.exec(text)?.[1] }
  }
  const send = (fields: Record<string, string>, cookies: readonly (string | undefined)[]) =>
    at(page, {
      method: 'POST',
      headers: { 'x-client-address': '10.3.0.2', cookie: cookies.filter(Boolean).join('; ') },
      body: new URLSearchParams(fields),
    })
  const signedIn = async (email: string) => cookieOf(await requestSignIn(open.identity, email))

  it('creates an account for a person without one, and signs in', async () => {
    const { code } = await invite(stranger)
    const { status, text, cookie, token } = await shown(`?code=${code}`)
    expect([status, text]).toEqual([200, expect.stringContaining('<bdi>Acme</bdi>')])
    expect(text).not.toContain('<script')
    const short = await send({ token: token!, code, name: '<b>', password: 'short' }, [cookie])
    const again = await short.text()
    expect([short.status, again]).toEqual([400, expect.stringContaining('value="&lt;b&gt;"')])
    const foreign = await send({ token: 'x', code, ...given }, [cookie])
    expect([foreign.status, await members()]).toEqual([400, [{ n: 3 }]])
    const joined = await send({ token: token!, code, ...given }, [cookie])
    expect([joined.status, joined.headers.get('location')]).toEqual([303, '/'])
    expect(await open.identity.authority.cookie(new Headers({ cookie: cookieOf(joined) }))).toMatchObject({ organizationId: made.organizations.acme })
    expect((await shown(`?code=${code}`)).status).toBe(410)
    expect((await send({ token: token!, code, ...given }, [cookie])).status).toBe(410)
  })

  it('leads a person with an account to the sign-in and back, where they can join', async () => {
    const { id, code } = await invite('out@other.test')
    const asked = await shown(`?code=${code}`)
    expect(asked.text).toContain(`/identity/login?return_to=${encodeURIComponent(`${page}?code=${code}`)}`)
    const session = await signedIn('out@other.test')
    const { text, cookie, token } = await shown(`?code=${code}`, session)
    expect(text).toContain(`name="accept" value="${id}"`)
    const foreign = await send({ token: 'x', accept: id }, [session, cookie])
    expect([foreign.status, await members()]).toEqual([400, [{ n: 3 }]])
    const joined = await send({ token: token!, accept: id }, [session, cookie])
    expect([joined.status, await joined.text()]).toEqual([200, expect.stringContaining('You have joined')])
    expect(await members()).toEqual([{ n: 4 }])
    const twice = await send({ token: token!, decline: id }, [session, cookie])
    expect([twice.status, await twice.text()]).toEqual([409, expect.stringContaining('was accepted')])
  })

  it('shows a signed-in person the pending invitations, without any link, and lets them decline', async () => {
    const { id } = await invite('out@other.test')
    const session = await signedIn('out@other.test')
    const { cookie, token } = await shown('', session)
    const declined = await send({ token: token!, decline: id }, [session, cookie])
    expect([declined.status, await declined.text()]).toEqual([200, expect.stringContaining('You have declined')])
    expect((await shown('', session)).text).toContain('No invitation waits')
    expect((await shown()).text).toContain(`/identity/login?return_to=${encodeURIComponent(page)}`)
    expect((await send({ token: token!, accept: id }, [cookie])).status).toBe(401)
  })

  it('tells a person signed in with another address what to do, and reveals nothing without a code', async () => {
    const { code } = await invite('out@other.test')
    const other = await shown(`?code=${code}`, await signedIn('ada@acme.test'))
    expect([other.text.includes('name="accept"'), other.text.includes('another address')]).toEqual([false, true])
    const dead = await shown(`?code=${'x'.repeat(43)}`)
    expect([dead.status, dead.text.includes('Acme')]).toEqual([410, false])
  })

  it('changes nothing when it is opened', async () => {
    const { code } = await invite(stranger)
    const before = await read('select status, version from identity.invitations')
    for (let turn = 0; turn < 3; turn++) await shown(`?code=${code}`)
    expect(await read('select status, version from identity.invitations')).toEqual(before)
    expect((await post({ code, ...given })).status).toBe(200)
  })
})
