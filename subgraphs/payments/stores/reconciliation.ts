import { rows, statement } from '../../../platform/sql/statement.ts'
import type { StoreContext } from '../../store/store.ts'
import type { TransactionRow } from './transaction.ts'

/** What of a transaction is compared with the processor's record. */
export type OursRow = Pick<
  TransactionRow,
  'id' | 'organizationId' | 'type' | 'status' | 'amountMinor' | 'currency' | 'processorId' | 'nextAttemptAt' | 'createdAt'
>

const columns = `t.id, t.organization_id as "organizationId", t.type, t.status, t.amount_minor as "amountMinor", t.currency, t.processor_id as "processorId",
  t.next_attempt_at as "nextAttemptAt", t.created_at as "createdAt"`
const within = statement(
  `select ${columns} from payments.transactions t where t.organization_id = $1 and t.created_at >= $2 and t.created_at < $3 order by t.created_at, t.id limit $4`,
)
// A name at the processor may be another organization's that has the same account there: its rows are told apart by the caller.
const named = statement(
  `select ${columns} from payments.transactions t where t.processor_id = any($1::text[])
   union select ${columns} from payments.transactions t where t.id = any($2::uuid[])`,
)
// The processor is told of a transfer by its batch and line: the line knows its transfer and its reversal.
const ofLines = statement(
  `select l.batch_id as "batchId", l.line_id as "lineId", l.id as "TRANSFER", l.reversal_id as "TRANSFER_REVERSAL"
     from unnest($1::uuid[], $2::text[]) n (batch_id, line_id) join payments.settlement_lines l on l.batch_id = n.batch_id and l.line_id = n.line_id`,
)

/** A line of a settlement batch, by what the processor was told of it. */
export interface LineName {
  readonly batchId: string
  readonly lineId: string
}

/** The transactions of such a line. */
export interface LineTransactions extends LineName {
  readonly TRANSFER: string
  readonly TRANSFER_REVERSAL: string | null
}

/** Transactions of all organizations, to be compared with the processor's records. */
export const reconciliationStore = {
  open: ({ sequelize, reading }: StoreContext) => ({
    /** Transactions of an organization that were begun from a moment on and before another, the oldest first. */
    within: (organizationId: string, from: Date, to: Date, most: number): Promise<OursRow[]> =>
      rows(sequelize, within, [organizationId, from, to, most], null, reading),

    /** Transactions of any organization by the processor's names, or by their own ids. */
    named: (processorIds: readonly string[], ids: readonly string[]): Promise<OursRow[]> => rows(sequelize, named, [processorIds, ids], null, reading),

    /** The transactions of lines of any organization, by what the processor was told of them. */
    ofLines: (names: readonly LineName[]): Promise<LineTransactions[]> =>
      rows(sequelize, ofLines, [names.map(({ batchId }) => batchId), names.map(({ lineId }) => lineId)], null, reading),
  }),
}
