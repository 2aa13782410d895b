import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  all,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  publicRoute,
  readOrders,
  row,
  unrelated,
} from '../../../access/row.ts'
import { seedOrder } from '../order/seed.ts'
import { seedEvent } from './seed.ts'

const readAudit: readonly Scope[] = ['payments:audit.read']
const readBoth: readonly Scope[] = [...readAudit, ...readOrders]
const managersAlone = 'refused refused refused refused refused yes hidden'

const ignored: Fresh = async ({ graph, owner }) => (await seedEvent(graph, { organizationId: owner.organizationId! })).id
const inEvent = (selection: string) => (ids: Ids) => `{ webhookEvent(id: "${ids.webhookEvent}") { ${selection} } }`

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    const order = await seedOrder(graph, { organizationId: owner.organizationId!, userId: owner.userId! })
    await seedEvent(graph, { organizationId: outsider.organizationId! })
    const { id } = await seedEvent(graph, { organizationId: owner.organizationId!, orderId: order.id })
    return { webhookEvent: id }
  },
  fields: [
    row('Query.webhookEvents', readAudit, unrelated, byScopeEachTheirOwn, constant('{ webhookEvents { nodes { id } } }'), 'webhookEvents'),
    row('Query.webhookEvent', readAudit, readOrders, byScope, inEvent('id'), 'webhookEvent'),
    row('WebhookEvent.order', readBoth, readOrders, byScope, inEvent('order { id }'), 'webhookEvent.order'),
    row(
      'Mutation.replayWebhookEvent',
      all,
      readAudit,
      managersAlone,
      change('replayWebhookEvent', ids => `id: "${ids.fresh}"`, 'id'),
      'replayWebhookEvent',
      ignored,
    ),
  ],
  routes: [
    { at: 'GET /payments/api/webhook-events', scopes: readBoth, less: readOrders, cells: byScopeEachTheirOwn, path: () => '/payments/api/webhook-events' },
    {
      at: 'GET /payments/api/webhook-events/:id',
      scopes: readBoth,
      less: readOrders,
      cells: byScope,
      path: ids => `/payments/api/webhook-events/${ids.webhookEvent}`,
    },
    {
      ...{ at: 'POST /payments/api/webhook-events/:id/replay', scopes: all, less: readAudit, cells: managersAlone, fresh: ignored },
      path: ids => `/payments/api/webhook-events/${ids.fresh}/replay`,
      body: () => ({}),
    },
    {
      ...{ at: 'POST /payments/api/webhooks/stripe', scopes: readAudit, less: readOrders, cells: publicRoute },
      path: () => '/payments/api/webhooks/stripe',
      body: () => ({}),
    },
  ],
}
