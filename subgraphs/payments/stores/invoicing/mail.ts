import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export type InvoiceMailKind = 'INVOICE' | 'REMINDER' | 'RECEIPT'
/** UNKNOWN: nobody knows whether it was sent. */
export type InvoiceMailStatus = 'QUEUED' | 'SENT' | 'FAILED' | 'UNKNOWN'

export const invoiceMails = table('payments.invoice_mails', {
  organizationId: uuid.key,
  id: uuid.key,
  invoiceId: uuid,
  kind: text.of<InvoiceMailKind>(),
  /** Counts the mails of one kind of the invoice. */
  n: integer,
  isResent: truth.or(false),
  status: text.of<InvoiceMailStatus>().or('QUEUED'),
  /** What providers call it; null until they have taken it. */
  messageId: uuid.maybe,
  attempts: integer.or(0),
  /** When it is handed over, or asked about, next; null once its outcome is known. */
  nextAttemptAt: moment.maybe,
  ...stamps,
})

export type InvoiceMailRow = Row<typeof invoiceMails>

// Each organization has its turn, however many of another are due.
const due = statement(
  `select id from (
     select id, next_attempt_at, row_number() over (partition by organization_id order by next_attempt_at) as turn
       from payments.invoice_mails where next_attempt_at <= $1
   ) due where turn <= $2 order by turn, next_attempt_at limit $3`,
)
const counts = statement(
  `select count(*)::int as number, count(*) filter (where is_resent and created_at > $3)::int as resent
     from payments.invoice_mails where invoice_id = $1 and kind = $2`,
)
const ofInvoice = statement(`select ${selectList(invoiceMails, 't')} from payments.invoice_mails t where t.invoice_id = $1 order by t.created_at, t.kind, t.n`)
const byMessage = statement(`select ${selectList(invoiceMails, 't')} from payments.invoice_mails t where t.message_id = $1 for no key update of t`)

/** Returns the statements that only mails of invoices have. */
const mailSql = (rows: Rows<typeof invoiceMails>) => ({
  /** Ids of those that are due by now, so many of an organization and together. */
  async due(now: Date, perOrganization: number, most: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(due, [now, perOrganization, most])).map(({ id }) => id)
  },

  /**
   * Takes one that is due for this process: until `until` no other hands it over.
   * @returns null when another process was quicker, or its outcome is known
   */
  async take(id: string, now: Date, until: Date, transaction: Transaction): Promise<InvoiceMailRow | null> {
    const row = await rows.lock(id, transaction)
    if (!row?.nextAttemptAt || row.nextAttemptAt > now) return null
    return rows.update(row, { nextAttemptAt: until, attempts: row.attempts + 1 }, transaction)
  },

  /** How many mails of a kind an invoice has, and how many of them were sent again since. Call it with the invoice locked. */
  async countsOf(
    invoiceId: string,
    kind: InvoiceMailKind,
    since: Date,
    transaction: Transaction,
  ): Promise<{ readonly number: number; readonly resent: number }> {
    const [found] = await rows.read<{ number: number; resent: number }>(counts, [invoiceId, kind, since], transaction)
    return found!
  },

  /** The mails of an invoice, oldest first, as the transaction sees them. */
  ofInvoice: (invoiceId: string, transaction: Transaction): Promise<InvoiceMailRow[]> => rows.read(ofInvoice, [invoiceId], transaction),

  /** Locks and returns the one that providers know by this id; null for a mail of somebody else. */
  async lockByMessage(messageId: string, transaction: Transaction): Promise<InvoiceMailRow | null> {
    const [found] = await rows.read(byMessage, [messageId], transaction)
    return found ?? null
  },
})

export const invoiceMailStore = store(
  invoiceMails,
  { what: 'mail', tenancy: { by: 'organizationId' }, manyBy: { invoiceId: 't.created_at, t.kind, t.n' } },
  mailSql,
)

/** Mails of invoices as they are opened for an operation, or for a job. */
export type InvoiceMails = ReturnType<(typeof invoiceMailStore)['open']>
