import type { RetentionRule } from '../../../platform/jobs/retention.ts'
import { agingOfKeys, agingOfRecord } from '../../store/books.ts'
import type { Retention } from '../registration.ts'

/**
 * Days after which an import's report is deleted. It answers repetitions of the import's idempotency key, so it
 * outlives the key.
 */
const importDays = 8

/** Days for which webhook deliveries can be looked up. */
const webhookDays = 30

/** Retention of publishing's tables. */
export const agingOf = ({ auditDays, attemptDays }: Retention): readonly RetentionRule[] => [
  agingOfRecord('publishing', auditDays),
  // Two days after an upload ended: its parts were removed after an hour, and its file is an asset.
  { table: 'publishing.media_uploads', days: 2, old: 'o.expires_at < $1', order: 'o.expires_at' },
  agingOfKeys('publishing'),
  {
    table: 'publishing.attempts',
    days: attemptDays,
    // Running or disputed deliveries keep their attempts.
    old: `o.started_at < $1 and o.reconcile_at is null and not exists (
      select from publishing.posts p where p.brand_id = o.brand_id and p.id = o.post_id and p.delivery_phase in ('SENDING', 'UNKNOWN'))`,
    order: 'o.started_at',
  },
  // A request older than a day is not accepted any more; the status of a deletion can be read for a year.
  {
    table: 'publishing.signed_requests',
    days: 2,
    old: `o.event = 'DEAUTHORIZE' and o.received_at < $1`,
    order: 'o.received_at',
  },
  {
    table: 'publishing.signed_requests',
    days: 365,
    old: `o.event = 'DATA_DELETION' and o.received_at < $1 and o.status = 'COMPLETED'`,
    order: 'o.received_at',
  },
  { table: 'publishing.post_imports', days: importDays, old: 'o.created_at < $1', order: 'o.created_at' },
  {
    table: 'publishing.webhook_deliveries',
    days: webhookDays,
    old: "o.created_at < $1 and o.status <> 'PENDING'",
    order: 'o.created_at',
  },
  { table: 'publishing.webhook_former_secrets', days: 0, old: 'o.signs_until < $1', order: 'o.signs_until' },
  { table: 'publishing.authorizations', days: 1, old: 'o.expires_at < $1', order: 'o.expires_at' },
]
