import type { Transaction } from 'sequelize'
import { toStored } from '../../../platform/smtp/mail-address.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { foreignMoment, moment, type Row, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

/** Roles that every organization has, from most to least rights. */
export const organizationRoles = ['owner', 'admin', 'member', 'viewer'] as const

/** Roles over the whole platform: only members of the platform's own organization hold them. */
export const platformRoles = ['platform_super_admin', 'platform_admin'] as const

export type Role = (typeof organizationRoles)[number] | (typeof platformRoles)[number]

/** Slug of the organization whose members may hold platform roles. */
export const platformOrganization = 'admin'

export type UserKind = 'human' | 'service_account'

/** User kinds as the graph and facts name them. */
export const userKindToGraph = { human: 'HUMAN', service_account: 'SERVICE_ACCOUNT' } as const satisfies Record<UserKind, string>

/** People, as the credential library stores them, and service accounts, which it never sees. */
export const users = table('identity.users', {
  id: uuid.key,
  name: text,
  /** Null only for service accounts. */
  email: text.maybe,
  emailVerified: truth,
  image: text.maybe,
  kind: text.of<UserKind>().or('human'),
  suspendedAt: moment.maybe,
  lastSignedInAt: moment.maybe,
  createdAt: foreignMoment,
  updatedAt: foreignMoment,
})

export type UserRow = Row<typeof users>

const findAddable = statement(
  `select u.id from identity.users u
    where u.email = $2
      and (exists (select from identity.memberships own join identity.memberships theirs using (organization_id)
                    where own.user_id = $1 and theirs.user_id = u.id)
        or exists (select from identity.memberships own join identity.organizations o on o.id = own.organization_id
                    where own.user_id = $1 and o.slug = $3 and own.roles && $4::text[]))`,
)
const findSuperAdmin = statement(
  `select m.id from identity.memberships m join identity.organizations o on o.id = m.organization_id
    where m.user_id = $1 and o.slug = $2 and 'platform_super_admin' = any(m.roles)`,
)

const findVerified = statement('select u.id from identity.users u where u.email = $1 and u.email_verified and u.suspended_at is null')
const holdPerson = statement('select from identity.users where id = $1 for no key update')
const findKind = statement('select kind from identity.users where id = $1')
const removeAccount = statement(`delete from identity.users where id = $1 and kind = 'service_account'`)

const userSql = (rows: Rows<typeof users>) => ({
  /**
   * Returns the account of a mail address, for a person who may add it to an organization: one who shares an
   * organization with it, or administers the platform. Null both for other accounts and for unknown addresses, by the
   * same statement, so that callers cannot distinguish them.
   */
  async addableBy(person: string, email: string, transaction: Transaction): Promise<{ readonly id: string } | null> {
    const [user] = await rows.read<{ id: string }>(findAddable, [person, toStored(email), platformOrganization, [...platformRoles]], transaction)
    return user ?? null
  },

  /** Whether a person is a super admin of the platform, who cannot be suspended. */
  async isSuperAdmin(id: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read(findSuperAdmin, [id, platformOrganization], transaction)).length > 0
  },

  /** Returns the kind of a member, without a check of the viewer: rules need it. */
  async kindOf(id: string, transaction: Transaction): Promise<UserKind> {
    return (await rows.read<{ kind: UserKind }>(findKind, [id], transaction))[0]!.kind
  },

  /** Locks the count of a person's creations until the transaction ends. */
  hold: async (id: string, transaction: Transaction): Promise<void> => void (await rows.read(holdPerson, [id], transaction)),

  /** Removes a service account without a membership. */
  removeAccount: async (id: string, transaction: Transaction): Promise<void> => void (await rows.read(removeAccount, [id], transaction)),
})

/**
 * A viewer sees the people of the active organization, the same for all its members (`@shared`): the viewer too, as one
 * of them. Without an organization a viewer sees only itself.
 */
export const userStore = store(
  users,
  {
    what: 'person',
    tenancy: {
      where: `t.id = :person and :organization::uuid is null
        or exists (select from identity.memberships m where m.organization_id = :organization and m.user_id = t.id)`,
    },
  },
  userSql,
)

/** All accounts, for platform admins; each use states why it is allowed. */
export const everyUserStore = store(
  users,
  { what: 'person', tenancy: { everybody: 'platform admins suspend and reinstate whomever they have to' } },
  (rows: Rows<typeof users>) => ({
    /** Returns the id of the person who has verified an address and may sign in; null without one. */
    async verifiedWith(email: string): Promise<string | null> {
      return (await rows.read<{ id: string }>(findVerified, [toStored(email)]))[0]?.id ?? null
    },
  }),
)
