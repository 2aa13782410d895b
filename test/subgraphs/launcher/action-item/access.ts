import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScope, byScopeEachTheirOwn, change, constant, type Fresh, peopleOfIt, row } from '../../../access/row.ts'
import { seedAttention } from './seed.ts'

const read: readonly Scope[] = ['launcher:notifications.read']
const write: readonly Scope[] = ['launcher:notifications.write']

// Keys need the scope to write, people only to read.      anonymous key other  viewer member owner outsider
const whoeverSeesIt /*                                  */ = 'refused yes denied yes    yes    yes   hidden'
// Each item is judged by itself, so a stranger's is refused within the answer.
const eachByItself /*                                   */ = 'refused yes denied yes    yes    yes   yes'
const oneOfSeveral /*                                   */ = 'refused yes denied yes    yes    yes   nothing'
/** Nobody is named, and it is not done. */
const nobodyNamed = byScope.replaceAll('yes', 'nothing')

/** A route answers what a rule denies as what the router refuses. */
const byRoute = (cells: string) => cells.replaceAll('denied', 'refused')

const freshItem: Fresh = async ({ graph, ids }) => (await seedAttention(graph, { organizationId: ids.organization! })).id

const nothing = newId()
const item = (selection: string) => (ids: Readonly<Record<string, string>>) => `{ actionItem(id: "${ids.actionItem}") { ${selection} } }`
const several = (selection: string) => change('completeActionItems', ({ fresh }) => `ids: ["${fresh}"]`, selection)
const verb = (name: string, cells: string, more = '') =>
  row(
    `Mutation.${name}`,
    write,
    read,
    cells,
    change(name, ({ fresh }) => `id: "${fresh}"${more}`, 'id'),
    name,
    freshItem,
  )

const api = '/launcher/api/actions'
const route = (name: string, cells: string, body: object) => ({
  ...{ at: `POST ${api}/:id/${name}`, scopes: write, less: read, cells: byRoute(cells), fresh: freshItem },
  path: (ids: Readonly<Record<string, string>>) => `${api}/${ids.fresh}/${name}`,
  body: () => body,
})

export const access: AccessRows = {
  async made(stage) {
    await seedAttention(stage.graph, { organizationId: stage.outsider.organizationId })
    return { actionItem: await freshItem(stage) }
  },
  fields: [
    row('Query.actionItem', read, write, byScope, item('id'), 'actionItem'),
    row('Query.actionItems', read, write, byScopeEachTheirOwn, constant('{ actionItems { nodes { id } } }'), 'actionItems'),
    row('Query.actionCounts', read, write, byScopeEachTheirOwn, constant('{ actionCounts { open } }'), 'actionCounts'),
    row('ActionItem.organization', read, write, byScope, item('organization { id }'), 'actionItem.organization'),
    row('ActionItem.assignee', read, write, nobodyNamed, item('assignee { id }'), 'actionItem.assignee'),
    row('ActionItem.closedBy', read, write, nobodyNamed, item('closedBy { id }'), 'actionItem.closedBy'),
    verb('completeActionItem', whoeverSeesIt),
    verb('reopenActionItem', whoeverSeesIt),
    verb('assignActionItem', whoeverSeesIt, ', assigneeId: null'),
    verb('snoozeActionItem', peopleOfIt, ', until: null'),
    row('Mutation.completeActionItems', write, read, eachByItself, several('succeeded'), 'completeActionItems', freshItem),
    row('ActionItemsReport.results', write, read, eachByItself, several('results { id }'), 'completeActionItems.results', freshItem),
    row('ActionItemResult.item', write, read, oneOfSeveral, several('results { item { id } }'), 'completeActionItems.results.item', freshItem),
    row(
      'ActionItemResult.error',
      write,
      read,
      eachByItself,
      change('completeActionItems', () => `ids: ["${nothing}"]`, 'results { error { code } }'),
      'completeActionItems.results.error',
    ),
    row('Subscription.actionQueueChanged', read, write, byScopeEachTheirOwn, constant('subscription { actionQueueChanged { id } }'), 'actionQueueChanged'),
  ],
  routes: [
    { at: `GET ${api}`, scopes: read, less: write, cells: byScopeEachTheirOwn, path: () => api },
    { at: `GET ${api}/:id`, scopes: read, less: write, cells: byScope, path: ids => `${api}/${ids.actionItem}` },
    route('complete', whoeverSeesIt, {}),
    route('reopen', whoeverSeesIt, {}),
    route('assign', whoeverSeesIt, { assigneeId: null }),
    route('snooze', peopleOfIt, { until: null }),
    {
      ...{ at: `POST ${api}/complete`, scopes: write, less: read, cells: byRoute(eachByItself), path: () => `${api}/complete`, fresh: freshItem },
      body: ids => ({ ids: [ids.fresh] }),
    },
  ],
}
