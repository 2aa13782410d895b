import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, stamps, table, text, truth, uuid, whole } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { countByCaller } from '../../../store/usage.ts'
import type { LineRow, MetadataRow } from '../order.ts'

export type InvoiceStatus = 'DRAFT' | 'FINALIZED' | 'PAID' | 'VOID'

/** Both sides of an invoice as they were called when it was issued. */
export interface InvoiceParties {
  readonly merchant: {
    readonly name: string
    readonly legalName: string | null
    readonly country: string | null
    readonly taxId: string | null
    readonly supportEmail: string | null
  }
  readonly customer: { readonly name: string; readonly reference: string | null }
}

export const invoices = table('payments.invoices', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  /** Null for a draft. */
  number: text.maybe,
  status: text.of<InvoiceStatus>().or('DRAFT'),
  currency: text,
  lines: json.of<readonly LineRow[]>(),
  subtotalMinor: whole,
  discountMinor: whole,
  taxMinor: whole,
  totalMinor: whole,
  /** What was paid, by its order or by another way. */
  paidMinor: whole.or(0n),
  customerId: uuid,
  /** The order that pays it; null for a draft of lines. */
  orderId: uuid.maybe,
  memo: text.maybe,
  metadata: json.of<readonly MetadataRow[]>().or([]),
  issuedAt: moment.maybe,
  /** Of a draft: the day that was given, if one was. */
  dueAt: moment.maybe,
  paidAt: moment.maybe,
  parties: json.of<InvoiceParties>().maybe,
  /** The page of its payment link. */
  paymentUrl: text.maybe,
  /** Whether its customer gets mail of it. */
  isMailed: truth.or(false),
  /** When its customer is reminded, in ascending order: moments in ISO 8601. */
  reminders: json.of<readonly string[]>().or([]),
  nextReminderAt: moment.maybe,
  ...stamps,
})

export type InvoiceRow = Row<typeof invoices>

const nextNumber = statement(
  `insert into payments.invoice_numbers as n (merchant_id, organization_id, last) values ($1, $2, 1)
   on conflict (merchant_id) do update set last = n.last + 1 returning last::text`,
)
const ofOrder = statement(`select ${selectList(invoices, 't')} from payments.invoices t where t.order_id = $1 and t.status <> 'VOID' for no key update of t`)
const toRemind = statement(`select id from payments.invoices where next_reminder_at <= $1 order by next_reminder_at limit $2`)
const writtenToday = countByCaller(invoices)

/** Returns the statements that only invoices have. */
const invoiceSql = (rows: Rows<typeof invoices>) => ({
  /**
   * Returns the next number of a merchant's invoices, six digits or more. Nobody else is given one before the transaction ends, and one that
   * is rolled back gives its number back.
   */
  async nextNumber(merchantId: string, organizationId: string, transaction: Transaction): Promise<string> {
    const [row] = await rows.read<{ last: string }>(nextNumber, [merchantId, organizationId], transaction)
    return row!.last.padStart(6, '0')
  },

  /** Locks and returns the invoice of an order that is not void; null when there is none. Call it with the order locked. */
  async lockOfOrder(orderId: string, transaction: Transaction): Promise<InvoiceRow | null> {
    const [found] = await rows.read(ofOrder, [orderId], transaction)
    return found ?? null
  },

  /** Ids of those whose customers are to be reminded by now, the earliest first. */
  async toRemind(now: Date, most: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(toRemind, [now, most])).map(({ id }) => id)
  },

  madeBy: writtenToday(rows),
})

export const invoiceStore = store(
  invoices,
  {
    what: 'invoice',
    tenancy: { by: 'organizationId' },
    filters: { status: 'eq', customerId: 'eq', merchantId: 'eq' },
    // One that is not void, else the void one that was made last.
    manyBy: { orderId: `t.status = 'VOID', t.created_at desc, t.id desc` },
  },
  invoiceSql,
)

/** Invoices as they are opened for an operation, or for a job. */
export type Invoices = ReturnType<(typeof invoiceStore)['open']>
