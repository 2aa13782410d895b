import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid, whole } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** UNDER_REVIEW: evidence was sent, and the bank decides. */
export type DisputeStatus = 'OPEN' | 'UNDER_REVIEW' | 'WON' | 'LOST'

/** A file that evidence names, as it was when it was given. */
export interface EvidenceFile {
  readonly id: string
  readonly name: string
  readonly contentType: string
  readonly bytes: number
  /** What the processor calls it: no answer shows it. */
  readonly processorId: string
}

/** Payments that payers dispute at their bank. */
export const disputes = table('payments.disputes', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  orderId: uuid,
  /** What the processor calls it: `du_…`. */
  processorId: text,
  amountMinor: whole,
  currency: text,
  /** The processor's word: `fraudulent`. */
  reason: text,
  status: text.of<DisputeStatus>(),
  /** Until when evidence is taken; null where it is not. */
  evidenceDueBy: moment.maybe,
  openedAt: moment,
  closedAt: moment.maybe,
  /** What was given as evidence, by which person and when; null before. */
  evidenceText: text.maybe,
  evidenceFiles: json.of<readonly EvidenceFile[]>().or([]),
  evidenceBy: uuid.maybe,
  evidenceAt: moment.maybe,
  /** What the processor is being asked for; null: nothing. */
  asks: text.of<'SUBMIT' | 'ACCEPT'>().maybe,
  askAttempts: integer.or(0),
  /** When it is asked again; null once only its events can tell. */
  nextAskAt: moment.maybe,
  ...stamps,
})

export type DisputeRow = Row<typeof disputes>

const atProcessor = statement(`select ${selectList(disputes, 't')} from payments.disputes t where t.processor_id = $1 for no key update of t`)
const known = statement('select id from payments.disputes where processor_id = $1')
const dueAsks = statement('select id from payments.disputes where next_ask_at <= $1 order by next_ask_at limit $2')
const open = statement(`select id from payments.disputes where order_id = $1 and status in ('OPEN', 'UNDER_REVIEW') limit 1`)

/** Returns the statements that only disputes have. */
const disputeSql = (rows: Rows<typeof disputes>) => ({
  /** Locks the one that the processor knows by this name; null where it is not here. */
  async lockAtProcessor(processorId: string, transaction: Transaction): Promise<DisputeRow | null> {
    const [found] = await rows.read(atProcessor, [processorId], transaction)
    return found ?? null
  },

  /** The id of the one that the processor knows by this name; null where it is not here. */
  async idAtProcessor(processorId: string): Promise<string | null> {
    const [found] = await rows.read<{ id: string }>(known, [processorId])
    return found?.id ?? null
  },

  /** Ids of those that the processor is to be asked about again by now. */
  async dueAsks(now: Date, limit: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(dueAsks, [now, limit])).map(({ id }) => id)
  },

  /** Takes one that is due for this process, and counts the try: until `until` no other asks about it. @returns null: another was quicker */
  async takeAsk(id: string, now: Date, until: Date, transaction: Transaction): Promise<DisputeRow | null> {
    const row = await rows.lock(id, transaction)
    if (!row?.nextAskAt || row.nextAskAt > now) return null
    return rows.update(row, { nextAskAt: until, askAttempts: row.askAttempts + 1 }, transaction)
  },

  /** Whether a dispute of an order is not decided. */
  async hasOpen(orderId: string, transaction: Transaction): Promise<boolean> {
    return (await rows.read(open, [orderId], transaction)).length > 0
  },
})

export const disputeStore = store(
  disputes,
  {
    what: 'dispute',
    tenancy: { by: 'organizationId' },
    filters: { status: 'eq' },
    manyBy: { orderId: 't.created_at desc, t.id desc' },
  },
  disputeSql,
)

/** Disputes as they are opened for an operation, or for a job. */
export type Disputes = ReturnType<(typeof disputeStore)['open']>
