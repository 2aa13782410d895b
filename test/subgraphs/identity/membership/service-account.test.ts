import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { execute, freshIdentity, quotas, userViewer, world } from '../identity-world.ts'

describe('service accounts', () => {
  const open = freshIdentity()
  let made: Provisioned
  let viewers: Record<'owner' | 'admin' | 'ada' | 'outsider', Viewer>

  beforeEach(async () => {
    made = await open.identity.provision(world)
    const at = (email: string, slug: string, ...roles: string[]) => userViewer(made.users[email]!, made.organizations[slug]!, roles)
    viewers = {
      owner: at('owner@acme.test', 'acme', 'owner'),
      admin: at('admin@acme.test', 'acme', 'admin'),
      ada: at('ada@acme.test', 'acme', 'member'),
      outsider: at('out@other.test', 'other', 'owner'),
    }
  })

  const run = (viewer: Viewer, source: string, variables?: Record<string, unknown>) => execute(open.identity, viewer, source, variables)
  const read = async (sql: string) => (await open.database.sequelize.query(sql))[0] as Record<string, unknown>[]
  const create = 'mutation($input: CreateServiceAccountInput!) { createServiceAccount(input: $input) { id roles user { id name kind email emailVerified } } }'
  const change = 'mutation($id: ID!, $roles: [Role!]!) { changeMemberRoles(input: { id: $id, roles: $roles }) { roles } }'
  const remove = 'mutation($id: ID!) { removeMember(input: { id: $id }) { id user { id } } }'
  const members = 'query($kind: UserKind) { organizationMembers(kind: $kind) { totalCount nodes { user { name kind } } } }'
  const input = { name: ' Agent ', roles: ['MEMBER', 'VIEWER'] }

  it('hold a seat as people do, without mail address or sign-in', async () => {
    const account = (await run(viewers.admin, create, { input })).data().createServiceAccount
    expect(account).toMatchObject({ roles: ['MEMBER', 'VIEWER'], user: { name: 'Agent', kind: 'SERVICE_ACCOUNT', email: null, emailVerified: false } })
    const [all, people, accounts] = await Promise.all(
      [undefined, 'HUMAN', 'SERVICE_ACCOUNT'].map(async kind => (await run(viewers.ada, members, { kind })).data().organizationMembers),
    )
    expect([all.totalCount, people.totalCount, accounts]).toEqual([4, 3, { totalCount: 1, nodes: [{ user: { name: 'Agent', kind: 'SERVICE_ACCOUNT' } }] }])
    const [line] = await read(`select action, subject_id, tenant_id from identity.audit_entries`)
    expect(line).toEqual({ action: 'service_account.created', subject_id: account.user.id, tenant_id: made.organizations.acme })
    expect(await read('select count(*)::int as n from identity.accounts')).toEqual([{ n: world.people.length }])
    expect((await run(viewers.owner, create, { input })).code).toBeUndefined()
    expect((await run(viewers.owner, create, { input })).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'QUOTA' })
    expect(quotas.membersAnOrganization).toBe(5)
  })

  it.each(['OWNER', 'PLATFORM_ADMIN', 'PLATFORM_SUPER_ADMIN'])('are never %s, neither made so nor changed to it', async role => {
    expect((await run(viewers.owner, create, { input: { ...input, roles: ['MEMBER', role] } })).refused('BAD_USER_INPUT').extensions.field).toBe('roles')
    const { id } = (await run(viewers.owner, create, { input })).data().createServiceAccount
    if (role === 'OWNER') expect((await run(viewers.owner, change, { id, roles: [role] })).code).toBe('BAD_USER_INPUT')
    expect((await run(viewers.owner, change, { id, roles: ['ADMIN'] })).data().changeMemberRoles.roles).toEqual(['ADMIN'])
  })

  it('are created by managers only, and once for each key of the caller', async () => {
    expect((await run(viewers.ada, create, { input })).code).toBe('FORBIDDEN')
    expect((await run(viewers.owner, create, { input: { ...input, name: ' ' } })).code).toBe('BAD_USER_INPUT')
    const once = { input: { ...input, idempotencyKey: 'the one' } }
    const [first, again] = [await run(viewers.owner, create, once), await run(viewers.owner, create, once)]
    expect(again.data()).toEqual(first.data())
    expect(await read(`select count(*)::int as n from identity.users where kind = 'service_account'`)).toEqual([{ n: 1 }])
  })

  it('end with their membership, and only inside their organization', async () => {
    const { id, user } = (await run(viewers.owner, create, { input })).data().createServiceAccount
    expect((await run(viewers.outsider, remove, { id })).code).toBe('NOT_FOUND')
    expect((await run(viewers.owner, remove, { id })).data().removeMember.id).toBe(id)
    expect(await read(`select id from identity.users where id = '${user.id}'`)).toEqual([])
  })
})
