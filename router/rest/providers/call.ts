import { nounRoutes } from '../derive/route.ts'

export const callRows = nounRoutes({
  select: {
    ProviderCall: `
      id family operation status appId userId: user { id } organizationId: organization { id } requestedModel model provider
      inputTokens cachedTokens cacheWriteTokens outputTokens units costMicros doubtful latencyMs firstByteMs
      attempts { provider model status failure latencyMs costMicros } prompt createdAt`,
    UsageRow: `
      appId userId: user { id } model provider family day calls failedCalls
      inputTokens cachedTokens cacheWriteTokens outputTokens units costMicros`,
    ProviderApp: 'appId title lastUsedAt calls costMicros',
    ProviderOrganization: 'id organizationId: organization { id } status promptStorage retentionDays createdAt version',
  },
  routes: {
    'GET /api/calls': 'providerCalls',
    'GET /api/calls/:id': 'providerCall',
    'GET /api/usage': { run: 'usage', counted: true },
    'GET /api/apps': { run: 'providerApps', counted: true },
    'POST /api/organizations': { run: 'provisionOrganization', changing: null },
  },
})
