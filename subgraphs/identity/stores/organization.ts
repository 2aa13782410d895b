import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../../platform/limit.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

export const organizations = table('identity.organizations', {
  id: uuid.key,
  slug: text,
  name: text,
  ...stamps,
})

export type OrganizationRow = Row<typeof organizations>

const lockPerson = statement('select from identity.users where id = $1 for no key update')
const countMade = statement(
  `select count(*)::int as "inAll", count(*) filter (where created_at > $2)::int as today,
          min(created_at) filter (where created_at > $2) as "todaySince"
     from identity.organizations where created_by = $1`,
)

const organizationSql = (rows: Rows<typeof organizations>) => ({
  /** What a person has created. Nobody makes another one for them before the transaction ends. */
  async madeBy(person: string, now: Date, transaction: Transaction): Promise<Usage> {
    // By a statement of its own: of two at once the second sees what the first has made.
    await rows.read(lockPerson, [person], transaction)
    const [made] = await rows.read<Usage>(countMade, [`user:${person}`, dayBefore(now)], transaction)
    return made!
  },
})

/** A viewer sees its active organization, and a person those that they may switch to. */
export const organizationStore = store(
  organizations,
  {
    what: 'organization',
    tenancy: { where: 't.id = :organization or exists (select from identity.memberships m where m.organization_id = t.id and m.user_id = :person)' },
  },
  organizationSql,
)
