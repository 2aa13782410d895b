import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export type CallbackStatus = 'PENDING' | 'DELIVERED' | 'DEAD'

/** One try of a callback, as it is kept. */
export interface CallbackAttempt {
  /** ISO 8601, UTC. */
  readonly at: string
  /** Of the answer; null when none came. */
  readonly status: number | null
  readonly error: string | null
}

export const settlementCallbacks = table('payments.settlement_callbacks', {
  batchId: uuid.key,
  /** Also the id under which it is sent. */
  id: uuid.key,
  organizationId: uuid,
  /** 1, 2, 3 … within its batch. */
  sequence: integer,
  type: text,
  /** As it is sent each time. */
  body: text,
  status: text.of<CallbackStatus>().or('PENDING'),
  attempts: integer.or(0),
  attemptLog: json.of<readonly CallbackAttempt[]>().or([]),
  /** When it is tried next; while a try is under way, when that counts as interrupted; null once it is over. */
  nextAttemptAt: moment.maybe,
  deliveredAt: moment.maybe,
  ...stamps,
})

export type SettlementCallbackRow = Row<typeof settlementCallbacks>

/** How many tries of a callback are kept: those of the schedule, and some that people make. */
export const maxAttempts = 30

// A callback waits until those before it are delivered or given up.
const isFirst = `not exists (select from payments.settlement_callbacks e where e.batch_id = t.batch_id and e.sequence < t.sequence and e.status = 'PENDING')`
const due = statement(
  `select t.id, t.batch_id as "endpointId" from payments.settlement_callbacks t
    where t.status = 'PENDING' and t.next_attempt_at <= $1 and ${isFirst} order by t.next_attempt_at limit $2`,
)
const nextOf = statement(
  `select t.id, t.batch_id as "endpointId" from payments.settlement_callbacks t
    where t.batch_id = $1 and t.status = 'PENDING' and t.next_attempt_at <= $2 and ${isFirst}`,
)
const first = statement(`select ${isFirst} as first from payments.settlement_callbacks t where t.id = $1`)

/** A callback as what sends it knows it. */
export type CallbackKey = { readonly id: string; readonly endpointId: string }

/** Returns the statements that only callbacks have. */
const callbackSql = (rows: Rows<typeof settlementCallbacks>) => ({
  /** Those that are due and that no earlier one of their batch holds up, the longest due first. */
  due: (before: Date, limit: number): Promise<CallbackKey[]> => rows.read<CallbackKey>(due, [before, limit]),

  /** The one of a batch that is due by now; null when none is, or an earlier one holds it up. */
  async nextOf(batchId: string, now: Date): Promise<CallbackKey | null> {
    return (await rows.read<CallbackKey>(nextOf, [batchId, now]))[0] ?? null
  },

  /** Whether every earlier one of its batch is over. */
  async isFirst(id: string, transaction: Transaction): Promise<boolean> {
    const [found] = await rows.read<{ first: boolean }>(first, [id], transaction)
    return found?.first ?? false
  },
})

export const settlementCallbackStore = store(
  settlementCallbacks,
  { what: 'settlement callback', tenancy: { by: 'organizationId' }, manyBy: { batchId: 't.sequence' } },
  callbackSql,
)

/** Callbacks as they are opened for an operation, or for a job. */
export type SettlementCallbacks = ReturnType<(typeof settlementCallbackStore)['open']>
