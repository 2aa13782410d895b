import { integer, moment, type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import type { Platform, RefusalReason } from '../network/network.ts'

/** NOT_DELIVERED: the call was made, and the network does not have the post. NOT_SENT: the call surely was not made. */
export type AttemptOutcome = 'DELIVERED' | 'REFUSED' | 'UNKNOWN' | 'NOT_DELIVERED' | 'NOT_SENT'

/** Attempts to deliver: one row before each call that cannot be taken back. */
export const attempts = table('publishing.attempts', {
  brandId: uuid.key,
  id: uuid.key,
  /** Null once the post is deleted: what was sent with its text still counts for the account. */
  postId: uuid.maybe,
  number: integer,
  connectionId: uuid.maybe,
  platform: text.of<Platform>(),
  /** The account that it was made for: several brands may publish there. */
  externalAccountId: text,
  copy: text,
  inReplyTo: text.maybe,
  startedAt: moment,
  finishedAt: moment.maybe,
  /** Null: interrupted, or under way. */
  outcome: text.of<AttemptOutcome>().maybe,
  platformPostId: text.maybe,
  detail: text.maybe,
  /** With which code the network refused the call, also when the outcome is in doubt for all that. */
  refusal: text.of<RefusalReason>().maybe,
  /** How often the network was asked about it. */
  reconciled: integer.or(0),
  /** When to ask next; null: not to be asked. */
  reconcileAt: moment.maybe,
  ...stamps,
})

export type AttemptRow = Row<typeof attempts>
