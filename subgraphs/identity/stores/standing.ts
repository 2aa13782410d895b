import type pg from 'pg'
import { isId } from '../../../platform/ids.ts'
import type { Authority, ForeignPerson } from '../../authority.ts'

interface Found {
  readonly asked: string
  readonly organization: boolean
  readonly roles: string[] | null
}

/**
 * A suspended person has no roles. Outside of organizations only people have a result, because a service account
 * belongs to one organization.
 */
const find = `
  select a.asked,
         exists (select from identity.organizations o where o.id = a.organization_id) as organization,
         case when a.organization_id is null
           then (select '{}'::text[] from identity.users u where u.id = a.user_id and u.kind = 'human' and u.suspended_at is null)
           else (select m.roles from identity.memberships m join identity.users u on u.id = m.user_id and u.suspended_at is null
                  where m.organization_id = a.organization_id and m.user_id = a.user_id)
         end as roles
    from unnest($1::text[], $2::uuid[], $3::uuid[]) as a (asked, organization_id, user_id)`

/**
 * Creates the reader of people's roles in organizations: all lookups in one statement, with two reads by key for each.
 */
export const createStandingReader =
  (pool: pg.Pool): Authority['standings'] =>
  async asked => {
    const questions = asked.flatMap(text => {
      const [organizationId, userId] = text.split(' ').map(id => id || null)
      const ids = [organizationId ?? null, userId ?? null]
      return ids.every(id => id === null || isId(id)) ? [{ text, ids }] : []
    })
    if (questions.length === 0) return new Map()
    const { rows } = await pool.query<Found>({
      name: 'standings',
      text: find,
      values: [questions.map(({ text }) => text), questions.map(({ ids }) => ids[0]), questions.map(({ ids }) => ids[1])],
    })
    return new Map(rows.map(({ asked: text, organization, roles }) => [text, { organization, roles }]))
  }

interface Foreigner {
  readonly subject: string
  readonly user_id: string
  readonly suspended: boolean
  readonly memberships: Record<string, string[]> | null
}

/** Creates the reader that finds people by the issuer's subject: one statement, on a pool that does nothing else. */
export const createForeignReader =
  (pool: pg.Pool, issuer: string): Authority['foreigners'] =>
  async subjects => {
    const { rows } = await pool.query<Foreigner>({
      name: 'foreigners',
      text: `select f.subject, f.user_id, u.suspended_at is not null as suspended,
                    (select jsonb_object_agg(m.organization_id, m.roles) from identity.memberships m where m.user_id = f.user_id) as memberships
               from identity.foreign_people f join identity.users u on u.id = f.user_id
              where f.issuer = $1 and f.subject = any($2::text[])`,
      values: [issuer, subjects],
    })
    return new Map(
      rows.map(row => [row.subject, { userId: row.user_id, suspended: row.suspended, memberships: row.memberships ?? {} } satisfies ForeignPerson]),
    )
  }
