import { nounRoutes } from '../../derive/route.ts'

const withSecret = 'secret endpoint @spread'

export const webhookRows = nounRoutes({
  select: {
    WebhookEndpoint: 'id brandId url events active state description disabledReason createdAt version',
    WebhookDelivery: 'id event postId attempts status responseStatus nextAttemptAt createdAt',
  },
  routes: {
    'GET /api/webhooks': { run: 'webhookEndpoints', name: 'webhooks' },
    'POST /api/webhooks': { run: 'createWebhookEndpoint', name: 'createWebhook', select: withSecret },
    'GET /api/webhooks/:id': { run: 'webhookEndpoint', name: 'webhook' },
    'PUT /api/webhooks/:id': { run: 'updateWebhookEndpoint', name: 'updateWebhook' },
    'DELETE /api/webhooks/:id': { run: 'deleteWebhookEndpoint', name: 'deleteWebhook' },
    'POST /api/webhooks/:id/confirm': { run: 'confirmWebhookEndpoint', name: 'confirmWebhook' },
    'POST /api/webhooks/:id/rotate': { run: 'rotateWebhookSecret', name: 'rotateWebhook', select: withSecret },
    'POST /api/webhooks/:id/test': { run: 'testWebhookEndpoint', name: 'testWebhook' },
    'GET /api/webhooks/:id/deliveries': { run: 'webhookEndpoint', name: 'webhookDeliveries', select: 'deliveries(first: $first, after: $after) @spread' },
    'POST /api/webhooks/deliveries/:id/redeliver': 'redeliverWebhook',
  },
})
