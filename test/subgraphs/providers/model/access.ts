import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, change, constant, knownCallers, row, services, unrelated } from '../../../access/row.ts'

const invoke: readonly Scope[] = ['providers:ai.invoke']
const admin: readonly Scope[] = ['providers:org.admin']
const usage: readonly Scope[] = ['providers:usage.read']
const writersEachTheirOwn = 'refused yes     refused refused  yes      yes      yes'
const adminsEachTheirOwn = 'refused yes     refused refused  refused  yes      yes'
/** Nobody of the columns administers the platform: `sync.test.ts` says who may have sources asked. */
const nobodyHere = services

const governance = (selection: string) => constant(`{ modelGovernance { ${selection} } }`)
const preferred = 'capability: CHAT, model: "openai/gpt-5-mini"'
const chained = 'capability: CHAT, models: ["openai/gpt-5-mini"]'

export const access: AccessRows = {
  async made({ graph }) {
    await graph.rows(
      `insert into providers.models (id, name, provider, capability, image_prices, first_seen_at, created_at, updated_at, created_by)
       values (gen_random_uuid(), 'openai/of-the-matrix', 'openai', 'CHAT', '[{"quality": "low", "size": "1024x1024", "micros": 11000}]',
         '2026-01-01', '2026-01-01', '2026-01-01', 'system:sources')`,
    )
    return {}
  },
  fields: [
    row('Query.aiModels', invoke, unrelated, byScopeEachTheirOwn, constant('{ aiModels { nodes { name } } }'), 'aiModels'),
    row('Query.modelPreferences', invoke, usage, writersEachTheirOwn, constant('{ modelPreferences { model } }'), 'modelPreferences'),
    row('Query.fallbackChains', invoke, usage, writersEachTheirOwn, constant('{ fallbackChains { models } }'), 'fallbackChains'),
    row('Query.modelGovernance', invoke, unrelated, knownCallers, governance('unpricedModels'), 'modelGovernance'),
    row(
      'ModelGovernance.recentUsage',
      usage,
      unrelated,
      'refused yes refused yes yes yes yes',
      governance('recentUsage { calls }'),
      'modelGovernance.recentUsage',
    ),
    row('ModelOverride.organization', usage, unrelated, knownCallers, governance('overrides { organization { id } }'), 'modelGovernance.overrides'),
    row(
      'Mutation.setModelPreference',
      admin,
      invoke,
      adminsEachTheirOwn,
      change('setModelPreference', () => preferred, 'model'),
      'setModelPreference',
    ),
    row(
      'Mutation.setFallbackChain',
      admin,
      invoke,
      adminsEachTheirOwn,
      change('setFallbackChain', () => chained, 'models'),
      'setFallbackChain',
    ),
    row(
      'Mutation.syncModels',
      all,
      unrelated,
      nobodyHere,
      change('syncModels', () => '', 'id'),
      'syncModels',
    ),
    row(
      'ModelSync.sources',
      all,
      unrelated,
      nobodyHere,
      change('syncModels', () => '', 'sources { name }'),
      'syncModels.sources',
    ),
  ],
  routes: [
    { at: 'GET /providers/api/models/governance', scopes: invoke, less: unrelated, cells: knownCallers, path: () => '/providers/api/models/governance' },
    { at: 'POST /providers/api/models/sync', scopes: all, less: unrelated, cells: nobodyHere, path: () => '/providers/api/models/sync' },
    { at: 'GET /providers/api/models/preferences', scopes: invoke, less: usage, cells: writersEachTheirOwn, path: () => '/providers/api/models/preferences' },
    { at: 'GET /providers/api/models/chains', scopes: invoke, less: usage, cells: writersEachTheirOwn, path: () => '/providers/api/models/chains' },
    {
      at: 'PUT /providers/api/models/preferences/:capability',
      scopes: admin,
      less: invoke,
      cells: adminsEachTheirOwn,
      path: () => '/providers/api/models/preferences/chat',
      body: () => ({ model: 'openai/gpt-5-mini' }),
    },
    {
      at: 'PUT /providers/api/models/chains/:capability',
      scopes: admin,
      less: invoke,
      cells: adminsEachTheirOwn,
      path: () => '/providers/api/models/chains/chat',
      body: () => ({ models: ['openai/gpt-5-mini'] }),
    },
  ],
}
