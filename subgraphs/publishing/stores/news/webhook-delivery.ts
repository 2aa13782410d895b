import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { brands } from '../brand.ts'

export type WebhookDeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** Deliveries of webhooks: one row for each event and endpoint, written in the transaction of the event. */
export const webhookDeliveries = table('publishing.webhook_deliveries', {
  brandId: uuid.key,
  id: uuid.key,
  endpointId: uuid,
  event: text,
  postId: uuid.maybe,
  connectionId: uuid.maybe,
  /** The body, the same bytes for each attempt. */
  body: text,
  status: text.of<WebhookDeliveryStatus>().or('PENDING'),
  /** Number of attempts that were begun. */
  attempts: integer.or(0),
  /** Status of the last answer; null without one. */
  responseStatus: integer.maybe,
  /**
   * Time of the next attempt, or, during an attempt, the time at which it counts as interrupted; null once the delivery
   * has ended.
   */
  nextAttemptAt: moment.maybe,
  ...stamps,
})

export type WebhookDeliveryRow = Row<typeof webhookDeliveries>

/** Key of a delivery, with the endpoint by which its wake-ups are grouped. */
export type DeliveryKey = Readonly<Record<'brandId' | 'id' | 'endpointId', string>>

/** Returns the content of a delivery's wake-up. */
export const keyOf = ({ brandId, id, endpointId }: DeliveryKey): DeliveryKey => ({ brandId, id, endpointId })

/** An event for every endpoint of a brand that subscribes to it. */
export interface NewEvent {
  readonly brandId: string
  readonly event: string
  readonly postId: string | null
  readonly connectionId: string | null
  readonly body: string
}

const insert = statement(
  `insert into publishing.webhook_deliveries
     (brand_id, id, endpoint_id, event, post_id, connection_id, body, next_attempt_at, created_at, updated_at, created_by)
   select e.brand_id, gen_random_uuid(), e.id, t.event, t."postId", t."connectionId", t.body, $2, $2, $2, 'platform'
   from jsonb_to_recordset($1::jsonb) as t ("brandId" uuid, event text, "postId" uuid, "connectionId" uuid, body text)
   join publishing.webhook_endpoints e on e.brand_id = t."brandId" and e.active and t.event = any(e.events)
   join publishing.brands b on b.id = e.brand_id and b.organization_id = e.organization_id
   returning brand_id as "brandId", id, endpoint_id as "endpointId"`,
)
const lockIfFree = statement(
  `select ${selectList(webhookDeliveries, 't')} from publishing.webhook_deliveries t where t.brand_id = $1 and t.id = $2 for update skip locked`,
)
const due = statement(
  `select brand_id as "brandId", id, endpoint_id as "endpointId" from publishing.webhook_deliveries
   where status = 'PENDING' and next_attempt_at <= $1 order by next_attempt_at limit $2`,
)

const deliverySql = (rows: Rows<typeof webhookDeliveries>) => ({
  /** Writes deliveries of events for each endpoint that subscribes to them. @returns the deliveries that became due */
  tell: (events: readonly NewEvent[], now: Date, transaction: Transaction) => rows.read<DeliveryKey>(insert, [JSON.stringify(events), now], transaction),

  /** Locks a delivery that no other transaction has locked; null when another one has, or when it was deleted. */
  async lockIfFree(brandId: string, id: string, transaction: Transaction): Promise<WebhookDeliveryRow | null> {
    const [found] = await rows.read(lockIfFree, [brandId, id], transaction)
    return found ?? null
  },

  /** Returns deliveries that were due before a moment: their wake-up was lost, or their attempt interrupted. */
  due: (before: Date, limit: number) => rows.read<DeliveryKey>(due, [before, limit]),
})

export const webhookDeliveryStore = store(
  webhookDeliveries,
  {
    what: 'webhook delivery',
    tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
    lists: { ofEndpoint: { below: 'endpointId', order: 'newest first' } },
  },
  deliverySql,
)
