import { expect } from 'vitest'
import { seedLink, seedSession } from '../../subgraphs/payments/checkout/seed.ts'
import { seedDispute } from '../../subgraphs/payments/dispute/seed.ts'
import { seedEvent } from '../../subgraphs/payments/events/seed.ts'
import { seedCreditNote, seedFinalized, seedInvoice, seedPaidInvoice } from '../../subgraphs/payments/invoicing/seed.ts'
import { seedProcessor, seedUnknown, seedWaiting } from '../../subgraphs/payments/payment/seed.ts'
import { seedBatch, seedSettled } from '../../subgraphs/payments/settlement/seed.ts'
import { batchOf } from '../../subgraphs/payments/settlement/stage.ts'
import { seedDelivery, seedWebhook } from '../../subgraphs/payments/webhook/seed.ts'
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
  const aWebhook = async () => (await seedWebhook(world().graph, place())).id
  const webhook = (method: string, verb: string, json: object, body?: object): Record<string, Exchange> => ({
    [`${method} /payments/api/webhooks/:id${verb}`]: {
      path: id => `/payments/api/webhooks/${id}${verb}`,
      make: aWebhook,
      ...(body && { body: () => body }),
      forbidden: method === 'GET' ? 'reader' : 'viewer',
      answers: () => (method === 'DELETE' ? { status: 204 } : { status: 200, json }),
    },
  })
  const anEvent = async () => (await seedEvent(world().graph, place())).id
  /** A dispute that the played processor knows: of the payment that is made for it, and of a seeded order here. */
  const aDispute = async () => {
    await world().ask('owner', 'POST', `/payments/api/orders/${await payable()}/pay`, { paymentMethodToken: 'pm_card_createDispute' })
    const headers = { authorization: 'Bearer sk_test_of_these_tests_alone' }
    const answer = await fetch(`${world().graph.x.origin}/stripe/v1/disputes?limit=1`, { headers, signal: AbortSignal.timeout(10_000) })
    const [{ id: processorId }] = ((await answer.json()) as { data: [{ id: string }] }).data
    return (await seedDispute(world().graph, place(), { processorId })).id
  }
  const returns = { successUrl: 'https://shop.example/kept', cancelUrl: 'https://shop.example/back' }
  const aMethod = async () => post(`customers/${await aCustomer()}/payment-methods`, { token: 'pm_card_visa' })
  const anInvoice = async () => (await seedInvoice(world().graph, place())).id
  const span = 'from=2027-01-01T00:00:00Z&to=2027-12-31T00:00:00Z'
  const aMerchant = async () => (await world().ask('owner', 'POST', '/payments/api/merchants', { name: 'Bakery' })).json.id as string
  return {
    // Lists first, while there is nothing in them: all that follows is made at one moment, and would stand in any order.
    'GET /payments/api/overview': {
      path: () => '/payments/api/overview',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { orders: expect.arrayContaining([{ status: 'draft', count: expect.any(Number) }]), unknownOutcomes: 0 } }),
    },
    'GET /payments/api/refunds': { path: () => '/payments/api/refunds', forbidden: 'reader', answers: list('refunds') },
    'GET /payments/api/transactions': { path: () => '/payments/api/transactions', forbidden: 'reader', answers: list('transactions') },
    'GET /payments/api/payment-links': { path: () => '/payments/api/payment-links', forbidden: 'reader', answers: list('paymentLinks') },
    'GET /payments/api/orders': { path: () => '/payments/api/orders', forbidden: 'reader', answers: list('orders') },
    'GET /payments/api/merchants': { path: () => '/payments/api/merchants', forbidden: 'reader', answers: list('merchants') },
    'GET /payments/api/venues': { path: () => '/payments/api/venues', forbidden: 'reader', answers: list('venues') },
    'GET /payments/api/customers': { path: () => '/payments/api/customers', forbidden: 'reader', answers: list('customers') },
    'GET /payments/api/invoices': { path: () => '/payments/api/invoices', forbidden: 'reader', answers: list('invoices') },
    'GET /payments/api/credit-notes': { path: () => '/payments/api/credit-notes', forbidden: 'reader', answers: list('creditNotes') },
    'GET /payments/api/audit': { path: () => '/payments/api/audit', forbidden: 'reader', answers: list('audit') },
    'GET /payments/api/disputes': { path: () => '/payments/api/disputes', forbidden: 'reader', answers: list('disputes') },
    'GET /payments/api/webhooks': {
      path: () => '/payments/api/webhooks',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { webhooks: expect.any(Array) } }),
    },
    'GET /payments/api/webhook-events': { path: () => '/payments/api/webhook-events', forbidden: 'reader', answers: list('webhookEvents') },
    'GET /payments/api/ledger/accounts': { path: () => '/payments/api/ledger/accounts', forbidden: 'reader', answers: list('accounts') },
    'GET /payments/api/ledger/entries': { path: () => '/payments/api/ledger/entries', forbidden: 'reader', answers: list('entries') },
    'GET /payments/api/ledger/verification': {
      path: () => '/payments/api/ledger/verification',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { ok: true, brokenAt: null } }),
    },
    'GET /payments/api/settlement-batches': { path: () => '/payments/api/settlement-batches', forbidden: 'reader', answers: list('settlementBatches') },
    'GET /payments/api/settlement-batches/:id': {
      path: id => `/payments/api/settlement-batches/${id}`,
      make: async () => (await seedBatch(world().graph, place())).batch.id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, lineCount: 1 } }),
    },
    'GET /payments/api/settlement-batches/:id/callbacks': {
      path: id => `/payments/api/settlement-batches/${id}/callbacks`,
      make: async () => (await seedBatch(world().graph, place())).batch.id,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { callbacks: [{ sequence: 1, type: 'settlement_batch.received' }] } }),
    },
    'POST /payments/api/settlement-batches': {
      path: () => '/payments/api/settlement-batches',
      body: () => batchOf([1200, 3400]),
      forbidden: 'viewer',
      by: 'settlement',
      answers: () => ({
        status: 202,
        json: { status: expect.any(String), lineCount: 2 },
        headers: { location: expect.stringMatching(/^\/payments\/api\/settlement-batches\//) },
      }),
    },
    'POST /payments/api/settlement-batches/:id/reversal': {
      path: id => `/payments/api/settlement-batches/${id}/reversal`,
      make: () => seedSettled(world().graph, place()),
      body: () => ({ reason: 'Paid twice' }),
      forbidden: 'viewer',
      by: 'settlement',
      answers: id => ({ status: 202, json: { id, status: 'reversing' } }),
    },
    'POST /payments/api/settlement-callbacks/:id/resend': {
      path: id => `/payments/api/settlement-callbacks/${id}/resend`,
      make: async () => (await seedBatch(world().graph, place())).callbackId,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'delivered' } }),
    },
    'GET /payments/api/reports': {
      path: () => `/payments/api/reports?${span}&groupBy=currency`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { rows: [] } }),
    },
    'GET /payments/api/analytics': {
      path: () => `/payments/api/analytics?${span}`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { attempts: 0, succeeded: 0, declines: [], byDay: [] } }),
    },
    'GET /payments/api/reconciliation': {
      path: () => `/payments/api/reconciliation?${span}`,
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { matched: 0, differences: [] } }),
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
    'POST /payments/api/orders/:id/checkout-sessions': {
      path: id => `/payments/api/orders/${id}/checkout-sessions`,
      make: payable,
      body: () => ({ successUrl: 'https://shop.example/done', cancelUrl: 'https://shop.example/back' }),
      forbidden: 'viewer',
      answers: id => ({ status: 201, json: { orderId: id, status: 'open', url: expect.any(String) } }),
    },
    'GET /payments/api/checkout-sessions/:id': {
      path: id => `/payments/api/checkout-sessions/${id}`,
      make: async () => (await seedSession(world().graph, place())).id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'open' } }),
    },
    'POST /payments/api/checkout-sessions/:id/close': {
      path: id => `/payments/api/checkout-sessions/${id}/close`,
      make: async () => (await seedSession(world().graph, place())).id,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'closed', url: null } }),
    },
    'POST /payments/api/orders/:id/payment-links': {
      path: id => `/payments/api/orders/${id}/payment-links`,
      make: anOrder,
      forbidden: 'viewer',
      answers: id => ({ status: 201, json: { orderId: id, status: 'open' } }),
    },
    'POST /payments/api/payment-links/:id/close': {
      path: id => `/payments/api/payment-links/${id}/close`,
      make: async () => (await seedLink(world().graph, place())).id,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'closed' } }),
    },
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
    'GET /payments/api/disputes/:id': {
      path: id => `/payments/api/disputes/${id}`,
      make: async () => (await seedDispute(world().graph, place())).id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'open', reason: 'fraudulent' } }),
    },
    'POST /payments/api/disputes/:id/evidence': {
      path: id => `/payments/api/disputes/${id}/evidence`,
      make: aDispute,
      body: () => ({ evidence: { text: 'The seat was used.' } }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'under_review', evidence: { text: 'The seat was used.', files: [] } } }),
    },
    'POST /payments/api/disputes/:id/accept': {
      path: id => `/payments/api/disputes/${id}/accept`,
      make: aDispute,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'lost' } }),
    },
    'POST /payments/api/webhooks': {
      path: () => '/payments/api/webhooks',
      body: () => ({ url: 'https://example.com/hook', events: ['order.paid'] }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { url: 'https://example.com/hook', secret: expect.stringMatching(/^whsec_/) } }),
    },
    ...webhook('GET', '', { active: true }),
    ...webhook('PUT', '', { description: 'Our warehouse' }, { description: 'Our warehouse' }),
    ...webhook('DELETE', '', {}),
    ...webhook('POST', '/rotate', { secret: expect.stringMatching(/^whsec_/) }),
    ...webhook('POST', '/test', { event: 'webhook.test' }),
    'GET /payments/api/webhooks/:id/deliveries': {
      path: id => `/payments/api/webhooks/${id}/deliveries`,
      make: aWebhook,
      forbidden: 'reader',
      answers: list('deliveries'),
    },
    'POST /payments/api/webhooks/deliveries/:id/redeliver': {
      path: id => `/payments/api/webhooks/deliveries/${id}/redeliver`,
      make: async () => (await seedDelivery(world().graph, place())).id,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'pending' } }),
    },
    'GET /payments/api/webhook-events/:id': {
      path: id => `/payments/api/webhook-events/${id}`,
      make: anEvent,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'ignored', reason: 'stale' } }),
    },
    'POST /payments/api/webhook-events/:id/replay': {
      path: id => `/payments/api/webhook-events/${id}/replay`,
      make: anEvent,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'received' } }),
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
    'POST /payments/api/customers/:id/payment-method-sessions': {
      path: id => `/payments/api/customers/${id}/payment-method-sessions`,
      body: () => returns,
      make: aCustomer,
      forbidden: 'viewer',
      answers: () => ({
        ...{ status: 201, json: { status: 'open', paymentMethodId: null } },
        headers: { location: expect.stringMatching('^/payments/api/payment-method-sessions/') },
      }),
    },
    'GET /payments/api/payment-method-sessions/:id': {
      path: id => `/payments/api/payment-method-sessions/${id}`,
      make: async () => post(`customers/${await aCustomer()}/payment-method-sessions`, returns),
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'open' } }),
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
    'POST /payments/api/invoices': {
      path: () => '/payments/api/invoices',
      body: () => ({ customerId: world().customerId, currency: 'EUR', lines }),
      forbidden: 'viewer',
      answers: made('/payments/api/invoices'),
    },
    'GET /payments/api/invoices/:id': {
      path: id => `/payments/api/invoices/${id}`,
      make: async () => (await seedFinalized(world().graph, place())).id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'finalized' } }),
    },
    'PUT /payments/api/invoices/:id': {
      path: id => `/payments/api/invoices/${id}`,
      make: anInvoice,
      body: () => ({ memo: 'Thank you' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, memo: 'Thank you', version: 2 } }),
    },
    'DELETE /payments/api/invoices/:id': {
      path: id => `/payments/api/invoices/${id}`,
      make: anInvoice,
      forbidden: 'viewer',
      answers: () => ({ status: 204 }),
    },
    'POST /payments/api/invoices/:id/finalize': {
      path: id => `/payments/api/invoices/${id}/finalize`,
      make: anInvoice,
      body: () => ({ send: false }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'finalized' } }),
    },
    'POST /payments/api/invoices/:id/void': {
      path: id => `/payments/api/invoices/${id}/void`,
      make: async () => (await seedFinalized(world().graph, place())).id,
      body: () => ({ reason: 'Wrong customer' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'void' } }),
    },
    'POST /payments/api/invoices/:id/mark-paid': {
      path: id => `/payments/api/invoices/${id}/mark-paid`,
      make: async () => (await seedFinalized(world().graph, place())).id,
      body: () => ({ reference: 'Transfer 17' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'paid', amountDue: { amountMinor: 0, currency: 'EUR' } } }),
    },
    'POST /payments/api/invoices/:id/resend': {
      path: id => `/payments/api/invoices/${id}/resend`,
      make: async () => {
        const { id, customerId } = await seedFinalized(world().graph, place())
        await world().graph.rows(`update payments.customers set email = 'ada@example.com' where id = $1`, [customerId])
        return id
      },
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, mails: [{ kind: 'invoice', status: 'queued' }] } }),
    },
    'POST /payments/api/invoices/:id/credit-notes': {
      path: id => `/payments/api/invoices/${id}/credit-notes`,
      make: async () => (await seedPaidInvoice(world().graph, place())).id,
      body: () => ({ amountMinor: 500, reason: 'Arrived late' }),
      forbidden: 'viewer',
      answers: id => ({ status: 201, json: { invoiceId: id, amount: { amountMinor: 500, currency: 'EUR' }, refundId: null } }),
    },
    'GET /payments/api/credit-notes/:id': {
      path: id => `/payments/api/credit-notes/${id}`,
      make: async () => (await seedCreditNote(world().graph, place())).id,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, amount: { amountMinor: 100, currency: 'EUR' } } }),
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
