import { nounRoutes } from '../../derive/route.ts'
import type { Row } from '../../row.ts'

const operations = nounRoutes({
  select: {
    WebhookEvent: 'id processorEventId type status reason attempts occurredAt receivedAt processedAt orderId: order { id } payload',
  },
  routes: {
    'GET /api/webhook-events': 'webhookEvents',
    'GET /api/webhook-events/:id': 'webhookEvent',
    'POST /api/webhook-events/:id/replay': { run: 'replayWebhookEvent', mayBeEmpty: true },
  },
})

const text = { type: 'string' } as const

const stripeRows: readonly Row[] = [
  {
    kind: 'forward',
    method: 'POST',
    path: '/api/webhooks/stripe',
    access: { public: 'The payment processor sends its events here; its signature authenticates it.' },
    limit: 256 * 1024,
    to: 'payments',
    why: 'raw body',
    describes: [
      {
        name: 'receiveStripeEvent',
        does: 'Takes an event of the payment processor, signed by `Stripe-Signature` with any of the configured secrets. It is stored before the answer and processed within seconds; the same event again has no effect. 400 for a signature that is missing, wrong, or more than five minutes away.',
        body: {
          schema: {
            type: 'object',
            properties: { id: text, type: text, created: { type: 'integer' }, livemode: { type: 'boolean' }, data: { type: 'object' } },
            required: ['id', 'type', 'created', 'data'],
          },
        },
        answers: {
          200: {
            description: 'It is stored.',
            schema: { type: 'object', properties: { received: { type: 'boolean' }, duplicate: { type: 'boolean' } }, required: ['received', 'duplicate'] },
          },
        },
      },
    ],
  },
]

export const webhookEventRows: readonly Row[] = [...operations, ...stripeRows]
