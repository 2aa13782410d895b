import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accountants,
  all,
  byScopeEachTheirOwn,
  byScopeNoneElsewhere,
  change,
  constant,
  everybody,
  type Fresh,
  publicRoute,
  row,
  type Stage,
} from '../../../access/row.ts'
import { seedApps, seedPlatformApps } from './seed.ts'

const read: readonly Scope[] = ['launcher:apps.read']
const write: readonly Scope[] = ['launcher:apps.write']
const unrelated: readonly Scope[] = ['launcher:widgets.read']

//                                                        anonymous key other   viewer  member  owner outsider
const installers /*                                  */ = 'refused yes refused refused refused yes   yes'
const removers /*                                    */ = 'refused yes refused refused refused yes   hidden'
// Without a developer platform there is no shop.
//                                    anonymous key     other   viewer  member  owner   outsider
const shoppers /*                */ = 'refused refused refused nothing nothing nothing nothing'
// Keys need the scope to write, people only to read; each asks in their own organization.
const whoeverAsks /*                                 */ = 'refused yes denied  yes     yes     yes   yes'
const deciders /*                                    */ = 'refused yes refused refused refused yes   hidden'
/** A request of the key that the column `key` is; everybody else sees none of it, or may not take it back. */
const asker /*                                       */ = 'refused denied denied hidden hidden denied hidden'

/** A route answers what a rule denies as what the router refuses. */
const whoeverAsksByRoute = whoeverAsks.replaceAll('denied', 'refused')
const askerByRoute = asker.replaceAll('denied', 'refused')

const seedListed = (graph: Stage['graph']) => seedApps(graph, { slug: 'route-finder', title: 'Route Finder' }, { slug: 'stock-count', title: 'Stock Count' })

/** An app of the catalogue. The launcher reads the developer platform's apps anew from time to time, and would drop it. */
const freshListed =
  (slug: string): Fresh =>
  async ({ graph }) => {
    await seedListed(graph)
    return slug
  }
const [routeFinder, stockCount] = [freshListed('route-finder'), freshListed('stock-count')]

/** An app that is installed in `acme`. */
const freshInstalled: Fresh = async ({ graph, ids }) => {
  const at = graph.clock.now()
  const app = `app-${newId().slice(-12)}`
  await graph.rows(
    `insert into launcher.installations (id, app, organization_id, installed_at, created_at, updated_at, created_by) values ($1, $2, $3, $4, $4, $4, 'test')`,
    [newId(), app, ids.organization, at],
  )
  return app
}

/** A request of somebody of `acme` for an app. */
const freshRequest: Fresh = async ({ graph, ids, owner }) => {
  const [id, at] = [newId(), graph.clock.now()]
  await graph.rows(
    `insert into launcher.access_requests (id, organization_id, app, status, requested_by, created_at, updated_at, created_by)
     values ($1, $2, 'stock-count', 'PENDING', $3, $4, $4, $5)`,
    [id, ids.organization, owner.userId, at, `user:${newId()}`],
  )
  return id
}

const entry = (selection: string) => constant(`{ catalogEntry(app: "agents") { ${selection} } }`)
const requests = (selection: string) => constant(`{ accessRequests { ${selection} } }`)

const api = '/launcher/api'
const decision = { decision: 'decline' }

