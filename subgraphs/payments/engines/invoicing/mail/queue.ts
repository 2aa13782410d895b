import { newId } from '../../../../../platform/ids.ts'
import { type WriteTransaction, type Writing, writing } from '../../../../store/books.ts'
import type { InvoiceRow } from '../../../stores/invoicing/invoice.ts'
import type { InvoiceMailKind, InvoiceMailRow, InvoiceMails } from '../../../stores/invoicing/mail.ts'

/** What mails are queued with. */
export interface MailQueue extends Writing {
  readonly invoiceMails: InvoiceMails
}

/** A mail to queue. */
export interface NewMail {
  readonly kind: InvoiceMailKind
  readonly n: number
  readonly isResent?: boolean
}

/** Queues a mail of an invoice, in the transaction of what it tells of, which holds the invoice. It is sent once, by its invoice, kind and number. */
export function queueMail(
  work: MailQueue,
  { id: invoiceId, organizationId }: InvoiceRow,
  mail: NewMail,
  { now, transaction }: WriteTransaction,
): Promise<InvoiceMailRow> {
  const stamps = { createdAt: now, updatedAt: now, createdBy: work[writing].actor }
  return work.invoiceMails.insert({ id: newId(now), organizationId, invoiceId, isResent: false, ...mail, nextAttemptAt: now, ...stamps }, transaction)
}

const dayMs = 86_400_000

/** When the customer of an invoice is reminded: so many days after it is due, unless that has passed when it is finalized. */
export const remindersOf = (dueAt: Date, days: readonly number[], issuedAt: Date): readonly string[] =>
  days.flatMap(day => {
    const at = new Date(dueAt.getTime() + day * dayMs)
    return at > issuedAt ? [at.toISOString()] : []
  })

/** The first reminder after a moment; null when there is none. */
export const nextReminder = (reminders: readonly string[], after: Date): Date | null => {
  const next = reminders.find(at => new Date(at) > after)
  return next === undefined ? null : new Date(next)
}

/** The number of the last reminder that is due by a moment, from 1; 0 for none. */
export const dueReminder = (reminders: readonly string[], now: Date): number => reminders.filter(at => new Date(at) <= now).length
