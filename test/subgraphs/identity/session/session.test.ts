import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import { countStatements } from '../../../kit/statements.ts'
import { cookieOf, execute, freshIdentity, origin, requestSignIn, userViewer, world } from '../identity-world.ts'

describe('sessions', () => {
  const open = freshIdentity()
  let made: Provisioned
  let [acme, other] = ['', '']

  beforeEach(async () => {
    made = await open.identity.provision(world)
    ;[acme, other] = [made.organizations.acme!, made.organizations.other!]
  })

  /** Somebody who has just signed in, as the viewer that the router makes of the token. */
  async function enter(email = 'ada@acme.test') {
    open.clock.advance(1000)
    const answer = await requestSignIn(open.identity, email, undefined, { headers: { 'user-agent': 'a browser' }, address: '192.0.2.7' })
    const { accessToken } = (await answer.json()) as { accessToken: string }
    const { sub, sid, org } = decodeJwt(accessToken) as { sub: string; sid: string; org: string }
    return { sid, viewer: userViewer(sub, org, ['member'], sid), cookie: cookieOf(answer), token: accessToken }
  }
  type Entered = Awaited<ReturnType<typeof enter>>
  const ask = (who: Entered, document: string, variables = {}) => execute(open.identity, who.viewer, document, variables)
  const fields = 'id kind current createdAt lastActiveAt expiresAt ipAddress userAgent context organization { id } clientName'
  const list = async (who: Entered) => (await ask(who, `{ sessions { ${fields} } }`)).data().sessions
  const revoke = (who: Entered, id: string) => ask(who, 'mutation($id: ID!) { revokeSession(input: { id: $id }) { id kind createdAt current } }', { id })
  const goOn = (who: Entered, context: string, organizationId?: string | null) =>
    ask(who, 'mutation($input: SwitchContextInput!) { switchContext(input: $input) { accessToken expiresAt } }', { input: { context, organizationId } })
  const standing = async (...ids: readonly string[]) => [...(await open.identity.authority.sessions(ids)).keys()].toSorted()
  const audit = async (action: string) =>
    (await open.database.sequelize.query('select subject_id, actor, details from identity.audit_entries where action = $1', { bind: [action] }))[0] as object[]
  const renew = (cookie: string) => open.identity.http(new Request(`${origin}/identity/api/auth/token`, { headers: { cookie } }))

  it('I-01 are listed: the current one first, then by last activity', async () => {
    const [old, busy, here] = [await enter(), await enter(), await enter()]
    await enter('out@other.test')
    open.clock.advance(120_000)
    open.identity.authority.touchSessions([busy.sid])
    await expect.poll(async () => (await list(here)).map(({ id }: { id: string }) => id)).toEqual([here.sid, busy.sid, old.sid])
    const [current, active] = await list(here)
    expect(current).toMatchObject({
      kind: 'PASSWORD',
      current: true,
      ipAddress: '192.0.2.7',
      userAgent: 'a browser',
      context: 'ORGANIZATION',
      organization: { id: acme },
    })
    expect(current.lastActiveAt).toEqual(current.createdAt)
    expect(Date.parse(current.expiresAt) - Date.parse(current.createdAt)).toBe(7 * 86_400_000)
    expect([active.current, Date.parse(active.lastActiveAt)]).toEqual([false, open.clock.now().getTime()])
    expect((await ask(here, '{ viewer { context session { id } } }')).data().viewer).toEqual({ context: 'ORGANIZATION', session: { id: here.sid } })
  })

  it('show the address from which they began, the full IPv6 address included', async () => {
    const address = '2001:db8:7::9'
    const answer = await requestSignIn(open.identity, 'ada@acme.test', undefined, { address })
    const { sub, sid, org } = decodeJwt(((await answer.json()) as { accessToken: string }).accessToken) as { sub: string; sid: string; org: string }
    const seen = await execute(open.identity, userViewer(sub, org, ['member'], sid), '{ sessions { ipAddress } }')
    expect(seen.data().sessions).toEqual([{ ipAddress: address }])
  })

  it('cost one statement to list, however many there are', async () => {
    const here = await enter()
    const lean = '{ sessions { id kind current } }'
    await ask(here, lean)
    const one = await countStatements(() => ask(here, lean))
    await enter()
    await enter()
    const three = await countStatements(() => ask(here, lean))
    expect([one.statements.length, three.statements.length]).toEqual([1, 1])
    const whole = await countStatements(() => list(here))
    expect(whole.statements).toHaveLength(2)
  })

  it('a person ends one of theirs; repeating it changes nothing and has the same answer', async () => {
    const [here, there] = [await enter(), await enter()]
    const first = (await revoke(here, there.sid)).data()
    expect(first.revokeSession).toMatchObject({ id: there.sid, kind: 'PASSWORD', current: false })
    expect(await standing(here.sid, there.sid)).toEqual([here.sid])
    expect(await open.identity.authority.cookie(new Headers({ cookie: there.cookie }))).toBe('stale')
    expect((await renew(there.cookie)).status).toBe(401)
    expect((await revoke(here, there.sid)).data()).toEqual(first)
    expect(await audit('session.revoked')).toEqual([{ subject_id: there.sid, actor: `user:${here.viewer.userId}`, details: { kind: 'password' } }])
  })

  it('20 concurrent requests end one session once', async () => {
    const [here, there] = [await enter(), await enter()]
    const answers = await Promise.all(Array.from({ length: 20 }, () => revoke(here, there.sid)))
    expect(new Set(answers.map(answer => answer.data().revokeSession.id))).toEqual(new Set([there.sid]))
    expect(await audit('session.revoked')).toHaveLength(1)
  })

  it('of others are not found, existing or not, and continue', async () => {
    const [here, foreign] = [await enter(), await enter('out@other.test')]
    expect((await revoke(here, foreign.sid)).code).toBe('NOT_FOUND')
    expect((await revoke(here, '00000000-0000-7000-8000-000000000000')).code).toBe('NOT_FOUND')
    expect((await revoke(here, 'x')).code).toBe('BAD_USER_INPUT')
    expect(await standing(foreign.sid)).toEqual([foreign.sid])
    await revoke(foreign, foreign.sid)
    expect((await revoke(here, foreign.sid)).code).toBe('NOT_FOUND')
  })

  it('a person ends all but the current one, or all', async () => {
    const [one, here, two, foreign] = [await enter(), await enter(), await enter(), await enter('out@other.test')]
    const others = (await ask(here, 'mutation { revokeSessions(input: {}) { id current } }')).data().revokeSessions
    expect(others.map(({ id }: { id: string }) => id).toSorted()).toEqual([one.sid, two.sid].toSorted())
    expect(await standing(one.sid, here.sid, two.sid, foreign.sid)).toEqual([here.sid, foreign.sid].toSorted())
    expect((await ask(here, 'mutation { revokeSessions(input: {}) { id } }')).data().revokeSessions).toEqual([])
    const rest = (await ask(here, 'mutation { revokeSessions(input: { keepCurrent: false }) { id current } }')).data().revokeSessions
    expect(rest).toEqual([{ id: here.sid, current: true }])
    expect(await standing(here.sid)).toEqual([])
  })

  it('that was signed out of does not come back, by no cookie and no token', async () => {
    const here = await enter()
    const headers = { cookie: here.cookie, origin }
    await open.identity.http(new Request(`${origin}/identity/api/auth/sign-out`, { method: 'POST', headers }))
    expect((await renew(here.cookie)).status).toBe(401)
    open.identity.authority.touchSessions([here.sid])
    expect((await goOn(here, 'PERSONAL')).code).toBe('UNAUTHENTICATED')
    expect(await standing(here.sid)).toEqual([])
    expect(await audit('session.revoked')).toMatchObject([{ subject_id: here.sid, actor: `user:${here.viewer.userId}` }])
  })

  it('a sign-in takes up no session that a browser already had', async () => {
    const before = await enter()
    const answer = await requestSignIn(open.identity, 'out@other.test', undefined, { headers: { cookie: before.cookie, origin } })
    const { accessToken } = (await answer.json()) as { accessToken: string }
    expect([decodeJwt(accessToken).sid === before.sid, cookieOf(answer) === before.cookie]).toEqual([false, false])
    expect(await open.identity.authority.cookie(new Headers({ cookie: before.cookie }))).toMatchObject({ userId: before.viewer.userId })
  })

  it('switch to personal context separately: earlier tokens, other sessions and the next sign-in keep the organization', async () => {
    const [here, beside] = [await enter(), await enter()]
    const { accessToken } = (await goOn(here, 'PERSONAL')).data().switchContext
    expect(decodeJwt(accessToken)).toMatchObject({ sid: here.sid, ctx: 'personal', roles: [] })
    expect(decodeJwt(accessToken)).not.toHaveProperty('org')
    expect(Object.keys(decodeJwt(accessToken).permissions as object)).toEqual(['launcher'])
    const sessions = await open.identity.authority.sessions([here.sid, beside.sid])
    expect(sessions.get(here.sid)).toMatchObject({ organizationId: null, context: 'personal', memberships: { [acme]: ['member'] } })
    expect(sessions.get(beside.sid)).toMatchObject({ organizationId: acme, context: 'organization' })
    const renewed = (await (await renew(here.cookie)).json()) as { accessToken: string }
    expect(decodeJwt(renewed.accessToken).ctx).toBe('personal')
    expect((await list(here))[0]).toMatchObject({ context: 'PERSONAL', organization: null })
    expect(decodeJwt((await enter()).token).org).toBe(acme)
    expect(await audit('context.switched')).toEqual([{ subject_id: here.sid, actor: `user:${here.viewer.userId}`, details: { context: 'personal' } }])
  })

  it('return from personal context into an organization of the person, and into no other', async () => {
    const here = await enter()
    await goOn(here, 'PERSONAL')
    expect((await goOn(here, 'ORGANIZATION', made.organizations.admin)).code).toBe('NOT_FOUND')
    expect((await goOn(here, 'ORGANIZATION')).code).toBe('BAD_USER_INPUT')
    expect((await goOn(here, 'PERSONAL', acme)).code).toBe('BAD_USER_INPUT')
    const { accessToken } = (await goOn(here, 'ORGANIZATION', other)).data().switchContext
    expect(decodeJwt(accessToken)).toMatchObject({ ctx: 'organization', org: other, roles: ['viewer'] })
    expect((await list(here))[0]).toMatchObject({ context: 'ORGANIZATION', organization: { id: other } })
  })

  it('last by use: a day after the last time they are renewed for seven, by at most a writing a minute', async () => {
    const here = await enter()
    const use = async () => {
      open.identity.authority.touchSessions([here.sid])
      await expect.poll(async () => (await list(here))[0].lastActiveAt).toBe(open.clock.now().toISOString())
      return Date.parse((await list(here))[0].expiresAt)
    }
    const first = Date.parse((await list(here))[0].expiresAt)
    open.clock.advance(86_400_000 - 60_000)
    expect(await use()).toBe(first)
    open.clock.advance(120_000)
    expect(await use()).toBe(open.clock.now().getTime() + 7 * 86_400_000)
    const { statements } = await countStatements(async () => open.identity.authority.touchSessions([here.sid, here.sid]))
    expect(statements).toEqual([])
    open.clock.advance(7 * 86_400_000)
    expect(await standing(here.sid)).toEqual([])
    open.identity.authority.touchSessions([here.sid])
    open.clock.advance(1)
    expect(await standing(here.sid)).toEqual([])
  })

  it('a renewed session’s cookie is renewed too', async () => {
    const here = await enter()
    open.clock.advance(3 * 86_400_000)
    const maxAge = async () => Number(/Max-Age=(\d+)/.exec((await renew(here.cookie)).headers.getSetCookie()[0]!)![1])
    expect(await maxAge()).toBe(4 * 86_400)
    await expect.poll(maxAge).toBe(7 * 86_400)
  })

  it('are renewed by identity’s clock, whatever a router’s clock says', async () => {
    const here = await enter()
    expect(decodeJwt(here.token).iat).toBe(Math.floor(open.clock.now().getTime() / 1000))
    open.clock.advance(-3_600_000)
    expect(await standing(here.sid)).toEqual([here.sid])
  })

  it('51 sign-ins at once leave 50', async () => {
    const here = await enter()
    await open.database.sequelize.query(
      `insert into identity.sessions (id, token, user_id, created_at, updated_at, expires_at)
       select gen_random_uuid(), gen_random_uuid()::text, user_id, created_at, updated_at, expires_at from identity.sessions, generate_series(1, 49) where id = $1`,
      { bind: [here.sid] },
    )
    const others = await Promise.all(Array.from({ length: 5 }, () => enter()))
    expect(await list(others[0]!)).toHaveLength(50)
    expect(await standing(...others.map(({ sid }) => sid))).toHaveLength(5)
  })
})
