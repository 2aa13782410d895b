import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, accountants, byScope, byScopeEachTheirOwn, change, constant, type Fresh, type Ids, readOrders, row } from '../../../../access/row.ts'
import { seedCredential } from '../../../providers/credential/seed.ts'
import { secret } from '../../../providers/processor/stage.ts'
import { seedClient, seedCustomer, seedMethod, seedMethodSession } from './seed.ts'

const readCustomers: readonly Scope[] = ['payments:customers.read']
/** Enough to be answered with the record that was changed; not to read any other. */
const writeCustomers: readonly Scope[] = ['payments:customers.write']
const creators = 'refused yes refused refused refused yes yes'
const both: readonly Scope[] = ['payments:customers.read', 'payments:payments.read']

const freshCustomer: Fresh = async ({ graph, ids }) => (await seedCustomer(graph, { organizationId: ids.organization! })).id
const freshMethod: Fresh = async ({ graph, ids }) => (await seedMethod(graph, await seedCustomer(graph, { organizationId: ids.organization! }))).id

const customer = (field: string) => (ids: Ids) => `{ customer(id: "${ids.customer}") { ${field} } }`
const order = (field: string) => (ids: Ids) => `{ order(id: "${ids.order}") { ${field} } }`
const customers = '/payments/api/customers'

export const access: AccessRows = {
  async made({ graph, ids, owner, outsider }) {
    await seedCustomer(graph, { organizationId: outsider.organizationId! })
    await seedClient(graph)
    await seedCredential(graph, { organizationId: ids.organization!, provider: 'stripe', name: 'Stripe', secret })
    const metadata = [{ key: 'a', value: 'b' }]
    const made = await seedCustomer(graph, { organizationId: ids.organization!, userId: owner.userId, metadata })
    const method = await seedMethod(graph, made)
    await graph.rows('update payments.orders set customer_id = $1, venue_id = $2, metadata = $3 where id = $4', [
      made.id,
      ids.venue,
      JSON.stringify(metadata),
      ids.order,
    ])
    const session = await seedMethodSession(graph, made, { status: 'COMPLETED', paymentMethodId: method.id })
    return { customer: made.id, methodSession: session.id }
  },
  fields: [
    row('Query.customer', readCustomers, readOrders, byScope, customer('id'), 'customer'),
    row('Query.customers', readCustomers, readOrders, byScopeEachTheirOwn, constant('{ customers { nodes { id } } }'), 'customers'),
    row(
      'Mutation.createCustomer',
      writeCustomers,
      readCustomers,
      creators,
      change('createCustomer', () => 'name: "New"', 'id'),
      'createCustomer',
    ),
    ...(['update', 'erase'] as const).map(verb =>
      row(
        `Mutation.${verb}Customer`,
        writeCustomers,
        readCustomers,
        accountants,
        change(`${verb}Customer`, ({ fresh }) => `id: "${fresh}"`, 'id'),
        `${verb}Customer`,
        freshCustomer,
      ),
    ),
    row(
      'Mutation.addPaymentMethod',
      writeCustomers,
      readCustomers,
      accountants,
      change('addPaymentMethod', ({ fresh }) => `customerId: "${fresh}", token: "pm_card_visa"`, 'id'),
      'addPaymentMethod',
      freshCustomer,
    ),
    row(
      'Query.paymentMethodSession',
      readCustomers,
      readOrders,
      byScope,
      ({ methodSession }) => `{ paymentMethodSession(id: "${methodSession}") { id } }`,
      'paymentMethodSession',
    ),
    row(
      'Mutation.createPaymentMethodSession',
      writeCustomers,
      readCustomers,
      accountants,
      change(
        'createPaymentMethodSession',
        ({ fresh }) => `customerId: "${fresh}", successUrl: "https://shop.example/kept", cancelUrl: "https://shop.example/back"`,
        'id',
      ),
      'createPaymentMethodSession',
      freshCustomer,
    ),
    ...(['removePaymentMethod', 'setDefaultPaymentMethod'] as const).map(name =>
      row(
        `Mutation.${name}`,
        writeCustomers,
        readCustomers,
        accountants,
        change(name, ({ fresh }) => `id: "${fresh}"`, 'id'),
        name,
        freshMethod,
      ),
    ),
    row('Customer.orders', both, readCustomers, byScope, customer('orders { pageInfo { hasNextPage } }'), 'customer.orders'),
    row('Order.customer', both, readOrders, byScope, order('customer { id }'), 'order.customer'),
    row('Order.merchant', ['payments:payments.read', 'payments:merchants.read'], readOrders, byScope, order('merchant { id }'), 'order.merchant'),
    row('Order.venue', ['payments:payments.read', 'payments:venues.read'], readOrders, byScope, order('venue { id }'), 'order.venue'),
  ],
  routes: [
    { at: `GET ${customers}`, scopes: readCustomers, less: readOrders, cells: byScopeEachTheirOwn, path: () => customers },
    { at: `POST ${customers}`, scopes: writeCustomers, less: readCustomers, cells: creators, path: () => customers, body: () => ({ name: 'New' }) },
    { at: `GET ${customers}/:id`, scopes: readCustomers, less: readOrders, cells: byScope, path: ids => `${customers}/${ids.customer}` },
    {
      at: `PUT ${customers}/:id`,
      scopes: writeCustomers,
      less: readCustomers,
      cells: accountants,
      path: ids => `${customers}/${ids.fresh}`,
      body: () => ({ name: 'New' }),
      fresh: freshCustomer,
    },
    {
      at: `POST ${customers}/:id/erase`,
      scopes: writeCustomers,
      less: readCustomers,
      cells: accountants,
      path: ids => `${customers}/${ids.fresh}/erase`,
      fresh: freshCustomer,
    },
    {
      at: `POST ${customers}/:id/payment-methods`,
      scopes: writeCustomers,
      less: readCustomers,
      cells: accountants,
      path: ids => `${customers}/${ids.fresh}/payment-methods`,
      body: () => ({ token: 'pm_card_visa' }),
      fresh: freshCustomer,
    },
    {
      at: `POST ${customers}/:id/payment-method-sessions`,
      scopes: writeCustomers,
      less: readCustomers,
      cells: accountants,
      path: ids => `${customers}/${ids.fresh}/payment-method-sessions`,
      body: () => ({ successUrl: 'https://shop.example/kept', cancelUrl: 'https://shop.example/back' }),
      fresh: freshCustomer,
    },
    {
      at: 'GET /payments/api/payment-method-sessions/:id',
      scopes: readCustomers,
      less: readOrders,
      cells: byScope,
      path: ids => `/payments/api/payment-method-sessions/${ids.methodSession}`,
    },
    {
      at: 'DELETE /payments/api/payment-methods/:id',
      scopes: writeCustomers,
      less: readCustomers,
      cells: accountants,
      path: ids => `/payments/api/payment-methods/${ids.fresh}`,
      fresh: freshMethod,
    },
    {
      at: 'POST /payments/api/payment-methods/:id/default',
      scopes: writeCustomers,
      less: readCustomers,
      cells: accountants,
      path: ids => `/payments/api/payment-methods/${ids.fresh}/default`,
      fresh: freshMethod,
    },
  ],
}
