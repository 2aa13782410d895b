import { Op, type Transaction } from 'sequelize'
import { isId, newId } from '../../../platform/ids.ts'
import { isMoment, type Order, type PageRequest } from '../../../platform/page.ts'
import type { Reading } from '../../reading.ts'
import { createListLoader } from '../../store/loader.ts'
import { type AuditAction, recordAudit } from '../audit/store.ts'
import type { Tables } from '../tables.ts'
import type { MembershipRow } from './table.ts'

export type MembershipStore = ReturnType<typeof openMembershipStore>

/** Memberships by age, which never changes while a client reads on. */
export const membershipOrder: Order<MembershipRow> = {
  name: 'memberships.oldest',
  position: row => [row.createdAt.toISOString(), row.id],
  parts: [isMoment, isId],
}

export function openMembershipStore(tables: Tables, reading: Reading) {
  const { memberships } = tables
  const ofUser = createListLoader(reading, membershipOrder, tables.membershipsOfUsers)
  const ofOrganization = createListLoader(reading, membershipOrder, tables.membershipsOfOrganizations)

  const audited = (action: AuditAction, row: MembershipRow, by: string | null, at: Date, transaction: Transaction) =>
    recordAudit(tables, { organizationId: row.organizationId, userId: by, action, target: row.id, at }, transaction)

  return {
    /** The organizations that a person belongs to. */
    ofUser: (userId: string, request: PageRequest) => ofUser.load(userId, request),

    /** The people of an organization. */
    ofOrganization: (organizationId: string, request: PageRequest) => ofOrganization.load(organizationId, request),

    /** One membership of an organization, as it stands in the transaction. */
    find: (organizationId: string, membership: { id: string } | { userId: string }, transaction?: Transaction): Promise<MembershipRow | null> =>
      memberships.findOne({ where: { organizationId, ...membership }, raw: true, transaction: transaction ?? null }),

    /** How many members an organization has. Read it under the organization's lock before adding one. */
    countOf: (organizationId: string, transaction: Transaction): Promise<number> => memberships.count({ where: { organizationId }, transaction }),

    /** Everybody in an organization who holds one of the roles. Read it under the organization's lock before changing one of them. */
    holders: (organizationId: string, roles: readonly string[], transaction: Transaction): Promise<MembershipRow[]> =>
      memberships.findAll({ where: { organizationId, roles: { [Op.overlap]: [...roles] } }, raw: true, transaction }),

    async add(row: { organizationId: string; userId: string; roles: string[] }, by: string | null, now: Date, transaction: Transaction) {
      const membership = { ...row, id: newId(now), lastUsedAt: null, version: 1, createdAt: now, updatedAt: now, createdBy: by }
      await memberships.create(membership, { transaction, returning: false })
      await audited('membership.added', membership, by, now, transaction)
      return membership
    },

    /** Gives a member these roles in place of the former ones; the same ones again change nothing, and are not audited. */
    async changeRoles(row: MembershipRow, roles: string[], by: string | null, now: Date, transaction: Transaction): Promise<MembershipRow> {
      if (roles.length === row.roles.length && roles.every(role => row.roles.includes(role))) return row
      const changed = { ...row, roles, version: row.version + 1, updatedAt: now }
      const { version, updatedAt } = changed
      await memberships.update({ roles, version, updatedAt }, { where: { organizationId: row.organizationId, id: row.id }, transaction })
      await audited('membership.roles_changed', row, by, now, transaction)
      return changed
    },

    async remove(row: MembershipRow, by: string | null, now: Date, transaction: Transaction): Promise<void> {
      await memberships.destroy({ where: { organizationId: row.organizationId, id: row.id }, transaction })
      await audited('membership.removed', row, by, now, transaction)
    },
  }
}
