import { expect } from 'vitest'
import { seedProcessor, seedUnknown, seedWaiting } from '../../subgraphs/payments/payment/seed.ts'
import { type Exchange, type Exchanges, list, made } from './exchange.ts'

export const payments: Exchanges = world => {
  const lines = [{ name: 'Ticket', unitAmountMinor: 1500 }]
  const anOrder = async () => (await world().ask('owner', 'POST', '/payments/api/orders', { currency: 'EUR', lines })).json.id as string
  const place = () => ({ organizationId: world().owner.organizationId!, userId: world().owner.userId! })
  let processor: Promise<unknown> | undefined
  const withProcessor = () => (processor ??= seedProcessor(world().graph, place()))
  /** A draft, or with `capture: false` an order whose money is held, by the played processor. */
  const payable = async () => {
    await withProcessor()
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
  const post = async (path: string, body: object) => (await world().ask('owner', 'POST', `/payments/api/${path}`, body)).json.id as string
  const aVenue = async () => post('venues', { merchantId: world().merchantId, name: 'Stall' })
  const aCustomer = async () => {
    await withProcessor()
    return post('customers', { name: 'Ada' })
  }
  const aMethod = async () => post(`customers/${await aCustomer()}/payment-methods`, { token: 'pm_card_visa' })
  const aMerchant = async () => (await world().ask('owner', 'POST', '/payments/api/merchants', { name: 'Bakery' })).json.id as string
  return {
    // Lists first, while there is nothing in them: all that follows is made at one moment, and would stand in any order.
    'GET /payments/api/refunds': { path: () => '/payments/api/refunds', forbidden: 'reader', answers: list('refunds') },
    'GET /payments/api/transactions': { path: () => '/payments/api/transactions', forbidden: 'reader', answers: list('transactions') },
    'GET /payments/api/orders': { path: () => '/payments/api/orders', forbidden: 'reader', answers: list('orders') },
    'GET /payments/api/merchants': { path: () => '/payments/api/merchants', forbidden: 'reader', answers: list('merchants') },
    'GET /payments/api/venues': { path: () => '/payments/api/venues', forbidden: 'reader', answers: list('venues') },
    'GET /payments/api/customers': { path: () => '/payments/api/customers', forbidden: 'reader', answers: list('customers') },
    'GET /payments/api/audit': { path: () => '/payments/api/audit', forbidden: 'reader', answers: list('audit') },
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
    'POST /payments/api/merchants': {
      path: () => '/payments/api/merchants',
      body: () => ({ name: 'Bakery', country: 'DE', defaultCurrency: 'EUR' }),
      forbidden: 'viewer',
      answers: made('/payments/api/merchants'),
    },
    'GET /payments/api/merchants/:id': {
      path: id => `/payments/api/merchants/${id}`,
      make: aMerchant,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'active' } }),
    },
    'PUT /payments/api/merchants/:id': {
      path: id => `/payments/api/merchants/${id}`,
      body: () => ({ legalName: 'Bakery Ltd' }),
      make: aMerchant,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, legalName: 'Bakery Ltd' } }),
    },
    'POST /payments/api/merchants/:id/suspend': {
      path: id => `/payments/api/merchants/${id}/suspend`,
      make: aMerchant,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'suspended' } }),
    },
    'POST /payments/api/merchants/:id/resume': {
      path: id => `/payments/api/merchants/${id}/resume`,
      make: aMerchant,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'active' } }),
    },
    'POST /payments/api/venues': {
      path: () => '/payments/api/venues',
      body: () => ({ merchantId: world().merchantId, name: 'Stall', address: { line1: 'Market 1', city: 'Berlin', country: 'DE' }, timeZone: 'Europe/Berlin' }),
      forbidden: 'viewer',
      answers: made('/payments/api/venues'),
    },
    'GET /payments/api/venues/:id': {
      path: id => `/payments/api/venues/${id}`,
      make: aVenue,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'active' } }),
    },
    'PUT /payments/api/venues/:id': {
      path: id => `/payments/api/venues/${id}`,
      body: () => ({ name: 'Shop' }),
      make: aVenue,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, name: 'Shop' } }),
    },
    'POST /payments/api/venues/:id/archive': {
      path: id => `/payments/api/venues/${id}/archive`,
      make: aVenue,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'archived' } }),
    },
    'POST /payments/api/venues/:id/restore': {
      path: id => `/payments/api/venues/${id}/restore`,
      make: aVenue,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'active' } }),
    },
    'POST /payments/api/customers': {
      path: () => '/payments/api/customers',
      body: () => ({ name: 'Ada', email: 'ada@example.com', metadata: [{ key: 'crm.id', value: '17' }] }),
      forbidden: 'viewer',
      answers: made('/payments/api/customers'),
    },
    'GET /payments/api/customers/:id': {
      path: id => `/payments/api/customers/${id}`,
      make: aCustomer,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, name: 'Ada', paymentMethods: [] } }),
    },
    'PUT /payments/api/customers/:id': {
      path: id => `/payments/api/customers/${id}`,
      body: () => ({ reference: 'C-1' }),
      make: aCustomer,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, reference: 'C-1' } }),
    },
    'POST /payments/api/customers/:id/erase': {
      path: id => `/payments/api/customers/${id}/erase`,
      make: aCustomer,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, name: null } }),
    },
    'POST /payments/api/customers/:id/payment-methods': {
      path: id => `/payments/api/customers/${id}/payment-methods`,
      body: () => ({ token: 'pm_card_visa', isDefault: true }),
      make: aCustomer,
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { brand: 'visa', last4: '4242', isDefault: true } }),
    },
    'DELETE /payments/api/payment-methods/:id': {
      path: id => `/payments/api/payment-methods/${id}`,
      make: aMethod,
      forbidden: 'viewer',
      answers: () => ({ status: 204 }),
    },
    'POST /payments/api/payment-methods/:id/default': {
      path: id => `/payments/api/payment-methods/${id}/default`,
      make: aMethod,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, isDefault: true } }),
    },
    'GET /payments/api/settings': {
      path: () => '/payments/api/settings',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { captureMode: 'automatic' } }),
    },
    'PUT /payments/api/settings': {
      path: () => '/payments/api/settings',
      body: () => ({ checkoutMinutes: 45, refundApprovalThresholds: [{ amountMinor: 50000, currency: 'EUR' }] }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { checkoutMinutes: 45 } }),
    },
  }
}
