import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accountants,
  all,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  type RouteRow,
  readOrders,
  row,
} from '../../../access/row.ts'
import { seedOrder } from '../order/seed.ts'
import { seedLarge, seedRepetition, seedUnknown, seedWaiting } from './seed.ts'

const create: readonly Scope[] = ['payments:payments.create']
const read: readonly Scope[] = ['payments:transactions.read']
const write: readonly Scope[] = ['payments:transactions.write']
const refund: readonly Scope[] = ['payments:transactions.refund']
// Beside a transaction or a refund its order is shown to whoever may read orders.
const readBoth: readonly Scope[] = [...read, ...readOrders]

const creators = 'refused yes refused refused yes yes hidden'
const managersAlone = 'refused refused refused refused refused yes hidden'
const readersOfBoth = 'refused yes refused yes yes yes hidden'

const ofOwner = ({ owner }: Parameters<Fresh>[0]) => ({ organizationId: owner.organizationId!, userId: owner.userId })
const order: Fresh = async stage => (await seedOrder(stage.graph, ofOwner(stage))).id
const large: Fresh = async stage => (await seedLarge(stage.graph, ofOwner(stage))).id
const unknown: Fresh = async stage => (await seedUnknown(stage.graph, ofOwner(stage))).id
const waiting: Fresh = async stage => (await seedWaiting(stage.graph, ofOwner(stage))).id
/** What a mutation changed before, under the key that its row sends: nobody has to be asked again. */
const repeated =
  (what: string, make: Fresh, input: (id: string) => Readonly<Record<string, unknown>>): Fresh =>
  async stage => {
    const id = await make(stage)
    await seedRepetition(stage.graph, ofOwner(stage), what, input(id))
    return id
  }

const paid = repeated('payOrder', order, orderId => ({ orderId, paymentMethodToken: 'pm_card_visa', capture: true }))
const captured = repeated('captureOrder', order, orderId => ({ orderId }))
const voided = repeated('voidOrder', order, orderId => ({ orderId }))
const approved = repeated('approveRefund', waiting, id => ({ id }))
const key = 'idempotencyKey: "access"'

const mutation = (name: string, scopes: readonly Scope[], less: readonly Scope[], cells: string, input: (ids: Ids) => string, fresh: Fresh) =>
  row(`Mutation.${name}`, scopes, less, cells, change(name, input, 'id'), name, fresh)
const inOrder = (more: string) => (ids: Ids) => `orderId: "${ids.fresh}", ${more}`
const byId =
  (more = '') =>
  (ids: Ids) =>
    `id: "${ids.fresh}"${more && `, ${more}`}`

