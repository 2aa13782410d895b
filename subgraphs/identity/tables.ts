import type { Sequelize } from 'sequelize'
import { type ApiKeyRow, defineApiKeys } from './api-key/table.ts'
import { defineAuditEntries } from './audit/table.ts'
import { listBelow } from './membership/list-below.ts'
import { defineMemberships, type MembershipRow } from './membership/table.ts'
import { defineOrganizations } from './organization/table.ts'
import { defineServiceEntries } from './service-entry/table.ts'
import { defineUsers } from './user/table.ts'

/** Every model of identity on one connection; two platforms in one process have two of these. */
export function defineTables(sequelize: Sequelize) {
  const memberships = defineMemberships(sequelize)
  const apiKeys = defineApiKeys(sequelize)
  return {
    sequelize,
    users: defineUsers(sequelize),
    organizations: defineOrganizations(sequelize),
    memberships,
    membershipsOfUsers: listBelow<MembershipRow>(memberships, 'userId', 'oldest first'),
    membershipsOfOrganizations: listBelow<MembershipRow>(memberships, 'organizationId', 'oldest first'),
    apiKeys,
    apiKeysOfOrganizations: listBelow<ApiKeyRow>(apiKeys, 'organizationId', 'newest first'),
    serviceEntries: defineServiceEntries(sequelize),
    auditEntries: defineAuditEntries(sequelize),
  }
}

export type Tables = ReturnType<typeof defineTables>
