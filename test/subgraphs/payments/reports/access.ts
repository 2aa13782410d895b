import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScopeEachTheirOwn, constant, payingFigures, type RouteRow, readOrders, row } from '../../../access/row.ts'
import { seedProcessor } from '../payment/seed.ts'
import { seedFigures } from './seed.ts'

const reports: readonly Scope[] = ['payments:reports.read']
const analytics: readonly Scope[] = ['payments:analytics.read']
const dayMs = 86_400_000
// The matrix is asked at the present time.
const [from, to] = [-1, 1].map(days => new Date(Date.now() + days * dayMs).toISOString())
const span = `from: "${from}", to: "${to}"`
const query = `from=${from}&to=${to}`

const route = (at: string, scopes: readonly Scope[], more = ''): RouteRow => ({
  ...{ at: `GET /payments/api/${at}`, scopes, less: readOrders, cells: byScopeEachTheirOwn },
  path: () => `/payments/api/${at}${more && `?${more}`}`,
})

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    // Of acme the gateway has a credential of the processor already.
    await seedProcessor(graph, { organizationId: outsider.organizationId! })
    for (const { organizationId, userId } of [owner, outsider]) await seedFigures(graph, { organizationId: organizationId!, userId })
    return {}
  },
  fields: [
    row('Query.paymentsOverview', payingFigures, readOrders, byScopeEachTheirOwn, constant('{ paymentsOverview { unknownOutcomes } }'), 'paymentsOverview'),
    row(
      'Query.paymentReport',
      reports,
      readOrders,
      byScopeEachTheirOwn,
      constant(`{ paymentReport(${span}, groupBy: DAY) { rows { key } } }`),
      'paymentReport',
    ),
    row('Query.paymentAnalytics', analytics, readOrders, byScopeEachTheirOwn, constant(`{ paymentAnalytics(${span}) { attempts } }`), 'paymentAnalytics'),
    row(
      'Query.paymentReconciliation',
      reports,
      readOrders,
      byScopeEachTheirOwn,
      constant(`{ paymentReconciliation(${span}) { matched } }`),
      'paymentReconciliation',
    ),
  ],
  routes: [
    route('overview', payingFigures),
    route('reports', reports, `${query}&groupBy=day`),
    route('analytics', analytics, query),
    route('reconciliation', reports, query),
    route('transactions.csv', reports, query),
  ],
}
