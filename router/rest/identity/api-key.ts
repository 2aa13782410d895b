import { nounRoutes } from '../derive/route.ts'

const withSecret = 'apiKey @required secret'

export const apiKeyRows = nounRoutes({
  select: {
    ApiKey: `
      id name prefix service { id slug title } serviceAccount { id name } state scopes rateLimit createdAt createdBy { id name }
      expiresAt revokedAt lastUsedAt rotatedAt previousPrefix previousEndsAt`,
  },
  routes: {
    'GET /api/api-keys': 'apiKeys',
    'POST /api/api-keys': { run: 'createApiKey', select: withSecret, noStore: true },
    'POST /api/api-keys/:id/rotate': { run: 'rotateApiKey', select: withSecret, noStore: true, mayBeEmpty: true },
    'DELETE /api/api-keys/:id': 'revokeApiKey',
  },
})
