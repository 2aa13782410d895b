import { nounRoutes } from '../derive/route.ts'

export const connectionRows = nounRoutes({
  select: {
    Connection: {
      fields: `
        id brandId platform active health accountName externalAccountId avatarUrl scopes connectedAt accessExpiresAt reconnectBefore
        lastCheckedAt inactiveReason targets { kind externalId name selected isDefault available reason }
        rateLimit { limit remaining resetsAt } authorId: author { id } orphaned version`,
      // These fields change whenever the network reports them.
      changing: ['accessExpiresAt', 'lastCheckedAt', 'rateLimit.remaining'],
    },
  },
  routes: {
    'GET /api/connections': 'connections',
    'GET /api/connections/:id': 'connection',
    'DELETE /api/connections/:id': 'disconnectConnection',
    'PUT /api/connections/:id/targets': 'selectConnectionTargets',
    'POST /api/connections/:id/check': 'checkConnection',
    'POST /api/internal/connections/:id/refresh': { run: 'renewConnection', select: 'connectionId platform refreshed accessExpiresAt' },
  },
})
