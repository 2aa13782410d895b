import { nounRoutes } from '../../derive/route.ts'

const withSecret = 'secret webhook @spread'

export const paymentWebhookRows = nounRoutes({
  select: {
    PaymentWebhook: 'id url events active description disabledReason createdAt version',
    PaymentWebhookDelivery: 'id event entityId attempts status responseStatus nextAttemptAt createdAt',
  },
  routes: {
    'GET /api/webhooks': 'paymentWebhooks',
    'POST /api/webhooks': { run: 'createPaymentWebhook', select: withSecret },
    'GET /api/webhooks/:id': 'paymentWebhook',
    'PUT /api/webhooks/:id': 'updatePaymentWebhook',
    'DELETE /api/webhooks/:id': 'deletePaymentWebhook',
    'POST /api/webhooks/:id/rotate': { run: 'rotatePaymentWebhookSecret', select: withSecret, mayBeEmpty: true },
    'POST /api/webhooks/:id/test': { run: 'testPaymentWebhook', mayBeEmpty: true },
    'GET /api/webhooks/:id/deliveries': { run: 'paymentWebhook', name: 'paymentWebhookDeliveries', select: 'deliveries(first: $first, after: $after) @spread' },
    'POST /api/webhooks/deliveries/:id/redeliver': { run: 'redeliverPaymentWebhook', mayBeEmpty: true },
  },
})
