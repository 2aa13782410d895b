import type { Transaction } from 'sequelize'
import { lockingStatement, statement } from '../../../../platform/sql/statement.ts'
import { integer, json, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** FAILED: it is tried again. DEAD: it was tried as often as it is. */
export type WebhookEventStatus = 'RECEIVED' | 'PROCESSED' | 'IGNORED' | 'FAILED' | 'DEAD'
export type IgnoredReason = 'NOT_OURS' | 'UNHANDLED_TYPE' | 'STALE' | 'MODE'

/** The body of an event, as the processor sent it. */
export type EventPayload = Readonly<Record<string, unknown>>

/** Events that the payment processor sent, each once. */
export const webhookEvents = table('payments.webhook_events', {
  id: uuid.key,
  /** Whose object it is about; null before that is known. */
  organizationId: uuid.maybe,
  orderId: uuid.maybe,
  processorEventId: text,
  type: text,
  objectId: text,
  status: text.of<WebhookEventStatus>().or('RECEIVED'),
  reason: text.of<IgnoredReason>().maybe,
  /** How many tries were begun. */
  attempts: integer.or(0),
  /** When it happened at the processor, to the second. */
  occurredAt: moment,
  processedAt: moment.maybe,
  /** When it is tried next, or, while a try is under way, when that counts as interrupted; null once it is over. */
  nextAttemptAt: moment.maybe,
  payload: json.of<EventPayload>(),
  ...stamps,
})

export type WebhookEventRow = Row<typeof webhookEvents>

const insert = statement(
  `insert into payments.webhook_events (id, processor_event_id, type, object_id, occurred_at, next_attempt_at, payload, created_at, updated_at, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $6, $6, 'processor') on conflict (processor_event_id) do nothing returning id`,
)
// One statement, and the same for any number of events: what is due is found along the index, and locked by whoever sees it first.
const take = lockingStatement(
  `with due as (
     select id from payments.webhook_events where next_attempt_at <= $1 order by next_attempt_at limit $2 for no key update skip locked
   )
   update payments.webhook_events t set attempts = t.attempts + 1, next_attempt_at = $3, updated_at = $1 from due where t.id = due.id
   returning ${selectList(webhookEvents, 't')}`,
)
const conclude = lockingStatement(
  `update payments.webhook_events
      set status = $3, reason = $4, next_attempt_at = $5, processed_at = $6, organization_id = $7, order_id = $8, updated_at = $9, version = version + 1
    where id = $1 and attempts = $2 and next_attempt_at is not null`,
)
// What an answer says is as old as its call at most, which began when its transaction was written.
const lastLearned = statement(
  `select greatest(
     (select max(occurred_at) from payments.webhook_events where object_id = $1 and status = 'PROCESSED' and id <> $2),
     (select max(date_trunc('second', created_at)) from payments.transactions where processor_id = $1 and completed_at is not null and created_by <> 'processor')
   ) as at`,
)
const find = statement('select organization_id as id from payments.platform')
const learn = statement(
  `with known as (
     insert into payments.platform (organization_id) values ($1)
     on conflict (one) do update set organization_id = excluded.organization_id where platform.organization_id <> excluded.organization_id
   )
   update payments.webhook_events set organization_id = $1 where organization_id is null and next_attempt_at is null`,
)

/** Returns the statements that only events have. */
const eventSql = (rows: Rows<typeof webhookEvents>) => ({
  /** Keeps an event to be processed. @returns whether it is new */
  async keep(event: Pick<WebhookEventRow, 'id' | 'processorEventId' | 'type' | 'objectId' | 'occurredAt' | 'payload'>, now: Date): Promise<boolean> {
    const { id, processorEventId, type, objectId, occurredAt, payload } = event
    return (await rows.read(insert, [id, processorEventId, type, objectId, occurredAt, now, JSON.stringify(payload)])).length > 0
  },

  /**
   * Counts a try of each event that is due, the longest due first: nobody else takes them before that time is over.
   * @param until when their tries count as interrupted
   */
  takeDue: (now: Date, limit: number, until: Date): Promise<WebhookEventRow[]> => rows.read(take, [now, limit, until]),

  /** Writes what a try came to, unless somebody else has taken the event since because the time of the try was over. */
  async conclude(tried: WebhookEventRow, changes: Partial<WebhookEventRow>, now: Date): Promise<void> {
    const { id, attempts, status, reason, nextAttemptAt, processedAt, organizationId, orderId } = { ...tried, ...changes }
    await rows.read(conclude, [id, attempts, status, reason, nextAttemptAt, processedAt, organizationId, orderId, now])
  },

  /** When the processor last said something of an object, by another event or by an answer to a call of ours; null when it did not yet. */
  async lastLearned({ id, objectId }: Pick<WebhookEventRow, 'id' | 'objectId'>): Promise<Date | null> {
    const [found] = await rows.read<{ at: Date | null }>(lastLearned, [objectId, id])
    return found?.at ?? null
  },

  /** The organization that looks after the platform; null where none is known. */
  async platform(): Promise<string | null> {
    const [found] = await rows.read<{ id: string }>(find, [])
    return found?.id ?? null
  },

  /** Remembers which organization looks after the platform: events that belong to nobody are its own from then on. */
  async learnPlatform(organizationId: string, transaction?: Transaction): Promise<void> {
    await rows.read(learn, [organizationId], transaction)
  },
})

export const webhookEventStore = store(
  webhookEvents,
  {
    what: 'webhook event',
    tenancy: { by: 'organizationId' },
    filters: { status: 'eq', type: 'eq', processorEventId: 'eq' },
  },
  eventSql,
)

/** Events as they are opened for an operation, or for a job. */
export type WebhookEvents = ReturnType<(typeof webhookEventStore)['open']>
