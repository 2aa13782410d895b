import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

export const checkoutRows = nounRoutes({
  select: {
    CheckoutSession: 'id orderId: order { id } url status expiresAt createdAt',
    PaymentLink: 'id orderId: order { id } url status expiresAt createdAt',
  },
  routes: {
    'POST /api/orders/:id/checkout-sessions': {
      ...{ run: 'createCheckoutSession', names: { orderId: 'id' }, status: 201 },
      location: '/payments/api/checkout-sessions/{id}',
    },
    'GET /api/checkout-sessions/:id': 'checkoutSession',
    'POST /api/checkout-sessions/:id/close': 'closeCheckoutSession',
    'POST /api/orders/:id/payment-links': { run: 'createPaymentLink', names: { orderId: 'id' }, status: 201, mayBeEmpty: true },
    'GET /api/payment-links': 'paymentLinks',
    'POST /api/payment-links/:id/close': 'closePaymentLink',
  },
})

const html = { type: 'text/html', schema: { type: 'string' } } as const
const page = {
  kind: 'forward',
  method: 'GET',
  access: { public: 'The token in the address is the credential.' },
  limit: 0,
  to: 'payments',
  role: 'web',
} as const

export const payRows: readonly Row[] = [
  {
    ...page,
    path: '/pay/:token',
    why: 'redirect',
    describes: [
      {
        name: 'followPaymentLink',
        does: 'Sends a payer to the processor’s page for the order of a payment link.',
        answers: {
          303: 'Redirect to the payment page.',
          404: { description: 'The link is unknown, closed, over or paid; the page does not say which.', ...html },
          503: { description: 'No page could be opened at this moment.', ...html },
        },
      },
    ],
  },
  {
    ...page,
    path: '/pay/:token/return',
    why: 'page',
    describes: [
      {
        name: 'showPaymentReturn',
        does: 'The page to which a payer comes back from the processor.',
        query: { paid: '`1` from the processor’s page once it was paid.' },
        answers: {
          200: { description: 'The outcome of the payment.', ...html },
          404: { description: 'The link is unknown, closed or over.', ...html },
        },
      },
    ],
  },
]
