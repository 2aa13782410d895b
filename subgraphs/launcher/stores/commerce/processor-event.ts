import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import type { ReceivedEvent } from '../../../http/processor-event.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Why an event changed nothing. */
export type IgnoredReason = 'TYPE' | 'MODE' | 'NOT_OURS' | 'NO_OWNER' | 'STALE' | 'SAME' | 'FINAL'

export const processorEvents = table('launcher.processor_events', {
  id: uuid.key,
  processorEventId: text,
  type: text,
  objectId: text,
  /** DEAD: it was tried as often as it is. */
  status: text.of<'RECEIVED' | 'APPLIED' | 'IGNORED' | 'DEAD'>().or('RECEIVED'),
  reason: text.maybe.of<IgnoredReason | null>(),
  attempts: integer.or(0),
  occurredAt: moment,
  /** When it is tried next, or, during a try, when that counts as interrupted; null once it is over. */
  nextAttemptAt: moment.maybe,
  payload: json.of<ReceivedEvent['payload']>(),
  ...stamps,
})

export type ProcessorEventRow = Row<typeof processorEvents>

const insert = statement(
  `insert into launcher.processor_events (id, processor_event_id, type, object_id, occurred_at, next_attempt_at, payload, created_at, updated_at, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $6, $6, 'processor') on conflict (processor_event_id) do nothing returning id`,
)
const take = statement(
  `select ${selectList(processorEvents, 't')} from launcher.processor_events t where t.next_attempt_at <= $1
    order by t.next_attempt_at, t.occurred_at, t.id limit $2 for no key update of t skip locked`,
)

const eventSql = (rows: Rows<typeof processorEvents>) => ({
  /** Stores an event. @returns whether it is new */
  async keep(id: string, { processorEventId, type, objectId, occurredAt, payload }: ReceivedEvent, now: Date): Promise<boolean> {
    return (await rows.read(insert, [id, processorEventId, type, objectId, occurredAt, now, JSON.stringify(payload)])).length > 0
  },
  /** Locks events that are due and that nobody else has under lock, the longest due first. */
  takeDue: (now: Date, limit: number, transaction: Transaction) => rows.read(take, [now, limit], transaction),
})

export const processorEventStore = store(processorEvents, { what: 'event of the processor', tenancy: { where: 'false' } }, eventSql)

export type ProcessorEvents = ReturnType<(typeof processorEventStore)['open']>
