import { readId } from '../../../platform/ids.ts'
import { activeOrganization } from '../../viewer.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { shownFailure } from './failure.ts'
import { resolveTransaction } from './resolve.ts'

export const transactionResolvers: Resolvers = {
  Query: {
    transaction: (_, { id }, { transactions }) => transactions.require(id),
    transactions: async (_, { orderId, type, status, from, to, ...page }, { viewer, transactions }) => {
      activeOrganization(viewer, 'Transactions')
      return transactions.filtered({ orderId: readId(orderId, 'orderId'), type, status, createdAt: { since: from, until: to } }, page)
    },
  },
  Mutation: {
    resolveTransaction: (_, { input }, context) => resolveTransaction(context, input),
  },
  Transaction: {
    __resolveReference: ({ id }, { transactions }) => transactions.byId.load(id),
    amount: ({ amountMinor, currency }) => ({ amountMinor, currency }),
    failure: ({ status, failureCode, failureMessage }) => shownFailure(status === 'UNKNOWN' ? 'OUTCOME_UNKNOWN' : failureCode, failureMessage),
  },
}
