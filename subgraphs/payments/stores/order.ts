import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { json, moment, type Row, selectList, stamps, table, text, uuid, whole } from '../../../platform/sql/table.ts'
import type { FilterSql } from '../../store/filter/filters.ts'
import { type Rows, store } from '../../store/store.ts'
import { countByCaller } from '../../store/usage.ts'

export type OrderStatus = 'DRAFT' | 'PENDING' | 'PAID' | 'PARTIALLY_REFUNDED' | 'REFUNDED' | 'CANCELLED' | 'FAILED'

/** Why money did not move, by the rules of `engines/payment/outcome.ts`. */
export type FailureCode =
  | 'DECLINED'
  | 'INSUFFICIENT_FUNDS'
  | 'EXPIRED_CARD'
  | 'AUTHENTICATION_REQUIRED'
  | 'FRAUD_SUSPECTED'
  | 'INVALID_METHOD'
  | 'AMOUNT_REFUSED'
  | 'ACCOUNT_UNKNOWN'
  | 'BALANCE_INSUFFICIENT'
  | 'PROCESSOR_ERROR'
  | 'OUTCOME_UNKNOWN'

/** A failure as columns: both are null where nothing failed. */
export const failureColumns = { failureCode: text.of<FailureCode>().maybe, failureMessage: text.maybe } as const

/** NONE also once money was captured: nothing is under way then. */
export type PaymentPhase = 'NONE' | 'PROCESSING' | 'AUTHORIZED' | 'UNKNOWN'

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

/** A value that an organization keeps on a record for its own programs. */
export interface MetadataRow {
  readonly key: string
  readonly value: string
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
  /** How far the processor has got with its payment. */
  paymentPhase: text.of<PaymentPhase>().or('NONE'),
  /** What is held of it and can be captured; 0 once it was. */
  authorizedMinor: whole.or(0n),
  capturedMinor: whole.or(0n),
  /** What went back by refunds that succeeded. */
  refundedMinor: whole.or(0n),
  /** What refunds hold that wait or are under way. */
  returningMinor: whole.or(0n),
  /** What disputes hold that are open or lost. */
  disputedMinor: whole.or(0n),
  /** Money that came although nothing could take it (`engines/checkout/`), which `capturedMinor` counts too. */
  lateMinor: whole.or(0n),
  /** What of that went back by itself, which `refundedMinor` counts too. */
  lateReturnedMinor: whole.or(0n),
  /** What of it stayed, because it could not be given back. */
  lateKeptMinor: whole.or(0n),
  /** The payment at the processor that holds or took its money: `pi_…`. */
  processorPaymentId: text.maybe,
  authorizedAt: moment.maybe,
  paidAt: moment.maybe,
  /** Its newest session on which it is paid. */
  checkoutSessionId: uuid.maybe,
  /** Why its last payment, capture or void did not succeed. */
  ...failureColumns,
  /** Who pays. */
  customerId: uuid.maybe,
  /** Where it is sold. */
  venueId: uuid.maybe,
  metadata: json.of<readonly MetadataRow[]>().or([]),
  /** The person who wrote it; null for a key or a service. */
  userId: uuid.maybe,
  ...stamps,
})

export type OrderRow = Row<typeof orders>

const nextNumber = statement(
  `insert into payments.order_numbers as n (organization_id, last) values ($1, 1)
   on conflict (organization_id) do update set last = n.last + 1 returning last::text`,
)
const changedSince = statement(
  `select ${selectList(orders, 't')} from payments.orders t where t.organization_id = $1 and t.updated_at >= $2 order by t.updated_at limit 1000`,
)
const heldSince = statement(
  `select id from payments.orders where authorized_at <= $1 and payment_phase = 'AUTHORIZED' and updated_at <= $2 order by authorized_at limit $3`,
)
const writtenToday = countByCaller(orders)

/** Returns the statements that only orders have. */
function orderSql(rows: Rows<typeof orders>) {
  return {
    /** The next number of an organization's orders; nobody else is given one before the transaction ends. */
    async nextNumber(organizationId: string, transaction: Transaction): Promise<string> {
      const [row] = await rows.read<{ last: string }>(nextNumber, [organizationId], transaction)
      return row!.last.padStart(6, '0')
    },

    /** Orders of an organization that were changed since, the earliest first, a thousand at most. */
    changedSince: (organizationId: string, since: Date): Promise<OrderRow[]> => rows.read(changedSince, [organizationId, since]),

    /** Ids of orders whose money has been held since `before` or longer, and which did not change after `unchangedSince`: the longest held first. */
    async heldSince(before: Date, unchangedSince: Date, most: number): Promise<readonly string[]> {
      return (await rows.read<{ id: string }>(heldSince, [before, unchangedSince, most])).map(({ id }) => id)
    },

    madeBy: writtenToday(rows),
  }
}

export const orderStore = store(
  orders,
  {
    what: 'order',
    tenancy: { by: 'organizationId' },
    filters: {
      status: 'eq',
      merchantId: 'eq',
      customerId: 'eq',
      reference: 'eq',
      createdAt: 'range',
      metadata: {
        where: (entry: MetadataRow, { bind }: FilterSql) => `t.metadata <> '[]' and t.metadata @> ${bind(JSON.stringify([entry]))}::jsonb`,
        depends: true,
      },
    },
    lists: {
      all: { below: 'organizationId', order: 'newest first' },
      ofCustomer: { below: 'customerId', order: 'newest first' },
    },
  },
  orderSql,
)

/** Orders as they are opened for an operation, or for a job. */
export type Orders = ReturnType<(typeof orderStore)['open']>
