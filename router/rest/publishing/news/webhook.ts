import { listBody } from '../../derive/list.ts'
import { fromEnum, toInteger } from '../../enum-case.ts'
import { tagOfVersion } from '../../preconditions.ts'
import { operationRow, type Row, type RowReply } from '../../row.ts'
import {
  type CreateWebhookEndpointInput,
  RestConfirmWebhookDocument,
  RestCreateWebhookDocument,
  RestDeleteWebhookDocument,
  RestRedeliverWebhookDocument,
  RestRotateWebhookDocument,
  RestTestWebhookDocument,
  RestUpdateWebhookDocument,
  RestWebhookDeliveriesDocument,
  type RestWebhookDeliveryFieldsFragment,
  RestWebhookDocument,
  type RestWebhookFieldsFragment,
  RestWebhooksDocument,
  type RestWebhooksQueryVariables,
  type UpdateWebhookEndpointInput,
} from './webhook.generated.ts'

/** One endpoint with its version as entity tag, which `If-Match` takes back. */
const one = (endpoint: RestWebhookFieldsFragment | null | undefined, more: object = {}): RowReply | null =>
  endpoint ? { headers: { etag: tagOfVersion(endpoint.version) }, body: { ...shown(endpoint), ...more } } : null

const shown = ({ state, ...rest }: RestWebhookFieldsFragment) => ({ ...rest, state: fromEnum(state) })

const delivery = ({ status, ...rest }: RestWebhookDeliveryFieldsFragment) => ({ ...rest, status: fromEnum(status) })

export const webhookRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/webhooks',
    operation: RestWebhooksDocument,
    query: ['brandId'],
    variables: ({ query }) => query as unknown as RestWebhooksQueryVariables,
    reply: ({ webhookEndpoints }) => webhookEndpoints && { body: { webhooks: webhookEndpoints.map(shown) } },
  }),
  operationRow({
    method: 'POST',
    path: '/api/webhooks',
    operation: RestCreateWebhookDocument,
    body: ['brandId', 'url', 'events', 'description'],
    variables: ({ body, idempotencyKey }) => ({ input: { ...body, idempotencyKey } as unknown as CreateWebhookEndpointInput }),
    reply: ({ createWebhookEndpoint: made }) => {
      const reply = one(made?.endpoint, { secret: made?.secret })
      return reply && { ...reply, status: 201, headers: { ...reply.headers, location: `/publishing/api/webhooks/${made!.endpoint!.id}` } }
    },
  }),
  operationRow({
    method: 'GET',
    path: '/api/webhooks/:id',
    operation: RestWebhookDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ webhookEndpoint }) => one(webhookEndpoint),
  }),
  operationRow({
    method: 'PUT',
    path: '/api/webhooks/:id',
    operation: RestUpdateWebhookDocument,
    body: ['url', 'events', 'active', 'description'],
    variables: ({ params, body, expectedVersion }) => ({ input: { ...body, id: params.id!, expectedVersion } as UpdateWebhookEndpointInput }),
    reply: ({ updateWebhookEndpoint }) => one(updateWebhookEndpoint),
  }),
  operationRow({
    method: 'DELETE',
    path: '/api/webhooks/:id',
    operation: RestDeleteWebhookDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ deleteWebhookEndpoint }) => deleteWebhookEndpoint && { status: 204 },
  }),
  operationRow({
    method: 'POST',
    path: '/api/webhooks/:id/confirm',
    operation: RestConfirmWebhookDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ confirmWebhookEndpoint }) => one(confirmWebhookEndpoint),
  }),
  operationRow({
    method: 'POST',
    path: '/api/webhooks/:id/rotate',
    operation: RestRotateWebhookDocument,
    variables: ({ params, expectedVersion }) => ({ input: { id: params.id!, expectedVersion } }),
    reply: ({ rotateWebhookSecret: made }) => one(made?.endpoint, { secret: made?.secret }),
  }),
  operationRow({
    method: 'POST',
    path: '/api/webhooks/:id/test',
    operation: RestTestWebhookDocument,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ testWebhookEndpoint }) => testWebhookEndpoint && { body: delivery(testWebhookEndpoint) },
  }),
  operationRow({
    method: 'GET',
    path: '/api/webhooks/:id/deliveries',
    operation: RestWebhookDeliveriesDocument,
    query: ['first', 'after'],
    variables: ({ params, query }) => ({ id: params.id!, after: query.after, first: toInteger(query.first) }),
    reply: ({ webhookEndpoint }) => (webhookEndpoint?.deliveries ? { body: listBody('deliveries', webhookEndpoint.deliveries, delivery) } : null),
  }),
  operationRow({
    method: 'POST',
    path: '/api/webhooks/deliveries/:id/redeliver',
    operation: RestRedeliverWebhookDocument,
    variables: ({ params }) => ({ input: { id: params.id! } }),
    reply: ({ redeliverWebhook }) => redeliverWebhook && { body: delivery(redeliverWebhook) },
  }),
]
