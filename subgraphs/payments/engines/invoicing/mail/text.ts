import type { InvoiceRow } from '../../../stores/invoicing/invoice.ts'
import type { InvoiceMailKind } from '../../../stores/invoicing/mail.ts'
import { decimalsOf } from '../amount.ts'
import { dayOf } from '../pdf/document.ts'

/** What a mail says, and what it calls itself in its header. */
export interface MailText {
  readonly subject: string
  readonly text: string
  readonly header: string
}

const headers: Readonly<Record<InvoiceMailKind, string>> = { INVOICE: 'invoice', REMINDER: 'invoice-reminder', RECEIPT: 'receipt' }

/**
 * What a mail of an issued invoice says. It depends on nothing that changes after the invoice was issued or paid, so a repeated call to providers
 * sends the same.
 */
export function mailText(kind: InvoiceMailKind, { number, currency, totalMinor, paidMinor, dueAt, paymentUrl, parties }: InvoiceRow): MailText {
  const { merchant, customer } = parties!
  const from = merchant.legalName ?? merchant.name
  const amount = (minor: bigint) => `${decimalsOf(minor, currency)} ${currency}`
  const hello = `Hello ${customer.name},`
  const pay = paymentUrl === null ? [] : [`Pay online: ${paymentUrl}`]
  const end = ['The invoice is attached as PDF.', '', from]
  const header = headers[kind]
  if (kind === 'RECEIPT')
    return {
      header,
      subject: `Receipt for invoice ${number} from ${from}`,
      text: lines(hello, `We have received ${amount(paidMinor)} for invoice ${number}. Thank you.`, ...end),
    }
  const due = [`Amount due: ${amount(totalMinor)}`, `Due: ${dayOf(dueAt!)}`, ...pay]
  if (kind === 'REMINDER')
    return {
      header,
      subject: `Reminder: invoice ${number} from ${from}`,
      text: lines(hello, `Invoice ${number} was due on ${dayOf(dueAt!)}, and is not paid yet.`, ...due, ...end),
    }
  return { header, subject: `Invoice ${number} from ${from}`, text: lines(hello, `Here is invoice ${number}.`, ...due, ...end) }
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
