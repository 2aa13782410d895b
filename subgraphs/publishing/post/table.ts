import { integer, json, moment, type Row, stamps, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import type { Platform, Target } from '../network/network.ts'
import type { DeliveryPhase, PostStatus } from './rules.ts'

export type PostApproval = 'NONE' | 'PENDING' | 'APPROVED' | 'CHANGES_REQUESTED' | 'REJECTED'

export const posts = table('publishing.posts', {
  brandId: uuid.key,
  id: uuid.key,
  threadId: uuid,
  position: integer,
  platform: text.of<Platform>(),
  copy: text,
  target: json.of<Target>().maybe,
  status: text.of<PostStatus>(),
  approval: text.of<PostApproval>().or('NONE'),
  scheduledAt: moment.maybe,
  publishedAt: moment.maybe,
  platformPostId: text.maybe,
  permalink: text.maybe,
  failureCode: text.maybe,
  failureMessage: text.maybe,
  failedAt: moment.maybe,
  attempts: integer.or(0),
  deliveryPhase: text.of<DeliveryPhase>().or('NONE'),
  claimId: uuid.maybe,
  claimUntil: moment.maybe,
  /** Known to wait for the earlier post of its thread: whoever publishes or deletes that one takes the mark away. */
  heldBack: truth.or(false),
  connectionId: uuid.maybe,
  /** The network's account of the last attempt: its id for the post is told apart within it. */
  externalAccountId: text.maybe,
  /** When a due post that could not be sent is tried again; null when it does not wait. */
  waitsUntil: moment.maybe,
  waitingSince: moment.maybe,
  /** How often it was put back since then. */
  waits: integer.or(0),
  /** Null for a post that was written with a key: no person stands behind it. */
  authorId: uuid.maybe,
  ...stamps,
})

export type PostRow = Row<typeof posts>
