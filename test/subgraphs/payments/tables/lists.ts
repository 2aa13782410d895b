import { retention } from '../../../../platform/jobs/retention.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** Who asks, and a merchant of theirs that `fill` has filled. */
export interface Asking {
  readonly as: Viewer
  readonly merchantId: string
}

const dayMs = 86_400_000

/**
 * Every list of payments that a client can ask for, as documents by what they ask.
 * @param first how long pages are
 */
export async function listsOf(graph: Supergraph, { merchantId }: Asking, first: number): Promise<Readonly<Record<string, string>>> {
  const now = graph.clock.now().getTime()
  const at = (days: number) => new Date(now + days * dayMs).toISOString()
  const [order] = await graph.rows<{ id: string; customerId: string; reference: string; at: Date }>(
    `select id, customer_id as "customerId", reference, created_at as at from payments.orders where merchant_id = $1 and reference::int % 100 = 50 and captured_minor > 0 limit 1`,
    [merchantId],
  )
  const [batch] = await graph.rows<{ id: string; name: string }>(
    'select id, external_batch_id as name from payments.settlement_batches where merchant_id = $1 limit 1',
    [merchantId],
  )
  const [invoice] = await graph.rows<{ id: string }>(`select id from payments.invoices where merchant_id = $1 and status = 'PAID' limit 1`, [merchantId])
  const behind = Buffer.from(JSON.stringify(['orders.newest', order!.at.toISOString(), order!.id])).toString('base64url')
  const page = (list: string, filters: Readonly<Record<string, string>>, select = 'nodes { id }') =>
    Object.entries(filters).map(
      ([what, given]) => [`${list}(${what})`, `{ ${list}(${[given, `first: ${first}`].filter(Boolean).join(', ')}) { ${select} } }`] as const,
    )
  const month = `from: "${at(-30)}", to: "${at(1)}"`
  return Object.fromEntries([
    ...page('orders', {
      ...{ '': '', 'status: PAID': 'status: PAID', 'status: FAILED': 'status: FAILED', 'a month': month, 'status, a month': `status: FAILED, ${month}` },
      ...{ merchantId: `merchantId: "${merchantId}"`, customerId: `customerId: "${order!.customerId}"`, reference: `reference: "${order!.reference}"` },
      ...{ metadata: `metadataKey: "crm", metadataValue: "${order!.reference}"`, 'far behind': `after: "${behind}"` },
    }),
    ...page('transactions', {
      '': '',
      orderId: `orderId: "${order!.id}"`,
      'type: REFUND': 'type: REFUND',
      'status: UNKNOWN': 'status: UNKNOWN',
      'a month': month,
    }),
    ...page('refunds', { '': '', orderId: `orderId: "${order!.id}"`, 'status: AWAITING_APPROVAL': 'status: AWAITING_APPROVAL' }),
    ...page('disputes', { '': '', 'status: OPEN': 'status: OPEN' }),
    ...page('customers', { '': '', 'search, one': 'search: "person 17 of"', 'search, none': 'search: "nobody"' }),
    ...page('invoices', {
      '': '',
      'status: FINALIZED': 'status: FINALIZED',
      customerId: `customerId: "${order!.customerId}"`,
      merchantId: `merchantId: "${merchantId}"`,
    }),
    ...page('creditNotes', { '': '', invoiceId: `invoiceId: "${invoice!.id}"` }),
    ...page('paymentLinks', { '': '', orderId: `orderId: "${order!.id}"` }),
    ...page('merchants', { '': '', 'status: ACTIVE': 'status: ACTIVE' }),
    ...page('venues', { '': '', merchantId: `merchantId: "${merchantId}"` }),
    ...page('settlementBatches', { '': '', 'status: PROCESSING': 'status: PROCESSING', externalBatchId: `externalBatchId: "${batch!.name}"` }),
    ...page('webhookEvents', {
      '': '',
      'status: DEAD': 'status: DEAD',
      'type: refund.created': 'type: "refund.created"',
      processorEventId: `processorEventId: "evt_${order!.id}"`,
    }),
    ...page('ledgerEntries', {
      ...{ '': '', merchantId: `merchantId: "${merchantId}"`, orderId: `orderId: "${order!.id}"`, settlementBatchId: `settlementBatchId: "${batch!.id}"` },
      account: 'account: "processor"',
    }),
    ...page('ledgerAccounts', { '': '', merchantId: `merchantId: "${merchantId}"` }, 'nodes { code }'),
    ...page('paymentAuditLog', {
      ...{ '': '', entityType: 'entityType: "Order"', entityId: `entityId: "${order!.id}"`, action: 'action: "createOrder"', 'a month': month },
    }),
    ['paymentWebhooks, deliveries', `{ paymentWebhooks { deliveries(first: ${first}) { nodes { id } } } }`],
    ['paymentsWidget', '{ paymentsWidget { statistics { key value } items { id } } }'],
    ['paymentReport of a month', `{ paymentReport(${month}, groupBy: DAY) { rows { key captured { amountMinor } } } }`],
  ])
}

/** What adds up or counts all that it is about, and is told apart. */
export function sumsOf(graph: Supergraph): Readonly<Record<string, string>> {
  const now = graph.clock.now().getTime()
  const year = `from: "${new Date(now - 365 * dayMs).toISOString()}", to: "${new Date(now + 1).toISOString()}"`
  return {
    'paymentReport of a year by day': `{ paymentReport(${year}, groupBy: DAY) { rows { key captured { amountMinor } } } }`,
    'paymentReport of a year by merchant': `{ paymentReport(${year}, groupBy: MERCHANT) { rows { key captured { amountMinor } } } }`,
    'paymentAnalytics of a year': `{ paymentAnalytics(${year}) { attempts succeeded declines { code count } byDay { day count } } }`,
    paymentsOverview: '{ paymentsOverview { orders { status count } unknownOutcomes openDisputes deadWebhookEvents undeliveredCallbacks } }',
    'orders, counted': '{ orders { totalCount } }',
  }
}

/** What payments looks for by itself. */
export function sweepsOf(graph: Supergraph): Readonly<Record<string, () => Promise<unknown>>> {
  const job = graph.platform.payments.job('bench')
  const now = graph.clock.now()
  const weekAgo = graph.clock.in(-7 * dayMs)
  const old = [
    { table: 'payments.webhook_events', days: 900, old: 'o.created_at < $1', order: 'o.created_at' },
    { table: 'payments.webhook_deliveries', days: 900, old: `o.status <> 'PENDING' and o.created_at < $1`, order: 'o.created_at' },
  ]
  return {
    'transactions without an outcome': () => job.transactions.due(now, 4, 20),
    'payments without a name': () => job.transactions.hasNameless(now),
    'authorizations that lapse': () => job.orders.heldSince(weekAgo, now, 20),
    'checkout sessions': () => job.checkoutSessions.due(now, 4, 20),
    'payment links that expire': () => job.paymentLinks.expired(now, 100),
    'settlement batches': () => job.settlementBatches.due(now, 2, 10),
    'settlement callbacks': () => job.settlementCallbacks.due(now, 50),
    'events of the processor': () => job.webhookEvents.takeDue(now, 20, now),
    'webhooks to deliver': () => job.webhookDeliveries.due(now, 4, 64),
    'evidence of disputes': () => job.disputes.dueAsks(now, 20),
    'what is old': () => retention({ sequelize: graph.database.sequelize, clock: graph.clock }, old).run(),
  }
}
