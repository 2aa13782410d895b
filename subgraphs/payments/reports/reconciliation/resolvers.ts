import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { requireSpan } from '../report/rules.ts'
import { reconcile } from './reconcile.ts'

export const reconciliationResolvers: Resolvers = {
  Query: {
    async paymentReconciliation(_, { from, to }, context) {
      const organizationId = activeOrganization(context.viewer, 'Reports')
      requireSpan(from, to)
      return reconcile(context, organizationId, from, to)
    },
  },
}
