import { nounRoutes } from '../derive/route.ts'

const callback = 'id sequence type status attempts { at status error } nextAttemptAt deliveredAt'

export const settlementRows = nounRoutes({
  select: {
    SettlementBatch: `
      id externalBatchId status currency controlTotal settledTotal reversedTotal lineCount contentHash policyDecisionId submittedBy createdAt completedAt version`,
    SettlementCallback: callback,
  },
  routes: {
    'GET /api/settlement-batches': { run: 'settlementBatches', list: 'settlementBatches' },
    'GET /api/settlement-batches/:id': 'settlementBatch',
    'POST /api/settlement-batches': { run: 'submitSettlementBatch', status: 202, location: '/payments/api/settlement-batches/{id}' },
    'POST /api/settlement-batches/:id/reversal': { run: 'reverseSettlementBatch', status: 202, mayBeEmpty: true },
    'GET /api/settlement-batches/:id/callbacks': { run: 'settlementBatch', name: 'settlementBatchCallbacks', select: `callbacks { ${callback} }` },
    'POST /api/settlement-callbacks/:id/resend': { run: 'resendSettlementCallback', mayBeEmpty: true },
  },
})
