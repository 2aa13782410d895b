import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { json, type Row, stamps, table, text, uuid, whole } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'

export type OrderStatus = 'DRAFT' | 'PENDING' | 'PAID' | 'PARTIALLY_REFUNDED' | 'REFUNDED' | 'CANCELLED' | 'FAILED'

/** One thing of an order, as it is kept: amounts in minor units of the order's currency, as digits. */
export interface LineRow {
  readonly name: string
  readonly sku: string | null
  readonly quantity: number
  readonly unitAmountMinor: string
  readonly discountMinor: string
  /** Percent, as it was given. */
  readonly taxRate: string
  readonly taxMinor: string
  readonly totalMinor: string
}

export const orders = table('payments.orders', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  number: text,
  status: text.of<OrderStatus>().or('DRAFT'),
  currency: text,
  lines: json.of<readonly LineRow[]>(),
  subtotalMinor: whole,
  discountMinor: whole,
  taxMinor: whole,
  totalMinor: whole,
  description: text.maybe,
  reference: text.maybe,
  /** The person who wrote it; null for a key or a service. */
  userId: uuid.maybe,
  ...stamps,
})

export type OrderRow = Row<typeof orders>

const nextNumber = statement(
  `insert into payments.order_numbers as n (organization_id, last) values ($1, 1)
   on conflict (organization_id) do update set last = n.last + 1 returning last::text`,
)
const writtenToday = countByCaller(orders)

/** What only orders are asked. */
function orderSql(rows: Rows<typeof orders>) {
  return {
    /** The next number of an organization's orders; nobody else is given one before the transaction ends. */
    async nextNumber(organizationId: string, transaction: Transaction): Promise<string> {
      const [row] = await rows.read<{ last: string }>(nextNumber, [organizationId], transaction)
      return row!.last.padStart(6, '0')
    },

    madeBy: writtenToday(rows),
  }
}

export const orderStore = store(
  orders,
  {
    what: 'order',
    tenancy: { by: 'organizationId' },
    filters: { status: 'eq', merchantId: 'eq', reference: 'eq' },
    lists: { all: { below: 'organizationId', order: 'newest first' } },
  },
  orderSql,
)
