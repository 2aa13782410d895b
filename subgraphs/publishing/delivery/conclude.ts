import { setTimeout as sleep } from 'node:timers/promises'
import { BaseError, type Transaction, ValidationError } from 'sequelize'
import { crash } from '../../../platform/crash.ts'
import { inTransaction, record, writing } from '../../store/write.ts'
import { announcePost } from '../announce.ts'
import type { Job } from '../context.ts'
import type { AttemptRow } from '../stores/attempt.ts'
import { sendMs } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { type Ending, type FailureCode, failure, noClaim, noWait, settle, wait } from './rules.ts'
import { wakeUp } from './wake-up.ts'

/** Ends an attempt before it began: the post fails, if it is still this worker's. */
export async function giveUp(job: Job, claimed: PostRow, code: FailureCode, detail: string): Promise<void> {
  const failed = await inTransaction(job, async ({ transaction }) => {
    const post = await job.posts.lock(claimed.id, transaction)
    return post && post.claimId === claimed.claimId ? fail(job, post, code, detail, transaction) : null
  })
  if (failed) await announce(job, failed)
}

async function fail(job: Job, post: PostRow, code: FailureCode, detail: string, transaction: Transaction): Promise<PostRow> {
  const { posts, clock } = job
  const now = clock.now()
  const changes = {
    ...noClaim,
    ...noWait,
    ...failure(code, post.platform, detail, now),
    status: 'FAILED' as const,
    attempts: post.attempts + Number(post.deliveryPhase === 'CLAIMED'),
    updatedAt: now,
    version: post.version + 1,
  }
  await record(job, { tenantId: post.brandId, action: 'post.failed', subjectId: post.id, details: { code } }, { transaction, now })
  return posts.update(post, changes, transaction)
}

/**
 * Puts a post back whose call was surely not made, if it is still this worker's: it waits, is tried again, and fails when the
 * network could not be reached for an hour.
 * @param attempt null when none was recorded
 */
export async function putBack(job: Job, claimed: PostRow, attempt: AttemptRow | null, detail: string): Promise<void> {
  const { posts, attempts, clock, jobs, log } = job
  const after = await inTransaction(job, async ({ transaction }) => {
    const post = await posts.lock(claimed.id, transaction)
    if (!post || post.claimId !== claimed.claimId) return null
    const now = clock.now()
    if (attempt) await attempts.conclude(attempt, { finishedAt: now, outcome: 'NOT_SENT', detail, updatedAt: now }, transaction)
    crash('in-put-back')
    const waiting = wait(post, now)
    if (!waiting) return fail(job, post, 'NETWORK_UNAVAILABLE', detail, transaction)
    await wakeUp(jobs, post, waiting.waitsUntil, transaction)
    return posts.update(post, { ...noClaim, ...waiting }, transaction)
  })
  if (!after) return
  if (after.waitsUntil) log.warn({ postId: after.id, detail, waitsUntil: after.waitsUntil }, 'a post was not sent: it waits and is tried again')
  await announce(job, after)
}

/** How long after it failed an outcome is written again, in ms. */
const writeAgainMs = 500

/**
 * Writes what the network answered, again and again while the database is away, for as long as a call's lease: the answer is known
 * nowhere else. Whoever takes the post up meanwhile is heard first or later, as with any worker that is late.
 */
export async function insist({ clock, log }: Job, { postId }: AttemptRow, write: () => Promise<unknown>): Promise<void> {
  const until = clock.now().getTime() + sendMs
  // A clock may stand still or be set back, so the pauses are counted as well.
  for (let waited = 0; ; waited += writeAgainMs) {
    try {
      await write()
      return
    } catch (error) {
      if (!mayPass(error) || waited >= sendMs || clock.now().getTime() >= until) throw error
      log.warn({ err: error, postId }, 'what the network answered could not be written; it is tried again')
      await sleep(writeAgainMs)
    }
  }
}

/** Whether the database may take later what it did not take now: everything but what its constraints forbid. */
const mayPass = (error: unknown): boolean =>
  error instanceof BaseError && !(error instanceof ValidationError) && !(error as { parent?: { code?: string } }).parent?.code?.startsWith('23')

const outcomeOf = { delivered: 'DELIVERED', refused: 'REFUSED', unknown: 'UNKNOWN' } as const

/**
 * Writes what became of an attempt: the post, the attempt, the audit and the next post's wake-up in one transaction.
 * Concluding twice changes nothing.
 * Whoever found out, delivery itself or a person, is named by the context.
 * @returns the post as it is now; null when there was nothing to conclude
 * @throws UniqueConstraintError when the account's id of the post is another post's already
 */
export async function conclude(job: Job, attempt: AttemptRow, delivery: Ending): Promise<PostRow | null> {
  const { posts, attempts, clock, jobs, log } = job
  if (attempt.postId === null) return null
  const { postId } = attempt
  const settled = await inTransaction(job, async ({ transaction }) => {
    const post = await posts.lock(postId, transaction)
    // The network's own "delivered" is always heard, also of an attempt that another worker, seeing nothing there, has followed
    // by a next one; a person's word, and every other outcome, counts only while this attempt is the one that is open.
    const isHeard = delivery.outcome === 'delivered' && job[writing].actor === 'delivery'
    const isOpen = post?.attempts === attempt.number && (post.deliveryPhase === 'SENDING' || post.deliveryPhase === 'UNKNOWN')
    if (isHeard && (post?.status === 'PUBLISHED' || !post))
      log.warn({ postId, attempt: attempt.number, platformPostId: delivery.platformPostId }, 'the network published a post whose outcome was settled otherwise')
    if (!post || post.status === 'PUBLISHED' || !(isOpen || isHeard)) return null
    const now = clock.now()
    const { outcome } = delivery
    const platformPostId = outcome === 'delivered' ? delivery.platformPostId : null
    await attempts.conclude(
      attempt,
      {
        finishedAt: now,
        outcome: outcomeOf[outcome],
        platformPostId,
        detail: outcome === 'delivered' ? null : delivery.detail,
        refusal: outcome === 'refused' ? delivery.code : (outcome === 'unknown' && delivery.refusal) || null,
        reconcileAt: outcome === 'unknown' ? new Date(now.getTime() + 1000) : null,
        updatedAt: now,
      },
      transaction,
    )
    const { connectionId, externalAccountId } = attempt
    const row = await posts.update(post, { ...settle(post, delivery, now), connectionId, externalAccountId }, transaction)
    await record(
      job,
      {
        tenantId: row.brandId,
        action: `post.${outcome === 'delivered' ? 'published' : 'failed'}`,
        subjectId: row.id,
        details: { attempt: attempt.number, platformPostId, code: row.failureCode },
      },
      { transaction, now },
    )
    const next = outcome === 'delivered' ? await posts.successor(row, transaction) : null
    await posts.release(next, transaction)
    if (next?.status === 'SCHEDULED' && next.scheduledAt) await wakeUp(jobs, next, next.scheduledAt, transaction)
    crash('in-conclusion')
    return row
  })
  crash('after-conclusion')
  if (settled) await announce(job, settled)
  return settled
}

/** Tells screens about a post whose outcome was written. */
export async function announce({ brands, events }: Job, post: PostRow): Promise<void> {
  const brand = await brands.byId.load(post.brandId)
  if (brand) announcePost(events, brand, post)
}
