export const settings = '{ modelPreferences { capability model allowedModels level } fallbackChains { capability models level } }'
export const setModelPreference = 'mutation ($input: SetModelPreferenceInput!) { setModelPreference(input: $input) { capability model allowedModels level } }'
export const setFallbackChain = 'mutation ($input: SetFallbackChainInput!) { setFallbackChain(input: $input) { capability models level } }'
export const syncModels =
  'mutation ($input: SyncModelsInput!) { syncModels(input: $input) { id startedAt finishedAt added changed retired sources { name kind status failure models } } }'
export const governance = `{ modelGovernance {
  platformDefaults { capability model allowedModels level }
  overrides { capability model level organization { id } }
  recentUsage { model calls inputTokens outputTokens costMicros }
  lifecycle { model lifecycle deprecatedAt retiresAt replacement }
  unpricedModels
  candidateModels { model provider firstSeenAt }
  sources { name kind status lastAttemptAt lastSuccessAt failure models }
} }`
