import { fromEnum, toEnum } from '../enum-case.ts'
import { operationRow, type Row } from '../row.ts'
import {
  RestFallbackChainsDocument,
  type RestFallbackChainsQuery,
  RestModelGovernanceDocument,
  type RestModelGovernanceQuery,
  RestModelPreferencesDocument,
  type RestModelPreferencesQuery,
  RestSetFallbackChainDocument,
  RestSetModelPreferenceDocument,
  RestSyncModelsDocument,
  type SetFallbackChainInput,
  type SetModelPreferenceInput,
  type SyncModelsInput,
} from './model.generated.ts'

type Governance = NonNullable<RestModelGovernanceQuery['modelGovernance']>
type Preference = NonNullable<RestModelPreferencesQuery['modelPreferences']>[number]
type Chain = NonNullable<RestFallbackChainsQuery['fallbackChains']>[number]

const preferenceToRest = (preference: Preference) => ({ ...preference, capability: fromEnum(preference.capability), level: fromEnum(preference.level) })
const chainToRest = (chain: Chain) => ({ ...chain, capability: fromEnum(chain.capability), level: fromEnum(chain.level) })
const sourceToRest = (source: Governance['sources'][number]) => ({ ...source, kind: fromEnum(source.kind), status: fromEnum(source.status) })

/** The graph's names, enum values in lower case, an organization by its id. What the caller may not see (`recentUsage`) is an empty list. */
const governanceToRest = (governance: Governance) => ({
  ...governance,
  platformDefaults: governance.platformDefaults.map(preferenceToRest),
  overrides: governance.overrides.map(({ organization, ...override }) => ({
    ...override,
    capability: fromEnum(override.capability),
    level: fromEnum(override.level),
    organizationId: organization?.id ?? null,
  })),
  recentUsage: governance.recentUsage ?? [],
  lifecycle: governance.lifecycle.map(standing => ({ ...standing, lifecycle: fromEnum(standing.lifecycle) })),
  sources: governance.sources.map(sourceToRest),
})

export const modelRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/models/governance',
    operation: RestModelGovernanceDocument,
    variables: () => ({}),
    reply: ({ modelGovernance }) => modelGovernance && { body: governanceToRest(modelGovernance) },
  }),
  operationRow({
    method: 'POST',
    path: '/api/models/sync',
    operation: RestSyncModelsDocument,
    body: ['sources'],
    mayBeEmpty: true,
    variables: ({ body }) => ({ input: body as SyncModelsInput }),
    reply: ({ syncModels }) => syncModels && { body: { ...syncModels, sources: syncModels.sources.map(sourceToRest) } },
  }),
  operationRow({
    method: 'GET',
    path: '/api/models/preferences',
    operation: RestModelPreferencesDocument,
    variables: () => ({}),
    reply: ({ modelPreferences }) => modelPreferences && { body: { preferences: modelPreferences.map(preferenceToRest) } },
  }),
  operationRow({
    method: 'PUT',
    path: '/api/models/preferences/:capability',
    operation: RestSetModelPreferenceDocument,
    body: ['model', 'allowedModels', 'level'],
    variables: ({ params, body }) => ({
      input: { ...body, capability: toEnum(params.capability), level: toEnum(body.level) } as SetModelPreferenceInput,
    }),
    reply: ({ setModelPreference }) => setModelPreference && { body: preferenceToRest(setModelPreference) },
  }),
  operationRow({
    method: 'GET',
    path: '/api/models/chains',
    operation: RestFallbackChainsDocument,
    variables: () => ({}),
    reply: ({ fallbackChains }) => fallbackChains && { body: { chains: fallbackChains.map(chainToRest) } },
  }),
  operationRow({
    method: 'PUT',
    path: '/api/models/chains/:capability',
    operation: RestSetFallbackChainDocument,
    body: ['models', 'level'],
    variables: ({ params, body }) => ({ input: { ...body, capability: toEnum(params.capability), level: toEnum(body.level) } as SetFallbackChainInput }),
    reply: ({ setFallbackChain }) => setFallbackChain && { body: chainToRest(setFallbackChain) },
  }),
]
