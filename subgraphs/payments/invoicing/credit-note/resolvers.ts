import { readId } from '../../../../platform/ids.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { createCreditNote } from './credit-note.ts'

export const creditNoteResolvers: Resolvers = {
  Query: {
    creditNote: (_, { id }, { creditNotes }) => creditNotes.require(id),
    creditNotes: async (_, { invoiceId, ...page }, { viewer, creditNotes }) => {
      activeOrganization(viewer, 'Credit notes')
      return creditNotes.filtered({ invoiceId: readId(invoiceId, 'invoiceId') }, page)
    },
  },
  Mutation: {
    createCreditNote: (_, { input }, context) => createCreditNote(context, input),
  },
  Invoice: {
    creditNotes: ({ id }, _, { creditNotes }) => creditNotes.manyBy('invoiceId').load(id),
  },
  CreditNote: {
    __resolveReference: ({ id }, { creditNotes }) => creditNotes.byId.load(id),
    invoice: ({ invoiceId }, _, { invoices }) => invoices.byId.load(invoiceId),
    amount: ({ amountMinor, currency }) => ({ amountMinor, currency }),
    refund: ({ refundId }, _, { refunds }) => refunds.find(refundId),
  },
}
