import { nounRoutes } from '../derive/route.ts'

export const transactionRows = nounRoutes({
  select: {
    Transaction: `
      id type status amount orderId settlementBatchId processorId attempts createdAt completedAt failure { code message retryable }`,
  },
  routes: {
    'GET /api/transactions': 'transactions',
    'GET /api/transactions/:id': 'transaction',
    'POST /api/transactions/:id/resolve': 'resolveTransaction',
  },
})
