import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScope, byScopeEachTheirOwn, constant, type RouteRow, readOrders, row } from '../../../access/row.ts'
import { seedOrder } from '../order/seed.ts'
import { seedMovements } from './seed.ts'

const reports: readonly Scope[] = ['payments:reports.read']

const route = (path: string): RouteRow => ({
  at: `GET /payments/api/ledger/${path}`,
  scopes: reports,
  less: readOrders,
  cells: byScopeEachTheirOwn,
  path: () => `/payments/api/ledger/${path}`,
})

export const access: AccessRows = {
  async made({ graph, ids, outsider }) {
    const order = await graph.platform.payments.job('test').orders.byId.load(ids.order!)
    for (const each of [order!, await seedOrder(graph, { organizationId: outsider.organizationId! })]) await seedMovements(graph, each)
    return { merchant: order!.merchantId }
  },
  fields: [
    row('Query.ledgerAccounts', reports, readOrders, byScopeEachTheirOwn, constant('{ ledgerAccounts { nodes { code } } }'), 'ledgerAccounts'),
    row('Query.ledgerEntries', reports, readOrders, byScopeEachTheirOwn, constant('{ ledgerEntries { nodes { id } } }'), 'ledgerEntries'),
    row('Query.ledgerVerification', reports, readOrders, byScope, ids => `{ ledgerVerification(merchantId: "${ids.merchant}") { ok } }`, 'ledgerVerification'),
  ],
  routes: [route('accounts'), route('entries'), route('verification')],
}
