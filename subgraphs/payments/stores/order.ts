import type { Transaction } from 'sequelize'
import { isId } from '../../../platform/ids.ts'
import { type Connection, isMoment, type Order, type PageRequest } from '../../../platform/page.ts'
import { keptStatements, statement } from '../../../platform/sql/statement.ts'
import { json, type Row, selectList, stamps, table, text, uuid, whole } from '../../../platform/sql/table.ts'
import { type Asked, filteredPages } from '../../store/filtered.ts'
import { type Opening, type Rows, store } from '../../store/store.ts'
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

/** Newest first. */
export const newestFirst: Order<OrderRow> = {
  name: 'orders.newest',
  position: order => [order.createdAt.toISOString(), order.id],
  parts: [isMoment, isId],
}

/** Which orders of an organization; null does not narrow. */
export interface OrderFilter {
  readonly organizationId: string | null
  readonly status: OrderStatus | null
  readonly merchantId: string | null
  readonly reference: string | null
}

const columns = selectList(orders, 'o')

/** Only what is asked stands in the statement, so that an index can be chosen for it. */
function asked(filter: OrderFilter, select: string, page?: PageRequest): Asked {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const { organizationId, status, merchantId, reference } = filter
  const conditions = [
    `o.organization_id = ${bind(organizationId)}`,
    status !== null && `o.status = ${bind(status)}`,
    merchantId !== null && `o.merchant_id = ${bind(merchantId)}`,
    reference !== null && `o.reference = ${bind(reference)}`,
    page?.after && `(o.created_at, o.id) < (${bind(page.after[0])}::timestamptz, ${bind(page.after[1])}::uuid)`,
  ].filter(condition => typeof condition === 'string')
  const order = page ? ` order by o.created_at desc, o.id desc limit ${bind(page.limit)}` : ''
  return { text: `select ${select} from payments.orders o where ${conditions.join(' and ')}${order}`, values }
}

/** Each combination of filters is a statement of its own: sixteen, and as many counts. */
const filtered = keptStatements(50)
const nextNumber = statement(
  `insert into payments.order_numbers as n (organization_id, last) values ($1, 1)
   on conflict (organization_id) do update set last = n.last + 1 returning last::text`,
)
const writtenToday = countByCaller(orders)

/** What only orders are asked. */
function orderSql(rows: Rows<typeof orders>, { reading, viewer }: Opening) {
  const pages = filteredPages<OrderRow, OrderFilter>(rows, reading, {
    kept: filtered,
    page: (filter, request) => asked(filter, columns, request),
    count: filter => asked(filter, 'count(*)::int as count'),
    order: () => newestFirst,
  })
  return {
    /** A page of orders. A viewer's are those of the viewer's organization, whatever is asked. */
    filtered: (filter: OrderFilter, request: PageRequest): Promise<Connection<OrderRow>> =>
      pages(viewer ? { ...filter, organizationId: viewer.organizationId } : filter, request),

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
  { what: 'order', tenancy: { by: 'organizationId' }, lists: { all: { below: 'organizationId', order: 'newest first' } } },
  orderSql,
)
