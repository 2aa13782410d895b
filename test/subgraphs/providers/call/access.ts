import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScope, byScopeEachTheirOwn, constant, type Ids, row } from '../../../access/row.ts'
import { seedCall } from './seed.ts'

const usage: readonly Scope[] = ['providers:usage.read']
const apps: readonly Scope[] = ['providers:apps.read']
const invoke: readonly Scope[] = ['providers:ai.invoke']
const call = (field: string) => (ids: Ids) => `{ providerCall(id: "${ids.call}") { ${field} } }`

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedCall(graph, { organizationId: outsider.organizationId!, userId: outsider.userId })
    const attempts = [{ provider: 'openai', model: 'openai/gpt-5-mini', status: 200, failure: null, latencyMs: 7 }]
    return { call: (await seedCall(graph, { organizationId: owner.organizationId!, userId: owner.userId, attempts })).id }
  },
  fields: [
    row('Query.providerCall', usage, invoke, byScope, call('id'), 'providerCall'),
    row('Query.providerCalls', usage, invoke, byScopeEachTheirOwn, constant('{ providerCalls { nodes { id } } }'), 'providerCalls'),
    row('Query.usage', usage, invoke, byScopeEachTheirOwn, constant('{ usage(groupBy: [MODEL]) { calls } }'), 'usage'),
    row('Query.providerApps', apps, usage, byScopeEachTheirOwn, constant('{ providerApps { appId } }'), 'providerApps'),
    row('ProviderCall.user', usage, invoke, byScope, call('user { id }'), 'providerCall.user'),
    row('ProviderCall.organization', usage, invoke, byScope, call('organization { id }'), 'providerCall.organization'),
    // Of this app alone: calls of a service name no person.
    row('UsageRow.user', usage, invoke, byScopeEachTheirOwn, constant('{ usage(groupBy: [USER], appId: "app_providers") { user { id } } }'), 'usage.user'),
  ],
  routes: [
    { at: 'GET /providers/api/calls', scopes: usage, less: invoke, cells: byScopeEachTheirOwn, path: () => '/providers/api/calls' },
    { at: 'GET /providers/api/calls/:id', scopes: usage, less: invoke, cells: byScope, path: ids => `/providers/api/calls/${ids.call}` },
    { at: 'GET /providers/api/usage', scopes: usage, less: invoke, cells: byScopeEachTheirOwn, path: () => '/providers/api/usage?groupBy=app,model' },
    { at: 'GET /providers/api/apps', scopes: apps, less: usage, cells: byScopeEachTheirOwn, path: () => '/providers/api/apps' },
  ],
}
