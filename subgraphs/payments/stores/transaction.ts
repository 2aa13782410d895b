import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, truth, uuid, whole } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import { failureColumns, type OrderStatus } from './order.ts'

export type TransactionType = 'AUTHORIZE' | 'CAPTURE' | 'PURCHASE' | 'VOID' | 'REFUND' | 'CHARGEBACK' | 'CHARGEBACK_REVERSAL' | 'TRANSFER' | 'TRANSFER_REVERSAL'
/** FAILED: the processor said no. UNKNOWN: nobody knows what became of it. */
export type TransactionStatus = 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'UNKNOWN'
export const transactions = table('payments.transactions', {
  merchantId: uuid.key,
  /** Also the idempotency key of its call to the processor. */
  id: uuid.key,
  organizationId: uuid,
  orderId: uuid.maybe,
  settlementBatchId: uuid.maybe,
  refundId: uuid.maybe,
  type: text.of<TransactionType>(),
  status: text.of<TransactionStatus>().or('PENDING'),
  amountMinor: whole,
  currency: text,
  /** What the processor calls it: `pi_…`, `re_…`; null until it is known. */
  processorId: text.maybe,
  /** The processor's name of what is charged; null once the outcome is known, for nobody needs it then. */
  paymentMethod: text.maybe,
  /** The processor's customer whose kept method is charged; null for any other method, and once the outcome is known. */
  paymentCustomer: text.maybe,
  /** The payment at the processor that it refunds or releases, where that is not the order's own. */
  paymentId: text.maybe,
  /** Of money that its order could not take, or of what gives it back: the order's status and phase are not concerned. */
  isLate: truth.or(false),
  /** The order's status before it, to which it returns when nothing was sent. */
  statusBefore: text.of<OrderStatus>().maybe,
  /** Of a void: the order is cancelled with it. */
  cancelsOrder: truth.or(false),
  /** How often the processor was called. */
  attempts: integer.or(0),
  /** When the processor is asked again; null once the outcome is known, and when only a person can tell it. */
  nextAttemptAt: moment.maybe,
  ...failureColumns,
  completedAt: moment.maybe,
  ...stamps,
})

export type TransactionRow = Row<typeof transactions>

// Each organization has its turn, however many of another are due.
const due = statement(
  `select id from (
     select id, next_attempt_at, row_number() over (partition by organization_id order by next_attempt_at) as turn
       from payments.transactions where next_attempt_at <= $1 and order_id is not null
   ) due where turn <= $2 order by turn, next_attempt_at limit $3`,
)

const select = `select ${selectList(transactions, 't')} from payments.transactions t where`
const atProcessor = statement(`${select} t.processor_id = $1 order by t.created_at, t.id`)
const allOf = statement(`${select} t.order_id = $1 order by t.created_at, t.id`)
const nameless = statement(
  `select id from payments.transactions
    where next_attempt_at is not null and processor_id is null and type in ('AUTHORIZE', 'PURCHASE') and created_at < $1 limit 1`,
)

/** Returns the statements that only transactions have. */
const transactionSql = (rows: Rows<typeof transactions>) => ({
  /** Those that the processor knows by one name: the payment, what was captured of it and its release have the same. */
  atProcessor: (processorId: string, transaction?: Transaction): Promise<TransactionRow[]> => rows.read(atProcessor, [processorId], transaction),

  /** Those of an order, the earliest first. */
  allOf: (orderId: string, transaction?: Transaction): Promise<TransactionRow[]> => rows.read(allOf, [orderId], transaction),

  /** Whether a payment that began before then has no name at the processor yet: whatever the processor says of a strange one may be of it. */
  async hasNameless(before: Date): Promise<boolean> {
    return (await rows.read(nameless, [before])).length > 0
  },

  /** Ids of those of orders whose processor is to be asked again by now, so many of an organization and together. */
  async due(now: Date, perOrganization: number, most: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(due, [now, perOrganization, most])).map(({ id }) => id)
  },

  /**
   * Takes one that is due for this process: until `until` no other asks the processor.
   * @returns null when another process was quicker, or the outcome is known
   */
  async take(id: string, now: Date, until: Date, transaction: Transaction): Promise<TransactionRow | null> {
    const row = await rows.lock(id, transaction)
    if (!row?.nextAttemptAt || row.nextAttemptAt > now) return null
    return rows.update(row, { nextAttemptAt: until, attempts: row.attempts + 1 }, transaction)
  },
})

export const transactionStore = store(
  transactions,
  {
    what: 'transaction',
    tenancy: { by: 'organizationId' },
    filters: { orderId: 'eq', type: 'eq', status: 'eq', createdAt: 'range' },
    lists: { ofOrder: { below: 'orderId', order: 'newest first' } },
  },
  transactionSql,
)

/** Transactions as they are opened for an operation, or for a job. */
export type Transactions = ReturnType<(typeof transactionStore)['open']>
