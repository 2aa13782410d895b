import { nounRoutes } from '../../derive/route.ts'

export const ledgerRows = nounRoutes({
  select: {
    LedgerAccount: 'code balance merchantId',
    LedgerEntry: 'id merchantId sequence movementId account amount kind orderId settlementBatchId postedAt previousHash hash',
    LedgerVerification: 'ok entries headHash brokenAt unbalancedMovements totals',
  },
  routes: {
    'GET /api/ledger/accounts': { run: 'ledgerAccounts', list: 'accounts' },
    'GET /api/ledger/entries': { run: 'ledgerEntries', list: 'entries' },
    'GET /api/ledger/verification': 'ledgerVerification',
  },
})