const reading = (at: string, path: (ids: Ids) => string, cells: string): RouteRow => ({
  ...{ at: `GET /payments/api/${at}`, scopes: readBoth, less: create, cells, path },
})
const posting = (at: string, scopes: readonly Scope[], less: readonly Scope[], cells: string, fresh: Fresh, body: object = {}, method = 'POST'): RouteRow => ({
  ...{ at: `${method} /payments/api/${at}`, scopes, less, cells, fresh },
  path: ids => `/payments/api/${at.replace(':id', ids.fresh!)}`,
  body: () => body,
})
const again = (...[at, scopes, less, cells, fresh, body]: Parameters<typeof posting>): RouteRow => ({
  ...posting(at, scopes, less, cells, fresh, body),
  headers: { 'content-type': 'application/json', 'idempotency-key': 'access' },
})
const inRefund = (selection: string) => (ids: Ids) => `{ refund(id: "${ids.refund}") { ${selection} } }`
const inOrderOf = (id: string, selection: string) => (ids: Ids) => `{ order(id: "${ids[id]}") { ${selection} } }`
const ofRefund = (name: string, selection: string) => row(`Refund.${name}`, readBoth, create, byScope, inRefund(selection), `refund.${name}`)

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    const place = { organizationId: owner.organizationId!, userId: owner.userId! }
    const elsewhere = { organizationId: outsider.organizationId! }
    await seedUnknown(graph, elsewhere)
    await seedWaiting(graph, elsewhere)
    const { id: transaction, orderId } = await seedUnknown(graph, place)
    const by = {
      requestedBy: owner.userId,
      decidedBy: owner.userId,
      status: 'REJECTED',
      failureCode: 'DECLINED',
      metadata: [{ key: 'a', value: 'b' }],
    } as const
    const known = await seedWaiting(graph, place, by)
    const failed = await seedOrder(graph, place)
    await graph.rows(`update payments.orders set status = 'FAILED', failure_code = 'DECLINED' where id = $1`, [failed.id])
    return { transaction, unknownOrder: orderId!, refund: known.id, refundedOrder: known.orderId, failedOrder: failed.id }
  },
  fields: [
    mutation('updateOrder', create, readOrders, creators, byId('description: "x"'), order),
    mutation('cancelOrder', create, readOrders, creators, byId(), order),
    mutation('payOrder', write, create, accountants, inOrder(`paymentMethodToken: "pm_card_visa", ${key}`), paid),
    mutation('captureOrder', write, refund, accountants, inOrder(key), captured),
    mutation('voidOrder', write, refund, accountants, inOrder(key), voided),
    mutation('refundOrder', refund, read, accountants, inOrder('reason: OTHER'), large),
    mutation('resolveTransaction', all, read, managersAlone, byId('outcome: FAILED'), unknown),
    mutation('approveRefund', all, read, managersAlone, byId(key), approved),
    mutation('rejectRefund', all, read, managersAlone, byId(), waiting),
    mutation('decideRefund', all, read, managersAlone, byId('decision: REJECT'), waiting),
    row('Subscription.orderUpdated', readOrders, create, byScope, ids => `subscription { orderUpdated(orderId: "${ids.order}") { id } }`, 'orderUpdated'),
    row('Query.transaction', read, readOrders, byScope, ids => `{ transaction(id: "${ids.transaction}") { id } }`, 'transaction'),
    row('Query.transactions', read, readOrders, byScopeEachTheirOwn, constant('{ transactions { nodes { id } } }'), 'transactions'),
    row('Query.refund', read, readOrders, byScope, inRefund('id'), 'refund'),
    row('Query.refunds', read, readOrders, byScopeEachTheirOwn, constant('{ refunds { nodes { id } } }'), 'refunds'),
    ofRefund('order', 'order { id }'),
    ofRefund('requestedBy', 'requestedBy { id }'),
    ofRefund('decidedBy', 'decidedBy { id }'),
    row('Order.failure', readOrders, create, byScope, inOrderOf('failedOrder', 'failure { code }'), 'order.failure'),
    row('Order.transactions', readBoth, readOrders, readersOfBoth, inOrderOf('unknownOrder', 'transactions { nodes { id } }'), 'order.transactions'),
    row('Order.refunds', readBoth, readOrders, readersOfBoth, inOrderOf('refundedOrder', 'refunds { id }'), 'order.refunds'),
  ],
  routes: [
    posting('orders/:id', create, readOrders, creators, order, { description: 'x' }, 'PUT'),
    posting('orders/:id/cancel', create, readOrders, creators, order),
    again('orders/:id/pay', write, create, accountants, paid, { paymentMethodToken: 'pm_card_visa' }),
    again('orders/:id/capture', write, refund, accountants, captured),
    again('orders/:id/void', write, refund, accountants, voided),
    posting('orders/:id/refunds', refund, read, accountants, large, { reason: 'other' }),
    posting('transactions/:id/resolve', all, read, managersAlone, unknown, { outcome: 'failed' }),
    posting('refunds/:id/decision', all, read, managersAlone, waiting, { decision: 'reject' }),
    reading('transactions', () => '/payments/api/transactions', byScopeEachTheirOwn),
    reading('transactions/:id', ids => `/payments/api/transactions/${ids.transaction}`, byScope),
    reading('refunds', () => '/payments/api/refunds', byScopeEachTheirOwn),
    reading('refunds/:id', ids => `/payments/api/refunds/${ids.refund}`, byScope),
    reading('orders/:id/refunds', ids => `/payments/api/orders/${ids.refundedOrder}/refunds`, byScope),
  ],
}
