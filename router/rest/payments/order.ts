import { nounRoutes } from '../derive/route.ts'

export const orderRows = nounRoutes({
  select: {
    Order: `
      id number status currency lines subtotal tax discount total description reference merchantId customerId venueId metadata { key value } paymentPhase captured refunded refundable due failure { code message retryable } organizationId: organization { id }
      createdById: createdBy { id } createdAt updatedAt version`,
    OrderLine: 'name sku quantity unitAmount discount taxRate tax total',
  },
  routes: {
    'GET /api/orders': 'orders',
    'POST /api/orders': 'createOrder',
    'GET /api/orders/:id': 'order',
    'PUT /api/orders/:id': 'updateOrder',
    'POST /api/orders/:id/cancel': { run: 'cancelOrder', mayBeEmpty: true },
    'POST /api/orders/:id/pay': { run: 'payOrder', names: { orderId: 'id' } },
    'POST /api/orders/:id/capture': { run: 'captureOrder', names: { orderId: 'id' }, mayBeEmpty: true },
    'POST /api/orders/:id/void': { run: 'voidOrder', names: { orderId: 'id' }, mayBeEmpty: true },
  },
})
