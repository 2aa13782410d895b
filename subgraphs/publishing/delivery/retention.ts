import type { Aging } from '../../../platform/jobs/retention.ts'
import { agingOfKeys, agingOfRecord } from '../../store/books.ts'
import type { Retention } from '../registration.ts'

/** For how many days a report of an import is kept, which the key that asked for it answers again: longer than keys are remembered. */
const importDays = 8

/** For how many days it can be looked up what webhooks were told. */
const webhookDays = 30

/** What publishing does not keep for ever. */
export const agingOf = ({ auditDays, attemptDays }: Retention): readonly Aging[] => [
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
