import { QueryTypes } from 'sequelize'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import { everyScope, scopesOf } from '../../../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { unbounded } from '../../../kit/reading.ts'
import { countStatements } from '../../../kit/statements.ts'
import { atTheSameMoment, execute, freshIdentity, password, quotas, userViewer, world } from '../identity-world.ts'

describe('organizations and their members', () => {
  const open = freshIdentity()
  let hours = 0
  let made: Provisioned
  let viewers: Record<'owner' | 'admin' | 'ada' | 'outsider' | 'super', Viewer>

  beforeEach(async () => {
    // An hour after the test before: what it tried does not count any more.
    open.clock.advance(++hours * 3_600_000)
    made = await open.identity.provision(world)
    const at = (email: string, slug: string, ...roles: string[]) => userViewer(made.users[email]!, made.organizations[slug]!, roles)
    viewers = {
      owner: at('owner@acme.test', 'acme', 'owner'),
      admin: at('admin@acme.test', 'acme', 'admin'),
      ada: at('ada@acme.test', 'acme', 'member'),
      outsider: at('out@other.test', 'other', 'owner'),
      super: at('super@admin.test', 'admin', 'platform_super_admin'),
    }
  })

  const run = (viewer: Viewer, source: string, variables?: Record<string, unknown>) => execute(open.identity, viewer, source, variables)
  const audit = async () =>
    (await open.database.sequelize.query('select action, subject_id, actor from identity.audit_entries order by at, id'))[0] as { action: string }[]
  const members =
    'query($first: Int, $after: String) { organizationMembers(first: $first, after: $after) { totalCount nodes { id version roles user { name } } pageInfo { hasNextPage endCursor } } }'
  const memberOf = async (email: string) => {
    const nodes = (await run(viewers.owner, '{ organizationMembers { nodes { id version roles user { id } } } }')).data().organizationMembers.nodes
    return nodes.find((node: { user: { id: string } }) => node.user.id === made.users[email])
  }
  const change = 'mutation($id: ID!, $roles: [Role!]!, $v: Int) { changeMemberRoles(input: { id: $id, roles: $roles, expectedVersion: $v }) { roles version } }'
  const add =
    'mutation($email: EmailAddress!, $roles: [Role!]!) { addMember(input: { email: $email, roles: $roles }) { id roles user { email } organization { slug } } }'
  const create = 'mutation($name: String!, $slug: String!) { createOrganization(input: { name: $name, slug: $slug }) { id slug name createdAt } }'
  const remove = 'mutation($id: ID!) { removeMember(input: { id: $id }) { id } }'

  it('I-01 describes the viewer, whatever the credential', async () => {
    const who = '{ viewer { kind roles scopes user { name email image } organization { name slug } } }'
    expect((await run(viewers.owner, who)).data().viewer).toMatchObject({
      kind: 'USER',
      roles: ['OWNER'],
      user: { name: 'Olga Owner', email: 'owner@acme.test', image: null },
      organization: { name: 'Acme', slug: 'acme' },
    })
    expect((await run(anonymous, who)).data().viewer).toEqual({ kind: 'ANONYMOUS', roles: [], scopes: [], user: null, organization: null })
    const key: Viewer = { ...anonymous, kind: 'apiKey', organizationId: made.organizations.acme!, context: 'organization', scopes: ['publishing:posts.read'] }
    expect((await run(key, who)).data().viewer).toMatchObject({
      kind: 'API_KEY',
      user: null,
      organization: { name: 'Acme' },
      scopes: ['publishing:posts.read'],
    })
  })

  it('resolves references to people of the active organization, and nobody else', async () => {
    const people = 'query($r: [_Any!]!) { _entities(representations: $r) { ... on User { name } ... on Organization { name } } }'
    const r = [
      ...Object.values(made.users).map(id => ({ __typename: 'User', id })),
      ...Object.values(made.organizations).map(id => ({ __typename: 'Organization', id })),
    ]
    expect((await run(viewers.ada, people, { r })).data()._entities).toEqual([
      { name: 'Olga Owner' },
      { name: 'Adam Admin' },
      { name: 'Ada Both' },
      null,
      null,
      { name: 'Acme' },
      null,
      null,
    ])
    expect((await run(anonymous, people, { r })).data()._entities).toEqual(r.map(() => null))
  })

  it('resolves any number of references with one statement for each type', async () => {
    const people = 'query($r: [_Any!]!) { _entities(representations: $r) { ... on User { name email } } }'
    const ids = [made.users['owner@acme.test'], made.users['admin@acme.test'], made.users['ada@acme.test']]
    for (const size of [5, 50]) {
      const r = Array.from({ length: size }, (_, at) => ({ __typename: 'User', id: ids[at % 3] }))
      const { statements } = await countStatements(async () => (await run(viewers.owner, people, { r })).data())
      expect(statements).toHaveLength(1)
    }
  })

  it('pages through members, and counts them only when selected', async () => {
    const first = (await run(viewers.owner, members, { first: 2 })).data().organizationMembers
    expect(first.totalCount).toBe(3)
    expect(first.pageInfo.hasNextPage).toBe(true)
    const rest = (await run(viewers.owner, members, { first: 2, after: first.pageInfo.endCursor })).data().organizationMembers
    expect(rest.pageInfo.hasNextPage).toBe(false)
    const names = [...first.nodes, ...rest.nodes].map((node: { user: { name: string } }) => node.user.name)
    expect(names.sort()).toEqual(['Ada Both', 'Adam Admin', 'Olga Owner'])
    const { statements } = await countStatements(() => run(viewers.owner, '{ organizationMembers { nodes { user { name } organization { name } } } }'))
    expect(statements).toHaveLength(3)
    expect((await run(viewers.owner, members, { first: 101 })).code).toBe('BAD_USER_INPUT')
    expect((await run(viewers.owner, members, { after: 'x' })).code).toBe('BAD_USER_INPUT')
  })

  it('I-01 lists the organizations a person can switch to, and shows members only from inside', async () => {
    const own = (await run(viewers.ada, '{ memberships { nodes { roles organization { slug } } } }')).data().memberships.nodes
    expect(own).toEqual([
      { roles: ['MEMBER'], organization: { slug: 'acme' } },
      { roles: ['VIEWER'], organization: { slug: 'other' } },
    ])
    const inside = '{ memberships { nodes { organization { slug memberships { totalCount } } } } }'
    expect((await run(viewers.ada, inside)).code).toBe('NOT_FOUND')
    const key: Viewer = { ...anonymous, kind: 'apiKey', organizationId: made.organizations.acme! }
    expect((await run(key, '{ memberships { totalCount } }')).code).toBe('FORBIDDEN')
  })

  it('I-01 creates an organization with its maker as owner, once for each slug', async () => {
    const created = (await run(viewers.ada, create, { name: '  New  ', slug: 'new' })).data().createOrganization
    expect(created).toMatchObject({ slug: 'new', name: 'New', createdAt: open.clock.now().toISOString() })
    expect((await run(viewers.ada, '{ memberships { totalCount } }')).data().memberships.totalCount).toBe(3)
    expect((await run(viewers.owner, create, { name: 'New', slug: 'new' })).code).toBe('CONFLICT')
    expect((await run(viewers.owner, create, { name: 'New', slug: 'No Slug' })).code).toBe('BAD_USER_INPUT')
    expect((await run(viewers.owner, create, { name: 'New', slug: 'admin' })).code).toBe('FORBIDDEN')
    expect((await run(viewers.owner, create, { name: ' ', slug: 'blank' })).code).toBe('BAD_USER_INPUT')
    expect(await audit()).toEqual([{ action: 'organization.created', subject_id: created.id, actor: `user:${viewers.ada.userId}` }])
  })

  /** An organization that ada, who belongs to two others, has just made. */
  const adasOwn = async (): Promise<Viewer> => {
    const created = (await run(viewers.ada, create, { name: 'New', slug: 'new' })).data().createOrganization
    return userViewer(viewers.ada.userId!, created.id, ['owner'])
  }

  it('I-01 adds people of the caller’s other organizations, with an audit entry', async () => {
    const ada = await adasOwn()
    const added = (await run(ada, add, { email: 'Out@Other.test', roles: ['VIEWER', 'MEMBER'] })).data().addMember
    expect(added).toMatchObject({ roles: ['MEMBER', 'VIEWER'], user: { email: 'out@other.test' }, organization: { slug: 'new' } })
    expect((await run(ada, add, { email: 'out@other.test', roles: ['MEMBER'] })).code).toBe('CONFLICT')
    expect((await run(ada, add, { email: 'owner@acme.test', roles: ['MEMBER'] })).data().addMember.roles).toEqual(['MEMBER'])
    expect((await audit()).find(entry => (entry as { subject_id?: string }).subject_id === added.id)).toEqual({
      action: 'membership.added',
      subject_id: added.id,
      actor: `user:${ada.userId}`,
    })
  })

  it('I-01 answers for a stranger as for an address without an account, by the same statements', async () => {
    const ada = await adasOwn()
    const tried = async (email: string) => {
      const { result, statements } = await countStatements(() => run(ada, add, { email, roles: ['MEMBER'] }))
      return { code: result.code, message: result.error?.message, extensions: result.error?.extensions, statements }
    }
    const [stranger, nobody] = [await tried('super@admin.test'), await tried('nobody@acme.test')]
    expect(stranger).toEqual(nobody)
    expect(stranger).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('inviteMember'), extensions: { field: 'email' } })
  })

  it('I-01 lets platform admins add anyone with an account, from any organization', async () => {
    const created = (await run(viewers.super, create, { name: 'New', slug: 'new' })).data().createOrganization
    const there = userViewer(viewers.super.userId!, created.id, ['owner'])
    expect((await run(there, add, { email: 'out@other.test', roles: ['MEMBER'] })).data().addMember.user.email).toBe('out@other.test')
    expect((await run(there, add, { email: 'nobody@acme.test', roles: ['MEMBER'] })).code).toBe('NOT_FOUND')
  })

  it('I-01 limits the addresses that a person tries within an hour', async () => {
    const ada = await adasOwn()
    for (let turn = 0; turn < quotas.additionsAnHour; turn++)
      expect((await run(ada, add, { email: `nobody${turn}@acme.test`, roles: ['MEMBER'] })).code).toBe('NOT_FOUND')
    const { result, statements } = await countStatements(() => run(ada, add, { email: 'out@other.test', roles: ['MEMBER'] }))
    expect([result.code, result.error?.extensions.retryAfter, statements]).toEqual(['RATE_LIMITED', 3600, [expect.stringContaining('identity.limits')]])
    expect((await run(viewers.owner, add, { email: 'ada@acme.test', roles: ['MEMBER'] })).code).toBe('CONFLICT')
    open.clock.advance(3_600_000)
    expect((await run(ada, add, { email: 'out@other.test', roles: ['MEMBER'] })).code).toBeUndefined()
  })

  it('refuses a member past the number that an organization may have', async () => {
    const people = ['ada', ...'bcde'].map(name => ({ email: `${name}@acme.test`, name }))
    const members = people.map(({ email }) => ({ email, roles: ['owner'] as const }))
    await open.identity.provision({ password, people, organizations: [{ slug: 'full', name: 'Full', members }], keys: [] })
    const [full] = (await open.database.sequelize.query<{ id: string }>(`select id from identity.organizations where slug = 'full'`, {
      type: QueryTypes.SELECT,
    }))!
    const ada = userViewer(viewers.ada.userId!, full!.id, ['owner'])
    const refused = await run(ada, add, { email: 'out@other.test', roles: ['MEMBER'] })
    expect([refused.code, refused.error?.extensions.reason]).toEqual(['CONFLICT', 'QUOTA'])
  })

  it('rejects organizations above the daily number for a while, and above the total for good, also concurrently', async () => {
    let number = 0
    const another = () => run(viewers.ada, create, { name: 'New', slug: `new-${++number}` })
    for (let turn = 1; turn < quotas.organizationsADay; turn++) expect((await another()).code).toBeUndefined()
    open.clock.advance(3_600_000)
    const both = await atTheSameMoment(open.database, 'identity.organizations', [another, another])
    expect(both.map(answer => answer.code).sort()).toEqual(['RATE_LIMITED', undefined])
    expect(both.find(answer => answer.code)!.error?.extensions).toMatchObject({ retryAfter: 23 * 3600 })
    open.clock.advance(24 * 3_600_000)
    while (number < quotas.organizationsAPerson + 1) expect((await another()).code).toBeUndefined()
    const refused = await another()
    expect([refused.code, refused.error?.extensions.reason]).toEqual(['CONFLICT', 'QUOTA'])
    expect((await run(viewers.owner, create, { name: 'New', slug: 'of-somebody-else' })).code).toBeUndefined()
  })

  it('I-01 lets only managers add members, with roles that they may grant', async () => {
    expect((await run(viewers.admin, add, { email: 'super@admin.test', roles: ['OWNER'] })).code).toBe('FORBIDDEN')
    expect((await run(viewers.owner, add, { email: 'super@admin.test', roles: ['PLATFORM_ADMIN'] })).code).toBe('FORBIDDEN')
    expect((await run(viewers.ada, add, { email: 'super@admin.test', roles: ['VIEWER'] })).code).toBe('FORBIDDEN')
    expect((await run(viewers.owner, add, { email: 'super@admin.test', roles: [] })).code).toBe('BAD_USER_INPUT')
    expect((await run(viewers.owner, add, { email: 'super@localhost', roles: ['VIEWER'] })).code).toBe('BAD_USER_INPUT')
    expect(await audit()).toEqual([])
  })

  it('I-01 changes roles for sessions that are open, and only from the version the caller saw', async () => {
    const ada = await memberOf('ada@acme.test')
    const changed = await run(viewers.owner, change, { id: ada.id, roles: ['ADMIN'], v: 1 })
    expect(changed.data().changeMemberRoles).toEqual({ roles: ['ADMIN'], version: 2 })
    expect(await audit()).toEqual([{ action: 'membership.roles_changed', subject_id: ada.id, actor: `user:${viewers.owner.userId}` }])
    expect((await run(viewers.owner, change, { id: ada.id, roles: ['VIEWER'], v: 1 })).code).toBe('CONFLICT')
    expect((await run(viewers.outsider, change, { id: ada.id, roles: ['VIEWER'] })).code).toBe('NOT_FOUND')
    expect((await run(viewers.owner, change, { id: 'x', roles: ['VIEWER'] })).code).toBe('BAD_USER_INPUT')
  })

  it('I-01 leaves a member with these roles unchanged', async () => {
    const ada = await memberOf('ada@acme.test')
    const same = await run(viewers.owner, change, { id: ada.id, roles: ['MEMBER', 'MEMBER'], v: 1 })
    expect([same.data().changeMemberRoles, await audit()]).toEqual([{ roles: ['MEMBER'], version: 1 }, []])
  })

  it('I-01 keeps the last owner and the last platform super admin', async () => {
    const owner = await memberOf('owner@acme.test')
    expect((await run(viewers.owner, change, { id: owner.id, roles: ['ADMIN'] })).code).toBe('CONFLICT')
    expect((await run(viewers.owner, remove, { id: owner.id })).code).toBe('CONFLICT')
    expect((await run(viewers.admin, remove, { id: owner.id })).code).toBe('FORBIDDEN')
    const sue = (await run(viewers.super, members)).data().organizationMembers.nodes[0]
    expect((await run(viewers.super, remove, { id: sue.id })).code).toBe('CONFLICT')
    const second = await run(viewers.super, add, { email: 'ada@acme.test', roles: ['PLATFORM_SUPER_ADMIN'] })
    expect(second.data().addMember.roles).toEqual(['PLATFORM_SUPER_ADMIN'])
    expect((await run(viewers.super, remove, { id: sue.id })).data().removeMember.id).toBe(sue.id)
  })

  it('I-01 keeps an owner when two of them leave at the same moment', async () => {
    const admin = await memberOf('admin@acme.test')
    const owner = await memberOf('owner@acme.test')
    await run(viewers.owner, change, { id: admin.id, roles: ['OWNER'] })
    const second = { ...viewers.admin, roles: ['owner'] }
    const both = await atTheSameMoment(open.database, 'identity.memberships', [
      () => run(viewers.owner, remove, { id: owner.id }),
      () => run(second, remove, { id: admin.id }),
    ])
    expect(both.map(answer => answer.code).sort()).toEqual(['CONFLICT', undefined])
  })

  it('I-01 lets members leave by themselves, and ends their access', async () => {
    const ada = await memberOf('ada@acme.test')
    expect((await run(viewers.outsider, remove, { id: ada.id })).code).toBe('NOT_FOUND')
    expect((await run(viewers.ada, remove, { id: ada.id })).data().removeMember.id).toBe(ada.id)
    const person = 'query($r: [_Any!]!) { _entities(representations: $r) { ... on User { name } } }'
    const r = [{ __typename: 'User', id: made.users['ada@acme.test'] }]
    expect((await run(viewers.owner, person, { r })).data()._entities).toEqual([null])
    expect(await audit()).toEqual([{ action: 'membership.removed', subject_id: ada.id, actor: `user:${viewers.ada.userId}` }])
  })

  it('keeps the caller’s own membership in another organization than the active one', async () => {
    const elsewhere = (await run({ ...viewers.ada, organizationId: made.organizations.other! }, members)).data().organizationMembers.nodes
    const own = elsewhere.find(({ user }: { user: { name: string } }) => user.name === 'Ada Both')
    expect((await run(viewers.ada, remove, { id: own.id })).code).toBe('NOT_FOUND')
    expect((await run({ ...viewers.ada, roles: ['owner'] }, change, { id: own.id, roles: ['ADMIN'] })).code).toBe('NOT_FOUND')
  })

  it('opens stores that never show rows of another organization', async () => {
    const { users, organizations, memberships, ownMemberships, apiKeys } = open.identity.open(viewers.outsider, { requestId: 'test', ...unbounded })
    const [acme, ada] = [made.organizations.acme!, await memberOf('ada@acme.test')]
    expect(await users.byId.load(viewers.owner.userId!)).toBeNull()
    expect(await organizations.byId.load(acme)).toBeNull()
    expect(await Promise.all([memberships, ownMemberships].map(store => store.byId.load(ada.id)))).toEqual([null, null])
    expect((await memberships.page('ofOrganization', acme, {})).nodes).toEqual([])
    expect((await ownMemberships.page('ofPerson', viewers.owner.userId!, {})).nodes).toEqual([])
    expect(await apiKeys.byId.load(made.keys.reader!.id)).toBeNull()
    expect((await apiKeys.filtered({}, {})).nodes).toEqual([])
  })

  it('rejects invalid page arguments, also where there is no organization to list', async () => {
    const nowhere = { ...viewers.ada, organizationId: null }
    expect((await run(nowhere, members, { first: 2 })).data().organizationMembers).toBeNull()
    for (const page of [{ first: 101 }, { after: 'x' }]) expect((await run(nowhere, members, page)).code).toBe('BAD_USER_INPUT')
  })

  const named = 'query($id: ID, $slug: String) { organization(id: $id, slug: $slug) { id slug version } }'

  it('shows one organization by id or slug: the active one, those a person may switch to, and any to platform admins', async () => {
    const [acme, other] = [made.organizations.acme!, made.organizations.other!]
    for (const by of [{ id: other }, { slug: 'other' }]) {
      expect((await run(viewers.ada, named, by)).data().organization).toEqual({ id: other, slug: 'other', version: 1 })
      expect((await run(viewers.super, named, by)).data().organization.id).toBe(other)
      expect((await run(viewers.owner, named, by)).code).toBe('NOT_FOUND')
      // Nobody switches who is no person: a key has one organization, an app the one of its token.
      const app = { ...viewers.ada, roles: [], clientId: 'phone' }
      expect((await run(app, named, by)).code).toBe('NOT_FOUND')
      expect((await run(app, named, { id: acme })).data().organization.slug).toBe('acme')
    }
    const [foreign, none] = [await run(viewers.owner, named, { slug: 'other' }), await run(viewers.owner, named, { slug: 'nowhere' })]
    expect(foreign.error).toEqual(none.error)
    for (const by of [{}, { id: acme, slug: 'acme' }, { id: 'x' }]) expect((await run(viewers.owner, named, by)).code).toBe('BAD_USER_INPUT')
  })

  it('lists a person’s own organizations by name, searched by name or slug, and all to platform admins', async () => {
    const list =
      'query($search: String, $first: Int, $after: String) { organizations(search: $search, first: $first, after: $after) { totalCount nodes { slug } pageInfo { endCursor hasNextPage } } }'
    const slugs = async (viewer: Viewer, search?: string) =>
      (await run(viewer, list, { search })).data().organizations.nodes.map(({ slug }: { slug: string }) => slug)
    expect(await slugs(viewers.ada)).toEqual(['acme', 'other'])
    expect(await slugs(viewers.owner)).toEqual(['acme'])
    expect(await slugs(viewers.super)).toEqual(['acme', 'other', 'admin'])
    expect(await slugs(viewers.super, 'ADM')).toEqual(['admin'])
    expect(await slugs(viewers.super, '%')).toEqual([])
    expect(await slugs(viewers.owner, 'oth')).toEqual([])
    const first = (await run(viewers.super, list, { first: 2 })).data().organizations
    expect([first.totalCount, first.pageInfo.hasNextPage]).toEqual([3, true])
    const { result, statements } = await countStatements(() => run(viewers.super, list, { first: 2, after: first.pageInfo.endCursor }))
    expect(result.data().organizations.nodes).toEqual([{ slug: 'admin' }])
    expect(statements).toHaveLength(2)
    expect((await run(viewers.ada, list, { search: ' ' })).code).toBe('BAD_USER_INPUT')
  })

  it('can be renamed by its managers, from the version that they saw', async () => {
    const rename = 'mutation($name: String!, $v: Int) { updateOrganization(input: { name: $name, expectedVersion: $v }) { name version } }'
    expect((await run(viewers.admin, rename, { name: ' Acme & Co ', v: 1 })).data().updateOrganization).toEqual({ name: 'Acme & Co', version: 2 })
    expect((await run(viewers.owner, rename, { name: 'Acme', v: 1 })).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'STALE_VERSION' })
    expect((await run(viewers.owner, rename, { name: 'Acme & Co' })).data().updateOrganization.version).toBe(2)
    expect((await run(viewers.ada, rename, { name: 'Mine' })).code).toBe('FORBIDDEN')
    expect((await run({ ...viewers.owner, organizationId: null }, rename, { name: 'Mine' })).code).toBe('FORBIDDEN')
    expect((await audit()).map(({ action }) => action)).toEqual(['organization.updated'])
  })

  it('lists each role’s scopes, from most to least', async () => {
    const { roles } = (await run(viewers.ada, '{ roles { role meaning scopes } }')).data()
    expect(roles.map(({ role, scopes }: { role: string; scopes: string[] }) => [role, scopes.length])).toEqual([
      ['PLATFORM_SUPER_ADMIN', everyScope.length],
      ['PLATFORM_ADMIN', 0],
      ['OWNER', everyScope.length],
      ['ADMIN', everyScope.length],
      ['MEMBER', scopesOf(['member']).length],
      ['VIEWER', scopesOf(['viewer']).length],
    ])
    expect(roles.every(({ scopes }: { scopes: string[] }) => scopes.join() === scopes.toSorted().join())).toBe(true)
  })

  it('provisions a world once: a second time everything is found, and no password is hashed', async () => {
    const { result, statements } = await countStatements(() => open.identity.provision(world))
    expect(result.users).toEqual(made.users)
    expect(result.organizations).toEqual(made.organizations)
    expect(result.keys.reader).toEqual({ id: made.keys.reader!.id, secret: null })
    expect(statements.filter(text => !/^(START|COMMIT)/.test(text))).toHaveLength(5)
    const reissued = await open.identity.provision({ ...world, keys: world.keys.map(key => ({ ...key, reissue: true })) })
    expect(reissued.keys.reader!.secret).toMatch(/^sgk_/)
    const { authority } = open.identity
    expect((await authority.keys([authority.hashKey(made.keys.reader!.secret!)])).size).toBe(0)
  })
})
