import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { foreignMoment, type Row, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import { toStored } from '../mail-address.ts'
import { platformOrganization, platformRoles } from './roles.ts'

/** People, as the credential library keeps them; we read its table and write it only when a person is provisioned. */
export const users = table('identity.users', {
  id: uuid.key,
  name: text,
  email: text,
  emailVerified: truth,
  image: text.maybe,
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

const userSql = (rows: Rows<typeof users>) => ({
  /**
   * The account of a mail address, for a person who may add it to an organization: one who shares an organization with it, or
   * administers the platform. Null for everybody else's as for nobody's, by the same statement: who asks cannot tell which it is.
   */
  async addableBy(person: string, email: string, transaction: Transaction): Promise<{ readonly id: string } | null> {
    const [user] = await rows.read<{ id: string }>(findAddable, [person, toStored(email), platformOrganization, [...platformRoles]], transaction)
    return user ?? null
  },
})

/** A viewer sees itself, and the people who share its active organization. */
export const userStore = store(
  users,
  {
    what: 'person',
    tenancy: { where: 't.id = :person or exists (select from identity.memberships m where m.organization_id = :organization and m.user_id = t.id)' },
  },
  userSql,
)
