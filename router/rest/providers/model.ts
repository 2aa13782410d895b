import { nounRoutes } from '../derive/route.ts'

export const modelRows = nounRoutes({
  select: {
    ModelGovernance: `
      platformDefaults
      overrides { capability model level organizationId: organization { id } }
      recentUsage { model calls inputTokens outputTokens costMicros }
      lifecycle { model lifecycle deprecatedAt retiresAt replacement }
      unpricedModels candidateModels { model provider firstSeenAt } sources`,
    ModelPreference: 'capability model allowedModels level',
    FallbackChain: 'capability models level',
    ModelSource: 'name kind status lastAttemptAt lastSuccessAt failure models',
    ModelSync: 'id startedAt finishedAt sources added changed retired',
  },
  routes: {
    'GET /api/models/governance': 'modelGovernance',
    'POST /api/models/sync': { run: 'syncModels', mayBeEmpty: true },
    'GET /api/models/preferences': 'modelPreferences',
    'PUT /api/models/preferences/:capability': 'setModelPreference',
    'GET /api/models/chains': 'fallbackChains',
    'PUT /api/models/chains/:capability': 'setFallbackChain',
  },
})
