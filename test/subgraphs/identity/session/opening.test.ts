import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { endSessions, type NewSession, openSession } from '../../../../subgraphs/identity/session/opening.ts'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import type { Ending } from '../../../../subgraphs/identity/stores/session.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { anonymous } from '../../../../subgraphs/viewer.ts'
import { unbounded } from '../../../kit/reading.ts'
import { freshIdentity, world } from '../identity-world.ts'

const from = { ipAddress: '192.0.2.7', userAgent: 'a browser' }

describe('beginning and ending sessions', () => {
  const open = freshIdentity()
  let made: Provisioned
  let ada: string

  beforeEach(async () => {
    made = await open.identity.provision(world)
    ada = made.users['ada@acme.test']!
  })

  const context = () => open.identity.open(anonymous, { requestId: 'test', ...unbounded })
  const begin = (session: Partial<NewSession> = {}) => {
    const its = context()
    const whole = { userId: ada, kind: 'handoff', organizationId: made.organizations.acme!, from, ...session } as const
    return inTransaction(its, unit => openSession(its, whole, unit))
  }
  const end = (of: Ending) => {
    const its = context()
    return inTransaction(its, unit => endSessions(its, of, unit))
  }
  const standing = async (...ids: readonly string[]) => [...(await open.identity.authority.sessions(ids)).keys()]
  const browser = (cookies: readonly string[]) => new Headers({ cookie: cookies.map(line => line.split(';')[0]).join('; ') })
  const grant = { clientId: 'an-app', scopes: ['publishing:posts.read'], trusted: false }

  it('begins one in an organization, known by its token, and by its cookie in a browser', async () => {
    const opened = await begin()
    expect(decodeJwt(opened.accessToken)).toMatchObject({ sub: ada, sid: opened.sessionId, org: made.organizations.acme, roles: ['member'] })
    const session = (await open.identity.authority.sessions([opened.sessionId])).get(opened.sessionId)
    expect(session).toMatchObject({ userId: ada, organizationId: made.organizations.acme, roles: ['member'], grant: null })
    expect(session!.expiresAt).toEqual(new Date(open.clock.now().getTime() + 7 * 86_400_000))
    expect(await open.identity.authority.cookie(browser(opened.cookies))).toMatchObject({ sessionId: opened.sessionId, userId: ada })
    expect(opened.cookies.join()).toMatch(/^identity\.session_token=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/)
  })

  it('begins one that is extended by use, and with a fixed end one that is not', async () => {
    const day = 86_400_000
    const inDays = (days: number) => new Date(open.clock.now().getTime() + days * day)
    const end = inDays(3)
    const [lasting, ending] = [await begin(), await begin({ expiresAt: end })]
    open.clock.advance(2 * day)
    open.identity.authority.touchSessions([lasting.sessionId, ending.sessionId])
    const expiry = async ({ sessionId }: { sessionId: string }) => (await open.identity.authority.sessions([sessionId])).get(sessionId)?.expiresAt
    await expect.poll(() => expiry(lasting)).toEqual(inDays(7))
    expect(await expiry(ending)).toEqual(end)
  })

  it('leaves nothing behind when the beginning transaction fails', async () => {
    const its = context()
    let id = ''
    const failing = inTransaction(its, async unit => {
      id = (await openSession(its, { userId: ada, kind: 'handoff', organizationId: null, from }, unit)).sessionId
      throw new Error('later')
    })
    await expect(failing).rejects.toThrow('later')
    expect(await standing(id)).toEqual([])
  })

  it('begins in personal context by choice, and where the person has no membership', async () => {
    const acme = made.organizations.acme!
    for (const session of [{ context: 'personal' }, { userId: made.users['out@other.test']!, organizationId: acme }] as const) {
      const opened = await begin(session)
      expect(decodeJwt(opened.accessToken)).toMatchObject({ ctx: 'personal', roles: [] })
      expect((await open.identity.authority.sessions([opened.sessionId])).get(opened.sessionId)).toMatchObject({ organizationId: null, roles: [] })
    }
  })

  it('begins none for a suspended person, and lets none continue', async () => {
    const { sessionId } = await begin()
    await open.database.sequelize.query(`update identity.users set suspended_at = created_at where id = '${ada}'`)
    await expect(begin()).rejects.toMatchObject({ extensions: { code: 'UNAUTHENTICATED' } })
    expect(await standing(sessionId)).toEqual([])
  })

  it('a person has 50 at most: the oldest ends, and nobody else’s', async () => {
    const other = await begin({ userId: made.users['out@other.test']! })
    const ids: string[] = []
    for (let turn = 0; turn < 51; turn++) {
      open.clock.set(new Date(open.clock.now().getTime() + 1000))
      ids.push((await begin()).sessionId)
    }
    expect((await standing(...ids)).toSorted()).toEqual(ids.slice(1).toSorted())
    expect(await standing(other.sessionId)).toEqual([other.sessionId])
  })

  it('ends all of a person but the calling one, with an audit entry for each', async () => {
    const [here, there, app] = [await begin(), await begin({ kind: 'password' }), await begin({ kind: 'oauth', grant })]
    const gone = await end({ userId: ada, except: here.sessionId })
    expect(gone.map(({ id }) => id).toSorted()).toEqual([there.sessionId, app.sessionId].toSorted())
    expect(await standing(here.sessionId, there.sessionId, app.sessionId)).toEqual([here.sessionId])
    const [[{ revoked }]] = (await open.database.sequelize.query(
      `select array_agg(subject_id::text) as revoked from identity.audit_entries where action = 'session.revoked'`,
    )) as unknown as [[{ revoked: string[] }]]
    expect(revoked.toSorted()).toEqual([there.sessionId, app.sessionId].toSorted())
  })

  it('ends those of apps in an organization that a person has left; the person’s own continue in personal context', async () => {
    const { acme, other } = made.organizations
    const [own, app, elsewhere] = [await begin(), await begin({ kind: 'oauth', grant }), await begin({ kind: 'oauth', grant, organizationId: other! })]
    await end({ userId: ada, organizationId: acme! })
    expect((await standing(own.sessionId, app.sessionId, elsewhere.sessionId)).toSorted()).toEqual([own.sessionId, elsewhere.sessionId].toSorted())
    expect((await open.identity.authority.sessions([own.sessionId])).get(own.sessionId)).toMatchObject({ organizationId: null, context: 'personal' })
  })

  it('ends those of a client, of one person or of everyone', async () => {
    const out = made.users['out@other.test']!
    const [hers, his, own] = [await begin({ kind: 'oauth', grant }), await begin({ kind: 'oauth', grant, userId: out }), await begin()]
    await end({ clientId: grant.clientId, userId: ada })
    expect(await standing(hers.sessionId, his.sessionId)).toEqual([his.sessionId])
    await end({ clientId: grant.clientId })
    expect(await standing(his.sessionId, own.sessionId)).toEqual([own.sessionId])
  })
})
