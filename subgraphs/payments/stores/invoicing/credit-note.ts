import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, stamps, table, text, uuid, whole } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export const creditNotes = table('payments.credit_notes', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  invoiceId: uuid,
  /** 1, 2, 3 … of its invoice. */
  sequence: integer,
  number: text,
  amountMinor: whole,
  currency: text,
  reason: text.maybe,
  /** The refund that was made with it. */
  refundId: uuid.maybe,
  ...stamps,
})

export type CreditNoteRow = Row<typeof creditNotes>

/** What an invoice's credit notes come to. */
export interface Credited {
  readonly amountMinor: bigint
  readonly number: number
  /** The sequence of the last one; 0 without any. */
  readonly last: number
}

const creditedOf = statement(
  `select coalesce(sum(amount_minor), 0)::text as amount, count(*)::int as number, coalesce(max(sequence), 0) as last
     from payments.credit_notes where invoice_id = $1`,
)

/** Returns the statements that only credit notes have. */
const creditNoteSql = (rows: Rows<typeof creditNotes>) => ({
  /** Sums the credit notes of an invoice. Call it with the invoice locked. */
  async creditedOf(invoiceId: string, transaction: Transaction): Promise<Credited> {
    const [found] = await rows.read<{ amount: string; number: number; last: number }>(creditedOf, [invoiceId], transaction)
    const { amount, number, last } = found!
    return { amountMinor: BigInt(amount), number, last }
  },
})

export const creditNoteStore = store(
  creditNotes,
  {
    what: 'credit note',
    tenancy: { by: 'organizationId' },
    filters: { invoiceId: 'eq' },
    manyBy: { invoiceId: 't.created_at, t.id' },
  },
  creditNoteSql,
)

/** Credit notes as they are opened for an operation, or for a job. */
export type CreditNotes = ReturnType<(typeof creditNoteStore)['open']>
