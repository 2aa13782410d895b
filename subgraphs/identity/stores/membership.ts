import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, texts, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import type { UserKind } from './user.ts'

export const memberships = table('identity.memberships', {
  organizationId: uuid.key,
  id: uuid.key,
  userId: uuid,
  roles: texts,
  /** When the person last made this organization the active one. */
  lastUsedAt: moment.maybe,
  ...stamps,
})

export type MembershipRow = Row<typeof memberships>

/** An organization of a person. */
export interface Place {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly roles: readonly string[]
}

const select = `select ${selectList(memberships, 't')} from identity.memberships t where t.organization_id = $1 and`
const findOfPerson = statement(`${select} t.user_id = $2`)
const findHolders = statement(`${select} t.roles && $2::text[]`)
const findPlaces = statement(
  `select o.id, o.slug, o.name, m.roles from identity.memberships m join identity.organizations o on o.id = m.organization_id
    where m.user_id = $1 order by o.name, o.id limit 500`,
)
const countMembers = statement('select count(*)::int as count from identity.memberships where organization_id = $1')

const membershipSql = (rows: Rows<typeof memberships>) => ({
  /** A person's membership of an organization, without a check of the viewer: rules need it. */
  async ofPerson(organizationId: string, userId: string, transaction?: Transaction): Promise<MembershipRow | null> {
    const [membership] = await rows.read(findOfPerson, [organizationId, userId], transaction)
    return membership ?? null
  },

  /** A person's organizations by name, with roles, without a check of the viewer. */
  placesOf: (userId: string): Promise<Place[]> => rows.read<Place>(findPlaces, [userId]),

  /** How many members an organization has. Read it under the organization's lock before adding one. */
  async countOf(organizationId: string, transaction: Transaction): Promise<number> {
    const [members] = await rows.read<{ count: number }>(countMembers, [organizationId], transaction)
    return members!.count
  },

  /**
   * Returns the members of an organization who hold one of the roles. Read it under the organization's lock before
   * changing one of them.
   */
  holders: (organizationId: string, roles: readonly string[], transaction: Transaction): Promise<MembershipRow[]> =>
    rows.read(findHolders, [organizationId, roles], transaction),
})

const isOfKind = (kind: UserKind): string => `exists (select from identity.users u where u.id = t.user_id and u.kind = '${kind}')`

/** The members of the active organization. */
export const membershipStore = store(
  memberships,
  {
    what: 'membership',
    tenancy: { by: 'organizationId' },
    lists: {
      ofOrganization: { below: 'organizationId', order: 'oldest first' },
      people: { below: 'organizationId', order: 'oldest first', only: isOfKind('human') },
      serviceAccounts: { below: 'organizationId', order: 'oldest first', only: isOfKind('service_account') },
    },
  },
  membershipSql,
)

/** The viewer's own memberships in all organizations; read-only for viewers, changed by identity itself. */
export const ownMembershipStore = store(memberships, {
  what: 'membership',
  tenancy: { where: 't.user_id = :person' },
  lists: { ofPerson: { below: 'userId', order: 'oldest first' } },
})

/** A membership in the form for services. */
export type MembershipRecordRow = MembershipRow

/** Memberships of all organizations, for the service that stores them as well. */
export const everyMembershipStore = store(memberships, {
  what: 'membership',
  tenancy: { everybody: 'the launcher keeps who belongs to an organization from before it listened to facts' },
  lists: { ofOrganization: { below: 'organizationId', order: 'oldest first' } },
})
