import { readId } from '../../../platform/ids.ts'
import { activeOrganization } from '../../viewer.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { shownFailure } from '../transaction/failure.ts'
import { approveRefund, decideRefund, refundOrder, rejectRefund } from './refund.ts'

const person = (id: string | null) => (id ? { __typename: 'User' as const, id } : null)

export const refundResolvers: Resolvers = {
  Query: {
    refund: (_, { id }, { refunds }) => refunds.require(id),
    refunds: async (_, { orderId, status, ...page }, { viewer, refunds }) => {
      activeOrganization(viewer, 'Refunds')
      return refunds.filtered({ orderId: readId(orderId, 'orderId'), status }, page)
    },
  },
  Mutation: {
    refundOrder: (_, { input }, context) => refundOrder(context, input),
    approveRefund: (_, { input }, context) => approveRefund(context, input),
    rejectRefund: (_, { input }, context) => rejectRefund(context, input),
    decideRefund: (_, { input }, context) => decideRefund(context, input),
  },
  Order: {
    refunds: ({ id }, _, { refunds }) => refunds.manyBy('orderId').load(id),
  },
  Refund: {
    __resolveReference: ({ id }, { refunds }) => refunds.byId.load(id),
    order: ({ orderId }, _, { orders }) => orders.byId.load(orderId),
    amount: ({ amountMinor, currency }) => ({ amountMinor, currency }),
    requestedBy: ({ requestedBy }) => person(requestedBy),
    decidedBy: ({ decidedBy }) => person(decidedBy),
    failure: ({ failureCode, failureMessage }) => shownFailure(failureCode, failureMessage),
  },
}
