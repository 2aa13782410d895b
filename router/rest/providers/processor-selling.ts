import { nounRoutes } from '../derive/route.ts'

/** Routes for products, prices, customers and their pages. */
export const processorSellingRows = nounRoutes({
  select: {
    ProcessorPrice: 'id productId unitAmount recurring { interval intervalCount } active',
    ProcessorSubscription: 'id customerId status items { id priceId quantity } currentPeriodEnd cancelAtPeriodEnd metadata',
    ProcessorInvoicePreview: 'subtotal tax total amountDue lines { description quantity amount }',
    ProcessorCustomer: 'id',
    ProcessorPaymentMethod: 'id brand last4 expMonth expYear',
    ProcessorCheckoutSession: 'id url status expiresAt paymentIntentId subscriptionId paymentMethodId',
    ProcessorPortalSession: 'id url',
  },
  routes: {
    'POST /api/payments/prices': 'createProcessorPrice',
    'GET /api/payments/subscriptions/:id': 'processorSubscription',
    'PUT /api/payments/subscriptions/:id': { run: 'changeProcessorSubscriptionQuantity', names: { subscriptionId: 'id' } },
    'POST /api/payments/invoice-previews': 'processorInvoicePreview',
    'POST /api/payments/customers': 'createProcessorCustomer',
    'POST /api/payments/customers/:id/payment-methods': { run: 'attachProcessorPaymentMethod', names: { customerId: 'id' }, status: 201 },
    'POST /api/payments/checkout-sessions': { run: 'createProcessorCheckoutSession', location: null },
    'GET /api/payments/checkout-sessions/:id': 'processorCheckoutSession',
    'POST /api/payments/checkout-sessions/:id/expire': { run: 'expireProcessorCheckoutSession', mayBeEmpty: true, status: 201 },
    'POST /api/payments/portal-sessions': 'createProcessorPortalSession',
  },
})
