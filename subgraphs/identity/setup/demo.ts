import type { Deletion, Run } from '../../store/removal.ts'
import type { Provisioned } from './provision.ts'
import type { World } from './world.ts'

/** The password of every demo account; accounts exist only where it may be printed. */
export const demoPassword = 'supergraph-demo'

const keyName = 'Demo key: read posts'

/** People and organizations of the demo. */
export const demoWorld: World = {
  password: demoPassword,
  people: [
    { email: 'owner@demo.test', name: 'Olivia Owner', recovery: 'owner.recovery@demo.test' },
    { email: 'admin@demo.test', name: 'Adam Admin', recovery: 'admin.recovery@demo.test' },
    { email: 'member@demo.test', name: 'Mia Member', recovery: 'member.recovery@demo.test' },
    { email: 'peer@demo.test', name: 'Paul Peer' },
    { email: 'outsider@other.test', name: 'Otto Outsider', recovery: 'outsider.recovery@demo.test' },
    { email: 'super@admin.test', name: 'Sara Super', recovery: 'super.recovery@demo.test' },
  ],
  organizations: [
    {
      slug: 'demo',
      name: 'Demo',
      members: [
        { email: 'owner@demo.test', roles: ['owner'] },
        { email: 'admin@demo.test', roles: ['admin'] },
        { email: 'member@demo.test', roles: ['member'] },
        { email: 'peer@demo.test', roles: ['member'] },
      ],
    },
    { slug: 'other', name: 'Other', members: [{ email: 'outsider@other.test', roles: ['owner'] }] },
    { slug: 'admin', name: 'Platform administration', members: [{ email: 'super@admin.test', roles: ['platform_super_admin'] }] },
  ],
  serviceAccounts: [{ organization: 'demo', name: 'Demo Agent', roles: ['member'] }],
  keys: [{ organization: 'demo', name: keyName, scopes: ['publishing:posts.read'], createdBy: 'owner@demo.test' }],
}

/** Sign-in data of the demo. */
export const demoAccounts = { accounts: demoWorld.people.map(({ email }) => email), password: demoPassword } as const

/** The demo's organization and its owner. */
export interface DemoOwner {
  readonly organizationId: string
  readonly userId: string
}

/**
 * Creates missing people, organizations and keys of the demo.
 * @param knownKey clear text of the existing key, which is stored once; null if it is lost, and the key is replaced
 */
export async function provideDemo(
  identity: { provision(world: World): Promise<Provisioned> },
  knownKey: string | null,
): Promise<DemoOwner & { readonly apiKey: string; readonly memberId: string; readonly otherId: string; readonly adminId: string }> {
  const { users, organizations, keys } = await identity.provision({ ...demoWorld, keys: demoWorld.keys.map(key => ({ ...key, reissue: !knownKey })) })
  const [userId, memberId] = [users['owner@demo.test']!, users['member@demo.test']!]
  const { demo, other, admin } = organizations as Readonly<Record<string, string>>
  return { organizationId: demo!, userId, memberId, otherId: other!, adminId: admin!, apiKey: keys[keyName]!.secret ?? knownKey! }
}

/** Demo data in a database. */
export interface DemoFound {
  /** Addresses of the demo accounts. */
  readonly accounts: readonly string[]
  /** Organizations with demo accounts only: they are deleted with everything in them. */
  readonly organizations: readonly { readonly id: string; readonly slug: string }[]
  /** Slugs of organizations with other members: they stay, without the demo accounts. */
  readonly shared: readonly string[]
}

const emails = demoAccounts.accounts

/** Finds demo accounts by their addresses, which are reserved names (RFC 2606) and belong to nobody else. */
export async function findDemo(run: Run): Promise<DemoFound> {
  const [there] = await run<{ there: boolean }>(`select to_regclass('identity.users') is not null as there`)
  if (!there!.there) return { accounts: [], organizations: [], shared: [] }
  const accounts = await run<{ email: string }>('select email from identity.users where email = any($1::text[]) order by email', [emails])
  const organizations = await run<{ id: string; slug: string; shared: boolean }>(
    `select o.id, o.slug, bool_or(u.email <> all ($1::text[])) as shared
       from identity.organizations o join identity.memberships m on m.organization_id = o.id join identity.users u on u.id = m.user_id
      group by o.id having bool_or(u.email = any ($1::text[])) order by o.slug`,
    [emails],
  )
  return {
    accounts: accounts.map(({ email }) => email),
    organizations: organizations.filter(({ shared }) => !shared).map(({ id, slug }) => ({ id, slug })),
    shared: organizations.filter(({ shared }) => shared).map(({ slug }) => slug),
  }
}

/** Deletions of identity's rows with demo accounts and organizations, besides the organizations themselves. */
export async function demoDeletions(run: Run, organizations: readonly string[]): Promise<readonly Deletion[]> {
  const users = (await run<{ id: string }>('select id from identity.users where email = any($1::text[])', [emails])).map(({ id }) => id)
  // Service accounts have no address: removes those of removed organizations, and those created for the demo in others.
  const accounts = await run<{ id: string }>(
    `select u.id from identity.users u join identity.memberships m on m.user_id = u.id
      where u.kind = 'service_account' and (m.organization_id = any($1::uuid[]) or m.created_by = 'platform' and u.name = any($2::text[]))`,
    [organizations, (demoWorld.serviceAccounts ?? []).map(({ name }) => name)],
  )
  const all = [...users, ...accounts.map(({ id }) => id)]
  // Audit entries can be deleted only after the organization they belong to, by a caller that names it.
  await run(`select set_config('identity.audit_removal', 'on', true)`)
  return [
    { sql: 'delete from identity.audit_entries where tenant_id = any($1::uuid[])', bind: [users] },
    { sql: 'delete from identity.api_keys where created_by = any($1::text[])', bind: [users.map(id => `user:${id}`)] },
    { sql: 'delete from identity.memberships where user_id = any($1::uuid[])', bind: [all] },
    { sql: 'delete from identity.organizations where id = any($1::uuid[])', bind: [organizations] },
    { sql: 'delete from identity.users where id = any($1::uuid[])', bind: [all] },
  ]
}
