import type { RetentionRule } from '../../../platform/jobs/retention.ts'
import { agingOfChallenges } from '../../../platform/sql/spent.ts'
import { agingOfKeys } from '../../store/books.ts'

/** Days for which a closed item is kept. */
const closedDays = 90
/** Days for which read notifications are kept, and unread ones. */
const [readDays, unreadDays] = [90, 400]
/** Days for which audit entries are kept. */
const auditDays = 400
/** Days for which launches are kept. */
const launchDays = 400

/** Days for which messages are kept that never left, and which messages of the notification service were taken. */
const [messageDays, serviceMessageDays] = [7, 30]
/** Days for which digests are kept that people had sent: longer than their idempotency keys. */
const digestDays = 8
/** Days for which invitations to households are kept after their end. */
const invitationDays = 30

/** Retention of the launcher's tables. */
export const retentionRules: readonly RetentionRule[] = [
  { table: 'launcher.action_items', days: closedDays, old: 'o.closed_at < $1', order: 'o.closed_at' },
  { table: 'launcher.action_item_snoozes', days: 1, old: 'o.woken_at < $1', order: 'o.woken_at' },
  { table: 'launcher.app_failures', days: 1, old: 'o.changed_at < $1', order: 'o.changed_at' },
  { table: 'launcher.audit_entries', days: auditDays, old: 'o.at < $1', order: 'o.at' },
  { table: 'launcher.digests', days: digestDays, old: 'o.created_at < $1', order: 'o.created_at' },
  { table: 'launcher.household_invitations', days: invitationDays, old: 'o.expires_at < $1', order: 'o.expires_at' },
  { table: 'launcher.launches', days: launchDays, old: 'o.created_at < $1', order: 'o.created_at' },
  { table: 'launcher.messages', days: messageDays, old: 'o.created_at < $1', order: 'o.created_at' },
  { table: 'launcher.notifications', days: readDays, old: 'o.read_at < $1', order: 'o.read_at' },
  { table: 'launcher.notifications', days: unreadDays, old: 'o.created_at < $1', order: 'o.created_at' },
  { table: 'launcher.service_messages', days: serviceMessageDays, old: 'o.at < $1', order: 'o.at' },
  { table: 'launcher.widget_payloads', days: 1, old: 'o.read_at < $1', order: 'o.read_at' },
  agingOfKeys('launcher'),
  agingOfChallenges('launcher'),
]
