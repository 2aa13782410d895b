import type { InvoiceRow } from '../../stores/invoicing/invoice.ts'
import type { InvoiceMailRow } from '../../stores/invoicing/mail.ts'
import { lineRecords, lower, moneyOf } from '../outgoing/record.ts'

/** How many of an invoice's mails are shown: the newest. */
export const mailsShown = 100

/** An invoice as REST shows it at the moment when it becomes PAID: nothing of it is due, and nothing is credited yet. */
export function paidInvoiceRecord(invoice: InvoiceRow, mails: readonly InvoiceMailRow[]): object {
  const { currency } = invoice
  const money = (amountMinor: bigint) => moneyOf(amountMinor, currency)
  return {
    ...{ id: invoice.id, number: invoice.number, status: lower(invoice.status), currency, lines: lineRecords(invoice.lines, currency) },
    ...{ subtotal: money(invoice.subtotalMinor), discount: money(invoice.discountMinor), tax: money(invoice.taxMinor), total: money(invoice.totalMinor) },
    ...{ amountDue: money(0n), customerId: invoice.customerId, orderId: invoice.orderId, merchantId: invoice.merchantId, memo: invoice.memo },
    ...{ issuedAt: invoice.issuedAt, dueAt: invoice.dueAt, paidAt: invoice.paidAt, paymentUrl: null, metadata: invoice.metadata },
    mails: mails.slice(-mailsShown).map(({ id, kind, status, createdAt: at }) => ({ id, kind: lower(kind), status: lower(status), at })),
    ...{ creditNotes: [], createdAt: invoice.createdAt, version: invoice.version },
  }
}
