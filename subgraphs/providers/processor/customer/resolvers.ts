import type { Stripe } from 'stripe'
import type { Resolvers } from '../../resolvers.generated.ts'
import { changeAtProcessor, keyless } from '../exchange.ts'
import { readMetadata, readPage, readProcessorId, readWordsMaybe, upper } from '../read.ts'

const methodOf = ({ id, card }: Stripe.PaymentMethod) => ({
  id,
  brand: upper(card?.brand),
  last4: card?.last4 ?? null,
  expMonth: card?.exp_month ?? null,
  expYear: card?.exp_year ?? null,
})

export const processorCustomerResolvers: Resolvers = {
  Mutation: {
    async createProcessorCustomer(_, { input }, context) {
      const { email, idempotencyKey } = input
      const [name, metadata] = [readWordsMaybe(input.name, 'name', 256), readMetadata(input.metadata)]
      const params = { ...(email && { email }), ...(name && { name }), ...(metadata && { metadata }) }
      const { id } = await changeAtProcessor(context, {
        ...{ operation: 'createProcessorCustomer', action: 'processor_customer.created', idempotencyKey },
        run: (stripe, options) => stripe.customers.create(params, options),
      })
      return { id }
    },

    async attachProcessorPaymentMethod(_, { input }, context) {
      const customer = readProcessorId(input.customerId, 'customerId')
      const [id, metadata] = [readProcessorId(input.paymentMethodId, 'paymentMethodId'), readMetadata(input.metadata)]
      return methodOf(
        await changeAtProcessor(context, {
          ...{ operation: 'attachProcessorPaymentMethod', action: 'processor_payment_method.attached' },
          ...{ idempotencyKey: input.idempotencyKey, details: { customerId: customer } },
          async run(stripe, options) {
            const method = await stripe.paymentMethods.attach(id, { customer }, options)
            if (metadata) await stripe.paymentMethods.update(method.id, { metadata }, keyless(options))
            return method
          },
        }),
      )
    },

    async detachProcessorPaymentMethod(_, { input }, context) {
      const id = readProcessorId(input.id)
      readMetadata(input.metadata)
      return methodOf(
        await changeAtProcessor(context, {
          ...{ operation: 'detachProcessorPaymentMethod', action: 'processor_payment_method.detached' },
          idempotencyKey: input.idempotencyKey,
          run: (stripe, options) => stripe.paymentMethods.detach(id, {}, options),
        }),
      )
    },

    async createProcessorPortalSession(_, { input }, context) {
      readMetadata(input.metadata)
      const params = { customer: readProcessorId(input.customerId, 'customerId'), return_url: readPage(input.returnUrl.href, 'returnUrl') }
      const { id, url } = await changeAtProcessor(context, {
        ...{ operation: 'createProcessorPortalSession', action: 'processor_portal_session.created' },
        ...{ idempotencyKey: input.idempotencyKey, details: { customerId: params.customer } },
        run: (stripe, options) => stripe.billingPortal.sessions.create(params, options),
      })
      return { id, url }
    },
  },
}
