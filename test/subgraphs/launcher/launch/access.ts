import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, change, constant, type Fresh, people, publicRoute, row } from '../../../access/row.ts'

const read: readonly Scope[] = ['launcher:launches.read']
const unrelated: readonly Scope[] = ['launcher:widgets.read']

//                                                     anonymous key    other   viewer member owner outsider
const ownOf /*                                      */ = 'refused hidden refused hidden hidden yes hidden'
// Rows of types come after the mutation, by which every person has launched an app.
const launchers /*                                  */ = 'refused empty refused yes yes yes yes'
const reporters /*                                  */ = 'refused refused refused hidden hidden yes hidden'

/** A launch of the owner of `acme` that has not ended yet. */
const freshLaunch: Fresh = async ({ graph, ids, owner }) => {
  const [id, at] = [newId(), graph.clock.now()]
  await graph.rows(
    `insert into launcher.launches (id, user_id, organization_id, app, title, status, source, platform, created_at, updated_at, created_by)
     values ($1, $2, $3, 'agents', 'Agents', 'READY', 'WIDGET', 'WEB', $4, $4, 'test')`,
    [id, owner.userId, ids.organization, at],
  )
  return id
}

const list = (selection: string) => constant(`{ launches { ${selection} } }`)
const api = '/launcher/api/launches'

export const access: AccessRows = {
  made: async stage => ({ launch: await freshLaunch(stage) }),
  fields: [
    row('Query.launch', read, unrelated, ownOf, ({ launch }) => `{ launch(id: "${launch}") { id } }`, 'launch'),
    row('Query.launches', read, unrelated, byScopeEachTheirOwn, list('nodes { id }'), 'launches'),
    row('LaunchConnection.nodes', read, unrelated, launchers, list('nodes { id }'), 'launches.nodes'),
    row('LaunchConnection.edges', read, unrelated, launchers, list('edges { cursor }'), 'launches.edges'),
    row('LaunchEdge.node', read, unrelated, launchers, list('edges { node { id } }'), 'launches.edges.node'),
    row(
      'Launch.failure',
      read,
      unrelated,
      ownOf.replace('yes', 'nothing'),
      ({ launch }) => `{ launch(id: "${launch}") { failure { code } } }`,
      'launch.failure',
    ),
    row('Launch.steps', read, unrelated, ownOf.replace('yes', 'empty'), ({ launch }) => `{ launch(id: "${launch}") { steps { url } } }`, 'launch.steps'),
    row('Launch.entry', all, unrelated, launchers, list('nodes { entry { id } }'), 'launches.nodes.entry'),
    row(
      'Mutation.launchApp',
      all,
      unrelated,
      people,
      change('launchApp', () => 'app: "agents", source: WIDGET', 'id'),
      'launchApp',
    ),
    row(
      'Mutation.reportLaunch',
      all,
      unrelated,
      reporters,
      change('reportLaunch', ({ fresh }) => `id: "${fresh}", outcome: OPENED`, 'id'),
      'reportLaunch',
      freshLaunch,
    ),
  ],
  routes: [
    { at: `GET ${api}`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => api },
    { at: `GET ${api}/:id`, scopes: read, less: unrelated, cells: ownOf, path: ids => `${api}/${ids.launch}` },
    { at: `POST ${api}`, scopes: all, less: unrelated, cells: people, path: () => api, body: () => ({ app: 'agents', source: 'widget' }) },
    {
      ...{ at: `POST ${api}/:id/report`, scopes: all, less: unrelated, cells: reporters, fresh: freshLaunch },
      path: ids => `${api}/${ids.fresh}/report`,
      body: () => ({ outcome: 'opened' }),
    },
    { at: 'GET /launcher/launch/:serviceId', scopes: read, less: unrelated, cells: publicRoute, path: () => `/launcher/launch/${newId()}` },
    ...['apple-app-site-association', 'assetlinks.json'].map(name => ({
      ...{ at: `GET /.well-known/${name}`, scopes: read, less: unrelated, cells: publicRoute, path: () => `/.well-known/${name}` },
    })),
  ],
}
