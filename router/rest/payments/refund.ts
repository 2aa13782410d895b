import { nounRoutes } from '../derive/route.ts'

const shown = `
  id orderId: order { id } amount { amountMinor currency } reason note metadata { key value } status requestedById: requestedBy { id } decidedById: decidedBy { id } decidedAt
  origin failure { code message retryable } createdAt version`

export const refundRows = nounRoutes({
  select: {
    Refund: shown,
  },
  routes: {
    'GET /api/refunds': 'refunds',
    'GET /api/refunds/:id': 'refund',
    'GET /api/orders/:id/refunds': { run: 'order', name: 'orderRefunds', select: `refunds { ${shown} }` },
    'POST /api/orders/:id/refunds': { run: 'refundOrder', names: { orderId: 'id' }, status: 201, location: '/payments/api/refunds/{id}' },
    'POST /api/refunds/:id/decision': 'decideRefund',
  },
})
