import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accountants,
  accounts,
  all,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  publicRoute,
  readPosts,
  row,
  services,
  unrelated,
} from '../../../access/row.ts'
import { seedBrand } from '../brand/seed.ts'
import { type ConnectionSeed, seedConnection } from './seed.ts'

/** Enough to be answered with the connection that was changed. */
const writeAccounts: readonly Scope[] = ['publishing:accounts.write']

/** Of a brand of its own, for one has only so many. */
const connectionOf =
  (seed: () => ConnectionSeed): Fresh =>
  async ({ graph, owner, ids }) => {
    const { id: brandId } = await seedBrand(graph, { organizationId: ids.organization! })
    return (await seedConnection(graph, { brandId, owner }, seed())).id
  }
const freshConnection = connectionOf(() => ({ externalAccountId: newId() }))
/** One that its network knows. */
const knownConnection = connectionOf(() => ({}))
const fresh = ({ fresh: id }: Ids): string => `id: "${id}"`
const toFresh = (rest: string) => (ids: Ids) => `/publishing/api/connections/${ids.fresh}${rest}`

export const access: AccessRows = {
  async made({ graph, owner, outsider, ids }) {
    const { id } = await seedConnection(graph, { brandId: ids.brand!, owner }, { externalAccountId: '1' })
    await graph.rows(
      `update publishing.connections set rate_limit = '{"limit": 1, "remaining": 1, "resetsAt": null}',
         targets = '[{"kind": "PAGE", "externalId": "1", "name": "One", "selected": true, "isDefault": true, "available": true, "reason": null}]' where id = $1`,
      [id],
    )
    // The outsider's own organization has one, too: what is answered elsewhere is not ours.
    const { id: brandId } = await seedBrand(graph, { organizationId: outsider.organizationId! })
    await seedConnection(graph, { brandId, owner: outsider }, { externalAccountId: newId() })
    return { connection: id }
  },
  fields: [
    row('Query.connection', accounts, readPosts, byScope, ({ connection }) => `{ connection(id: "${connection}") { id } }`, 'connection'),
    row('Query.connections', accounts, readPosts, byScopeEachTheirOwn, constant('{ connections { nodes { id } } }'), 'connections'),
    row('ConnectionConnection.nodes', accounts, readPosts, byScopeEachTheirOwn, constant('{ connections { nodes { id } } }'), 'connections.nodes'),
    row(
      'Mutation.selectConnectionTargets',
      writeAccounts,
      accounts,
      accountants,
      change('selectConnectionTargets', ids => `${fresh(ids)}, targets: []`, 'id'),
      'selectConnectionTargets',
      freshConnection,
    ),
    row('Mutation.checkConnection', writeAccounts, accounts, accountants, change('checkConnection', fresh, 'id'), 'checkConnection', knownConnection),
    row(
      'Mutation.disconnectConnection',
      writeAccounts,
      accounts,
      accountants,
      change('disconnectConnection', fresh, 'id'),
      'disconnectConnection',
      freshConnection,
    ),
    row('Mutation.renewConnection', all, unrelated, services, change('renewConnection', fresh, 'connectionId'), 'renewConnection', freshConnection),
    row(
      'Subscription.connectionHealthChanged',
      accounts,
      readPosts,
      byScope,
      ({ brand }) => `subscription { connectionHealthChanged(brandId: "${brand}") { id } }`,
      'connectionHealthChanged',
    ),
    row('Brand.connections', accounts, readPosts, byScope, ({ brand }) => `{ brand(id: "${brand}") { connections { id } } }`, 'brand.connections'),
  ],
  routes: [
    { at: 'GET /publishing/api/connections', scopes: accounts, less: readPosts, cells: byScopeEachTheirOwn, path: () => '/publishing/api/connections' },
    {
      at: 'GET /publishing/api/connections/:id',
      scopes: accounts,
      less: readPosts,
      cells: byScope,
      path: ({ connection }) => `/publishing/api/connections/${connection}`,
    },
    { at: 'DELETE /publishing/api/connections/:id', scopes: writeAccounts, less: accounts, cells: accountants, path: toFresh(''), fresh: freshConnection },
    {
      at: 'PUT /publishing/api/connections/:id/targets',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: toFresh('/targets'),
      body: () => ({ targets: [] }),
      fresh: freshConnection,
    },
    {
      at: 'POST /publishing/api/connections/:id/check',
      scopes: writeAccounts,
      less: accounts,
      cells: accountants,
      path: toFresh('/check'),
      fresh: knownConnection,
    },
    {
      at: 'POST /publishing/api/internal/connections/:id/refresh',
      scopes: all,
      less: unrelated,
      cells: services,
      path: ({ connection }) => `/publishing/api/internal/connections/${connection}/refresh`,
    },
    ...(['deauthorize', 'data-deletion'] as const).map(event => ({
      at: `POST /publishing/api/callbacks/:platform/${event}`,
      scopes: unrelated,
      less: unrelated,
      cells: publicRoute,
      path: () => `/publishing/api/callbacks/facebook/${event}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: () => Buffer.from('signed_request=nonsense'),
    })),
    { at: 'GET /publishing/data-deletion/:code', scopes: unrelated, less: unrelated, cells: publicRoute, path: () => '/publishing/data-deletion/nobodys' },
  ],
}
