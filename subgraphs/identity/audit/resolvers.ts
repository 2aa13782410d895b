import { requireId } from '../../../platform/ids.ts'
import { personOf, requirePerson } from '../../viewer.ts'
import { requireManager, requireOrganization } from '../membership/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { actorKindOf, detailsOf, namedOf, readAction, readsWhole, targetTypeOf } from './rules.ts'

export const auditResolvers: Resolvers = {
  Query: {
    auditLog(_, { action, userId, since, until, ...page }, { viewer, auditEntries }) {
      requirePerson(viewer)
      requireOrganization(viewer)
      requireManager(viewer, 'read its record')
      const filter = { action: readAction(action), userId: userId ? requireId(userId, 'userId') : null, at: { since, until } }
      return auditEntries.filtered(filter, page)
    },
    accountActivity(_, page, { viewer, accountEntries }) {
      requirePerson(viewer)
      return accountEntries.filtered({}, page)
    },
  },

  AuditEntry: {
    actorKind: ({ actor }) => actorKindOf(actor),
    user: ({ actor, userId }, _, { users }) => users.find(userId ?? personOf(actor)),
    apiKeyId: ({ actor }) => namedOf(actor, 'key'),
    appId: ({ actor, appId }) => appId ?? namedOf(actor, 'service'),
    organization: ({ tenantId }, _, { organizations }) => organizations.find(tenantId),
    targetType: ({ action }) => targetTypeOf(action),
    targetId: ({ subjectId }) => subjectId,
    ipAddress: (entry, _, { viewer }) => (readsWhole(entry, viewer) ? entry.ipAddress : null),
    userAgent: (entry, _, { viewer }) => (readsWhole(entry, viewer) ? entry.userAgent : null),
    details: (entry, _, { viewer }) => (readsWhole(entry, viewer) ? detailsOf(entry.details) : []),
  },
}
