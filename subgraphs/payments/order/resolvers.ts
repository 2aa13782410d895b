import { newId, readId, readText } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { exponents } from '../../currencies.ts'
import { create } from '../../store/write.ts'
import { widgetTopic } from '../../subgraph.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import type { CreateOrderInput, Resolvers } from '../resolvers.generated.ts'
import type { OrderRow } from '../stores/order.ts'
import { most, workOut } from './rules.ts'

/** Writes an order as a draft; once for each key. */
async function createOrder(context: Context, input: CreateOrderInput): Promise<OrderRow> {
  const { viewer, orders, merchants, events, quotas } = context
  const organizationId = activeOrganization(viewer, 'Orders')
  const amounts = workOut(input.lines)
  const words = {
    description: readText(input.description, 'description', most.description),
    reference: readText(input.reference, 'reference', most.reference),
  }
  const merchant = input.merchantId === null || input.merchantId === undefined ? null : await merchants.require(input.merchantId, 'merchantId')
  const known = merchant?.id ?? (await merchants.defaultOf(organizationId))
  const name = known ? '' : await context.nameOf(viewer)
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: orders,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const written = await orders.madeBy(createdBy, now, quotas.ordersADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: quotas.ordersADay }, 'orders that you wrote', 'wait', now)
      const stamps = { createdAt: now, createdBy }
      const fresh = { id: newId(now), organizationId, name, defaultCurrency: input.currency, ...stamps }
      const merchantId = known ?? (await merchants.ensureDefault(fresh, transaction))
      const { currency } = input
      const place = { id, merchantId, organizationId, currency, userId: viewer.userId, updatedAt: now, ...stamps }
      // Last, for whoever writes the next order of the organization waits from here on.
      return { ...place, ...words, ...amounts, number: await orders.nextNumber(organizationId, transaction) }
    },
    audit: ({ id, merchantId }) => ({ tenantId: merchantId, action: 'order.created', subjectId: id }),
    announce: () => events.announce(widgetTopic('payments', organizationId), { app: 'payments' }),
  })
  return row
}

const money = (amountMinor: bigint | string, currency: string) => ({ amountMinor, currency })

const currencies = [...exponents].map(([code, exponent]) => ({ code, exponent }))

export const orderResolvers: Resolvers = {
  Query: {
    order: (_, { id }, { orders }) => orders.require(id),
    orders: async (_, { status, merchantId, reference, ...page }, { viewer, orders }) => {
      activeOrganization(viewer, 'Orders')
      return orders.filtered({ status, merchantId: readId(merchantId, 'merchantId'), reference }, page)
    },
    paymentCurrencies: () => currencies,
  },
  Mutation: {
    createOrder: (_, { input }, context) => createOrder(context, input),
  },
  Order: {
    __resolveReference: ({ id }, { orders }) => orders.byId.load(id),
    lines: ({ lines, currency }) =>
      lines.map(({ unitAmountMinor, discountMinor, taxMinor, totalMinor, ...line }) => ({
        ...line,
        unitAmount: money(unitAmountMinor, currency),
        discount: money(discountMinor, currency),
        tax: money(taxMinor, currency),
        total: money(totalMinor, currency),
      })),
    subtotal: ({ subtotalMinor, currency }) => money(subtotalMinor, currency),
    discount: ({ discountMinor, currency }) => money(discountMinor, currency),
    tax: ({ taxMinor, currency }) => money(taxMinor, currency),
    total: ({ totalMinor, currency }) => money(totalMinor, currency),
    organization: ({ organizationId }) => ({ __typename: 'Organization', id: organizationId }),
    createdBy: ({ userId }) => (userId ? { __typename: 'User', id: userId } : null),
  },
  Organization: {
    __resolveReference: ({ id }) => ({ id }),
    // One that is not the active one shows nothing, as if it had no orders.
    orders: ({ id }, page, { orders }) => orders.page('all', id, page),
  },
}
