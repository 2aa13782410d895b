import type { AppPages } from '../shell/pages.ts'

/** The pages of payments. */
export const payments: AppPages = {
  app: 'payments',
  title: 'app.payments',
  entry: 'payments/main.tsx',
  start: '/overview',
  guarded: false,
  isForgetful: true,
  pages: {
    overview: { paths: ['/overview'], module: 'payments/overview/overview.tsx', title: 'overview.title', icon: 'dashboard', skeleton: 'grid' },
    orders: { paths: ['/orders', '/orders/:id'], module: 'payments/orders/orders.tsx', title: 'orders.title', icon: 'orders', skeleton: 'table' },
    ledger: { paths: ['/ledger'], module: 'payments/ledger/ledger.tsx', title: 'ledger.title', icon: 'ledger', skeleton: 'table' },
  },
}
