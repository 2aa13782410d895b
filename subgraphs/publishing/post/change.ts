import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import type { WriteTransaction } from '../../store/books.ts'
import { change } from '../../store/write.ts'
import { actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { noClaim, noFailure, noWait } from '../delivery/rules.ts'
import { letSleep, wakeUp } from '../delivery/wake-up.ts'
import { announcePost, factsOf } from '../news/announce.ts'
import { type ApprovalMode, requireInUse } from '../stores/brand.ts'
import type { PostRow } from '../stores/post.ts'
import { keepEvent } from '../stores/posts/approval.ts'
import { contentOf, keepChange } from '../stores/posts/version.ts'
import { approvalAfter, differs, requireApproved } from './approval/rules.ts'
import { type ContentInput, commentOf, written } from './content.ts'
import { problemsIn, requirePublishable, type Surroundings, surroundingsOf } from './problems.ts'
import { checkSchedule, move, type PostVerb } from './rules.ts'

/** Editable fields of a post; undefined ones stay unchanged. */
export interface Edit extends ContentInput {
  readonly scheduledAt?: Date | null | undefined
  /** Replaces a scheduled time: publishes at once, or cancels. */
  readonly verb?: 'publish' | 'cancel'
}

const verbOf = ({ verb, scheduledAt }: Edit): PostVerb => verb ?? (scheduledAt === undefined ? 'edit' : scheduledAt === null ? 'revert' : 'schedule')

/** The data besides the post that an edit depends on. */
export interface Around extends Surroundings {
  readonly mode: ApprovalMode
}

/** Returns the changes of an edit. Pure. */
export function edit(post: PostRow, wanted: Edit, now: Date, around: Around): Partial<PostRow> {
  const { networks, mode } = around
  const verb = verbOf(wanted)
  const status = move(post, verb)
  const content = written(wanted, post.platform, post)
  const scheduledAt = verb === 'publish' ? now : verb === 'cancel' ? null : wanted.scheduledAt === undefined ? post.scheduledAt : wanted.scheduledAt
  const isTimed = verb === 'schedule' || verb === 'publish'
  const isOther = !isDeepStrictEqual(contentOf(post), contentOf(content))
  if (verb === 'publish') requireApproved(post, mode)
  if (isTimed || (status === 'SCHEDULED' && isOther && networks.has(post.platform))) {
    // A scheduled text must meet the network's rules at once, because nobody can correct it when it is due.
    if (verb === 'schedule') checkSchedule(scheduledAt!, now)
    requirePublishable(problemsIn({ ...post, ...content }, around), post.platform, isTimed ? networks : null)
  }
  return {
    ...content,
    ...(content.firstComment !== post.firstComment && commentOf(content.firstComment)),
    status,
    scheduledAt,
    approval: approvalAfter(post, { isScheduled: status === 'SCHEDULED', isDifferent: differs(post, content) }, mode),
    ...(verb !== 'edit' && { ...noFailure, ...noWait }),
  }
}

/**
 * Edits, schedules, publishes or reverts a post, with its wake-up in the same transaction.
 * It removes the claim of a worker, which then sends nothing. An edit without effect leaves the claim unchanged.
 */
export async function changePost(
  context: Context,
  { id, expectedVersion, ...wanted }: Edit & { id: string; expectedVersion?: number | null | undefined },
): Promise<PostRow> {
  const { brands, campaigns, posts, jobs, events, publicUrl, viewer } = context
  const seen = await posts.require(id)
  const { brandId } = seen
  const brand = await brands.require(brandId)
  requireInUse(brand)
  const surroundings = await surroundingsOf(context, { brandId, media: written(wanted, seen.platform, seen).media, platforms: [seen.platform] })
  let mode: ApprovalMode = brand.approvalMode
  return change(context, {
    of: posts,
    id,
    expectedVersion,
    async before({ transaction }) {
      mode = await brands.requireInUse(brandId, transaction)
      if (wanted.campaignId) await campaigns.requireOf(brandId, requireId(wanted.campaignId, 'campaignId'), transaction)
    },
    decide(post, { now }) {
      requireKnown(post, wanted, surroundings)
      return edit(post, wanted, now, { ...surroundings, mode })
    },
    also: noClaim,
    audit: ({ after }) => ({ tenantId: brandId, action: `post.${pastParticiple[verbOf(wanted)]}`, subjectId: id, details: { version: after.version } }),
    facts: ({ before, after }) => factsOf(before, after, { organizationId: brand.organizationId, publicUrl }),
    async wake({ before, after }, unit) {
      const createdBy = actorOf(viewer)
      if (!isDeepStrictEqual(contentOf(before), contentOf(after))) await keepChange(posts, before, after, createdBy, unit.transaction)
      if (before.approval !== after.approval) await keepEvent(posts, after, { at: unit.now, action: 'RESET', comment: null, createdBy }, unit.transaction)
      await moveWakeUp(jobs, before, after, unit)
    },
    announce: ({ after }) => announcePost(events, brand, after),
  })
}

/**
 * Checks that the media of a post are those that were read before its lock; the rules cannot be applied to others.
 * @throws CONFLICT, reason STALE_VERSION
 */
function requireKnown({ media, version }: PostRow, wanted: Edit, known: Surroundings): void {
  if (wanted.media !== undefined || media.every(({ assetId }) => known.media.has(assetId))) return
  throw new DomainError('CONFLICT', 'The post was changed at the same moment: repeat your change.', { reason: 'STALE_VERSION', version })
}

async function moveWakeUp(jobs: Context['jobs'], before: PostRow, after: PostRow, { transaction }: WriteTransaction): Promise<void> {
  // A job for this time exists unless the time is new or a worker's claim was just removed.
  const needsWaking = before.status !== 'SCHEDULED' || before.scheduledAt?.getTime() !== after.scheduledAt?.getTime() || before.deliveryPhase !== 'NONE'
  if (after.status === 'SCHEDULED' && after.scheduledAt && needsWaking) await wakeUp(jobs, after, after.scheduledAt, transaction)
  if (before.status === 'SCHEDULED' && after.status !== 'SCHEDULED') await letSleep(jobs, after, transaction)
}

const pastParticiple: Record<PostVerb, string> = {
  schedule: 'scheduled',
  publish: 'queued',
  cancel: 'cancelled',
  edit: 'edited',
  revert: 'reverted',
  delete: 'deleted',
  succeed: 'published',
  fail: 'failed',
}
