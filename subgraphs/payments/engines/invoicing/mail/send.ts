import type { Logger } from 'pino'
import type { Clock } from '../../../../../platform/clock.ts'
import { crash } from '../../../../../platform/crash.ts'
import { codeOf } from '../../../../../platform/errors.ts'
import type { Sweep } from '../../../../../platform/jobs/queue.ts'
import type { WriteTransaction, Writing } from '../../../../store/books.ts'
import { inTransaction } from '../../../../store/write.ts'
import type { InvoiceRow, Invoices } from '../../../stores/invoicing/invoice.ts'
import type { InvoiceMailRow, InvoiceMailStatus, InvoiceMails } from '../../../stores/invoicing/mail.ts'
import { documentOf } from '../pdf/document.ts'
import type { Printer } from '../pdf/printer.ts'
import { dueReminder, nextReminder, queueMail } from './queue.ts'
import { nextHandover, nextLook, statusOf } from './rules.ts'
import { type MailText, mailText } from './text.ts'

/** A mail to hand over, under a key by which it is sent once however often that happens. */
export interface OutgoingMail extends MailText {
  readonly organizationId: string
  readonly key: string
  readonly to: string
  readonly replyTo: string | null
  readonly attachment: { readonly name: string; readonly contentType: string; readonly content: string }
}

/** What providers say of a mail. */
export interface MailSeen {
  readonly id: string
  readonly status: string
}

/** Who sends mails, as the gateway to providers does. */
export interface Mailer {
  /** @throws CONFLICT, reason KEY_REUSED, when the key was taken with another text; whatever else the gateway refuses */
  send(mail: OutgoingMail): Promise<MailSeen | null>
  /** What became of one. */
  look(organizationId: string, messageId: string): Promise<MailSeen | null>
}

/** What mails of invoices are sent with: everybody's rows. */
export interface MailWork extends Writing {
  readonly invoices: Invoices
  readonly invoiceMails: InvoiceMails
  readonly customers: { readonly byId: { load(id: string): Promise<{ readonly email: string | null } | null> } }
  readonly mailer: Mailer
  readonly printer: Pick<Printer, 'print'>
  readonly clock: Clock
  readonly log: Logger
}

/** How often due mails are looked for, for how long one is a process's own, in ms, and how many one round takes, in all and of an organization. */
const [everyMs, leaseMs, atOnce, perOrganization] = [2_000, 60_000, 20, 4]

/** Sends mails of invoices that are due, and asks what became of those whose outcome nobody told. Any number of processes may do so. */
export const mailOutbox = (job: () => MailWork): Sweep => ({
  name: 'mails of invoices',
  everyMs,
  asksOthers: true,
  async run() {
    const work = job()
    await Promise.all((await work.invoiceMails.due(work.clock.now(), perOrganization, atOnce)).map(id => lookAfter(job(), id)))
  },
})

async function lookAfter(job: MailWork, id: string): Promise<void> {
  try {
    const now = job.clock.now()
    const mail = await inTransaction(job, ({ transaction }) => job.invoiceMails.take(id, now, new Date(now.getTime() + leaseMs), transaction))
    if (mail) await (mail.messageId === null ? handOver(job, mail) : look(job, mail))
  } catch (error) {
    job.log.error({ err: error, mailId: id }, 'a mail of an invoice could not be looked after; it is due again when its lease is over')
  }
}

/** Hands a mail over, and records what providers call it; a process that dies in between repeats the same under the same key. */
async function handOver(job: MailWork, mail: InvoiceMailRow): Promise<void> {
  const invoice = (await job.invoices.byId.load(mail.invoiceId))!
  const to = (await job.customers.byId.load(invoice.customerId))?.email ?? null
  // Reminders end with the payment; a customer who was erased has no address.
  if (to === null || (mail.kind === 'REMINDER' && invoice.status !== 'FINALIZED')) return withdraw(job, mail)
  const seen = await taken(job, mail, await outgoing(job, invoice, mail, to))
  crash('invoice-mail-sent')
  if (!seen) return
  const status = statusOf(seen.status)
  const nextAttemptAt = status === 'QUEUED' ? nextLook({ ...mail, attempts: 1 }, job.clock.now()) : null
  await settle(job, mail, { messageId: seen.id, status, attempts: 1, nextAttemptAt })
}

/** What providers say of a mail that they have taken; null: they have not, and it is put off. */
async function taken(job: MailWork, mail: InvoiceMailRow, outgoing: OutgoingMail): Promise<MailSeen | null> {
  try {
    const seen = await job.mailer.send(outgoing)
    if (!seen) throw new Error('the gateway answered without a mail')
    return seen
  } catch (error) {
    await putOff(job, mail, error)
    return null
  }
}

