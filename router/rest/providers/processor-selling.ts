import { fromEnum, toEnum } from '../enum-case.ts'
import { operationRow, type Row } from '../row.ts'
import {
  type AttachProcessorPaymentMethodInput,
  type ChangeProcessorSubscriptionQuantityInput,
  type CreateProcessorCheckoutSessionInput,
  type CreateProcessorCustomerInput,
  type CreateProcessorPortalSessionInput,
  type CreateProcessorPriceInput,
  type ExpireProcessorCheckoutSessionInput,
  type ProcessorInvoicePreviewInput,
  RestAttachProcessorPaymentMethodDocument,
  RestChangeProcessorSubscriptionQuantityDocument,
  RestCreateProcessorCheckoutSessionDocument,
  RestCreateProcessorCustomerDocument,
  RestCreateProcessorPortalSessionDocument,
  RestCreateProcessorPriceDocument,
  type RestCreateProcessorPriceMutation,
  RestExpireProcessorCheckoutSessionDocument,
  RestProcessorCheckoutSessionDocument,
  RestProcessorInvoicePreviewDocument,
  RestProcessorSubscriptionDocument,
} from './processor-selling.generated.ts'

type GraphPrice = NonNullable<RestCreateProcessorPriceMutation['createProcessorPrice']>

/** The interval of what somebody sent, if it is where one belongs: the graph says what else is wrong. */
const withInterval = (recurring: unknown): unknown =>
  typeof recurring === 'object' && recurring !== null && 'interval' in recurring ? { ...recurring, interval: toEnum(recurring.interval) } : recurring

const priceToRest = ({ recurring, ...price }: GraphPrice) => ({
  ...price,
  recurring: recurring && { ...recurring, interval: fromEnum(recurring.interval) },
})

const made = (body: object | null | undefined) => body && { status: 201, body }
const found = (body: object | null | undefined) => body && { body }

/** What is sold, to whom, and the pages for it. */
export const processorSellingRows: readonly Row[] = [
  operationRow({
    method: 'POST',
    path: '/api/payments/prices',
    operation: RestCreateProcessorPriceDocument,
    body: ['unitAmount', 'recurring', 'productId', 'productData', 'metadata'],
    variables: ({ body, idempotencyKey = '' }) => ({
      input: { ...body, recurring: withInterval(body.recurring), idempotencyKey } as CreateProcessorPriceInput,
    }),
    reply: ({ createProcessorPrice }) => made(createProcessorPrice && priceToRest(createProcessorPrice)) ?? null,
  }),
  operationRow({
    method: 'GET',
    path: '/api/payments/subscriptions/:id',
    operation: RestProcessorSubscriptionDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ processorSubscription }) => found(processorSubscription) ?? null,
  }),
  operationRow({
    method: 'PUT',
    path: '/api/payments/subscriptions/:id',
    operation: RestChangeProcessorSubscriptionQuantityDocument,
    names: { subscriptionId: 'id' },
    body: ['itemId', 'quantity', 'prorationBehavior', 'metadata'],
    variables: ({ params, body, idempotencyKey = '' }) => ({
      input: {
        ...{ ...body, subscriptionId: params.id, prorationBehavior: toEnum(body.prorationBehavior), idempotencyKey },
      } as ChangeProcessorSubscriptionQuantityInput,
    }),
    reply: ({ changeProcessorSubscriptionQuantity }) => found(changeProcessorSubscriptionQuantity) ?? null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/invoice-previews',
    operation: RestProcessorInvoicePreviewDocument,
    body: ['customerId', 'subscriptionId', 'items'],
    variables: ({ body }) => ({ input: { ...body } as ProcessorInvoicePreviewInput }),
    reply: ({ processorInvoicePreview }) => found(processorInvoicePreview) ?? null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/customers',
    operation: RestCreateProcessorCustomerDocument,
    body: ['email', 'name', 'metadata'],
    variables: ({ body, idempotencyKey = '' }) => ({ input: { ...body, idempotencyKey } as CreateProcessorCustomerInput }),
    reply: ({ createProcessorCustomer }) => made(createProcessorCustomer) ?? null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/customers/:id/payment-methods',
    operation: RestAttachProcessorPaymentMethodDocument,
    names: { customerId: 'id' },
    body: ['paymentMethodId', 'metadata'],
    variables: ({ params, body, idempotencyKey = '' }) => ({ input: { ...body, customerId: params.id, idempotencyKey } as AttachProcessorPaymentMethodInput }),
    reply: ({ attachProcessorPaymentMethod }) => made(attachProcessorPaymentMethod) ?? null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/checkout-sessions',
    operation: RestCreateProcessorCheckoutSessionDocument,
    body: ['mode', 'customerId', 'lineItems', 'captureMethod', 'successUrl', 'cancelUrl', 'clientReferenceId', 'expiresAt', 'metadata'],
    variables: ({ body, idempotencyKey = '' }) => ({
      input: { ...body, mode: toEnum(body.mode), captureMethod: toEnum(body.captureMethod), idempotencyKey } as CreateProcessorCheckoutSessionInput,
    }),
    reply: ({ createProcessorCheckoutSession }) => made(createProcessorCheckoutSession) ?? null,
  }),
  operationRow({
    method: 'GET',
    path: '/api/payments/checkout-sessions/:id',
    operation: RestProcessorCheckoutSessionDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ processorCheckoutSession }) => found(processorCheckoutSession) ?? null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/checkout-sessions/:id/expire',
    operation: RestExpireProcessorCheckoutSessionDocument,
    body: ['metadata'],
    mayBeEmpty: true,
    variables: ({ params, body, idempotencyKey = '' }) => ({ input: { ...body, id: params.id, idempotencyKey } as ExpireProcessorCheckoutSessionInput }),
    reply: ({ expireProcessorCheckoutSession }) => made(expireProcessorCheckoutSession) ?? null,
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/portal-sessions',
    operation: RestCreateProcessorPortalSessionDocument,
    body: ['customerId', 'returnUrl', 'metadata'],
    variables: ({ body, idempotencyKey = '' }) => ({ input: { ...body, idempotencyKey } as CreateProcessorPortalSessionInput }),
    reply: ({ createProcessorPortalSession }) => made(createProcessorPortalSession) ?? null,
  }),
]
