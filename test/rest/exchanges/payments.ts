import { expect } from 'vitest'
import { type Exchanges, list, made } from './exchange.ts'

export const payments: Exchanges = world => {
  const lines = [{ name: 'Ticket', unitAmountMinor: 1500 }]
  const anOrder = async () => (await world().ask('owner', 'POST', '/payments/api/orders', { currency: 'EUR', lines })).json.id as string
  return {
    'GET /payments/api/orders': { path: () => '/payments/api/orders', forbidden: 'reader', answers: list('orders') },
    'POST /payments/api/orders': {
      path: () => '/payments/api/orders',
      body: () => ({ currency: 'EUR', lines }),
      forbidden: 'viewer',
      answers: made('/payments/api/orders'),
    },
    'GET /payments/api/orders/:id': {
      path: id => `/payments/api/orders/${id}`,
      make: anOrder,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'draft', total: { amountMinor: 1500, currency: 'EUR' } } }),
    },
    'GET /payments/api/ledger/accounts': { path: () => '/payments/api/ledger/accounts', forbidden: 'reader', answers: list('accounts') },
    'GET /payments/api/ledger/entries': { path: () => '/payments/api/ledger/entries', forbidden: 'reader', answers: list('entries') },
    'GET /payments/api/ledger/verification': {
      path: () => '/payments/api/ledger/verification',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { ok: true, brokenAt: null } }),
    },
    'GET /payments/api/widget': {
      path: () => '/payments/api/widget',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { statistics: expect.any(Array) } }),
    },
  }
}
