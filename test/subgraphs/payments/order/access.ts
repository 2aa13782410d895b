import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScope, byScopeEachTheirOwn, change, constant, figures, type Ids, knownCallers, readOrders, row } from '../../../access/row.ts'
import { seedOrder } from './seed.ts'

/** Enough to be answered with the order that was written; not to read any other. */
const createPayments: readonly Scope[] = ['payments:payments.create']
const refunds: readonly Scope[] = ['payments:transactions.refund']
const creators = 'refused yes refused refused yes yes yes'

const order = (field: string) => (ids: Ids) => `{ order(id: "${ids.order}") { ${field} } }`
const lines = [{ name: 'New', unitAmountMinor: 1 }]

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedOrder(graph, { organizationId: outsider.organizationId!, userId: outsider.userId })
    return { order: (await seedOrder(graph, { organizationId: owner.organizationId!, userId: owner.userId })).id }
  },
  fields: [
    row('Query.order', readOrders, createPayments, byScope, order('id'), 'order'),
    row('Query.orders', readOrders, createPayments, byScopeEachTheirOwn, constant('{ orders { nodes { id } } }'), 'orders'),
    row('Query.paymentCurrencies', refunds, figures, knownCallers, constant('{ paymentCurrencies { code } }'), 'paymentCurrencies'),
    row(
      'Mutation.createOrder',
      createPayments,
      readOrders,
      creators,
      change('createOrder', () => `currency: "EUR", lines: [{ name: "New", unitAmountMinor: 1 }]`, 'id'),
      'createOrder',
    ),
    row('Order.organization', readOrders, createPayments, byScope, order('organization { id }'), 'order.organization'),
    row('Order.createdBy', readOrders, createPayments, byScope, order('createdBy { id }'), 'order.createdBy'),
    row(
      'Organization.orders',
      readOrders,
      createPayments,
      byScopeEachTheirOwn,
      constant('{ viewer { organization { orders { pageInfo { hasNextPage } } } } }'),
      'viewer.organization.orders',
    ),
  ],
  routes: [
    { at: 'GET /payments/api/orders', scopes: readOrders, less: createPayments, cells: byScopeEachTheirOwn, path: () => '/payments/api/orders' },
    {
      at: 'POST /payments/api/orders',
      scopes: createPayments,
      less: readOrders,
      cells: creators,
      path: () => '/payments/api/orders',
      body: () => ({ currency: 'EUR', lines }),
    },
    { at: 'GET /payments/api/orders/:id', scopes: readOrders, less: createPayments, cells: byScope, path: ids => `/payments/api/orders/${ids.order}` },
  ],
}
