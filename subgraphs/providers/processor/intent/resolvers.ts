import type { Stripe } from 'stripe'
import { fromProcessor } from '../../../currencies.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { askProcessor, changeAtProcessor, keyless } from '../exchange.ts'
import { lower, readMetadata, readProcessorId, readProcessorIdMaybe, readWordsMaybe, upper } from '../read.ts'
import { checkCurrency, detailsOf, partIn, toProcessor } from '../stripe/amounts.ts'

const failureOf = ({ code, decline_code, message }: Stripe.PaymentIntent.LastPaymentError) => ({
  code: code ?? null,
  declineCode: decline_code ?? null,
  message: message ?? null,
})

const intentOf = ({ id, status, amount, amount_capturable, amount_received, currency, client_secret, last_payment_error }: Stripe.PaymentIntent) => ({
  id,
  status: upper(status)!,
  amount: fromProcessor(amount, currency),
  amountCapturable: fromProcessor(amount_capturable, currency),
  amountReceived: fromProcessor(amount_received, currency),
  clientSecret: client_secret,
  failure: last_payment_error && failureOf(last_payment_error),
})

const refundOf = ({ id, status, amount, currency, failure_reason }: Stripe.Refund) => ({
  id,
  status: upper(status),
  amount: fromProcessor(amount, currency),
  failureReason: failure_reason ?? null,
})

export const processorIntentResolvers: Resolvers = {
  Query: {
    processorPaymentIntent: async (_, { id }, context) =>
      intentOf(
        await askProcessor(context, {
          ...{ operation: 'processorPaymentIntent' },
          run: (stripe, options) => stripe.paymentIntents.retrieve(readProcessorId(id), {}, options),
        }),
      ),

    processorRefund: async (_, { id }, context) =>
      refundOf(
        await askProcessor(context, {
          ...{ operation: 'processorRefund' },
          run: (stripe, options) => stripe.refunds.retrieve(readProcessorId(id), {}, options),
        }),
      ),
  },

  Mutation: {
    async createProcessorPaymentIntent(_, { input }, context) {
      const [customer, method] = [readProcessorIdMaybe(input.customerId, 'customerId'), readProcessorIdMaybe(input.paymentMethodId, 'paymentMethodId')]
      const [group, metadata] = [readWordsMaybe(input.transferGroup, 'transferGroup', 500), readMetadata(input.metadata)]
      const params: Stripe.PaymentIntentCreateParams = {
        ...toProcessor(input.amount, 'amount'),
        capture_method: lower(input.captureMethod ?? 'AUTOMATIC'),
        ...(customer && { customer }),
        ...(method && { payment_method: method }),
        // A charge without confirmation has no page to return from.
        ...(input.confirm && { confirm: true, automatic_payment_methods: { enabled: true, allow_redirects: 'never' } }),
        ...(group && { transfer_group: group }),
        ...(metadata && { metadata }),
      }
      return intentOf(
        await changeAtProcessor(context, {
          ...{ operation: 'createProcessorPaymentIntent', action: 'processor_payment_intent.created' },
          ...{ idempotencyKey: input.idempotencyKey, details: detailsOf(input.amount) },
          run: (stripe, options) => stripe.paymentIntents.create(params, options),
        }),
      )
    },

    async captureProcessorPaymentIntent(_, { input }, context) {
      const id = readProcessorId(input.id)
      const [part, metadata] = [partIn(input.amount, 'amount'), readMetadata(input.metadata)]
      const params = { ...(part && { amount_to_capture: part }), ...(metadata && { metadata }) }
      return intentOf(
        await changeAtProcessor(context, {
          ...{ operation: 'captureProcessorPaymentIntent', action: 'processor_payment_intent.captured' },
          ...{ idempotencyKey: input.idempotencyKey, details: detailsOf(input.amount) },
          async run(stripe, options) {
            await checkCurrency(input.amount, () => stripe.paymentIntents.retrieve(id, {}, keyless(options)))
            return stripe.paymentIntents.capture(id, params, options)
          },
        }),
      )
    },

    async cancelProcessorPaymentIntent(_, { input }, context) {
      const id = readProcessorId(input.id)
      readMetadata(input.metadata)
      return intentOf(
        await changeAtProcessor(context, {
          ...{ operation: 'cancelProcessorPaymentIntent', action: 'processor_payment_intent.canceled' },
          idempotencyKey: input.idempotencyKey,
          run: (stripe, options) => stripe.paymentIntents.cancel(id, {}, options),
        }),
      )
    },

    async createProcessorRefund(_, { input }, context) {
      const intent = readProcessorId(input.paymentIntentId, 'paymentIntentId')
      const [part, metadata] = [partIn(input.amount, 'amount'), readMetadata(input.metadata)]
      const params: Stripe.RefundCreateParams = {
        payment_intent: intent,
        ...(part && { amount: part }),
        ...(input.reason && { reason: lower(input.reason) }),
        ...(metadata && { metadata }),
      }
      return refundOf(
        await changeAtProcessor(context, {
          ...{ operation: 'createProcessorRefund', action: 'processor_refund.created' },
          ...{ idempotencyKey: input.idempotencyKey, details: { paymentIntentId: intent, ...detailsOf(input.amount) } },
          async run(stripe, options) {
            await checkCurrency(input.amount, () => stripe.paymentIntents.retrieve(intent, {}, keyless(options)))
            return stripe.refunds.create(params, options)
          },
        }),
      )
    },
  },
}
