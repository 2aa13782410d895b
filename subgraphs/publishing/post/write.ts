import { requireQuota } from '../../../platform/limit.ts'
import type { NewRow } from '../../../platform/sql/table.ts'
import { record, type WriteTransaction, writeFacts } from '../../store/books.ts'
import type { Viewer } from '../../viewer.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { wakeUp } from '../delivery/wake-up.ts'
import type { Platform } from '../network/network.ts'
import { factsOf } from '../news/announce.ts'
import type { ApprovalMode, BrandRow } from '../stores/brand.ts'
import type { PostOrigin, PostRow, posts as postTable } from '../stores/post.ts'
import { keepEvent } from '../stores/posts/approval.ts'
import { keepVersion } from '../stores/posts/version.ts'
import { approvalAfter } from './approval/rules.ts'
import { commentOf, type Written } from './content.ts'
import { problemsIn, requirePublishable, type Surroundings } from './problems.ts'
import { checkSchedule } from './rules.ts'

/** A new post, checked as far as possible without other records. */
export interface Draft {
  readonly platform: Platform
  readonly content: Written
  readonly scheduledAt: Date | null
  /** Data about the brand that checks need. */
  readonly surroundings: Surroundings
  /** Id of the thread. @default its own id: a thread of one post */
  readonly threadId?: string
  /** Position in the thread. @default 1 */
  readonly position?: number
  readonly groupId?: string
  /** Origin of the post. @default by the kind of viewer */
  readonly origin?: PostOrigin
}

/** Returns the origin of a viewer's posts. */
export const originOf = ({ kind }: Viewer): PostOrigin => (kind === 'apiKey' ? 'API_KEY' : kind === 'service' ? 'SERVICE' : 'PERSON')

/**
 * Builds the row of a new post.
 * @throws BAD_USER_INPUT for a post that cannot be sent at its scheduled time
 */
export function rowOf(
  { viewer }: Pick<Context, 'viewer'>,
  { id: brandId }: Pick<BrandRow, 'id'>,
  mode: ApprovalMode,
  draft: Draft,
  { now }: WriteTransaction,
  id: string,
): NewRow<typeof postTable> {
  const { platform, content, scheduledAt, surroundings, threadId = id, position = 1, groupId = null, origin = originOf(viewer) } = draft
  if (scheduledAt) {
    checkSchedule(scheduledAt, now)
    requirePublishable(problemsIn({ ...content, brandId, platform, position }, surroundings), platform, surroundings.networks)
  }
  const approval = approvalAfter({ approval: 'NONE' }, { isScheduled: scheduledAt !== null, isDifferent: false }, mode)
  const stamps = { authorId: viewer.userId, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
  const state = { status: scheduledAt ? ('SCHEDULED' as const) : ('DRAFT' as const), scheduledAt, approval }
  return { id, brandId, threadId, position, platform, ...content, ...commentOf(content.firstComment), ...state, groupId, origin, ...stamps }
}

/**
 * Checks that a caller does not exceed the daily quota.
 * @param count number of posts to write
 * @throws CONFLICT or RATE_LIMITED, as quotas prescribe
 */
export async function requireRoom({ posts, quotas, viewer }: Context, count: number, { now, transaction }: WriteTransaction): Promise<void> {
  const made = await posts.madeBy(actorOf(viewer), now, quotas.postsADay, transaction)
  const room = { inAll: Number.POSITIVE_INFINITY, aDay: quotas.postsADay }
  requireQuota({ ...made, today: made.today + count - 1 }, room, 'posts that you wrote', 'wait', now)
}

/**
 * Writes what accompanies a new post besides its audit entry: its first version, its approval request, its facts, and
 * its wake-up.
 */
export async function accompany(context: Context, post: PostRow, unit: WriteTransaction): Promise<void> {
  const { posts, jobs, publicUrl, viewer } = context
  const { now, transaction } = unit
  const createdBy = actorOf(viewer)
  await keepVersion(posts, post, transaction)
  if (post.approval !== 'NONE') await keepEvent(posts, post, { at: now, action: 'RESET', comment: null, createdBy }, transaction)
  await writeFacts(context, factsOf(null, post, { organizationId: activeOrganization(viewer, 'Posts'), publicUrl }), unit)
  if (post.scheduledAt) await wakeUp(jobs, post, post.scheduledAt, transaction)
}

/** Writes a post within a transaction, for several posts that are created together or not at all. */
export async function addPost(context: Context, row: NewRow<typeof postTable>, unit: WriteTransaction): Promise<PostRow> {
  const post = await context.posts.insert(row, unit.transaction)
  await record(context, { tenantId: post.brandId, action: 'post.created', subjectId: post.id }, unit)
  await accompany(context, post, unit)
  return post
}
