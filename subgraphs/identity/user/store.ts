import { QueryTypes, type Transaction } from 'sequelize'
import type { Reading } from '../../reading.ts'
import { createLoader } from '../../store/loader.ts'
import type { Viewer } from '../../viewer.ts'
import { toStored } from '../credentials/mail-address.ts'
import { platformOrganization, platformRoles } from '../membership/rules.ts'
import type { Tables } from '../tables.ts'
import type { UserRow } from './table.ts'

export type UserStore = ReturnType<typeof openUserStore>

/** People as one viewer may see them, for one operation. */
export function openUserStore(tables: Tables, viewer: Viewer, reading: Reading) {
  return {
    /** The person, or null when nobody has that id or the viewer does not share the active organization with them. One statement for a batch. */
    byId: createLoader<string, UserRow | null>(reading, async ids => {
      const rows = await tables.sequelize.query<UserRow>(
        `select u.id, u.name, u.email, u.image, u.email_verified as "emailVerified", u.created_at as "createdAt", u.updated_at as "updatedAt"
           from identity.users u
          where u.id = any($1::text[])
            and (u.id = $2 or exists (select 1 from identity.memberships m where m.organization_id = $3 and m.user_id = u.id))`,
        { type: QueryTypes.SELECT, bind: [ids, viewer.userId, viewer.organizationId] },
      )
      const found = new Map(rows.map(row => [row.id, row]))
      return ids.map(id => found.get(id) ?? null)
    }),

    /**
     * The account of a mail address, for a person who may add it to an organization: one who shares an organization with it, or
     * administers the platform. Null for everybody else's as for nobody's, by the same statement: who asks cannot tell which it is.
     */
    async addableBy(person: string, email: string, transaction: Transaction): Promise<{ readonly id: string } | null> {
      const [user] = await tables.sequelize.query<{ id: string }>(
        `select u.id from identity.users u
          where u.email = $2
            and (exists (select from identity.memberships own join identity.memberships theirs using (organization_id)
                          where own.user_id = $1 and theirs.user_id = u.id)
              or exists (select from identity.memberships own join identity.organizations o on o.id = own.organization_id
                          where own.user_id = $1 and o.slug = $3 and own.roles && $4::text[]))`,
        { type: QueryTypes.SELECT, bind: [person, toStored(email), platformOrganization, [...platformRoles]], transaction },
      )
      return user ?? null
    },
  }
}
