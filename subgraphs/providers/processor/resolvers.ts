import type { ServiceOperation } from '../../scopes.ts'
import type { Noun } from '../../wiring/define.ts'
import { requireOperation } from '../administration/caller.ts'
import type { Context } from '../context.ts'
import { processorCheckoutResolvers } from './checkout/resolvers.ts'
import { processorCustomerResolvers } from './customer/resolvers.ts'
import { processorDisputeResolvers } from './dispute/resolvers.ts'
import { processorIntentResolvers } from './intent/resolvers.ts'
import { processorPriceResolvers } from './price/resolvers.ts'
import { processorRecordResolvers } from './record/resolvers.ts'
import { processorTransferResolvers } from './transfer/resolvers.ts'

type Resolve = (parent: unknown, args: unknown, context: Context, info: unknown) => unknown

/**
 * Returns the operation that a service's client needs for a root field; null where the field checks itself, because it
 * depends on the input.
 */
const needs = (field: string): ServiceOperation | null => {
  if (field === 'processorRecords') return null
  return field.includes('ProcessorTransfer') || field === 'processorTransfer' ? 'TRANSFERS' : 'PAYMENTS'
}

/** Checks the right to send before the input, so that others learn nothing about their input. */
const guarded = (fields: object | undefined): object =>
  Object.fromEntries(
    Object.entries((fields ?? {}) as Record<string, Resolve>).map(([field, resolve]) => {
      const operation = needs(field)
      const guard: Resolve = async (parent, args, context, info) => {
        if (operation) await requireOperation(context, operation)
        return resolve(parent, args, context, info)
      }
      return [field, guard]
    }),
  )

const nouns = {
  processorPrice: processorPriceResolvers,
  processorCustomer: processorCustomerResolvers,
  processorCheckout: processorCheckoutResolvers,
  processorIntent: processorIntentResolvers,
  processorDispute: processorDisputeResolvers,
  processorTransfer: processorTransferResolvers,
  processorRecord: processorRecordResolvers,
}

/** The processor, noun by noun: for services whose clients have the operations. */
export const processorNouns: Readonly<Record<string, Noun<object>>> = Object.fromEntries(
  Object.entries(nouns).map(([noun, { Query, Mutation }]) => [
    noun,
    { resolvers: { ...(Query && { Query: guarded(Query) }), ...(Mutation && { Mutation: guarded(Mutation) }) } },
  ]),
)
