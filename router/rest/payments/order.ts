import { nounRoutes } from '../derive/route.ts'

export const orderRows = nounRoutes({
  select: {
    Order: `
      id number status currency lines subtotal tax discount total description reference merchantId organizationId: organization { id }
      createdById: createdBy { id } createdAt updatedAt version`,
    OrderLine: 'name sku quantity unitAmount discount taxRate tax total',
  },
  routes: {
    'GET /api/orders': 'orders',
    'POST /api/orders': 'createOrder',
    'GET /api/orders/:id': 'order',
  },
})
