import { nounRoutes } from '../derive/route.ts'

export const auditRows = nounRoutes({
  select: {
    PaymentAuditEntry: 'id at action entityType entityId actorKind userId: user { id } apiKeyId appId changes { field before after } requestId',
  },
  routes: { 'GET /api/audit': 'paymentAuditLog' },
})
