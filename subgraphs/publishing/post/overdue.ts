/**
 * Turns posts that are due, and posts whose delivery has just begun, into drafts. It runs on a database restored from a
 * backup, which does not know which posts were sent since. Posts with a call in progress stay: their network is asked
 * for the outcome.
 */
export const overdueToDraftsSql = (now: Date): { readonly table: string; readonly sql: string; readonly bind: readonly unknown[] } => ({
  table: 'publishing.posts',
  sql: `update publishing.posts
    set status = 'DRAFT', scheduled_at = null, waits_until = null, waiting_since = null, waits = 0,
        held_back = false, delivery_phase = 'NONE', claim_id = null, claim_until = null, version = version + 1, updated_at = $1
    where status = 'SCHEDULED' and scheduled_at <= $1 and delivery_phase <> 'SENDING'`,
  bind: [now],
})
