import { readPage } from '../../../../platform/page.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { newestFirst } from '../../stores/administration/audit-entry.ts'

export const auditResolvers: Resolvers = {
  Query: {
    providerAuditLog: (_, page, { viewer, auditEntries }) => auditEntries.listed(activeOrganization(viewer, 'Records'), readPage(page, newestFirst)),
  },
  ProviderAuditEntry: {
    target: ({ subjectId }) => subjectId,
    organization: ({ tenantId }) => ({ id: tenantId }),
  },
}
