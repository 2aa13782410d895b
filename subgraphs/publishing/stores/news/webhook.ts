import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { Usage } from '../../../../platform/limit.ts'
import { newSecret } from '../../../../platform/outbound/webhooks/secrets.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, stamps, table, text, texts, truth, uuid } from '../../../../platform/sql/table.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import { type Rows, store } from '../../../store/store.ts'
import { type BrandRow, brands } from '../brand.ts'

/** Events that webhooks deliver. */
export const webhookEvents = [
  'post.scheduled',
  'post.published',
  'post.failed',
  'post.outcome_unknown',
  'post.approval_changed',
  'connection.health_changed',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** Webhook endpoints of brands. Their secrets are encrypted before they reach the store. */
export const webhookEndpoints = table('publishing.webhook_endpoints', {
  brandId: uuid.key,
  id: uuid.key,
  /**
   * The brand's organization when the endpoint was confirmed: after the brand has moved, nothing is sent until the new
   * organization confirms the endpoint.
   */
  organizationId: uuid,
  url: text,
  events: texts,
  active: truth.or(true),
  description: text.maybe,
  /** Reason why the platform disabled the endpoint; null when it did not. */
  disabledReason: text.maybe,
  secret: text,
  /** The secret before the last rotation, which also signs until that time; earlier ones are in `formerSecrets`. */
  previousSecret: text.maybe,
  previousUntil: moment.maybe,
  ...stamps,
})

export type WebhookEndpointRow = Row<typeof webhookEndpoints>

/** Maximum number of a brand's endpoints. */
export const mostWebhooks = 20

const place = (id: string) => `publishing.webhook_endpoint:${id}:secret`

/** Encrypted secrets of webhook endpoints. */
export const sealedWebhookSecrets: readonly SealedColumn[] = ['secret', 'previous_secret'].map(column => ({
  table: webhookEndpoints.name,
  key: 'id',
  column,
  about: place,
}))

const lockMaking = transactionLock('publishing.webhooks')
const countMade = statement('select count(*)::int as "inAll" from publishing.webhook_endpoints where brand_id = $1')

const resting = statement(
  `select (select count(*)::int from publishing.webhook_endpoints e where e.brand_id = $1 and e.active and e.organization_id <> $2) as webhooks,
     exists (select from publishing.calendar_feeds f where f.brand_id = $1 and f.organization_id <> $2) as feed`,
)

/** Webhooks and feeds that moved with a brand and that its present organization has not confirmed. */
export interface Resting {
  readonly webhooks: number
  /** Whether its calendar feed rests. */
  readonly feed: boolean
}

const webhookSql = (rows: Rows<typeof webhookEndpoints>, cipher: Cipher) => ({
  /**
   * Counts a brand's endpoints, and locks the count: no other endpoint is created for it before the transaction ends.
   */
  async madeFor(brandId: string, transaction: Transaction): Promise<Usage> {
    await rows.read(lockMaking, [brandId], transaction)
    const [made] = await rows.read<{ inAll: number }>(countMade, [brandId], transaction)
    return { inAll: made!.inAll, today: 0, todaySince: null }
  },

  /** Returns what awaits confirmation by a brand's present organization. */
  async restingOf({ id, organizationId }: Pick<BrandRow, 'id' | 'organizationId'>, transaction: Transaction): Promise<Resting> {
    const [found] = await rows.read<Resting>(resting, [id, organizationId], transaction)
    return found!
  },

  /** Creates a secret, in plain text and encrypted. */
  newSecret(id: string): { shown: string; sealed: string } {
    const shown = newSecret()
    return { shown, sealed: cipher.seal(shown, place(id)) }
  },

  /** Decrypts a stored secret. Throws when the key is missing. */
  open: (id: string, sealed: string): string => cipher.open(sealed, place(id)),

  /**
   * Returns the secrets that sign at present: the current one and, for a day after a rotation, the former one. Throws
   * when the key is missing.
   */
  secretsOf({ id, secret, previousSecret, previousUntil }: WebhookEndpointRow, now: Date): readonly string[] {
    const isStill = previousSecret !== null && previousUntil !== null && previousUntil > now
    return [secret, ...(isStill ? [previousSecret] : [])].map(sealed => cipher.open(sealed, place(id)))
  },
})

export const webhookEndpointStore = (cipher: Cipher) =>
  store(
    webhookEndpoints,
    {
      what: 'webhook',
      tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
      // The oldest first; a brand has at most twenty.
      manyBy: { brandId: 't.created_at, t.id' },
    },
    rows => webhookSql(rows, cipher),
  )
