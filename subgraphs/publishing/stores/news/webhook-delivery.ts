import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { brands } from '../brand.ts'

export type WebhookDeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** What is, or was, told to an address: one row for each event and address, written in the transaction that made it true. */
export const webhookDeliveries = table('publishing.webhook_deliveries', {
  brandId: uuid.key,
  id: uuid.key,
  endpointId: uuid,
  event: text,
  postId: uuid.maybe,
  connectionId: uuid.maybe,
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

export type WebhookDeliveryRow = Row<typeof webhookDeliveries>

/** A delivery by its key, with what its wake-up is grouped by. */
export type DeliveryKey = Readonly<Record<'brandId' | 'id' | 'endpointId', string>>

/** What the wake-up of a delivery carries. */
export const keyOf = ({ brandId, id, endpointId }: DeliveryKey): DeliveryKey => ({ brandId, id, endpointId })

/** An event as it is told to each of a brand's addresses that ask for it. */
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
  /** Writes events for each address that asks for them. @returns what has become due by it */
  tell: (events: readonly NewEvent[], now: Date, transaction: Transaction) => rows.read<DeliveryKey>(insert, [JSON.stringify(events), now], transaction),

  /** Locks a delivery if nobody else has it under lock; null when somebody has, or it is gone. */
  async lockIfFree(brandId: string, id: string, transaction: Transaction): Promise<WebhookDeliveryRow | null> {
    const [found] = await rows.read(lockIfFree, [brandId, id], transaction)
    return found ?? null
  },

  /** What should have been tried before this moment: its wake-up was lost, or its try interrupted. */
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
