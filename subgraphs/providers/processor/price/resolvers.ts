import type { Stripe } from 'stripe'
import { DomainError } from '../../../../platform/errors.ts'
import { fromProcessor } from '../../../currencies.ts'
import type { ProcessorInterval, Resolvers } from '../../resolvers.generated.ts'
import { askProcessor, changeAtProcessor } from '../exchange.ts'
import { idOf, lower, momentOf, readMetadata, readProcessorId, readProcessorIdMaybe, readWhole, readWords, readWordsMaybe, upper } from '../read.ts'
import { toProcessor } from '../stripe/amounts.ts'

/** Maximum items of a subscription, and maximum shown lines of an invoice. */
export const most = { items: 20, lines: 100 }

const priceOf = ({ id, product, unit_amount, currency, recurring, active }: Stripe.Price) => ({
  id,
  productId: idOf(product)!,
  unitAmount: unit_amount === null ? null : fromProcessor(unit_amount, currency),
  recurring: recurring && { interval: upper(recurring.interval) as ProcessorInterval, intervalCount: recurring.interval_count },
  active,
})

const subscriptionOf = ({ id, customer, status, items, cancel_at_period_end, metadata }: Stripe.Subscription) => {
  const ends = items.data.map(item => item.current_period_end)
  return {
    id,
    customerId: idOf(customer)!,
    status: upper(status)!,
    items: items.data.slice(0, most.items).map(item => ({ id: item.id, priceId: item.price.id, quantity: item.quantity ?? null })),
    currentPeriodEnd: ends.length > 0 ? momentOf(Math.min(...ends)) : null,
    cancelAtPeriodEnd: cancel_at_period_end,
    metadata,
  }
}

const previewOf = ({ subtotal, total, total_taxes, amount_due, currency, lines }: Stripe.Invoice) => ({
  subtotal: fromProcessor(subtotal, currency),
  tax: fromProcessor(
    (total_taxes ?? []).reduce((sum, { amount }) => sum + amount, 0),
    currency,
  ),
  total: fromProcessor(total, currency),
  amountDue: fromProcessor(amount_due, currency),
  lines: lines.data
    .slice(0, most.lines)
    .map(({ description, quantity, amount, currency }) => ({ description, quantity, amount: fromProcessor(amount, currency) })),
})

export const processorPriceResolvers: Resolvers = {
  Query: {
    processorSubscription: async (_, { id }, context) =>
      subscriptionOf(
        await askProcessor(context, {
          operation: 'processorSubscription',
          run: (stripe, options) => stripe.subscriptions.retrieve(readProcessorId(id), {}, options),
        }),
      ),

    async processorInvoicePreview(_, { input }, context) {
      const customer = readProcessorIdMaybe(input.customerId, 'customerId')
      const subscription = readProcessorIdMaybe(input.subscriptionId, 'subscriptionId')
      if (!customer && !subscription)
        throw new DomainError('BAD_USER_INPUT', 'customerId or subscriptionId says whose invoice is looked at: name one of them.', { field: 'customerId' })
      const items = (input.items ?? []).map(({ itemId, priceId, quantity }, index) => ({
        ...(itemId && { id: readProcessorId(itemId, `items[${index}].itemId`) }),
        ...(priceId && { price: readProcessorId(priceId, `items[${index}].priceId`) }),
        ...(typeof quantity === 'number' && { quantity: readWhole(quantity, `items[${index}].quantity`, 0, 1_000_000) }),
      }))
      if (items.length > most.items)
        throw new DomainError('BAD_USER_INPUT', `items has ${items.length}: at most ${most.items} are looked at.`, { field: 'items' })
      const params = { ...(customer && { customer }), ...(subscription && { subscription }), ...(items.length > 0 && { subscription_details: { items } }) }
      return previewOf(
        await askProcessor(context, { operation: 'processorInvoicePreview', run: (stripe, options) => stripe.invoices.createPreview(params, options) }),
      )
    },
  },

  Mutation: {
    async createProcessorPrice(_, { input }, context) {
      const { recurring, productId, productData, idempotencyKey } = input
      if (Boolean(productId) === Boolean(productData))
        throw new DomainError('BAD_USER_INPUT', 'productId or productData says what the price is for: exactly one of them is needed.', { field: 'productId' })
      const { amount, currency } = toProcessor(input.unitAmount, 'unitAmount', 0)
      const metadata = readMetadata(input.metadata)
      const description = readWordsMaybe(productData?.description, 'productData.description', 5000)
      const params: Stripe.PriceCreateParams = {
        ...{ unit_amount: amount, currency },
        ...(productData
          ? {
              product_data: {
                name: readWords(productData.name, 'productData.name', 250),
                ...(description && { description }),
              } as Stripe.PriceCreateParams.ProductData,
            }
          : { product: readProcessorId(productId!, 'productId') }),
        ...(recurring && {
          recurring: { interval: lower(recurring.interval), interval_count: readWhole(recurring.intervalCount ?? 1, 'recurring.intervalCount', 1, 1000) },
        }),
        ...(metadata && { metadata }),
      }
      return priceOf(
        await changeAtProcessor(context, {
          ...{ operation: 'createProcessorPrice', action: 'processor_price.created', idempotencyKey },
          run: (stripe, options) => stripe.prices.create(params, options),
        }),
      )
    },

    async changeProcessorSubscriptionQuantity(_, { input }, context) {
      const { idempotencyKey, prorationBehavior } = input
      const id = readProcessorId(input.subscriptionId, 'subscriptionId')
      const metadata = readMetadata(input.metadata)
      const quantity = readWhole(input.quantity, 'quantity', 0, 1_000_000)
      const params = {
        items: [{ id: readProcessorId(input.itemId, 'itemId'), quantity }],
        proration_behavior: lower(prorationBehavior ?? 'CREATE_PRORATIONS'),
        ...(metadata && { metadata }),
      }
      return subscriptionOf(
        await changeAtProcessor(context, {
          ...{ operation: 'changeProcessorSubscriptionQuantity', action: 'processor_subscription.updated', idempotencyKey },
          details: { itemId: input.itemId, quantity },
          run: (stripe, options) => stripe.subscriptions.update(id, params, options),
        }),
      )
    },
  },
}
