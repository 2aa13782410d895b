import { QueryTypes, type Transaction, UniqueConstraintError } from 'sequelize'
import { newId } from '../../../platform/ids.ts'
import { dayBefore, type Made } from '../../../platform/limit.ts'
import type { Reading } from '../../reading.ts'
import { createLoader } from '../../store/loader.ts'
import { recordAudit } from '../audit/store.ts'
import type { Tables } from '../tables.ts'
import type { OrganizationRow } from './table.ts'

export type OrganizationStore = ReturnType<typeof openOrganizationStore>

/** Organizations, for one operation. Who may see one is a rule, not asked here. */
export function openOrganizationStore(tables: Tables, reading: Reading) {
  /** What a person has created. Their row is locked by a statement of its own: of two at once the second sees what the first has made. */
  async function madeBy(person: string, now: Date, transaction: Transaction): Promise<Made> {
    await tables.sequelize.query('select from identity.users where id = $1 for no key update', { type: QueryTypes.SELECT, bind: [person], transaction })
    const [made] = await tables.sequelize.query<Made>(
      `select count(*)::int as standing, count(*) filter (where created_at > $2)::int as today,
              min(created_at) filter (where created_at > $2) as "todaySince"
         from identity.organizations where created_by = $1`,
      { type: QueryTypes.SELECT, bind: [person, dayBefore(now)], transaction },
    )
    return made!
  }

  return {
    byId: createLoader<string, OrganizationRow | null>(reading, async ids => {
      const rows = await tables.organizations.findAll({ where: { id: [...ids] }, raw: true })
      const found = new Map(rows.map(row => [row.id, row]))
      return ids.map(id => found.get(id) ?? null)
    }),

    /**
     * Makes an organization and its first owner; null when the slug is taken.
     * @param requireRoom throws when the owner has made too many; nobody makes another one for them meanwhile
     */
    async create(organization: { slug: string; name: string }, owner: string, now: Date, requireRoom: (made: Made) => void): Promise<OrganizationRow | null> {
      const stamps = { version: 1, createdAt: now, updatedAt: now, createdBy: owner }
      const row = { ...organization, id: newId(now), ...stamps }
      try {
        await tables.sequelize.transaction(async transaction => {
          requireRoom(await madeBy(owner, now, transaction))
          await tables.organizations.create(row, { transaction, returning: false })
          const membership = { organizationId: row.id, id: newId(now), userId: owner, roles: ['owner'], ...stamps }
          await tables.memberships.create(membership, { transaction, returning: false })
          await recordAudit(tables, { organizationId: row.id, userId: owner, action: 'organization.created', target: row.id, at: now }, transaction)
        })
        return row
      } catch (error) {
        if (error instanceof UniqueConstraintError) return null
        throw error
      }
    },

    /** Runs a change of an organization's members while no other such change can run, so that rules see settled facts. */
    change<Result>(id: string, run: (organization: OrganizationRow, transaction: Transaction) => Promise<Result>): Promise<Result | null> {
      return tables.sequelize.transaction(async transaction => {
        const organization = await tables.organizations.findOne({ where: { id }, raw: true, transaction, lock: transaction.LOCK.UPDATE })
        return organization && run(organization, transaction)
      })
    },
  }
}
