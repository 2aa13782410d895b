import { nounRoutes } from '../derive/route.ts'

export const connectorRows = nounRoutes({
  select: {
    Connector: `
      id name kind counterparty baseUrl status message checkedAt
      tools { name title description inputSchema permission risk readOnly idempotent } version`,
    MobileAppEntry: `
      id name publisher
      artifacts { platform identifier version build status url sha256 bytes minimumOs releasedAt storeUrl }`,
  },
  routes: {
    'GET /api/mobile-apps': 'mobileApps',
    'GET /api/connectors': 'connectors',
    'POST /api/connectors': 'createConnector',
    'GET /api/connectors/:id': 'connector',
    'PUT /api/connectors/:id': 'updateConnector',
    'DELETE /api/connectors/:id': 'deleteConnector',
    'POST /api/connectors/:id/check': { run: 'checkConnector', mayBeEmpty: true },
  },
})
