import type { Unit } from '../../store/books.ts'
import { change } from '../../store/write.ts'
import type { Context } from '../context.ts'
import { noClaim, noFailure, noWait } from '../delivery/rules.ts'
import { letSleep, wakeUp } from '../delivery/wake-up.ts'
import type { Networks, Target } from '../network/network.ts'
import { announcePost, factsOf } from '../news/announce.ts'
import type { PostRow } from '../stores/post.ts'
import { checkCopy, checkSchedule, checkTarget, move, type PostVerb, requireTaken } from './rules.ts'

/** What people may change in a post; what is undefined stays. */
export interface Edit {
  readonly copy?: string | null | undefined
  readonly scheduledAt?: Date | null | undefined
  readonly target?: Target | null | undefined
}

const verbOf = ({ scheduledAt }: Edit): PostVerb => (scheduledAt === undefined ? 'edit' : scheduledAt === null ? 'revert' : 'schedule')

/** What an edit makes of a post: pure, given the post and the moment. */
export function edit(post: PostRow, { copy, scheduledAt, target }: Edit, now: Date, networks: Networks): Partial<PostRow> {
  const verb = verbOf({ scheduledAt })
  const status = move(post, verb)
  const text = copy === undefined ? post.copy : checkCopy(copy)
  const place = target === undefined ? post.target : checkTarget(target, post.platform)
  const at = scheduledAt === undefined ? post.scheduledAt : scheduledAt
  if (scheduledAt) checkSchedule(scheduledAt, now, text, post.platform, networks.get(post.platform))
  // A queued text is held to the network's rules at once: at its time nobody is there to mend it.
  else if (status === 'SCHEDULED' && networks.has(post.platform)) requireTaken(post.platform, text)
  return { copy: text, target: place, status, scheduledAt: at, ...(verb !== 'edit' && { ...noFailure, ...noWait }) }
}

/**
 * Edits, schedules or reverts a post, with its wake-up in the same transaction.
 * A worker that had claimed it finds its claim gone and sends nothing. What changes nothing leaves the claim alone, too.
 */
export async function changePost(
  context: Context,
  { id, expectedVersion, ...wanted }: Edit & { id: string; expectedVersion?: number | null | undefined },
): Promise<PostRow> {
  const { brands, posts, networks, jobs, events, publicUrl } = context
  const { brandId } = await posts.require(id)
  const brand = await brands.require(brandId)
  return change(context, {
    of: posts,
    id,
    expectedVersion,
    before: ({ transaction }) => brands.requireInUse(brandId, transaction),
    decide: (post, { now }) => edit(post, wanted, now, networks),
    also: noClaim,
    audit: ({ after }) => ({ tenantId: brandId, action: `post.${pastParticiple[verbOf(wanted)]}`, subjectId: id, details: { version: after.version } }),
    tell: ({ before, after }) => factsOf(before, after, { organizationId: brand.organizationId, publicUrl }),
    wake: ({ before, after }, unit) => moveWakeUp(jobs, before, after, unit),
    announce: ({ after }) => announcePost(events, brand, after),
  })
}

async function moveWakeUp(jobs: Context['jobs'], before: PostRow, after: PostRow, { transaction }: Unit): Promise<void> {
  // A wake-up for this time is there already, unless the time is new or a worker's claim was just taken away.
  const needsWaking = before.status !== 'SCHEDULED' || before.scheduledAt?.getTime() !== after.scheduledAt?.getTime() || before.deliveryPhase !== 'NONE'
  if (after.status === 'SCHEDULED' && after.scheduledAt && needsWaking) await wakeUp(jobs, after, after.scheduledAt, transaction)
  if (before.status === 'SCHEDULED' && after.status !== 'SCHEDULED') await letSleep(jobs, after, transaction)
}

const pastParticiple: Record<PostVerb, string> = {
  schedule: 'scheduled',
  edit: 'edited',
  revert: 'reverted',
  delete: 'deleted',
  succeed: 'published',
  fail: 'failed',
}
