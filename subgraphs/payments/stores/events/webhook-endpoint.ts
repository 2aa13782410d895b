import type { Transaction } from 'sequelize'
import type { Cipher } from '../../../../platform/cipher.ts'
import type { Usage } from '../../../../platform/limit.ts'
import { newSecret } from '../../../../platform/outbound/webhooks/secrets.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, stamps, table, text, texts, truth, uuid } from '../../../../platform/sql/table.ts'
import type { SealedColumn } from '../../../store/sealed.ts'
import { type Rows, store } from '../../../store/store.ts'

/** What is sent to programs of organizations. */
export const outgoingEvents = [
  'order.paid',
  'order.failed',
  'order.refunded',
  'refund.failed',
  'dispute.opened',
  'dispute.closed',
  'invoice.paid',
  'settlement_batch.settled',
] as const
export type OutgoingEvent = (typeof outgoingEvents)[number]

/** Addresses to which events of an organization are sent. */
export const webhookEndpoints = table('payments.webhook_endpoints', {
  organizationId: uuid.key,
  id: uuid.key,
  url: text,
  events: texts,
  active: truth.or(true),
  description: text.maybe,
  /** Why the platform stopped sending there; null when it did not. */
  disabledReason: text.maybe,
  /** How often its secret was replaced. */
  rotations: integer.or(0),
  ...stamps,
})

export type PaymentWebhookRow = Row<typeof webhookEndpoints>

/** How many endpoints an organization may have. */
export const maxEndpoints = 20

/** The place that a secret is sealed about, by the id of its row. */
export const placeOfSecret = (id: string) => `payments.webhook_secret:${id}:secret`

/** A new secret, as it is shown and as it is kept. @param id of its row */
export function newSealedSecret(cipher: Cipher, id: string): { readonly shown: string; readonly sealed: string } {
  const shown = newSecret()
  return { shown, sealed: cipher.seal(shown, placeOfSecret(id)) }
}

/** The secrets of endpoints as they are kept. */
export const sealedPaymentWebhookSecrets: readonly SealedColumn[] = [{ table: 'payments.webhook_secrets', key: 'id', column: 'secret', about: placeOfSecret }]

/** A secret as it is kept. */
export interface KeptSecret {
  readonly id: string
  /** Sealed. */
  readonly secret: string
  /** Null for the present one. */
  readonly signsUntil: Date | null
}

const lockMaking = transactionLock('payments.webhooks')
const count = statement('select count(*)::int as "inAll" from payments.webhook_endpoints where organization_id = $1')
const keepSecret = statement('insert into payments.webhook_secrets (id, endpoint_id, secret) values ($1, $2, $3)')
const replace = statement('update payments.webhook_secrets set signs_until = $2 where endpoint_id = $1 and signs_until is null')
const secrets = statement(
  `select id, secret, signs_until as "signsUntil" from payments.webhook_secrets
    where endpoint_id = $1 and (signs_until is null or signs_until > $2) order by signs_until desc nulls first`,
)

const endpointSql = (rows: Rows<typeof webhookEndpoints>) => ({
  /** What an organization has. Nobody makes another for it before the transaction ends. */
  async madeFor(organizationId: string, transaction: Transaction): Promise<Usage> {
    await rows.read(lockMaking, [organizationId], transaction)
    const [made] = await rows.read<{ inAll: number }>(count, [organizationId], transaction)
    return { inAll: made!.inAll, today: 0, todaySince: null }
  },

  /** Keeps the present secret of an endpoint. @param sealed about `placeOfSecret(id)` */
  async keepSecret(id: string, endpointId: string, sealed: string, transaction: Transaction): Promise<void> {
    await rows.read(keepSecret, [id, endpointId, sealed], transaction)
  },

  /** Lets the present secret of an endpoint sign until then. */
  async replaceSecret(endpointId: string, until: Date, transaction: Transaction): Promise<void> {
    await rows.read(replace, [endpointId, until], transaction)
  },

  /** The secrets that sign, the present one first, then the ones that were replaced last. */
  secretsOf: (endpointId: string, now: Date, transaction?: Transaction): Promise<KeptSecret[]> => rows.read(secrets, [endpointId, now], transaction),
})

export const webhookEndpointStore = store(
  webhookEndpoints,
  {
    what: 'webhook',
    tenancy: { by: 'organizationId' },
    // The oldest first; an organization has twenty at most.
    manyBy: { organizationId: 't.created_at, t.id' },
  },
  endpointSql,
)

/** Endpoints as they are opened for an operation, or for a job. */
export type WebhookEndpoints = ReturnType<(typeof webhookEndpointStore)['open']>
