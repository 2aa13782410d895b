import { fromEnum, toEnum, toInteger } from '../enum-case.ts'
import { operationRow, type Row } from '../row.ts'
import {
  type CancelProcessorPaymentIntentInput,
  type CaptureProcessorPaymentIntentInput,
  type CreateProcessorPaymentIntentInput,
  type CreateProcessorRefundInput,
  type CreateProcessorTransferInput,
  RestCancelProcessorPaymentIntentDocument,
  RestCaptureProcessorPaymentIntentDocument,
  RestCreateProcessorPaymentIntentDocument,
  RestCreateProcessorRefundDocument,
  RestCreateProcessorTransferDocument,
  RestProcessorPaymentIntentDocument,
  RestProcessorRecordsDocument,
  type RestProcessorRecordsQueryVariables,
  RestProcessorRefundDocument,
  RestProcessorTransferDocument,
  RestReverseProcessorTransferDocument,
  type ReverseProcessorTransferInput,
} from './processor-paying.generated.ts'

const made = (body: object | null | undefined) => (body ? { status: 201, body } : null)
const found = (body: object | null | undefined) => (body ? { body } : null)

/** Money that is taken, given back and moved, and what is on record of it. */
export const processorPayingRows: readonly Row[] = [
  operationRow({
    method: 'POST',
    path: '/api/payments/payment-intents',
    operation: RestCreateProcessorPaymentIntentDocument,
    body: ['amount', 'customerId', 'paymentMethodId', 'captureMethod', 'confirm', 'transferGroup', 'metadata'],
    variables: ({ body, idempotencyKey = '' }) => ({
      input: { ...body, captureMethod: toEnum(body.captureMethod), idempotencyKey } as CreateProcessorPaymentIntentInput,
    }),
    reply: ({ createProcessorPaymentIntent }) => made(createProcessorPaymentIntent),
  }),
  operationRow({
    method: 'GET',
    path: '/api/payments/payment-intents/:id',
    operation: RestProcessorPaymentIntentDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ processorPaymentIntent }) => found(processorPaymentIntent),
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/payment-intents/:id/capture',
    operation: RestCaptureProcessorPaymentIntentDocument,
    body: ['amount', 'metadata'],
    mayBeEmpty: true,
    variables: ({ params, body, idempotencyKey = '' }) => ({ input: { ...body, id: params.id, idempotencyKey } as CaptureProcessorPaymentIntentInput }),
    reply: ({ captureProcessorPaymentIntent }) => made(captureProcessorPaymentIntent),
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/payment-intents/:id/cancel',
    operation: RestCancelProcessorPaymentIntentDocument,
    body: ['metadata'],
    mayBeEmpty: true,
    variables: ({ params, body, idempotencyKey = '' }) => ({ input: { ...body, id: params.id, idempotencyKey } as CancelProcessorPaymentIntentInput }),
    reply: ({ cancelProcessorPaymentIntent }) => made(cancelProcessorPaymentIntent),
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/refunds',
    operation: RestCreateProcessorRefundDocument,
    body: ['paymentIntentId', 'amount', 'reason', 'metadata'],
    variables: ({ body, idempotencyKey = '' }) => ({ input: { ...body, reason: toEnum(body.reason), idempotencyKey } as CreateProcessorRefundInput }),
    reply: ({ createProcessorRefund }) => made(createProcessorRefund),
  }),
  operationRow({
    method: 'GET',
    path: '/api/payments/refunds/:id',
    operation: RestProcessorRefundDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ processorRefund }) => found(processorRefund),
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/transfers',
    operation: RestCreateProcessorTransferDocument,
    body: ['amount', 'destinationAccountId', 'transferGroup', 'metadata'],
    variables: ({ body, idempotencyKey = '' }) => ({ input: { ...body, idempotencyKey } as CreateProcessorTransferInput }),
    reply: ({ createProcessorTransfer }) => made(createProcessorTransfer),
  }),
  operationRow({
    method: 'GET',
    path: '/api/payments/transfers/:id',
    operation: RestProcessorTransferDocument,
    variables: ({ params }) => ({ id: params.id! }),
    reply: ({ processorTransfer }) => found(processorTransfer),
  }),
  operationRow({
    method: 'POST',
    path: '/api/payments/transfers/:id/reversals',
    operation: RestReverseProcessorTransferDocument,
    body: ['amount', 'metadata'],
    mayBeEmpty: true,
    variables: ({ params, body, idempotencyKey = '' }) => ({ input: { ...body, id: params.id, idempotencyKey } as ReverseProcessorTransferInput }),
    reply: ({ reverseProcessorTransfer }) => made(reverseProcessorTransfer),
  }),
  operationRow({
    method: 'GET',
    path: '/api/payments/records',
    operation: RestProcessorRecordsDocument,
    query: ['types', 'since', 'until', 'first', 'after'],
    variables: ({ query }) =>
      ({ ...query, types: query.types?.split(',').map(toEnum), first: toInteger(query.first) }) as unknown as RestProcessorRecordsQueryVariables,
    reply: ({ processorRecords }) =>
      processorRecords && {
        body: {
          records: (processorRecords.nodes ?? []).flatMap(record => (record ? [{ ...record, type: fromEnum(record.type) }] : [])),
          nextCursor: processorRecords.pageInfo.hasNextPage ? processorRecords.pageInfo.endCursor : null,
          totalCount: processorRecords.totalCount ?? null,
        },
      },
  }),
]
