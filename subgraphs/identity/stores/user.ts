import type { Transaction } from 'sequelize'
import { toStored } from '../../../platform/smtp/mail-address.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { foreignMoment, moment, type Row, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

/** Roles that every organization has, from most to least. */
export const organizationRoles = ['owner', 'admin', 'member', 'viewer'] as const

/** Roles over the whole platform: only members of the platform's own organization hold them. */
export const platformRoles = ['platform_super_admin', 'platform_admin'] as const

export type Role = (typeof organizationRoles)[number] | (typeof platformRoles)[number]

/** Slug of the organization whose members may hold platform roles. */
export const platformOrganization = 'admin'

export type UserKind = 'human' | 'service_account'

/** Kinds as the graph and facts spell them. */
export const userKindToGraph = { human: 'HUMAN', service_account: 'SERVICE_ACCOUNT' } as const satisfies Record<UserKind, string>

/** People, as the credential library keeps them, and service accounts, which it never sees. */
export const users = table('identity.users', {
  id: uuid.key,
  name: text,
  /** Null for service accounts alone. */
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

const holdPerson = statement('select from identity.users where id = $1 for no key update')
const findKind = statement('select kind from identity.users where id = $1')
const removeAccount = statement(`delete from identity.users where id = $1 and kind = 'service_account'`)

const userSql = (rows: Rows<typeof users>) => ({
  /**
   * The account of a mail address, for a person who may add it to an organization: one who shares an organization with it, or
   * administers the platform. Null for everybody else's as for nobody's, by the same statement: who asks cannot tell which it is.
   */
  async addableBy(person: string, email: string, transaction: Transaction): Promise<{ readonly id: string } | null> {
    const [user] = await rows.read<{ id: string }>(findAddable, [person, toStored(email), platformOrganization, [...platformRoles]], transaction)
    return user ?? null
  },

  /** Whether this is a super admin of the platform: what is said of others must not be asked of these. */
  async isSuperAdmin(id: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read(findSuperAdmin, [id, platformOrganization], transaction)).length > 0
  },

  /** What stands behind a member; whoever asks, for rules need to know. */
  async kindOf(id: string, transaction: Transaction): Promise<UserKind> {
    return (await rows.read<{ kind: UserKind }>(findKind, [id], transaction))[0]!.kind
  },

  /** Sees to it that nobody else counts what a person has made before the transaction ends. */
  hold: async (id: string, transaction: Transaction): Promise<void> => void (await rows.read(holdPerson, [id], transaction)),

  /** Removes a service account that is nobody's member any more. */
  removeAccount: async (id: string, transaction: Transaction): Promise<void> => void (await rows.read(removeAccount, [id], transaction)),
})

/**
 * A viewer sees the people of its active organization, who are the same for everybody in it (`@shared`): itself too because it is one of
 * them, and not because it asks. Without an organization it sees itself.
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

/** Everybody who has an account, for those who administer the platform: whoever opens it says why they may. */
export const everyUserStore = store(users, { what: 'person', tenancy: { everybody: 'platform admins suspend and reinstate whomever they have to' } })