export const access: AccessRows = {
  async made(stage) {
    await seedPlatformApps(stage.graph)
    await seedListed(stage.graph)
    // The first one of the list: an app of the catalogue, and by whom it was installed.
    const at = stage.graph.clock.now()
    await stage.graph.rows(
      `insert into launcher.installations (id, app, organization_id, installed_by, installed_at, created_at, updated_at, created_by)
       values ($1, 'agents', $2, $3, $4, $4, $4, 'test'), ($5, 'publishing', $2, $3, $4, $4, $4, 'test')`,
      [newId(), stage.ids.organization, stage.owner.userId, at, newId()],
    )
    return { accessRequest: await freshRequest(stage), installed: await freshInstalled(stage) }
  },
  fields: [
    row('Query.catalogEntry', read, unrelated, byScopeEachTheirOwn, constant('{ catalogEntry(app: "agents") { id } }'), 'catalogEntry'),
    row('Query.catalogEntries', read, unrelated, byScopeEachTheirOwn, constant('{ catalogEntries { nodes { id } } }'), 'catalogEntries'),
    row(
      'CatalogEntry.installation',
      read,
      unrelated,
      byScopeNoneElsewhere.replace('empty', 'nothing'),
      entry('installation { id }'),
      'catalogEntry.installation',
    ),
    row(
      'CatalogEntry.accessRequest',
      read,
      unrelated,
      byScopeEachTheirOwn.replaceAll('yes', 'nothing'),
      entry('accessRequest { id }'),
      'catalogEntry.accessRequest',
    ),
    row(
      'CatalogEntry.mobileApps',
      read,
      unrelated,
      byScopeEachTheirOwn.replaceAll('yes', 'empty'),
      entry('mobileApps { platform }'),
      'catalogEntry.mobileApps',
    ),
    row('Query.installations', read, unrelated, byScopeNoneElsewhere, constant('{ installations { id } }'), 'installations'),
    row('Installation.entry', read, unrelated, byScopeEachTheirOwn, constant('{ installations { entry { id } } }'), 'installations.entry'),
    // Rows of types come after the mutations, by which everybody has installed an app and asked for one.
    row('Installation.organization', read, unrelated, byScopeEachTheirOwn, constant('{ installations { organization { id } } }'), 'installations.organization'),
    row('Installation.installedBy', read, unrelated, byScopeEachTheirOwn, constant('{ installations { installedBy { id } } }'), 'installations.installedBy'),
    row('Query.accessRequests', read, unrelated, byScopeEachTheirOwn, constant('{ accessRequests { nodes { id } } }'), 'accessRequests'),
    row('AccessRequestConnection.nodes', read, unrelated, byScopeEachTheirOwn, requests('nodes { id }'), 'accessRequests.nodes'),
    row('AccessRequestConnection.edges', read, unrelated, byScopeEachTheirOwn, requests('edges { cursor }'), 'accessRequests.edges'),
    row('AccessRequestEdge.node', read, unrelated, byScopeEachTheirOwn, requests('edges { node { id } }'), 'accessRequests.edges.node'),
    row('AccessRequest.entry', read, unrelated, byScopeEachTheirOwn, requests('nodes { entry { id } }'), 'accessRequests.nodes.entry'),
    row('AccessRequest.requestedBy', read, unrelated, byScopeEachTheirOwn, requests('nodes { requestedBy { id } }'), 'accessRequests.nodes.requestedBy'),
    row(
      'AccessRequest.decidedBy',
      read,
      unrelated,
      byScopeEachTheirOwn.replaceAll('yes', 'nothing'),
      requests('nodes { decidedBy { id } }'),
      'accessRequests.nodes.decidedBy',
    ),
    row('Query.storeApps', read, unrelated, everybody, constant('{ storeApps { nodes { app } } }'), 'storeApps'),
    row('Query.storeApp', read, unrelated, everybody, ({ fresh }) => `{ storeApp(app: "${fresh}") { app } }`, 'storeApp', routeFinder),
    row(
      'Mutation.installApp',
      write,
      read,
      installers,
      change('installApp', ({ fresh }) => `app: "${fresh}"`, 'id'),
      'installApp',
      routeFinder,
    ),
    row(
      'Mutation.uninstallApp',
      write,
      read,
      removers,
      change('uninstallApp', ({ fresh }) => `app: "${fresh}"`, 'id'),
      'uninstallApp',
      freshInstalled,
    ),
    row(
      'Mutation.requestAccess',
      write,
      read,
      whoeverAsks,
      change('requestAccess', ({ fresh }) => `app: "${fresh}"`, 'id'),
      'requestAccess',
      stockCount,
    ),
    row(
      'Mutation.decideAccessRequest',
      write,
      read,
      deciders,
      change('decideAccessRequest', ({ fresh }) => `id: "${fresh}", decision: DECLINE`, 'id'),
      'decideAccessRequest',
      freshRequest,
    ),
    row(
      'Mutation.withdrawAccessRequest',
      write,
      read,
      asker,
      change('withdrawAccessRequest', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'withdrawAccessRequest',
      freshRequest,
    ),
    row(
      'Subscription.installationChanged',
      read,
      unrelated,
      byScopeEachTheirOwn,
      constant('subscription { installationChanged { id } }'),
      'installationChanged',
    ),
  ],
  routes: [
    { at: `GET ${api}/apps`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => `${api}/apps` },
    { at: `GET ${api}/apps/:app`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => `${api}/apps/agents` },
    {
      ...{ at: `PUT ${api}/apps/:app/installation`, scopes: write, less: read, cells: installers, path: ids => `${api}/apps/${ids.fresh}/installation` },
      fresh: routeFinder,
    },
    {
      ...{ at: `DELETE ${api}/apps/:app/installation`, scopes: write, less: read, cells: accountants, path: ids => `${api}/apps/${ids.fresh}/installation` },
      fresh: freshInstalled,
    },
    { at: `GET ${api}/installations`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => `${api}/installations` },
    { at: `GET ${api}/access-requests`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => `${api}/access-requests` },
    {
      ...{ at: `POST ${api}/access-requests`, scopes: write, less: read, cells: whoeverAsksByRoute, path: () => `${api}/access-requests` },
      body: ids => ({ app: ids.fresh }),
      fresh: stockCount,
    },
    {
      ...{ at: `POST ${api}/access-requests/:id/decision`, scopes: write, less: read, cells: deciders, fresh: freshRequest },
      path: ids => `${api}/access-requests/${ids.fresh}/decision`,
      body: () => decision,
    },
    {
      ...{ at: `POST ${api}/access-requests/:id/withdrawal`, scopes: write, less: read, cells: askerByRoute, fresh: freshRequest },
      path: ids => `${api}/access-requests/${ids.fresh}/withdrawal`,
    },
    { at: `GET ${api}/store/apps`, scopes: read, less: unrelated, cells: publicRoute, path: () => `${api}/store/apps` },
    { at: `GET ${api}/store/search`, scopes: read, less: unrelated, cells: publicRoute, path: () => `${api}/store/search?q=route` },
    { at: `GET ${api}/store/apps/:app`, scopes: read, less: unrelated, cells: publicRoute, path: ids => `${api}/store/apps/${ids.fresh}`, fresh: routeFinder },
    { at: `* ${api}/commerce/*`, scopes: all, less: read, cells: shoppers, path: () => `${api}/commerce/plans` },
    { at: 'GET /launcher/icons/:app', scopes: read, less: unrelated, cells: publicRoute, path: () => '/launcher/icons/agents' },
  ],
}
