import type { Transaction } from 'sequelize'
import { isId } from '../../../platform/ids.ts'
import { dayBefore, type Usage } from '../../../platform/limit.ts'
import type { Order, PageRequest } from '../../../platform/page.ts'
import { keptStatements, statement } from '../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { type Asked, filteredPages } from '../../store/filtered.ts'
import { type Opening, type Rows, store } from '../../store/store.ts'

export const organizations = table('identity.organizations', {
  id: uuid.key,
  slug: text,
  name: text,
  ...stamps,
})

export type OrganizationRow = Row<typeof organizations>

/** By name, as the database sorts it. */
export const byName: Order<OrganizationRow> = {
  name: 'organizations.name',
  position: ({ name, id }) => [name, id],
  parts: [value => value.length <= 200, isId],
}

/** Which organizations: those of a person, or all. */
export interface OrganizationFilter {
  readonly person: string | null
  /** Part of a name or slug. */
  readonly search: string | null
}

const columns = selectList(organizations, 't')
const filtered = keptStatements(20)

/** Only what is asked stands in the statement, so that an index can be chosen for it: a person's own are few, all are walked by name. */
function asked({ person, search }: OrganizationFilter, select: string, page?: PageRequest): Asked {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const from = person === null ? '' : ' join identity.memberships m on m.organization_id = t.id'
  const part = search === null ? '' : bind(`%${search.replace(/[\\%_]/g, '\\$&')}%`)
  const conditions = [
    person !== null && `m.user_id = ${bind(person)}`,
    part && `(t.name ilike ${part} or t.slug ilike ${part})`,
    page?.after && `(t.name, t.id) > (${bind(page.after[0])}, ${bind(page.after[1])}::uuid)`,
  ].filter(condition => typeof condition === 'string' && condition !== '')
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  const order = page ? ` order by t.name, t.id limit ${bind(page.limit)}` : ''
  return { text: `select ${select} from identity.organizations t${from}${where}${order}`, values }
}

const findBySlug = statement('select id from identity.organizations where slug = $1')

const lockPerson = statement('select from identity.users where id = $1 for no key update')
const countMade = statement(
  `select count(*)::int as "inAll", count(*) filter (where created_at > $2)::int as today,
          min(created_at) filter (where created_at > $2) as "todaySince"
     from identity.organizations where created_by = $1`,
)

const organizationSql = (rows: Rows<typeof organizations>, { reading }: Opening) => ({
  /** A page by name. */
  named: filteredPages<OrganizationRow, OrganizationFilter>(rows, reading, {
    kept: filtered,
    page: (filter, request) => asked(filter, columns, request),
    count: filter => asked(filter, 'count(*)::int as count'),
    order: () => byName,
  }),

  /** The id behind a slug, whoever asks; null when there is none. */
  async idOf(slug: string): Promise<string | null> {
    const [found] = await rows.read<{ id: string }>(findBySlug, [slug])
    return found?.id ?? null
  },

  /** What a person has created. Nobody makes another one for them before the transaction ends. */
  async madeBy(person: string, now: Date, transaction: Transaction): Promise<Usage> {
    // By a statement of its own: of two at once the second sees what the first has made.
    await rows.read(lockPerson, [person], transaction)
    const [made] = await rows.read<Usage>(countMade, [`user:${person}`, dayBefore(now)], transaction)
    return made!
  },
})

/** A viewer sees its active organization, and a person those that they may switch to; who administers the platform sees all. */
export const organizationStore = store(
  organizations,
  {
    what: 'organization',
    tenancy: {
      where: `t.id = :organization or exists (select from identity.memberships m where m.organization_id = t.id and m.user_id = :person)
        or :roles::text[] && array['platform_admin', 'platform_super_admin']`,
    },
  },
  organizationSql,
)

/** The name of an organization that invites somebody who is not in it. */
export const invitingOrganizationStore = store(organizations, {
  what: 'organization',
  tenancy: { everybody: 'whoever sees an invitation, which has its own rule, sees to what' },
})
