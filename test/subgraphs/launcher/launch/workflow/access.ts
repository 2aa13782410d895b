import { newId } from '../../../../../platform/ids.ts'
import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScope, byScopeEachTheirOwn, change, constant, type Fresh, peopleOfIt, row } from '../../../../access/row.ts'

const read: readonly Scope[] = ['launcher:workflows.read']
const write: readonly Scope[] = ['launcher:workflows.write']
const unrelated: readonly Scope[] = ['launcher:widgets.read']

// Shared ones need the scope to write, which members lack.   anonymous key other  viewer member owner outsider
const sharers /*                                           */ = 'refused yes denied denied denied yes   yes'
const sharersOfIt /*                                       */ = 'refused yes denied denied denied yes   hidden'
const byRoute = (cells: string) => cells.replaceAll('denied', 'refused')

/** A shared workflow of `acme`. */
const freshWorkflow: Fresh = async ({ graph, ids, owner }) => {
  const [id, at] = [newId(), graph.clock.now()]
  const step = { kind: 'LAUNCH', title: 'Begin', app: 'launcher', returnTo: null, actionKind: null, url: null }
  await graph.rows(
    `insert into launcher.workflows (id, organization_id, user_id, name, shared, steps, created_at, updated_at, created_by)
     values ($1, $2, $3, 'Round', true, $4, $5, $5, $6)`,
    [id, ids.organization, owner.userId, JSON.stringify([step]), at, `user:${owner.userId}`],
  )
  return id
}

const link = 'name: "Round", shared: true, steps: [{ kind: LINK, title: "Look", url: "https://example.test/" }]'
const list = (selection: string) => constant(`{ launcherWorkflows { ${selection} } }`)
const step = (selection: string) => change('runLauncherWorkflow', ({ fresh }) => `id: "${fresh}"`, selection)
const api = '/launcher/api/workflows'
const body = { name: 'Round', shared: true, steps: [{ kind: 'link', title: 'Look', url: 'https://example.test/' }] }

export const access: AccessRows = {
  made: async stage => ({ launcherWorkflow: await freshWorkflow(stage) }),
  fields: [
    row('Query.launcherWorkflow', read, unrelated, byScope, ({ launcherWorkflow: id }) => `{ launcherWorkflow(id: "${id}") { id } }`, 'launcherWorkflow'),
    row('Query.launcherWorkflows', read, unrelated, byScopeEachTheirOwn, list('nodes { id }'), 'launcherWorkflows'),
    row(
      'Mutation.createLauncherWorkflow',
      write,
      read,
      sharers,
      change('createLauncherWorkflow', () => link, 'id'),
      'createLauncherWorkflow',
    ),
    row(
      'Mutation.updateLauncherWorkflow',
      write,
      read,
      sharersOfIt,
      change('updateLauncherWorkflow', ({ fresh }) => `id: "${fresh}", name: "Round"`, 'id'),
      'updateLauncherWorkflow',
      freshWorkflow,
    ),
    row(
      'Mutation.deleteLauncherWorkflow',
      write,
      read,
      sharersOfIt,
      change('deleteLauncherWorkflow', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'deleteLauncherWorkflow',
      freshWorkflow,
    ),
    row('Mutation.runLauncherWorkflow', all, unrelated, peopleOfIt, step('position'), 'runLauncherWorkflow', freshWorkflow),
    // Rows of types come after the mutations, by which every owner has a shared workflow.
    row('LauncherWorkflowConnection.nodes', read, unrelated, byScopeEachTheirOwn, list('nodes { id }'), 'launcherWorkflows.nodes'),
    row('LauncherWorkflowConnection.edges', read, unrelated, byScopeEachTheirOwn, list('edges { cursor }'), 'launcherWorkflows.edges'),
    row('LauncherWorkflowEdge.node', read, unrelated, byScopeEachTheirOwn, list('edges { node { id } }'), 'launcherWorkflows.edges.node'),
    row('LauncherWorkflow.createdBy', read, unrelated, byScopeEachTheirOwn, list('nodes { createdBy { id } }'), 'launcherWorkflows.nodes.createdBy'),
    row('LauncherWorkflowStep.launch', all, unrelated, peopleOfIt, step('launch { id }'), 'runLauncherWorkflow.launch', freshWorkflow),
    row(
      'LauncherWorkflowStep.actionItem',
      all,
      unrelated,
      peopleOfIt.replaceAll('yes', 'nothing'),
      step('actionItem { id }'),
      'runLauncherWorkflow.actionItem',
      freshWorkflow,
    ),
  ],
  routes: [
    { at: `GET ${api}`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => api },
    { at: `GET ${api}/:id`, scopes: read, less: unrelated, cells: byScope, path: ids => `${api}/${ids.launcherWorkflow}` },
    { at: `POST ${api}`, scopes: write, less: read, cells: byRoute(sharers), path: () => api, body: () => body },
    {
      ...{ at: `PUT ${api}/:id`, scopes: write, less: read, cells: byRoute(sharersOfIt), fresh: freshWorkflow },
      path: ids => `${api}/${ids.fresh}`,
      body: () => body,
    },
    {
      ...{ at: `DELETE ${api}/:id`, scopes: write, less: read, cells: byRoute(sharersOfIt), fresh: freshWorkflow },
      path: ids => `${api}/${ids.fresh}`,
    },
    {
      ...{ at: `POST ${api}/:id/run`, scopes: all, less: unrelated, cells: peopleOfIt, fresh: freshWorkflow },
      path: ids => `${api}/${ids.fresh}/run`,
    },
  ],
}
