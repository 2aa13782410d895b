import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, change, constant, type Fresh, type Ids, row } from '../../../access/row.ts'
import { seedLimit } from './seed.ts'

const manage: readonly Scope[] = ['providers:limits.manage']
const usage: readonly Scope[] = ['providers:usage.read']
const eachTheirOwn = 'refused yes refused refused refused yes yes'
const ownersEachTheirOwn = 'refused denied refused refused refused yes yes'

const limit = (field: string) => (ids: Ids) => `{ spendLimit(id: "${ids.spendLimit}") { ${field} } }`
const model: Fresh = async () => `openai/model-${newId()}`
const fresh: Fresh = async stage =>
  seedLimit(stage.graph, { organizationId: stage.owner.organizationId!, scopeType: 'MODEL', scopeValue: await model(stage), softLimitMicros: 5n })
const path = '/providers/api/limits'

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedLimit(graph, { organizationId: outsider.organizationId!, hardLimitMicros: 5_000_000n })
    await seedLimit(graph, { organizationId: null, hardLimitMicros: 5_000_000n })
    const alerts = [{ kind: 'SOFT' as const, at: graph.clock.now().toISOString() }]
    return { spendLimit: await seedLimit(graph, { organizationId: owner.organizationId!, hardLimitMicros: 5_000_000n, alerts }) }
  },
  fields: [
    row('Query.spendLimit', manage, usage, accountants, limit('id'), 'spendLimit'),
    row('Query.spendLimits', manage, usage, eachTheirOwn, constant('{ spendLimits { nodes { id } } }'), 'spendLimits'),
    row('Query.hardLimitOptions', manage, usage, ownersEachTheirOwn, constant('{ hardLimitOptions { scopeType } }'), 'hardLimitOptions'),
    row(
      'Mutation.createSpendLimit',
      manage,
      usage,
      eachTheirOwn,
      change('createSpendLimit', ids => `scopeType: MODEL, scopeValue: "${ids.fresh}", period: DAY, softLimitMicros: 5`, 'id'),
      'createSpendLimit',
      model,
    ),
    row(
      'Mutation.updateSpendLimit',
      manage,
      usage,
      accountants,
      change('updateSpendLimit', ids => `id: "${ids.fresh}", note: "Seen"`, 'id'),
      'updateSpendLimit',
      fresh,
    ),
    row(
      'Mutation.deleteSpendLimit',
      manage,
      usage,
      accountants,
      change('deleteSpendLimit', ids => `id: "${ids.fresh}"`, 'id'),
      'deleteSpendLimit',
      fresh,
    ),
    row(
      'Subscription.spendLimitChanged',
      manage,
      usage,
      accountants,
      ids => `subscription { spendLimitChanged(id: "${ids.spendLimit}") { id } }`,
      'spendLimitChanged',
    ),
    // Amounts of hard limits are for owners: a key sees that there is nothing for it.
    row(
      'SpendLimit.hardLimit',
      manage,
      usage,
      'refused nothing refused refused refused yes hidden',
      limit('hardLimit { limitMicros }'),
      'spendLimit.hardLimit',
    ),
    row('SpendLimit.alerts', manage, usage, accountants, limit('alerts { kind }'), 'spendLimit.alerts'),
  ],
  routes: [
    { at: `GET ${path}`, scopes: manage, less: usage, cells: eachTheirOwn, path: () => path },
    {
      at: `POST ${path}`,
      scopes: manage,
      less: usage,
      cells: eachTheirOwn,
      path: () => path,
      body: ids => ({ scope_type: 'model', scope_value: ids.fresh, period: 'day', softLimitMicros: 5 }),
      fresh: model,
    },
    { at: `GET ${path}/options`, scopes: manage, less: usage, cells: 'refused refused refused refused refused yes yes', path: () => `${path}/options` },
    { at: `GET ${path}/:id`, scopes: manage, less: usage, cells: accountants, path: ids => `${path}/${ids.spendLimit}` },
    { at: `PUT ${path}/:id`, scopes: manage, less: usage, cells: accountants, path: ids => `${path}/${ids.fresh}`, body: () => ({ note: 'Seen' }), fresh },
    { at: `DELETE ${path}/:id`, scopes: manage, less: usage, cells: accountants, path: ids => `${path}/${ids.fresh}`, fresh },
  ],
}
