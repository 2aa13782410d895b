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
    ledger: () => import('./ledger/ledger.tsx'),
  },
})
