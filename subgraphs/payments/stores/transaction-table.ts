import { rows, statement } from '../../../platform/sql/statement.ts'
import type { StoreContext } from '../../store/store.ts'
import type { MetadataRow } from './order.ts'
import type { TransactionRow } from './transaction.ts'

/** A transaction with what its order says beside it. */
export interface TransactionLine extends Pick<TransactionRow, 'id' | 'createdAt' | 'type' | 'status' | 'amountMinor' | 'currency' | 'processorId'> {
  /** Null for what belongs to no order. */
  readonly orderNumber: string | null
  readonly metadata: readonly MetadataRow[] | null
}

const part = statement(
  `select t.id, t.created_at as "createdAt", t.type, t.status, o.number as "orderNumber", t.amount_minor as "amountMinor", t.currency,
     t.processor_id as "processorId", o.metadata
     from (select * from payments.transactions t
            where t.organization_id = $1 and (t.created_at, t.id) > ($2, $3::uuid) and t.created_at < $4
            order by t.created_at, t.id limit 1000) t
     left join payments.orders o on o.merchant_id = t.merchant_id and o.id = t.order_id
    order by t.created_at, t.id`,
)

/** Transactions of an organization as a table, read part by part. The tenant is part of the statement. */
export const transactionTableStore = {
  open: ({ sequelize }: StoreContext) => ({
    /** The next thousand behind a place, which are not held for the operation: a table has no end that memory would hold. */
    part: (organizationId: string, [at, id]: readonly [Date, string], to: Date): Promise<TransactionLine[]> =>
      rows(sequelize, part, [organizationId, at, id, to]),
  }),
}
