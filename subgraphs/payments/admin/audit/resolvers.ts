import { readId } from '../../../../platform/ids.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { actorKindOf, entityTypeOf, mutationOf, namedOf, readEntityType, readMutation, shownChanges } from './rules.ts'

export const auditResolvers: Resolvers = {
  Query: {
    async paymentAuditLog(_, { entityType, entityId, action, from, to, ...page }, { viewer, auditEntries }) {
      activeOrganization(viewer, 'Audit logs')
      const filter = {
        noun: readEntityType(entityType),
        subjectId: readId(entityId, 'entityId'),
        action: readMutation(action),
        at: { since: from, until: to },
      }
      return auditEntries.filtered(filter, page)
    },
  },
  PaymentAuditEntry: {
    action: ({ action }) => mutationOf(action),
    entityType: ({ action }) => entityTypeOf(action),
    entityId: ({ subjectId }) => subjectId,
    actorKind: ({ actor }) => actorKindOf(actor),
    user: ({ userId }) => (userId ? { __typename: 'User', id: userId } : null),
    apiKeyId: ({ actor }) => namedOf(actor, 'key'),
    appId: ({ actor, appId }) => appId ?? namedOf(actor, 'service'),
    changes: ({ details }) => shownChanges(details),
  },
}
