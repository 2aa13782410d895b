import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, selectList, stamps, table, text, uuid, whole } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { failureColumns } from '../order.ts'

export type LineStatus = 'PENDING' | 'SETTLED' | 'FAILED' | 'UNKNOWN' | 'REVERSED'

export const settlementLines = table('payments.settlement_lines', {
  merchantId: uuid.key,
  /** Also the id of its transfer. */
  id: uuid.key,
  organizationId: uuid,
  batchId: uuid,
  position: integer,
  /** What the submitter calls it. */
  lineId: text,
  payer: text,
  /** The processor's account: `acct_…`. */
  payee: text,
  amountMinor: whole,
  reference: text.maybe,
  status: text.of<LineStatus>().or('PENDING'),
  transferId: text.maybe,
  /** The transaction that takes it back. */
  reversalId: uuid.maybe,
  ...failureColumns,
  ...stamps,
})

export type SettlementLineRow = Row<typeof settlementLines>

/** What of a line stands in a callback. */
export type LineState = Pick<SettlementLineRow, 'lineId' | 'status' | 'transferId' | 'failureCode'>

const insert = statement(
  `insert into payments.settlement_lines
     (merchant_id, organization_id, batch_id, created_at, updated_at, created_by, id, position, line_id, payer, payee, amount_minor, reference)
   select $1, $2, $3, $4, $4, $5, l.* from unnest($6::uuid[], $7::int[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::text[]) l`,
)
const states = statement(
  `select line_id as "lineId", status, transfer_id as "transferId", failure_code as "failureCode" from payments.settlement_lines
    where batch_id = $1 order by position`,
)
const tally = statement(
  `select (select count(*)::int from payments.transactions where settlement_batch_id = $1 and status in ('PENDING', 'UNKNOWN')) as open,
     (count(*) filter (where status = 'SETTLED'))::int as settled, (count(*) filter (where status = 'REVERSED'))::int as reversed
     from payments.settlement_lines where batch_id = $1`,
)
const all = statement(`select ${selectList(settlementLines, 't')} from payments.settlement_lines t where t.batch_id = $1 order by t.position`)
const byTransaction = statement(
  `select ${selectList(settlementLines, 't')} from payments.settlement_lines t where t.id = $1
   union all select ${selectList(settlementLines, 't')} from payments.settlement_lines t where t.reversal_id = $1 limit 1`,
)
const byName = statement(`select ${selectList(settlementLines, 't')} from payments.settlement_lines t where t.batch_id = $1 and t.line_id = $2`)
// A line's transfer has the line's id, so that no line has two.
const beginTransfers = statement(
  `insert into payments.transactions
     (merchant_id, id, organization_id, settlement_batch_id, type, amount_minor, currency, next_attempt_at, created_at, updated_at, created_by)
   select merchant_id, id, organization_id, batch_id, 'TRANSFER', amount_minor, $2, $3, $3, $3, created_by from payments.settlement_lines where batch_id = $1
   on conflict do nothing`,
)
const beginReversals = statement(
  `with lines as (
     update payments.settlement_lines l set reversal_id = r.reversal_id, updated_at = $3, version = l.version + 1, failure_code = null, failure_message = null
       from unnest($4::uuid[], $5::uuid[]) r (id, reversal_id) where l.batch_id = $1 and l.id = r.id
     returning l.merchant_id, l.reversal_id, l.organization_id, l.batch_id, l.amount_minor
   )
   insert into payments.transactions
     (merchant_id, id, organization_id, settlement_batch_id, type, amount_minor, currency, next_attempt_at, created_at, updated_at, created_by)
   select merchant_id, reversal_id, organization_id, batch_id, 'TRANSFER_REVERSAL', amount_minor, $2, $3, $3, $3, $6 from lines`,
)

/** A line that is to be written, with where it belongs. */
export type NewLine = Pick<SettlementLineRow, 'id' | 'lineId' | 'payer' | 'payee' | 'amountMinor' | 'reference'>

interface Place {
  readonly merchantId: string
  readonly organizationId: string
  readonly batchId: string
  readonly createdBy: string
  readonly now: Date
}

/** Returns the statements that only lines have. */
const lineSql = (rows: Rows<typeof settlementLines>) => ({
  /** Writes all lines of a batch, in their order. */
  async insertAll(lines: readonly NewLine[], { merchantId, organizationId, batchId, createdBy, now }: Place, transaction: Transaction): Promise<void> {
    const each = <Name extends keyof NewLine>(name: Name) => lines.map(line => line[name])
    const values = [each('id'), lines.map((_, at) => at + 1), each('lineId'), each('payer'), each('payee'), each('amountMinor'), each('reference')]
    await rows.read(insert, [merchantId, organizationId, batchId, now, createdBy, ...values], transaction)
  },

  /** How each line of a batch stands, in their order. */
  states: (batchId: string, transaction: Transaction): Promise<LineState[]> => rows.read<LineState>(states, [batchId], transaction),

  /** How many transfers of a batch are open, and how many of its lines are paid out, or taken back. */
  async tally(batchId: string, transaction: Transaction): Promise<{ readonly open: number; readonly settled: number; readonly reversed: number }> {
    const [found] = await rows.read<{ open: number; settled: number; reversed: number }>(tally, [batchId], transaction)
    return found!
  },

  /** Every line of a batch, in their order. */
  ofBatch: (batchId: string, transaction?: Transaction): Promise<SettlementLineRow[]> => rows.read(all, [batchId], transaction),

  /** The line that a transfer or its reversal is of; null when there is none. */
  async byTransaction(transactionId: string, transaction?: Transaction): Promise<SettlementLineRow | null> {
    return (await rows.read(byTransaction, [transactionId], transaction))[0] ?? null
  },

  /** The line of a batch that its submitter calls so; null when there is none. */
  async byName(batchId: string, lineId: string): Promise<SettlementLineRow | null> {
    return (await rows.read(byName, [batchId, lineId]))[0] ?? null
  },

  /** Writes a transfer for each line of a batch, due at once. */
  async beginTransfers(batchId: string, currency: string, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(beginTransfers, [batchId, currency, now], transaction)
  },

  /** Writes a reversal for each of some lines of a batch, due at once. @param ids of lines, each with that of its reversal */
  async beginReversals(
    batchId: string,
    ids: readonly (readonly [line: string, reversal: string])[],
    { currency, now, actor }: { readonly currency: string; readonly now: Date; readonly actor: string },
    transaction: Transaction,
  ): Promise<void> {
    await rows.read(beginReversals, [batchId, currency, now, ids.map(([line]) => line), ids.map(([, reversal]) => reversal), actor], transaction)
  },
})

export const settlementLineStore = store(
  settlementLines,
  {
    what: 'settlement line',
    tenancy: { by: 'organizationId' },
    lists: { ofBatch: { below: 'batchId', order: 'oldest first' } },
  },
  lineSql,
)

/** Lines as they are opened for an operation, or for a job. */
export type SettlementLines = ReturnType<(typeof settlementLineStore)['open']>
