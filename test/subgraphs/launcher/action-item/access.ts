import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScope, byScopeEachTheirOwn, change, constant, type Fresh, row } from '../../../access/row.ts'
import { seedAttention } from './seed.ts'

const read: readonly Scope[] = ['launcher:notifications.read']
const write: readonly Scope[] = ['launcher:notifications.write']

// Keys need the scope to write, people only to read.      anonymous key other  viewer member owner outsider
const whoeverSeesIt /*                                  */ = 'refused yes denied yes    yes    yes   hidden'

const freshItem: Fresh = async ({ graph, ids }) => (await seedAttention(graph, { organizationId: ids.organization! })).id

export const access: AccessRows = {
  async made(stage) {
    await seedAttention(stage.graph, { organizationId: stage.outsider.organizationId })
    return { actionItem: await freshItem(stage) }
  },
  fields: [
    row('Query.actionItem', read, write, byScope, ({ actionItem }) => `{ actionItem(id: "${actionItem}") { id } }`, 'actionItem'),
    row('Query.actionItems', read, write, byScopeEachTheirOwn, constant('{ actionItems { nodes { id } } }'), 'actionItems'),
    row(
      'Mutation.completeActionItem',
      write,
      read,
      whoeverSeesIt,
      change('completeActionItem', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'completeActionItem',
      freshItem,
    ),
    row('Subscription.actionQueueChanged', read, write, byScopeEachTheirOwn, constant('subscription { actionQueueChanged { id } }'), 'actionQueueChanged'),
  ],
}
