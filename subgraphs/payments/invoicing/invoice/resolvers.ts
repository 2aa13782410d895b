import { readId } from '../../../../platform/ids.ts'
import { activeOrganization } from '../../../viewer.ts'
import { mailsShown } from '../../engines/invoicing/record.ts'
import { shownLines } from '../../order/lines.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { createInvoice, deleteInvoice, updateInvoice } from './drafts.ts'
import { markInvoicePaid, voidInvoice } from './end.ts'
import { finalizeInvoice } from './issue.ts'
import { resendInvoice } from './resend.ts'
import { amountDueOf } from './rules.ts'

const money = (amountMinor: bigint, currency: string) => ({ amountMinor, currency })

export const invoiceResolvers: Resolvers = {
  Query: {
    invoice: (_, { id }, { invoices }) => invoices.require(id),
    invoices: async (_, { status, customerId, merchantId, ...page }, { viewer, invoices }) => {
      activeOrganization(viewer, 'Invoices')
      return invoices.filtered({ status, customerId: readId(customerId, 'customerId'), merchantId: readId(merchantId, 'merchantId') }, page)
    },
  },
  Mutation: {
    createInvoice: (_, { input }, context) => createInvoice(context, input),
    updateInvoice: (_, { input }, context) => updateInvoice(context, input),
    deleteInvoice: (_, { input }, context) => deleteInvoice(context, input),
    finalizeInvoice: (_, { input }, context) => finalizeInvoice(context, input),
    voidInvoice: (_, { input }, context) => voidInvoice(context, input),
    markInvoicePaid: (_, { input }, context) => markInvoicePaid(context, input),
    resendInvoice: (_, { input }, context) => resendInvoice(context, input),
  },
  Order: {
    invoice: async ({ id }, _, { invoices }) => (await invoices.manyBy('orderId').load(id))[0] ?? null,
  },
  Invoice: {
    __resolveReference: ({ id }, { invoices }) => invoices.byId.load(id),
    lines: ({ lines, currency }) => shownLines(lines, currency),
    subtotal: ({ subtotalMinor, currency }) => money(subtotalMinor, currency),
    discount: ({ discountMinor, currency }) => money(discountMinor, currency),
    tax: ({ taxMinor, currency }) => money(taxMinor, currency),
    total: ({ totalMinor, currency }) => money(totalMinor, currency),
    amountDue: invoice => money(amountDueOf(invoice), invoice.currency),
    customer: ({ customerId }, _, { customers }) => customers.byId.load(customerId),
    order: ({ orderId }, _, { orders }) => orders.find(orderId),
    merchant: ({ merchantId }, _, { merchants }) => merchants.byId.load(merchantId),
    mails: async ({ id }, _, { invoiceMails }) => (await invoiceMails.manyBy('invoiceId').load(id)).slice(-mailsShown),
    paymentUrl: ({ status, paymentUrl }) => (status === 'FINALIZED' ? paymentUrl : null),
  },
  InvoiceMail: { at: ({ createdAt }) => createdAt },
}
