import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { OutgoingEvent } from './webhook-endpoint.ts'

export type WebhookDeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** Events on their way to endpoints: one row for each event and endpoint, written in the transaction that made the event true. */
export const webhookDeliveries = table('payments.webhook_deliveries', {
  organizationId: uuid.key,
  id: uuid.key,
  endpointId: uuid,
  event: text.of<OutgoingEvent | 'webhook.test'>(),
  /** The record that the event is about. */
  entityId: uuid,
  /** The body, byte for byte the same at each try. */
  body: text,
  status: text.of<WebhookDeliveryStatus>().or('PENDING'),
  /** How many tries were begun. */
  attempts: integer.or(0),
  /** The status of the last answer; null when none came. */
  responseStatus: integer.maybe,
  /** When it is tried next, or, while a try is under way, when that counts as interrupted; null once it is over. */
  nextAttemptAt: moment.maybe,
  ...stamps,
})

export type PaymentWebhookDeliveryRow = Row<typeof webhookDeliveries>

/** What finds a delivery. */
export type DeliveryKey = Readonly<Record<'id' | 'endpointId', string>>

const insert = statement(
  `insert into payments.webhook_deliveries (organization_id, id, endpoint_id, event, entity_id, body, next_attempt_at, created_at, updated_at, created_by)
   select e.organization_id, gen_random_uuid(), e.id, $2, $3, $4, $5, $5, $5, 'platform' from payments.webhook_endpoints e
    where e.organization_id = $1 and e.active and $2 = any(e.events) returning id`,
)
const lockIfFree = statement(`select ${selectList(webhookDeliveries, 't')} from payments.webhook_deliveries t where t.id = $1 for update skip locked`)
// An endpoint that is slow, or has much to receive, leaves the others their turn.
const due = statement(
  `select d.id, d.endpoint_id as "endpointId" from payments.webhook_endpoints e
     cross join lateral (
       select id, endpoint_id, next_attempt_at from payments.webhook_deliveries
        where endpoint_id = e.id and status = 'PENDING' and next_attempt_at <= $1 order by next_attempt_at limit $2
     ) d
    where e.id = any(select distinct endpoint_id from payments.webhook_deliveries where status = 'PENDING' and next_attempt_at <= $1)
    order by d.next_attempt_at limit $3`,
)

const deliverySql = (rows: Rows<typeof webhookDeliveries>) => ({
  /** Writes an event for each endpoint of the organization that subscribes to it. @returns how many these are */
  async announce(organizationId: string, event: OutgoingEvent, entityId: string, body: string, now: Date, transaction: Transaction): Promise<number> {
    return (await rows.read(insert, [organizationId, event, entityId, body, now], transaction)).length
  },

  /** Locks a delivery if nobody else has it under lock; null when somebody has, or it is gone. */
  async lockIfFree(id: string, transaction: Transaction): Promise<PaymentWebhookDeliveryRow | null> {
    const [found] = await rows.read(lockIfFree, [id], transaction)
    return found ?? null
  },

  /** What is due, so many of each endpoint and together: the longest due first. */
  due: (now: Date, perEndpoint: number, most: number): Promise<DeliveryKey[]> => rows.read<DeliveryKey>(due, [now, perEndpoint, most]),
})

export const webhookDeliveryStore = store(
  webhookDeliveries,
  {
    what: 'webhook delivery',
    tenancy: { by: 'organizationId' },
    lists: { ofEndpoint: { below: 'endpointId', order: 'newest first' } },
  },
  deliverySql,
)

/** Deliveries as they are opened for an operation, or for a job. */
export type WebhookDeliveries = ReturnType<(typeof webhookDeliveryStore)['open']>
