import { expect } from 'vitest'
import { seedProcessor, seedUnknown, seedWaiting } from '../../subgraphs/payments/payment/seed.ts'
import { type Exchange, type Exchanges, list, made } from './exchange.ts'

export const payments: Exchanges = world => {
  const lines = [{ name: 'Ticket', unitAmountMinor: 1500 }]
  const anOrder = async () => (await world().ask('owner', 'POST', '/payments/api/orders', { currency: 'EUR', lines })).json.id as string
  const place = () => ({ organizationId: world().owner.organizationId!, userId: world().owner.userId! })
  let processor: Promise<unknown> | undefined
  /** A draft, or with `capture: false` an order whose money is held, by the played processor. */
  const payable = async () => {
    processor ??= seedProcessor(world().graph, place())
    await processor
    return anOrder()
  }
  const held = async () => {
    const id = await payable()
    await world().ask('owner', 'POST', `/payments/api/orders/${id}/pay`, { paymentMethodToken: 'pm_card_visa', capture: false })
    return id
  }
  const paid = async () => {
    const id = await held()
    await world().ask('owner', 'POST', `/payments/api/orders/${id}/capture`)
    return id
  }
  const order = (verb: string, make: () => Promise<string>, json: object, body?: object): Record<string, Exchange> => ({
    [`POST /payments/api/orders/:id/${verb}`]: {
      path: id => `/payments/api/orders/${id}/${verb}`,
      make,
      ...(body && { body: () => body }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, ...json } }),
    },
  })
  return {
    // Lists first, while there is nothing in them: all that follows is made at one moment, and would stand in any order.
    'GET /payments/api/refunds': { path: () => '/payments/api/refunds', forbidden: 'reader', answers: list('refunds') },
    'GET /payments/api/transactions': { path: () => '/payments/api/transactions', forbidden: 'reader', answers: list('transactions') },
    'GET /payments/api/orders': { path: () => '/payments/api/orders', forbidden: 'reader', answers: list('orders') },
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
    'PUT /payments/api/orders/:id': {
      path: id => `/payments/api/orders/${id}`,
      make: anOrder,
      body: () => ({ description: 'Two seats' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, description: 'Two seats', version: 2 } }),
    },
    ...order('cancel', anOrder, { status: 'cancelled' }),
    ...order(
      'pay',
      payable,
      { status: 'paid', paymentPhase: 'none', captured: { amountMinor: 1500, currency: 'EUR' } },
      { paymentMethodToken: 'pm_card_visa' },
    ),
    ...order('capture', held, { status: 'paid' }),
    ...order('void', held, { status: 'draft' }),
    'POST /payments/api/orders/:id/refunds': {
      path: id => `/payments/api/orders/${id}/refunds`,
      make: paid,
      body: () => ({ amountMinor: 500, reason: 'requested_by_customer' }),
      forbidden: 'viewer',
      answers: id => ({ status: 201, json: { orderId: id, status: 'succeeded', amount: { amountMinor: 500, currency: 'EUR' } } }),
    },
    'GET /payments/api/orders/:id/refunds': {
      path: id => `/payments/api/orders/${id}/refunds`,
      make: async () => (await seedWaiting(world().graph, place())).orderId,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { refunds: [{ orderId: id, status: 'awaiting_approval' }] } }),
    },
    'GET /payments/api/refunds/:id': {
      path: id => `/payments/api/refunds/${id}`,
      make: async () => (await seedWaiting(world().graph, place())).id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'awaiting_approval', origin: 'platform' } }),
    },
    'POST /payments/api/refunds/:id/decision': {
      path: id => `/payments/api/refunds/${id}/decision`,
      make: async () => (await seedWaiting(world().graph, place())).id,
      body: () => ({ decision: 'reject', comment: 'Not ours' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'rejected', note: 'Not ours' } }),
    },
    'GET /payments/api/transactions/:id': {
      path: id => `/payments/api/transactions/${id}`,
      make: async () => (await seedUnknown(world().graph, place())).id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'unknown', failure: { code: 'outcome_unknown' } } }),
    },
    'POST /payments/api/transactions/:id/resolve': {
      path: id => `/payments/api/transactions/${id}/resolve`,
      make: async () => (await seedUnknown(world().graph, place())).id,
      body: () => ({ outcome: 'failed', note: 'Not on the processor’s list' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'failed' } }),
    },
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
  }
}
