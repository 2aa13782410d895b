import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'

export const auditResolvers: Resolvers = {
  Query: {
    providerAuditLog(_, page, { viewer, auditEntries }) {
      activeOrganization(viewer, 'Records')
      return auditEntries.filtered({}, page)
    },
  },
  ProviderAuditEntry: {
    target: ({ subjectId }) => subjectId,
    organization: ({ tenantId }) => ({ id: tenantId }),
  },
}
