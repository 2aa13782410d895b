import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accountants,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  type RouteRow,
  readOrders,
  row,
} from '../../../access/row.ts'
import { seedDelivery, seedWebhook } from './seed.ts'

const read: readonly Scope[] = ['payments:settings.read']
const write: readonly Scope[] = ['payments:settings.write']
const accountantsAnywhere = 'refused yes refused refused refused yes yes'

const webhook: Fresh = async ({ graph, owner }) => (await seedWebhook(graph, { organizationId: owner.organizationId! })).id
const delivery: Fresh = async ({ graph, owner }) => (await seedDelivery(graph, { organizationId: owner.organizationId! })).id
/** Makes room for one more: every row that changes a webhook has made one. */
const room: Fresh = async ({ graph, owner, ids }) => {
  await graph.rows('delete from payments.webhook_endpoints where organization_id = $1 and id <> $2', [owner.organizationId, ids.paymentWebhook])
  return ids.paymentWebhook!
}
const byId = (ids: Ids) => `id: "${ids.fresh}"`
const created = 'url: "https://example.com/hook", events: ["order.paid"]'

const mutation = (name: string, fresh: Fresh, selection = 'id', more = '') =>
  row(
    `Mutation.${name}`,
    write,
    read,
    accountants,
    change(name, ids => `${byId(ids)}${more}`, selection),
    name,
    fresh,
  )
const route = (method: string, at: string, fresh: Fresh, body: object = {}): RouteRow => ({
  ...{ at: `${method} /payments/api/webhooks${at}`, scopes: write, less: read, cells: accountants, fresh },
  path: ids => `/payments/api/webhooks${at.replace(':id', ids.fresh!)}`,
  ...(method !== 'DELETE' && { body: () => body }),
})

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedDelivery(graph, { organizationId: outsider.organizationId! })
    const { endpointId } = await seedDelivery(graph, { organizationId: owner.organizationId! })
    return { paymentWebhook: endpointId }
  },
  fields: [
    row('Query.paymentWebhooks', read, readOrders, byScopeEachTheirOwn, constant('{ paymentWebhooks { id } }'), 'paymentWebhooks'),
    row('Query.paymentWebhook', read, readOrders, byScope, ids => `{ paymentWebhook(id: "${ids.paymentWebhook}") { id } }`, 'paymentWebhook'),
    row(
      ...(['Mutation.createPaymentWebhook', write, read, accountantsAnywhere, change('createPaymentWebhook', () => created, 'webhook { id }')] as const),
      'createPaymentWebhook',
      room,
    ),
    row(
      'PaymentWebhook.deliveries',
      read,
      readOrders,
      byScope,
      ids => `{ paymentWebhook(id: "${ids.paymentWebhook}") { deliveries { nodes { id } } } }`,
      'paymentWebhook.deliveries',
    ),
    row(
      'PaymentWebhookSecret.webhook',
      write,
      read,
      accountants,
      change('rotatePaymentWebhookSecret', byId, 'webhook { id }'),
      'rotatePaymentWebhookSecret.webhook',
      webhook,
    ),
    mutation('rotatePaymentWebhookSecret', webhook, 'webhook { id }'),
    mutation('updatePaymentWebhook', webhook, 'id', ', description: "x"'),
    mutation('deletePaymentWebhook', webhook),
    mutation('testPaymentWebhook', webhook),
    mutation('redeliverPaymentWebhook', delivery),
  ],
  routes: [
    { at: 'GET /payments/api/webhooks', scopes: read, less: readOrders, cells: byScopeEachTheirOwn, path: () => '/payments/api/webhooks' },
    { at: 'GET /payments/api/webhooks/:id', scopes: read, less: readOrders, cells: byScope, path: ids => `/payments/api/webhooks/${ids.paymentWebhook}` },
    {
      ...{ at: 'GET /payments/api/webhooks/:id/deliveries', scopes: read, less: readOrders, cells: byScope },
      path: ids => `/payments/api/webhooks/${ids.paymentWebhook}/deliveries`,
    },
    {
      ...{ at: 'POST /payments/api/webhooks', scopes: write, less: read, cells: accountantsAnywhere, path: () => '/payments/api/webhooks', fresh: room },
      body: () => ({ url: 'https://example.com/hook', events: ['order.paid'] }),
    },
    route('PUT', '/:id', webhook, { description: 'x' }),
    route('DELETE', '/:id', webhook),
    route('POST', '/:id/rotate', webhook),
    route('POST', '/:id/test', webhook),
    route('POST', '/deliveries/:id/redeliver', delivery),
  ],
}
