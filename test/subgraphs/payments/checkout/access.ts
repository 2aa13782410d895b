import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  figures,
  type Ids,
  publicRoute,
  type RouteRow,
  readOrders,
  row,
} from '../../../access/row.ts'
import { seedOrder } from '../order/seed.ts'
import { seedRepetition } from '../payment/seed.ts'
import { seedLink, seedSession } from './seed.ts'

const create: readonly Scope[] = ['payments:payments.create']
const creators = 'refused yes refused refused yes yes hidden'

const ofOwner = ({ owner }: Parameters<Fresh>[0]) => ({ organizationId: owner.organizationId!, userId: owner.userId })
const order: Fresh = async stage => (await seedOrder(stage.graph, ofOwner(stage))).id
const session: Fresh = async stage => (await seedSession(stage.graph, ofOwner(stage))).id
const link: Fresh = async stage => (await seedLink(stage.graph, ofOwner(stage))).id

const addresses = { successUrl: 'https://shop.example/done', cancelUrl: 'https://shop.example/back' }
/** An order that was given a session before, under the key that its row sends: the processor is not asked again. */
const opened: Fresh = async stage => {
  const { id, orderId } = await seedSession(stage.graph, ofOwner(stage))
  await seedRepetition(stage.graph, ofOwner(stage), 'createCheckoutSession', { orderId, ...addresses }, id)
  return orderId
}

const closing = (name: string, fresh: Fresh) =>
  row(
    `Mutation.${name}`,
    create,
    readOrders,
    creators,
    change(name, ({ fresh: id }) => `id: "${id}"`, 'id'),
    name,
    fresh,
  )
const inSession = (selection: string) => (ids: Ids) => `{ checkoutSession(id: "${ids.checkoutSession}") { ${selection} } }`
const inLinks = (selection: string) => constant(`{ paymentLinks { nodes { ${selection} } } }`)

const posting = (at: string, fresh: Fresh, body?: object): RouteRow => ({
  ...{ at: `POST /payments/api/${at}`, scopes: create, less: readOrders, cells: creators, fresh },
  path: ids => `/payments/api/${at.replace(':id', ids.fresh!)}`,
  ...(body && { body: () => body, headers: { 'content-type': 'application/json', 'idempotency-key': 'access' } }),
})

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedSession(graph, { organizationId: outsider.organizationId! })
    await seedLink(graph, { organizationId: outsider.organizationId! })
    const place = { organizationId: owner.organizationId!, userId: owner.userId }
    await seedLink(graph, place)
    const { id, orderId } = await seedSession(graph, place)
    return { checkoutSession: id, sessionOrder: orderId }
  },
  fields: [
    row('Query.checkoutSession', readOrders, create, byScope, inSession('id'), 'checkoutSession'),
    row('CheckoutSession.order', readOrders, create, byScope, inSession('order { id }'), 'checkoutSession.order'),
    row('Query.paymentLinks', readOrders, create, byScopeEachTheirOwn, inLinks('id'), 'paymentLinks'),
    row('PaymentLink.order', readOrders, create, byScopeEachTheirOwn, inLinks('order { id }'), 'paymentLinks.nodes.order'),
    row(
      'Order.checkoutSession',
      readOrders,
      create,
      byScope,
      ids => `{ order(id: "${ids.sessionOrder}") { checkoutSession { id } } }`,
      'order.checkoutSession',
    ),
    row(
      'Mutation.createCheckoutSession',
      create,
      readOrders,
      creators,
      change(
        'createCheckoutSession',
        ({ fresh }) => `orderId: "${fresh}", successUrl: "${addresses.successUrl}", cancelUrl: "${addresses.cancelUrl}", idempotencyKey: "access"`,
        'id',
      ),
      'createCheckoutSession',
      opened,
    ),
    row(
      'Mutation.createPaymentLink',
      create,
      readOrders,
      creators,
      change('createPaymentLink', ({ fresh }) => `orderId: "${fresh}"`, 'id'),
      'createPaymentLink',
      order,
    ),
    closing('closeCheckoutSession', session),
    closing('closePaymentLink', link),
  ],
  routes: [
    posting('orders/:id/checkout-sessions', opened, addresses),
    posting('orders/:id/payment-links', order),
    posting('checkout-sessions/:id/close', session),
    posting('payment-links/:id/close', link),
    { at: 'GET /payments/pay/:token', scopes: figures, less: create, cells: publicRoute, path: () => '/payments/pay/guessed' },
    { at: 'GET /payments/pay/:token/return', scopes: figures, less: create, cells: publicRoute, path: () => '/payments/pay/guessed/return' },
    {
      ...{ at: 'GET /payments/api/checkout-sessions/:id', scopes: readOrders, less: create, cells: byScope },
      path: ids => `/payments/api/checkout-sessions/${ids.checkoutSession}`,
    },
    { at: 'GET /payments/api/payment-links', scopes: readOrders, less: create, cells: byScopeEachTheirOwn, path: () => '/payments/api/payment-links' },
  ],
}
