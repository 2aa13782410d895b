import { nounRoutes } from '../derive/route.ts'

export const serviceClientRows = nounRoutes({
  select: {
    ServiceClient: `
      id appId name operations active lastUsedAt tokens { id prefix createdAt expiresAt lastUsedAt revokedAt } createdAt version`,
  },
  routes: {
    'GET /api/service-clients': 'serviceClients',
    'POST /api/service-clients': 'createServiceClient',
    'GET /api/service-clients/:id': 'serviceClient',
    'PUT /api/service-clients/:id': 'updateServiceClient',
    'POST /api/service-clients/:id/tokens': {
      mayBeEmpty: true,
      run: 'issueServiceToken',
      names: { serviceClientId: 'id' },
      select: 'tokenId secret',
      status: 201,
      noStore: true,
    },
    'DELETE /api/service-clients/:id/tokens/:tokenId': 'revokeServiceToken',
  },
})
