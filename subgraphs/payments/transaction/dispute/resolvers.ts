import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { acceptDispute, submitEvidence } from './evidence.ts'

/** How many disputes an order shows at most, the newest first. */
export const maxDisputes = 10

export const disputeResolvers: Resolvers = {
  Query: {
    dispute: (_, { id }, { disputes }) => disputes.require(id),
    disputes: async (_, { status, ...page }, { viewer, disputes }) => {
      activeOrganization(viewer, 'Disputes')
      return disputes.filtered({ status }, page)
    },
  },
  Mutation: {
    submitDisputeEvidence: (_, { input }, context) => submitEvidence(context, input),
    acceptDispute: (_, { input }, context) => acceptDispute(context, input),
  },
  Order: {
    disputes: async ({ id }, _, { disputes }) => (await disputes.manyBy('orderId').load(id)).slice(0, maxDisputes),
  },
  Dispute: {
    __resolveReference: ({ id }, { disputes }) => disputes.byId.load(id),
    order: ({ orderId }, _, { orders }) => orders.byId.load(orderId),
    amount: ({ amountMinor, currency }) => ({ amountMinor, currency }),
    evidence: ({ evidenceText: text, evidenceFiles: files, evidenceBy, evidenceAt }) =>
      evidenceAt && { text, files, submittedBy: evidenceBy ? { __typename: 'User', id: evidenceBy } : null, submittedAt: evidenceAt },
  },
}
