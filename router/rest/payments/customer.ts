import { nounRoutes } from '../derive/route.ts'

export const customerRows = nounRoutes({
  select: {
    Customer: `
      id name email reference userId: user { id } metadata { key value }
      paymentMethods { id brand last4 expMonth expYear isDefault createdAt } createdAt version`,
    PaymentMethod: 'id brand last4 expMonth expYear isDefault createdAt',
    PaymentMethodSession: 'id url status expiresAt paymentMethodId: paymentMethod { id } createdAt',
  },
  routes: {
    'GET /api/customers': 'customers',
    'POST /api/customers': 'createCustomer',
    'GET /api/customers/:id': 'customer',
    'PUT /api/customers/:id': 'updateCustomer',
    'POST /api/customers/:id/erase': 'eraseCustomer',
    'POST /api/customers/:id/payment-methods': { run: 'addPaymentMethod', names: { customerId: 'id' }, status: 201 },
    'POST /api/customers/:id/payment-method-sessions': {
      ...{ run: 'createPaymentMethodSession', names: { customerId: 'id' }, status: 201 },
      location: '/payments/api/payment-method-sessions/{id}',
    },
    'GET /api/payment-method-sessions/:id': 'paymentMethodSession',
    'DELETE /api/payment-methods/:id': 'removePaymentMethod',
    'POST /api/payment-methods/:id/default': 'setDefaultPaymentMethod',
  },
})
