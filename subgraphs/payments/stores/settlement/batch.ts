import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { lockingStatement, statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, uuid, whole } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export type BatchStatus = 'RECEIVED' | 'PROCESSING' | 'SETTLED' | 'PARTIALLY_SETTLED' | 'FAILED' | 'REVERSING' | 'REVERSED' | 'PARTIALLY_REVERSED'

export const settlementBatches = table('payments.settlement_batches', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  /** What the submitter calls it, unique in the organization. */
  externalBatchId: text,
  status: text.of<BatchStatus>().or('RECEIVED'),
  currency: text,
  controlTotalMinor: whole,
  settledTotalMinor: whole.or(0n),
  reversedTotalMinor: whole.or(0n),
  lineCount: integer,
  contentHash: text,
  policyDecisionId: text.maybe,
  /** The app that submitted it. */
  submittedBy: text,
  /** How many callbacks were written. */
  lastSequence: integer.or(0),
  /** When somebody is to work on it next; while one does, when that counts as interrupted; null when nothing is to be done. */
  nextWorkAt: moment.maybe,
  completedAt: moment.maybe,
  ...stamps,
})

export type SettlementBatchRow = Row<typeof settlementBatches>

const lockSubmissions = transactionLock('payments.settlement')
const columns = selectList(settlementBatches, 't')
const byName = statement(`select ${columns} from payments.settlement_batches t where t.organization_id = $1 and t.external_batch_id = $2`)
const byContent = statement(
  `select ${columns} from payments.settlement_batches t where t.organization_id = $1 and t.content_hash = $2 and t.created_at > $3 limit 1`,
)
const due = statement(
  `select id from (
     select id, next_work_at, row_number() over (partition by organization_id order by next_work_at) as turn
       from payments.settlement_batches where next_work_at <= $1
   ) due where turn <= $2 order by turn, next_work_at limit $3`,
)
const extend = lockingStatement(`update payments.settlement_batches set next_work_at = $2 where id = $1 and next_work_at is not null`)
const takeTransfer = lockingStatement(
  `update payments.transactions t set next_attempt_at = $3, attempts = t.attempts + 1, updated_at = $2
    where (t.merchant_id, t.id) = (
      select d.merchant_id, d.id from payments.transactions d where d.settlement_batch_id = $1 and d.next_attempt_at <= $2
       order by d.next_attempt_at limit 1 for update skip locked)
   returning t.id, t.attempts`,
)
const release = lockingStatement(
  `update payments.settlement_batches b
      set next_work_at = (select min(t.next_attempt_at) from payments.transactions t where t.settlement_batch_id = b.id)
    where b.id = $1 and b.status in ('PROCESSING', 'REVERSING')`,
)
const changedSince = statement(`select ${columns} from payments.settlement_batches t where t.id = $1 and t.updated_at >= $2`)

/** Returns the statements that only batches have. */
const batchSql = (rows: Rows<typeof settlementBatches>) => ({
  /** Lets one submission of an organization at a time decide, until the transaction ends. */
  async lockSubmissions(organizationId: string, transaction: Transaction): Promise<void> {
    await rows.read(lockSubmissions, [organizationId], transaction)
  },

  /** The batch that the submitter calls so; null when there is none. */
  async byName(organizationId: string, externalBatchId: string, transaction: Transaction): Promise<SettlementBatchRow | null> {
    return (await rows.read(byName, [organizationId, externalBatchId], transaction))[0] ?? null
  },

  /** A batch of the same lines that was submitted after a moment; null when there is none. */
  async byContent(organizationId: string, contentHash: string, after: Date, transaction: Transaction): Promise<SettlementBatchRow | null> {
    return (await rows.read(byContent, [organizationId, contentHash, after], transaction))[0] ?? null
  },

  /** Ids of batches that are to be worked on by now, so many of an organization and together. */
  async due(now: Date, perOrganization: number, most: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(due, [now, perOrganization, most])).map(({ id }) => id)
  },

  /** Takes a batch that is due, for this process alone until `until`; null when another was quicker, or nothing is to be done. */
  async take(id: string, now: Date, until: Date, transaction: Transaction): Promise<SettlementBatchRow | null> {
    const row = await rows.lock(id, transaction)
    if (!row?.nextWorkAt || row.nextWorkAt > now) return null
    return rows.update(row, { nextWorkAt: until }, transaction)
  },

  /** Takes a transfer or reversal of a batch that is due, until `until`, and keeps the batch so long as well; null when none is. */
  async takeTransfer(batchId: string, now: Date, until: Date): Promise<{ readonly id: string; readonly attempts: number } | null> {
    await rows.read(extend, [batchId, until])
    const [taken] = await rows.read<{ id: string; attempts: number }>(takeTransfer, [batchId, now, until])
    return taken ?? null
  },

  /** Gives a batch back: it is due when the first of its transfers is. */
  async release(batchId: string): Promise<void> {
    await rows.read(release, [batchId])
  },

  /** The batch if it was changed since; for screens that follow it. */
  changedSince: (id: string, since: Date): Promise<SettlementBatchRow[]> => rows.read(changedSince, [id, since]),
})

export const settlementBatchStore = store(
  settlementBatches,
  { what: 'settlement batch', tenancy: { by: 'organizationId' }, filters: { status: 'eq', externalBatchId: 'eq' } },
  batchSql,
)

/** Batches as they are opened for an operation, or for a job. */
export type SettlementBatches = ReturnType<(typeof settlementBatchStore)['open']>
