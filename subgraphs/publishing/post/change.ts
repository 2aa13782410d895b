import { isDeepStrictEqual } from 'node:util'
import { Refusal } from '../../../platform/errors.ts'
import { announcePost } from '../announce.ts'
import { actorOf } from '../audit.ts'
import { canSee } from '../brand/rules.ts'
import type { BrandRow } from '../brand/table.ts'
import type { Context } from '../context.ts'
import { noClaim, noFailure, noWait } from '../delivery/rules.ts'
import { letSleep, wakeUp } from '../delivery/wake-up.ts'
import { checkCopy, checkSchedule, checkTarget, checkVersion, move, type PostVerb } from './rules.ts'
import type { PostRow, PostTarget } from './table.ts'

const notFound = (id: string) => new Refusal('NOT_FOUND', `The active organization has no post ${id}.`, { id })

/**
 * The viewer's post and its brand.
 * @throws NOT_FOUND, the same for a post of another organization as for none
 */
export async function ownedPost(context: Context, id: string): Promise<{ post: PostRow; brand: BrandRow }> {
  const post = await context.postById.load(id)
  const brand = post && (await context.brandById.load(post.brandId))
  if (!post || !brand || !canSee(context.viewer, brand)) throw notFound(id)
  return { post, brand }
}

/** What a change makes of a post as it stands under its lock. */
export interface Change {
  readonly verb: PostVerb
  readonly changes: Partial<PostRow>
}

/** What people may change in a post; what is undefined stays. */
export interface Edit {
  readonly copy?: string | null | undefined
  readonly scheduledAt?: Date | null | undefined
  readonly target?: PostTarget | null | undefined
  readonly expectedVersion?: number | null | undefined
}

/** What an edit makes of a post: pure, given the post and the moment. */
export function edit(post: PostRow, { copy, scheduledAt, target, expectedVersion }: Edit, now: Date, networks: Context['networks']): Change {
  checkVersion(post.version, expectedVersion)
  const verb: PostVerb = scheduledAt === undefined ? 'edit' : scheduledAt === null ? 'revert' : 'schedule'
  const status = move(post, verb)
  const text = copy === undefined ? post.copy : checkCopy(copy)
  const place = target === undefined ? post.target : checkTarget(target, post.platform)
  const at = scheduledAt === undefined ? post.scheduledAt : scheduledAt
  if (scheduledAt) checkSchedule(scheduledAt, now, text, post.platform, networks.get(post.platform))
  // A queued text is held to the network's rules at once: at its time nobody is there to mend it.
  else if (status === 'SCHEDULED') {
    const objection = networks.get(post.platform)?.objection(text)
    if (objection) throw new Refusal('BAD_USER_INPUT', objection, { field: 'copy' })
  }
  return { verb, changes: { copy: text, target: place, status, scheduledAt: at, ...(verb !== 'edit' && { ...noFailure, ...noWait }) } }
}

/** Whether a change leaves a post as it stands: then there is nothing to write, to audit, or to tell. */
const changesNothing = (post: PostRow, changes: Partial<PostRow>): boolean =>
  Object.entries(changes).every(([name, value]) => isDeepStrictEqual(post[name as keyof PostRow], value))

/**
 * Changes a post under its lock, with its audit and its wake-up in the same transaction, and tells screens.
 * A worker that had claimed the post finds its claim gone and sends nothing. What changes nothing leaves all of it alone, the claim too.
 */
export async function change(context: Context, id: string, decide: (post: PostRow, now: Date) => Change): Promise<PostRow> {
  const { brand } = await ownedPost(context, id)
  const { brands, posts, sequelize, clock, jobs, audit, viewer } = context
  const { before, after } = await sequelize.transaction(async transaction => {
    await brands.requireInUse(brand.id, transaction)
    const post = await posts.lock(brand.id, id, transaction)
    if (!post) throw notFound(id)
    const now = clock.now()
    const { verb, changes } = decide(post, now)
    if (changesNothing(post, changes)) return { before: post, after: post }
    const row = await posts.update(post, { ...changes, ...noClaim, updatedAt: now, version: post.version + 1 }, transaction)
    await audit(transaction, {
      brandId: brand.id,
      actor: actorOf(viewer),
      action: `post.${pastParticiple[verb]}`,
      subjectId: id,
      at: now,
      details: { version: row.version },
    })
    // A wake-up for this time is there already, unless the time is new or a worker's claim was just taken away.
    const needsWaking = post.status !== 'SCHEDULED' || post.scheduledAt?.getTime() !== row.scheduledAt?.getTime() || post.deliveryPhase !== 'NONE'
    if (row.status === 'SCHEDULED' && row.scheduledAt && needsWaking) await wakeUp(jobs, row, row.scheduledAt, transaction)
    if (post.status === 'SCHEDULED' && row.status !== 'SCHEDULED') await letSleep(jobs, row, transaction)
    return { before: post, after: row }
  })
  context.postById.clear(id).prime(id, after)
  if (after === before) return after
  announcePost(context.events, brand, after)
  return after
}

const pastParticiple: Record<PostVerb, string> = {
  schedule: 'scheduled',
  edit: 'edited',
  revert: 'reverted',
  delete: 'deleted',
  succeed: 'published',
  fail: 'failed',
}
