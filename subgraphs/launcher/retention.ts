import type { Aging } from '../../platform/jobs/retention.ts'
import { agingOfChallenges } from '../../platform/sql/spent.ts'
import { agingOfKeys } from '../store/books.ts'

/** For how many days an item is kept that nobody waits for any more. */
const closedDays = 90
/** For how many days the record says who did what. */
const auditDays = 400

/** What the launcher does not keep for ever. */
export const aging: readonly Aging[] = [
  { table: 'launcher.action_items', days: closedDays, old: 'o.closed_at < $1', order: 'o.closed_at' },
  { table: 'launcher.audit_entries', days: auditDays, old: 'o.at < $1', order: 'o.at' },
  agingOfKeys('launcher'),
  agingOfChallenges('launcher'),
]
