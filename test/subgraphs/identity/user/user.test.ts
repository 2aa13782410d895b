import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { countStatements } from '../../../kit/statements.ts'
import { cookieOf, execute, freshIdentity, requestSignIn, userViewer, world } from '../identity-world.ts'

describe('people', () => {
  const open = freshIdentity()
  let made: Provisioned
  let viewers: Record<'owner' | 'ada' | 'outsider' | 'super', Viewer>

  beforeEach(async () => {
    made = await open.identity.provision(world)
    const at = (email: string, slug: string, ...roles: string[]) => userViewer(made.users[email]!, made.organizations[slug]!, roles)
    viewers = {
      owner: at('owner@acme.test', 'acme', 'owner'),
      ada: at('ada@acme.test', 'acme', 'member'),
      outsider: at('out@other.test', 'other', 'owner'),
      super: at('super@admin.test', 'admin', 'platform_super_admin'),
    }
  })

  const run = (viewer: Viewer, source: string, variables?: Record<string, unknown>) => execute(open.identity, viewer, source, variables)
  const read = async (sql: string) => (await open.database.sequelize.query(sql))[0] as Record<string, unknown>[]
  const user = 'query($id: ID!) { user(id: $id) { id name kind } }'
  const suspend = 'mutation($id: ID!, $reason: String!) { suspendUser(input: { id: $id, reason: $reason }) { id suspendedAt } }'
  const reinstate = 'mutation($id: ID!) { reinstateUser(input: { id: $id }) { id suspendedAt } }'
  const update = 'mutation($input: UpdateUserInput!) { updateUser(input: $input) { name image } }'

  it('are resolved by id: oneself and the members of the active organization, and nobody else', async () => {
    const [owner, outsider] = [made.users['owner@acme.test']!, made.users['out@other.test']!]
    expect((await run(viewers.ada, user, { id: owner })).data().user).toEqual({ id: owner, name: 'Olga Owner', kind: 'HUMAN' })
    const [foreign, nobody] = [await run(viewers.ada, user, { id: outsider }), await run(viewers.ada, user, { id: made.organizations.acme! })]
    expect([foreign.code, nobody.code]).toEqual(['NOT_FOUND', 'NOT_FOUND'])
    expect(foreign.error?.message.replace(outsider, 'X')).toBe(nobody.error?.message.replace(made.organizations.acme!, 'X'))
    expect((await run(viewers.ada, user, { id: 'x' })).code).toBe('BAD_USER_INPUT')
    expect((await run({ ...viewers.ada, organizationId: null }, user, { id: viewers.ada.userId! })).data().user.name).toBe('Ada Both')
  })

  it.each([
    'emailVerified',
    'lastSignedInAt',
    'suspendedAt',
  ])('keep %s to themselves and to who runs the organization; for others it is null and the rest stays', async field => {
    const members = `{ organizationMembers { nodes { user { id name ${field} } } } viewer { user { ${field} } } }`
    const byMember = await run(viewers.ada, members)
    expect(byMember.partial.errors.map(error => [error.extensions.code, error.path?.at(-1)])).toEqual([
      ['FORBIDDEN', field],
      ['FORBIDDEN', field],
    ])
    expect(byMember.partial.data!.organizationMembers.nodes.map((node: { user: { name: string } }) => node.user.name)).toHaveLength(3)
    expect((await run(viewers.owner, members)).partial.errors).toEqual([])
    const key: Viewer = { ...anonymous, kind: 'apiKey', organizationId: made.organizations.acme!, context: 'organization', scopes: [] }
    expect((await run(key, `query($id: ID!) { user(id: $id) { ${field} } }`, { id: viewers.ada.userId! })).code).toBe('FORBIDDEN')
    const app = { ...viewers.owner, roles: [], clientId: 'phone' }
    expect((await run(app, `query($id: ID!) { user(id: $id) { ${field} } }`, { id: app.userId! })).code).toBe('FORBIDDEN')
  })

  it('are shown when they last signed in', async () => {
    await requestSignIn(open.identity, 'ada@acme.test')
    const seen = (await run(viewers.ada, '{ viewer { user { lastSignedInAt emailVerified } } }')).data().viewer.user
    expect(seen).toEqual({ lastSignedInAt: open.clock.now().toISOString(), emailVerified: true })
  })

  it('change their own name and picture; omitted fields stay, and an unchanged value causes no fact', async () => {
    const image = 'https://pictures.test/ada.png'
    expect((await run(viewers.ada, update, { input: { name: ' Ada ', image } })).data().updateUser).toEqual({ name: 'Ada', image })
    expect((await run(viewers.ada, update, { input: { image: null } })).data().updateUser).toEqual({ name: 'Ada', image: null })
    expect((await run(viewers.ada, update, { input: { name: 'Ada' } })).data().updateUser.name).toBe('Ada')
    for (const input of [{ name: ' ' }, { image: 'http://pictures.test/ada.png' }, { image: `https://pictures.test/${'a'.repeat(2000)}` }])
      expect((await run(viewers.ada, update, { input })).code).toBe('BAD_USER_INPUT')
  })

  it('are suspended by platform admins: sessions end, and the right password is answered like a wrong one', async () => {
    const id = made.users['ada@acme.test']!
    const signedIn = await requestSignIn(open.identity, 'ada@acme.test')
    expect(await open.identity.authority.cookie(new Headers({ cookie: cookieOf(signedIn) }))).toMatchObject({ userId: id })
    const answer = await run(viewers.super, suspend, { id, reason: 'Lost the laptop' })
    expect(answer.data().suspendUser).toEqual({ id, suspendedAt: open.clock.now().toISOString() })
    expect(await open.identity.authority.cookie(new Headers({ cookie: cookieOf(signedIn) }))).toBe('stale')
    expect(await read('select id from identity.sessions')).toEqual([])
    const [right, wrong] = [await requestSignIn(open.identity, 'ada@acme.test'), await requestSignIn(open.identity, 'nobody@acme.test')]
    expect([right.status, await right.json()]).toEqual([401, await wrong.json()])
    expect(right.headers.getSetCookie()).toEqual(wrong.headers.getSetCookie())
    expect((await run(viewers.super, suspend, { id, reason: 'Again' })).data().suspendUser.suspendedAt).toBe(open.clock.now().toISOString())
    expect((await run(viewers.super, reinstate, { id })).data().reinstateUser).toEqual({ id, suspendedAt: null })
    expect((await requestSignIn(open.identity, 'ada@acme.test')).status).toBe(200)
    const lines = await read(`select action, tenant_id, subject_id, details from identity.audit_entries where action like 'account.%' order by action desc`)
    expect(lines).toEqual([
      { action: 'account.suspended', tenant_id: made.organizations.admin, subject_id: id, details: { reason: 'Lost the laptop' } },
      { action: 'account.reinstated', tenant_id: made.organizations.admin, subject_id: id, details: {} },
    ])
  })

  it('cannot be suspended if they are super admins, or service accounts', async () => {
    expect((await run(viewers.super, suspend, { id: viewers.super.userId!, reason: 'x' })).code).toBe('FORBIDDEN')
    const create = 'mutation { createServiceAccount(input: { name: "Agent", roles: [MEMBER] }) { user { id } } }'
    const account = (await run(viewers.owner, create)).data().createServiceAccount.user.id
    expect((await run(viewers.super, suspend, { id: account, reason: 'x' })).code).toBe('CONFLICT')
    expect((await run(viewers.super, suspend, { id: made.organizations.acme!, reason: 'x' })).code).toBe('NOT_FOUND')
    expect((await run(viewers.super, suspend, { id: viewers.ada.userId!, reason: ' ' })).code).toBe('BAD_USER_INPUT')
  })

  it('keep no valid session from a sign-in that began before their suspension', async () => {
    const id = made.users['ada@acme.test']!
    await requestSignIn(open.identity, 'ada@acme.test')
    const [session] = await read('select id from identity.sessions')
    await open.database.sequelize.query(`update identity.users set suspended_at = created_at where id = '${id}'`)
    expect((await open.identity.authority.sessions([session!.id as string])).size).toBe(0)
    await run(viewers.super, reinstate, { id })
    expect((await open.identity.authority.sessions([session!.id as string])).size).toBe(0)
  })

  it('cost one statement, however many are requested', async () => {
    const some = Object.values(made.users).slice(0, 3)
    const { statements } = await countStatements(async () =>
      (await run(viewers.owner, `{ ${some.map((id, at) => `u${at}: user(id: "${id}") { name }`).join(' ')} }`)).data(),
    )
    expect(statements).toHaveLength(1)
  })
})
