import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, byScope, byScopeEachTheirOwn, change, constant, type Fresh, type Ids, row } from '../../../access/row.ts'
import { seedConnector } from './seed.ts'

const read: readonly Scope[] = ['agents:agents.read']
const write: readonly Scope[] = ['agents:agents.write']
const reading: readonly Scope[] = ['agents:workflows.read']
const managersOwn = 'refused yes refused refused refused yes yes'
const path = ({ connector }: Ids) => `/agents/api/connectors/${connector}`
const freshPath = ({ fresh }: Ids) => `/agents/api/connectors/${fresh}`
const fresh: Fresh = ({ graph, owner }) => seedConnector(graph, owner.organizationId!)
// A name that leads nowhere: the check is answered, and says so.
const asNew = { name: 'New', kind: 'mcp', baseUrl: 'https://tools.example/mcp' }

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedConnector(graph, outsider.organizationId!)
    return { connector: await seedConnector(graph, owner.organizationId!) }
  },
  fields: [
    row('Query.connector', read, reading, byScope, ids => `{ connector(id: "${ids.connector}") { id } }`, 'connector'),
    row('Query.connectors', read, reading, byScopeEachTheirOwn, constant('{ connectors { id } }'), 'connectors'),
    row('Query.mobileApps', read, reading, byScopeEachTheirOwn, constant('{ mobileApps { nodes { id } } }'), 'mobileApps'),
    row(
      'MobileAppEntry.artifacts',
      read,
      reading,
      byScopeEachTheirOwn,
      constant('{ mobileApps { nodes { artifacts { url } } } }'),
      'mobileApps.nodes.artifacts',
    ),
    row(
      'Mutation.createConnector',
      write,
      read,
      managersOwn,
      change('createConnector', () => 'name: "New", kind: MCP, baseUrl: "https://tools.example/mcp"', 'id'),
      'createConnector',
    ),
    row(
      'Mutation.updateConnector',
      write,
      read,
      accountants,
      change('updateConnector', ids => `id: "${ids.fresh}", name: "Other"`, 'id'),
      'updateConnector',
      fresh,
    ),
    row(
      'Mutation.checkConnector',
      write,
      read,
      accountants,
      change('checkConnector', ids => `id: "${ids.fresh}"`, 'id'),
      'checkConnector',
      fresh,
    ),
    row(
      'Mutation.deleteConnector',
      write,
      read,
      accountants,
      change('deleteConnector', ids => `id: "${ids.fresh}"`, 'id'),
      'deleteConnector',
      fresh,
    ),
  ],
  routes: [
    { at: 'GET /agents/api/mobile-apps', scopes: read, less: reading, cells: byScopeEachTheirOwn, path: () => '/agents/api/mobile-apps' },
    { at: 'GET /agents/api/connectors', scopes: read, less: reading, cells: byScopeEachTheirOwn, path: () => '/agents/api/connectors' },
    { at: 'POST /agents/api/connectors', scopes: write, less: read, cells: managersOwn, path: () => '/agents/api/connectors', body: () => asNew },
    { at: 'GET /agents/api/connectors/:id', scopes: read, less: reading, cells: byScope, path },
    { at: 'PUT /agents/api/connectors/:id', scopes: write, less: read, cells: accountants, path: freshPath, body: () => ({ name: 'Other' }), fresh },
    { at: 'DELETE /agents/api/connectors/:id', scopes: write, less: read, cells: accountants, path: freshPath, fresh },
    {
      at: 'POST /agents/api/connectors/:id/check',
      scopes: write,
      less: read,
      cells: accountants,
      path: ids => `${freshPath(ids)}/check`,
      body: () => ({}),
      fresh,
    },
  ],
}
