import type { Transaction } from 'sequelize'
import { dayBefore, type Usage } from '../../../platform/limit.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import { containing, type FilterOf, type FilterSql } from '../../store/filter/filters.ts'
import { type Rows, store } from '../../store/store.ts'

export const organizations = table('identity.organizations', {
  id: uuid.key,
  slug: text,
  name: text,
  ...stamps,
})

export type OrganizationRow = Row<typeof organizations>

const findBySlug = statement('select id from identity.organizations where slug = $1')

const lockPerson = statement('select from identity.users where id = $1 for no key update')
const countMade = statement(
  `select count(*)::int as "inAll", count(*) filter (where created_at > $2)::int as today,
          min(created_at) filter (where created_at > $2) as "todaySince"
     from identity.organizations where created_by = $1`,
)

const organizationSql = (rows: Rows<typeof organizations>) => ({
  /** The id of a slug, without a check of the viewer; null if unknown. */
  async idOf(slug: string): Promise<string | null> {
    const [found] = await rows.read<{ id: string }>(findBySlug, [slug])
    return found?.id ?? null
  },

  /**
   * Counts the organizations that a person has created, and locks the count: no other one is created for the person
   * before the transaction ends.
   */
  async madeBy(person: string, now: Date, transaction: Transaction): Promise<Usage> {
    // A separate statement, so that of two concurrent calls the second sees the first one's row.
    await rows.read(lockPerson, [person], transaction)
    const [made] = await rows.read<Usage>(countMade, [`user:${person}`, dayBefore(now)], transaction)
    return made!
  },
})

/** A viewer sees the active organization, and a person also those of their memberships; platform admins see all. */
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

const filters = {
  /** Organizations of a person. */
  person: (id: string, { bind }: FilterSql) => `t.id in (select m.organization_id from identity.memberships m where m.user_id = ${bind(id)})`,
  /** Part of a name or slug. */
  search(words: string, { bind }: FilterSql) {
    const part = bind(containing(words))
    return `(t.name ilike ${part} or t.slug ilike ${part})`
  },
} as const

/** Filter of organizations: those of a person, or all. */
export type OrganizationFilter = FilterOf<typeof organizations, typeof filters>

/** Organizations by name, as the database sorts it. */
export const listedOrganizationStore = store(organizations, {
  what: 'organization',
  tenancy: { everybody: 'the filter names the person whose they are; who administers the platform sees all' },
  filters,
  sorted: { by: 'name', way: 'asc', name: 'name' },
})

/** Names of organizations that invite a person who is not a member. */
export const invitingOrganizationStore = store(organizations, {
  what: 'organization',
  tenancy: { everybody: 'whoever sees an invitation, which has its own rule, sees to what' },
})
