import type { Sequelize } from 'sequelize'
import { defineApiKeys } from './api-key/table.ts'
import { defineAuditEntries } from './audit/table.ts'
import { defineMemberships } from './membership/table.ts'
import { defineOrganizations } from './organization/table.ts'
import { defineServiceEntries } from './service-entry/table.ts'
import { defineUsers } from './user/table.ts'

/** Every model of identity on one connection; two platforms in one process have two of these. */
export function defineTables(sequelize: Sequelize) {
  return {
    sequelize,
    users: defineUsers(sequelize),
    organizations: defineOrganizations(sequelize),
    memberships: defineMemberships(sequelize),
    apiKeys: defineApiKeys(sequelize),
    serviceEntries: defineServiceEntries(sequelize),
    auditEntries: defineAuditEntries(sequelize),
  }
}

export type Tables = ReturnType<typeof defineTables>
