import { nounRoutes } from '../../derive/route.ts'
import type { Row } from '../../row.ts'

const query = { from: 'From this moment on, as in RFC 3339.', to: 'And before this one, 366 days at most.' }

export const reportRows: readonly Row[] = [
  ...nounRoutes({
    select: {
      PaymentsOverview: `
        orders { status count } unknownOutcomes refundsAwaitingApproval openDisputes deadWebhookEvents undeliveredCallbacks settlementBatchesInProgress`,
      PaymentReport: 'rows { key currency orders captured refunded disputed net }',
      PaymentAnalytics: 'attempts succeeded declines { code count } byDay { day captured count }',
      PaymentReconciliation: 'checkedAt matched differences { kind transactionId processorId ours theirs }',
    },
    routes: {
      'GET /api/overview': 'paymentsOverview',
      'GET /api/reports': 'paymentReport',
      'GET /api/analytics': 'paymentAnalytics',
      'GET /api/reconciliation': 'paymentReconciliation',
    },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/transactions.csv',
    access: { scope: 'payments:reports.read' },
    limit: 0,
    to: 'payments',
    why: 'own answer',
    describes: [
      {
        name: 'readTransactionTable',
        does: 'Transactions as a table, the oldest first, amounts in minor units and in decimals of their currency. Cells that a spreadsheet would execute begin with an apostrophe.',
        query: { ...query, metadata: 'Keys of metadata, with commas between: the last columns have their values, from the order.' },
        answers: { 200: { description: 'A table of RFC 4180 with a header.', type: 'text/csv', schema: { type: 'string' } } },
      },
    ],
  },
]
