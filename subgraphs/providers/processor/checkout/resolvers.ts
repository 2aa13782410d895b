import type { Stripe } from 'stripe'
import { DomainError } from '../../../../platform/errors.ts'
import type { CreateProcessorCheckoutSessionInput, ProcessorLineItemInput, Resolvers } from '../../resolvers.generated.ts'
import { askProcessor, changeAtProcessor } from '../exchange.ts'
import { idOf, lower, momentOf, readMetadata, readPage, readProcessorId, readProcessorIdMaybe, readWhole, readWords, readWordsMaybe, upper } from '../read.ts'
import { toProcessor } from '../stripe/amounts.ts'

/** Maximum lines of a payment page. */
const mostLines = 100

const sessionOf = ({ id, url, status, expires_at, payment_intent, subscription, setup_intent }: Stripe.Checkout.Session) => ({
  id,
  url,
  status: upper(status),
  expiresAt: momentOf(expires_at),
  paymentIntentId: idOf(payment_intent),
  subscriptionId: idOf(subscription),
  // The setup is expanded on a page that was read; a page that was just opened or closed has no payment method yet.
  paymentMethodId: typeof setup_intent === 'object' ? idOf(setup_intent?.payment_method) : null,
})

/** Reads one line: an existing price, or a name with an amount. @throws BAD_USER_INPUT for both, and for neither */
function lineOf({ priceId, name, unitAmount, quantity }: ProcessorLineItemInput, index: number): Stripe.Checkout.SessionCreateParams.LineItem {
  const field = `lineItems[${index}]`
  const count = readWhole(quantity ?? 1, `${field}.quantity`, 1, 1_000_000)
  if (priceId && !name && !unitAmount) return { price: readProcessorId(priceId, `${field}.priceId`), quantity: count }
  if (priceId || !name || !unitAmount)
    throw new DomainError('BAD_USER_INPUT', `${field} has a priceId, or a name with a unitAmount: exactly one of the two.`, { field })
  const { amount, currency } = toProcessor(unitAmount, `${field}.unitAmount`)
  return { price_data: { currency, unit_amount: amount, product_data: { name: readWords(name, `${field}.name`, 250) } }, quantity: count }
}

/** Copies the page's metadata to what it creates. */
function carried({ mode, captureMethod }: CreateProcessorCheckoutSessionInput, metadata: Record<string, string> | undefined) {
  if (captureMethod && mode !== 'PAYMENT')
    throw new DomainError('BAD_USER_INPUT', 'captureMethod says when a payment takes the money: it goes with mode PAYMENT alone.', { field: 'captureMethod' })
  const more = metadata && { metadata }
  switch (mode) {
    case 'PAYMENT':
      return { payment_intent_data: { ...(captureMethod && { capture_method: lower(captureMethod) }), ...more } }
    case 'SUBSCRIPTION':
      return { subscription_data: { ...more } }
    case 'SETUP':
      // Without lines there is no currency, which determines the payment methods.
      return { setup_intent_data: { ...more }, payment_method_types: ['card' as const] }
  }
}

function paramsOf(input: CreateProcessorCheckoutSessionInput): Stripe.Checkout.SessionCreateParams {
  const { mode, expiresAt } = input
  const lines = input.lineItems ?? []
  if (lines.length > mostLines)
    throw new DomainError('BAD_USER_INPUT', `lineItems has ${lines.length}: at most ${mostLines} are taken.`, { field: 'lineItems' })
  if ((mode === 'SETUP') !== (lines.length === 0))
    throw new DomainError(
      'BAD_USER_INPUT',
      mode === 'SETUP' ? 'Nothing is paid with mode SETUP: leave lineItems out.' : 'lineItems says what is paid: name at least one.',
      {
        field: 'lineItems',
      },
    )
  const [metadata, customer] = [readMetadata(input.metadata), readProcessorIdMaybe(input.customerId, 'customerId')]
  const reference = readWordsMaybe(input.clientReferenceId, 'clientReferenceId', 200)
  return {
    ...{ mode: lower(mode), success_url: readPage(input.successUrl, 'successUrl') },
    ...(input.cancelUrl && { cancel_url: readPage(input.cancelUrl, 'cancelUrl') }),
    ...(customer && { customer }),
    ...(lines.length > 0 && { line_items: lines.map(lineOf) }),
    ...(reference && { client_reference_id: reference }),
    ...(expiresAt && { expires_at: Math.floor(expiresAt.getTime() / 1000) }),
    ...(metadata && { metadata }),
    ...carried(input, metadata),
  }
}

export const processorCheckoutResolvers: Resolvers = {
  Query: {
    processorCheckoutSession: async (_, { id }, context) =>
      sessionOf(
        await askProcessor(context, {
          ...{ operation: 'processorCheckoutSession' },
          run: (stripe, options) => stripe.checkout.sessions.retrieve(readProcessorId(id), { expand: ['setup_intent'] }, options),
        }),
      ),
  },

  Mutation: {
    async createProcessorCheckoutSession(_, { input }, context) {
      const params = paramsOf(input)
      return sessionOf(
        await changeAtProcessor(context, {
          ...{ operation: 'createProcessorCheckoutSession', action: 'processor_checkout_session.created' },
          ...{ idempotencyKey: input.idempotencyKey, details: { mode: input.mode } },
          run: (stripe, options) => stripe.checkout.sessions.create(params, options),
        }),
      )
    },

    async expireProcessorCheckoutSession(_, { input }, context) {
      const id = readProcessorId(input.id)
      readMetadata(input.metadata)
      return sessionOf(
        await changeAtProcessor(context, {
          ...{ operation: 'expireProcessorCheckoutSession', action: 'processor_checkout_session.expired' },
          idempotencyKey: input.idempotencyKey,
          run: (stripe, options) => stripe.checkout.sessions.expire(id, {}, options),
        }),
      )
    },
  },
}
