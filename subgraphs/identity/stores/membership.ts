import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, texts, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

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

const select = `select ${selectList(memberships, 't')} from identity.memberships t where t.organization_id = $1 and`
const findOfPerson = statement(`${select} t.user_id = $2`)
const findHolders = statement(`${select} t.roles && $2::text[]`)
const countMembers = statement('select count(*)::int as count from identity.memberships where organization_id = $1')

const membershipSql = (rows: Rows<typeof memberships>) => ({
  /** What a person is in an organization; whoever asks, for rules need to know. */
  async ofPerson(organizationId: string, userId: string, transaction?: Transaction): Promise<MembershipRow | null> {
    const [membership] = await rows.read(findOfPerson, [organizationId, userId], transaction)
    return membership ?? null
  },

  /** How many members an organization has. Read it under the organization's lock before adding one. */
  async countOf(organizationId: string, transaction: Transaction): Promise<number> {
    const [members] = await rows.read<{ count: number }>(countMembers, [organizationId], transaction)
    return members!.count
  },

  /** Everybody in an organization who holds one of the roles. Read it under the organization's lock before changing one of them. */
  holders: (organizationId: string, roles: readonly string[], transaction: Transaction): Promise<MembershipRow[]> =>
    rows.read(findHolders, [organizationId, roles], transaction),
})

/** The members of the active organization. */
export const membershipStore = store(
  memberships,
  { what: 'membership', tenancy: { by: 'organizationId' }, lists: { ofOrganization: { below: 'organizationId', order: 'oldest first' } } },
  membershipSql,
)

/** The viewer's own memberships, in whatever organization: they are looked at, and changed only from inside. */
export const ownMembershipStore = store(memberships, {
  what: 'membership',
  tenancy: { where: 't.user_id = :person' },
  lists: { ofPerson: { below: 'userId', order: 'oldest first' } },
})
