import { nounRoutes } from '../derive/route.ts'

/** Routes for charges, refunds, disputes, transfers and their records. */
export const processorPayingRows = nounRoutes({
  select: {
    ProcessorPaymentIntent: 'id status amount amountCapturable amountReceived clientSecret failure { code declineCode message }',
    ProcessorRefund: 'id status amount failureReason',
    ProcessorTransfer: 'id amount amountReversed destinationAccountId',
    ProcessorTransferReversal: 'id amount',
    ProcessorFile: 'id',
    ProcessorDispute: 'id status evidenceDueBy',
    ProcessorRecord: 'id type status amount createdAt metadata',
  },
  routes: {
    'POST /api/payments/payment-intents': { run: 'createProcessorPaymentIntent', location: null },
    'GET /api/payments/payment-intents/:id': 'processorPaymentIntent',
    'POST /api/payments/payment-intents/:id/capture': { run: 'captureProcessorPaymentIntent', mayBeEmpty: true, status: 201 },
    'POST /api/payments/payment-intents/:id/cancel': { run: 'cancelProcessorPaymentIntent', mayBeEmpty: true, status: 201 },
    'POST /api/payments/refunds': { run: 'createProcessorRefund', location: null },
    'GET /api/payments/refunds/:id': 'processorRefund',
    'POST /api/payments/transfers': { run: 'createProcessorTransfer', location: null },
    'GET /api/payments/transfers/:id': 'processorTransfer',
    'POST /api/payments/transfers/:id/reversals': { run: 'reverseProcessorTransfer', mayBeEmpty: true, status: 201 },
    'POST /api/payments/files': { run: 'createProcessorFile', location: null },
    'PUT /api/payments/disputes/:id': 'updateProcessorDispute',
    'POST /api/payments/disputes/:id/close': { run: 'closeProcessorDispute', mayBeEmpty: true },
    'GET /api/payments/records': 'processorRecords',
  },
})
