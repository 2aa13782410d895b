import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { json, moment, type Row, stamps, table, text, uuid, whole } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import { failureColumns, type MetadataRow } from './order.ts'

export type RefundReason = 'DUPLICATE' | 'FRAUDULENT' | 'REQUESTED_BY_CUSTOMER' | 'OTHER'
export type RefundStatus = 'AWAITING_APPROVAL' | 'PENDING' | 'UNKNOWN' | 'SUCCEEDED' | 'FAILED' | 'REJECTED'
/** Who began it: somebody here, somebody at the processor, or a rule. */
export type RefundOrigin = 'PLATFORM' | 'PROCESSOR' | 'AUTOMATIC'

export const refunds = table('payments.refunds', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  orderId: uuid,
  amountMinor: whole,
  currency: text,
  reason: text.of<RefundReason>(),
  note: text.maybe,
  metadata: json.of<readonly MetadataRow[]>().or([]),
  status: text.of<RefundStatus>(),
  origin: text.of<RefundOrigin>(),
  /** The person who asked for it; null for a key, a service or a rule. */
  requestedBy: uuid.maybe,
  /** The key that asked for it, of whose maker the same holds. */
  requestedKeyId: uuid.maybe,
  decidedBy: uuid.maybe,
  decidedAt: moment.maybe,
  ...failureColumns,
  ...stamps,
})

export type RefundRow = Row<typeof refunds>

const countOf = statement('select count(*)::int as count from payments.refunds where order_id = $1')

/** Returns the statements that only refunds have. */
const refundSql = (rows: Rows<typeof refunds>) => ({
  /** How many refunds an order has, whatever became of them. */
  async countOf(orderId: string, transaction: Transaction): Promise<number> {
    const [found] = await rows.read<{ count: number }>(countOf, [orderId], transaction)
    return found!.count
  },
})

export const refundStore = store(
  refunds,
  {
    what: 'refund',
    tenancy: { by: 'organizationId' },
    filters: { orderId: 'eq', status: 'eq' },
    manyBy: { orderId: 't.created_at desc, t.id desc' },
  },
  refundSql,
)

/** Refunds as they are opened for an operation, or for a job. */
export type Refunds = ReturnType<(typeof refundStore)['open']>
