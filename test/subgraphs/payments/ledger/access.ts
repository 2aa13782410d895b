import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScope, byScopeEachTheirOwn, type Ids, type RouteRow, readOrders, row } from '../../../access/row.ts'
import { seedMovements } from './seed.ts'

const reports: readonly Scope[] = ['payments:reports.read']

const ofMerchant = (list: string, of: keyof Ids, argument: string, fields: string) => (ids: Ids) => `{ ${list}(${argument}: "${ids[of]}") { ${fields} } }`
const route = (path: string): RouteRow => ({
  at: `GET /payments/api/ledger/${path}`,
  scopes: reports,
  less: readOrders,
  cells: byScopeEachTheirOwn,
  path: () => `/payments/api/ledger/${path}`,
})

export const access: AccessRows = {
  async made({ graph, ids }) {
    const order = await graph.platform.payments.job('test').orders.byId.load(ids.order!)
    await seedMovements(graph, order!)
    return { merchant: order!.merchantId }
  },
  fields: [
    row(
      'Query.ledgerAccounts',
      reports,
      readOrders,
      byScopeEachTheirOwn,
      ofMerchant('ledgerAccounts', 'merchant', 'merchantId', 'nodes { code }'),
      'ledgerAccounts',
    ),
    row('Query.ledgerEntries', reports, readOrders, byScopeEachTheirOwn, ofMerchant('ledgerEntries', 'order', 'orderId', 'nodes { id }'), 'ledgerEntries'),
    row('Query.ledgerVerification', reports, readOrders, byScope, ofMerchant('ledgerVerification', 'merchant', 'merchantId', 'ok'), 'ledgerVerification'),
  ],
  routes: [route('accounts'), route('entries'), route('verification')],
}