async function outgoing({ printer }: MailWork, invoice: InvoiceRow, { kind, n }: InvoiceMailRow, to: string): Promise<OutgoingMail> {
  const { id, organizationId, number, parties } = invoice
  const content = Buffer.from(await printer.print(organizationId, documentOf(invoice))).toString('base64')
  const attachment = { name: `${number}.pdf`, contentType: 'application/pdf', content }
  return { organizationId, key: `invoice:${id}:${kind}:${n}`, to, replyTo: parties!.merchant.supportEmail, ...mailText(kind, invoice), attachment }
}

async function putOff(job: MailWork, mail: InvoiceMailRow, error: unknown): Promise<void> {
  const reason = (error as { readonly extensions?: { readonly reason?: unknown } })?.extensions?.reason
  // The mail left before, in other words: the customer's address, or the invoice, changed since.
  if (codeOf(error) === 'CONFLICT' && reason === 'KEY_REUSED') return settle(job, mail, { status: 'UNKNOWN', nextAttemptAt: null })
  const next = nextHandover(mail.attempts, job.clock.now())
  const facts = { err: error, mailId: mail.id, invoiceId: mail.invoiceId, attempts: mail.attempts }
  job.log.warn(facts, next ? 'a mail of an invoice was not taken; it is handed over again' : 'a mail of an invoice was not taken, and is given up')
  await settle(job, mail, next ? { nextAttemptAt: next } : { status: 'FAILED', nextAttemptAt: null })
}

async function look(job: MailWork, mail: InvoiceMailRow): Promise<void> {
  const seen = await job.mailer.look(mail.organizationId, mail.messageId!)
  const status = seen ? statusOf(seen.status) : 'QUEUED'
  const next = status === 'QUEUED' ? nextLook(mail, job.clock.now()) : null
  await settle(job, mail, { status: status === 'QUEUED' && next === null ? 'UNKNOWN' : status, nextAttemptAt: next })
}

const settle = (job: MailWork, { id }: InvoiceMailRow, changes: Partial<InvoiceMailRow>): Promise<void> =>
  inTransaction(job, unit => settleWithin(job, id, changes, unit))

async function settleWithin(job: MailWork, id: string, changes: Partial<InvoiceMailRow>, { now, transaction }: WriteTransaction): Promise<void> {
  const row = await job.invoiceMails.lock(id, transaction)
  if (row) await job.invoiceMails.update(row, { ...changes, version: row.version + 1, updatedAt: now }, transaction)
}

const withdraw = (job: MailWork, { id }: InvoiceMailRow): Promise<void> =>
  inTransaction(job, async ({ transaction }) => {
    const row = await job.invoiceMails.lock(id, transaction)
    if (row && row.messageId === null) await job.invoiceMails.remove(row, transaction)
  })

/** Records what providers tell of a mail of an invoice, in the transaction that takes the fact in; mails of others change nothing. */
export async function recordMailOutcome(
  { invoiceMails }: Pick<MailWork, 'invoiceMails'>,
  messageId: string,
  said: string,
  unit: WriteTransaction,
): Promise<void> {
  const row = await invoiceMails.lockByMessage(messageId, unit.transaction)
  const status: InvoiceMailStatus = statusOf(said)
  if (!row || status === 'QUEUED') return
  await invoiceMails.update(row, { status, nextAttemptAt: null, version: row.version + 1, updatedAt: unit.now }, unit.transaction)
}

/** How often reminders are looked for, in ms, and how many one round queues. */
const [remindEveryMs, remindAtOnce] = [10_000, 50]

/** Queues reminders whose time has come. Of several that were missed only the last is sent. */
export const reminders = (job: () => MailWork): Sweep => ({
  name: 'reminders of invoices',
  everyMs: remindEveryMs,
  async run() {
    const work = job()
    for (const id of await work.invoices.toRemind(work.clock.now(), remindAtOnce)) await remind(job(), id)
  },
})

const remind = (job: MailWork, id: string): Promise<void> =>
  inTransaction(job, async unit => {
    const invoice = await job.invoices.lock(id, unit.transaction)
    if (!invoice?.nextReminderAt || invoice.nextReminderAt > unit.now) return
    const isOwed = invoice.status === 'FINALIZED' && invoice.isMailed
    const n = dueReminder(invoice.reminders, unit.now)
    await job.invoices.update(invoice, { nextReminderAt: isOwed ? nextReminder(invoice.reminders, unit.now) : null }, unit.transaction)
    if (isOwed && n > 0) await queueMail(job, invoice, { kind: 'REMINDER', n }, unit)
  })
