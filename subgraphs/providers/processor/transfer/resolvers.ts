import type { Stripe } from 'stripe'
import { fromProcessor } from '../../../currencies.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { askProcessor, changeAtProcessor, keyless } from '../exchange.ts'
import { idOf, readMetadata, readProcessorId, readWordsMaybe } from '../read.ts'
import { checkCurrency, detailsOf, partIn, toProcessor } from '../stripe/amounts.ts'

const transferOf = ({ id, amount, amount_reversed, currency, destination }: Stripe.Transfer) => ({
  id,
  amount: fromProcessor(amount, currency),
  amountReversed: fromProcessor(amount_reversed, currency),
  destinationAccountId: idOf(destination),
})

export const processorTransferResolvers: Resolvers = {
  Query: {
    processorTransfer: async (_, { id }, context) =>
      transferOf(
        await askProcessor(context, {
          ...{ operation: 'processorTransfer' },
          run: (stripe, options) => stripe.transfers.retrieve(readProcessorId(id), {}, options),
        }),
      ),
  },

  Mutation: {
    async createProcessorTransfer(_, { input }, context) {
      const destination = readProcessorId(input.destinationAccountId, 'destinationAccountId')
      const [group, metadata] = [readWordsMaybe(input.transferGroup, 'transferGroup', 500), readMetadata(input.metadata)]
      const params = { ...toProcessor(input.amount, 'amount'), destination, ...(group && { transfer_group: group }), ...(metadata && { metadata }) }
      return transferOf(
        await changeAtProcessor(context, {
          ...{ operation: 'createProcessorTransfer', action: 'processor_transfer.created' },
          ...{ idempotencyKey: input.idempotencyKey, details: { destinationAccountId: destination, ...detailsOf(input.amount) } },
          run: (stripe, options) => stripe.transfers.create(params, options),
        }),
      )
    },

    async reverseProcessorTransfer(_, { input }, context) {
      const id = readProcessorId(input.id)
      const [part, metadata] = [partIn(input.amount, 'amount'), readMetadata(input.metadata)]
      const params = { ...(part && { amount: part }), ...(metadata && { metadata }) }
      const {
        id: reversalId,
        amount,
        currency,
      } = await changeAtProcessor(context, {
        ...{ operation: 'reverseProcessorTransfer', action: 'processor_transfer.reversed' },
        ...{ idempotencyKey: input.idempotencyKey, details: { transferId: id, ...detailsOf(input.amount) } },
        async run(stripe, options) {
          await checkCurrency(input.amount, () => stripe.transfers.retrieve(id, {}, keyless(options)))
          return stripe.transfers.createReversal(id, params, options)
        },
      })
      return { id: reversalId, amount: fromProcessor(amount, currency) }
    },
  },
}
