/**
 * Makes drafts of the posts that are due by now, and of those whose delivery had just begun: for a database that was put back from a backup,
 * which does not know what went out since. Posts whose call was under way stay: of those the network is asked.
 */
export const overdueToDraftsSql = (now: Date): { readonly table: string; readonly sql: string; readonly bind: readonly unknown[] } => ({
  table: 'publishing.posts',
  sql: `update publishing.posts
    set status = 'DRAFT', scheduled_at = null, waits_until = null, waiting_since = null, waits = 0,
        held_back = false, delivery_phase = 'NONE', claim_id = null, claim_until = null, version = version + 1, updated_at = $1
    where status = 'SCHEDULED' and scheduled_at <= $1 and delivery_phase <> 'SENDING'`,
  bind: [now],
})
