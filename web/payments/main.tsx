import words from 'words:payments'
import { createMemorySession } from '../shell/session/memory.ts'
import { start } from '../shell/start.tsx'
import { payments } from './pages.ts'

void start({
  pages: payments,
  words,
  session: createMemorySession(payments.start),
  modules: {
    overview: () => import('./overview/overview.tsx'),
    orders: () => import('./orders/orders.tsx'),
    links: () => import('./orders/links/links.tsx'),
    transactions: () => import('./transactions/transactions.tsx'),
    refunds: () => import('./refunds/refunds.tsx'),
    disputes: () => import('./transactions/disputes/disputes.tsx'),
    settlement: () => import('./transactions/settlement/settlement.tsx'),
    invoices: () => import('./invoices/invoices.tsx'),
    customers: () => import('./customers/customers.tsx'),
    merchants: () => import('./merchants/merchants.tsx'),
    venues: () => import('./merchants/venues/venues.tsx'),
    ledger: () => import('./ledger/ledger.tsx'),
    reports: () => import('./reports/reports.tsx'),
    reconciliation: () => import('./reconciliation/reconciliation.tsx'),
    endpoints: () => import('./webhooks/endpoints/endpoints.tsx'),
    webhooks: () => import('./webhooks/webhooks.tsx'),
    audit: () => import('./audit/audit.tsx'),
    settings: () => import('./settings/settings.tsx'),
  },
})
