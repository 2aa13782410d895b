import { setTimeout as sleep } from 'node:timers/promises'
import { BaseError, type Transaction, ValidationError } from 'sequelize'
import { crash } from '../../../platform/crash.ts'
import { writing } from '../../store/books.ts'
import type { NewFact } from '../../store/fact-kinds.ts'
import { alter, step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { announcePost, announceStep, factsOf } from '../news/announce.ts'
import type { AttemptRow } from '../stores/attempt.ts'
import type { BrandRow } from '../stores/brand.ts'
import { sendMs } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { whileClaimed } from './claimed.ts'
import type { FailureCode } from './failure.ts'
import { type Ending, fail, lookupOf, noClaim, noWait, settle, settleAttempt, wait, waitForLimit } from './rules.ts'
import { commentSoon, wakeUp } from './wake-up.ts'

/** Returns the audit entry of a failed post. */
const failed = ({ after }: { readonly after: PostRow }) =>
  after.status === 'FAILED' ? { tenantId: after.brandId, action: 'post.failed', subjectId: after.id, details: { code: after.failureCode } } : null

/** A post and its brand, as locked by a step of delivery. */
export interface Belonging {
  /** The locked brand; null before it is locked, and if it was deleted. */
  readonly brand: BrandRow | null
  /**
   * Locks the brand and then the post, as edits do, so that the brand cannot move before the facts about the post are
   * written.
   */
  readonly hold: (transaction: Transaction) => Promise<PostRow | null>
  /** Returns the facts about a step of the post. */
  readonly facts: (step: { readonly before: PostRow; readonly after: PostRow }) => readonly NewFact[]
}

/** Locks a post whose step is published as facts. */
export function belonging({ brands, posts, publicUrl }: Job, { id, brandId }: Pick<PostRow, 'id' | 'brandId'>): Belonging {
  let brand = null as BrandRow | null
  return {
    get brand() {
      return brand
    },
    async hold(transaction) {
      brand = await brands.share(brandId, transaction)
      return posts.lock(id, transaction)
    },
    facts: ({ before, after }) => (brand ? factsOf(before, after, { organizationId: brand.organizationId, publicUrl }) : []),
  }
}

/** Ends a delivery before an attempt began: the post fails, if it is still claimed by this worker. */
export async function failPost(job: Job, claimed: PostRow, code: FailureCode, detail: string): Promise<void> {
  const mine = belonging(job, claimed)
  await whileClaimed(job, claimed, {
    hold: mine.hold,
    decide: (post, { now }) => ({ changes: fail(post, code, detail, now), isNews: true }),
    audit: failed,
    facts: mine.facts,
    announce({ after }) {
      job.deliveries.ended(after, 'given_up')
      announce(job, mine.brand, after)
    },
  })
}

/**
 * Releases a post whose call was certainly not made, if it is still claimed by this worker: it waits and is tried
 * again, and fails after an hour without reaching the network.
 * @param attempt null when none was recorded
 */
export async function releaseForRetry(job: Job, claimed: PostRow, attempt: AttemptRow | null, detail: string): Promise<void> {
  const { attempts, jobs, log } = job
  const mine = belonging(job, claimed)
  await whileClaimed(job, claimed, {
    hold: mine.hold,
    decide(post, { now }) {
      const along = attempt && alter(attempts, attempt, { finishedAt: now, outcome: 'NOT_SENT', detail })
      const waiting = wait(post, now)
      if (waiting) return { along, changes: { ...noClaim, ...waiting } }
      return { along, changes: fail(post, 'NETWORK_UNAVAILABLE', detail, now), isNews: true }
    },
    audit: failed,
    facts: mine.facts,
    async wake({ after }, { transaction }) {
      crash('in-put-back')
      if (after.waitsUntil) await wakeUp(jobs, after, after.waitsUntil, transaction)
    },
    announce({ after }) {
      job.deliveries.ended(after, after.waitsUntil ? 'postponed' : 'given_up')
      if (after.waitsUntil) log.warn({ postId: after.id, detail, waitsUntil: after.waitsUntil }, 'post not sent; it will be retried')
      announce(job, mine.brand, after)
    },
  })
}

/**
 * Postpones a post until its network's rate limit allows it, if it is still claimed by this worker; it fails when that
 * takes more than an hour.
 */
export async function waitForWindow(job: Job, claimed: PostRow, until: Date): Promise<void> {
  const mine = belonging(job, claimed)
  await whileClaimed(job, claimed, {
    hold: mine.hold,
    decide(post, { now }) {
      const waiting = waitForLimit(post, until, now)
      if (waiting) return { changes: { ...noClaim, ...waiting } }
      return { changes: fail(post, 'RATE_LIMITED', `until ${until.toISOString()}`, now), isNews: true }
    },
    audit: failed,
    facts: mine.facts,
    async wake({ after }, { transaction }) {
      if (after.waitsUntil) await wakeUp(job.jobs, after, after.waitsUntil, transaction)
    },
    announce({ after }) {
      job.deliveries.ended(after, after.waitsUntil ? 'postponed' : 'given_up')
      announce(job, mine.brand, after)
    },
  })
}

/**
 * Postpones a post while the network processes its media, if it is still claimed by this worker. Nothing is wrong, so
 * nobody is notified.
 */
export async function reschedule(job: Job, claimed: PostRow, prepared: NonNullable<PostRow['prepared']>, againInMs: number): Promise<void> {
  const { log } = job
  const done = await whileClaimed(job, claimed, {
    decide: (_, { now }) => ({ changes: { ...noClaim, ...noWait, prepared, prepareAt: new Date(now.getTime() + againInMs) } }),
    async wake({ after }, { transaction }) {
      await wakeUp(job.jobs, after, after.prepareAt!, transaction)
    },
  })
  if (!done) return
  log.info({ postId: claimed.id, since: prepared.since, againInMs }, 'network is still processing a post’s media')
  announceStep(job.events, done.after)
}

/** Time in ms after which storing an outcome is tried again. */
const writeAgainMs = 500

/**
 * Stores the network's answer, with retries while the database is unavailable, for as long as a call's claim: the
 * answer is known nowhere else. A worker that takes the post up meanwhile may store its result first or later, as with
 * any late worker.
 */
export async function retryWrite({ clock, log }: Job, { postId }: Pick<AttemptRow, 'postId'>, write: () => Promise<unknown>): Promise<void> {
  const until = clock.now().getTime() + sendMs
  // A clock may stop or be set back, so attempts are counted as well.
  for (let waited = 0; ; waited += writeAgainMs) {
    try {
      await write()
      return
    } catch (error) {
      if (!mayPass(error) || waited >= sendMs || clock.now().getTime() >= until) throw error
      log.warn({ err: error, postId }, 'network’s answer could not be stored; it will be retried')
      await sleep(writeAgainMs)
    }
  }
}

/** Whether the database may accept a failed write later: always, unless a constraint forbids it. */
const mayPass = (error: unknown): boolean =>
  error instanceof BaseError && !(error instanceof ValidationError) && !(error as { parent?: { code?: string } }).parent?.code?.startsWith('23')

/**
 * Stores the result of an attempt: post, attempt, audit entry and the next post's wake-up in one transaction.
 * Idempotent. The context names the author: delivery itself or a person.
 * @returns the present post; null when there was nothing to conclude
 * @throws UniqueConstraintError when another post has the network's post id already
 */
export async function conclude(job: Job, attempt: AttemptRow, delivery: Ending): Promise<PostRow | null> {
  const { posts, attempts, jobs, log } = job
  if (attempt.postId === null) return null
  const { postId, connectionId, externalAccountId } = attempt
  const platformPostId = delivery.outcome === 'delivered' ? delivery.platformPostId : null
  // The network's own confirmation always counts, also for an attempt that another worker has followed by a new one
  // because the network did not list it. A person's report, and every other outcome, counts only while this attempt is
  // the open one.
  const isHeard = platformPostId !== null && job[writing].actor === 'delivery'
  const mine = belonging(job, { id: postId, brandId: attempt.brandId })
  const network = job.networks.get(attempt.platform)
  const lookup = network ? lookupOf(network, attempt.target) : 'BY_LISTING'
  const settled = await step(job, {
    of: posts,
    hold: mine.hold,
    decide(post, { now }) {
      const isOpen = post.attempts === attempt.number && (post.deliveryPhase === 'SENDING' || post.deliveryPhase === 'UNKNOWN')
      if (post.status === 'PUBLISHED' || !(isOpen || isHeard)) return null
      return {
        along: alter(attempts, attempt, settleAttempt(delivery, now, lookup)),
        changes: { ...settle(post, delivery, now, lookup), connectionId, externalAccountId },
        isNews: true,
      }
    },
    audit: ({ after }) => ({
      tenantId: after.brandId,
      action: `post.${platformPostId === null ? 'failed' : 'published'}`,
      subjectId: after.id,
      details: { attempt: attempt.number, platformPostId, code: after.failureCode },
    }),
    facts: mine.facts,
    async wake({ after }, { now, transaction }) {
      if (platformPostId !== null && after.firstCommentStatus === 'PENDING') await commentSoon(jobs, after, now, transaction)
      const next = platformPostId === null ? null : await posts.successor(after, transaction)
      await posts.release(next, transaction)
      if (next?.status === 'SCHEDULED' && next.scheduledAt) await wakeUp(jobs, next, next.scheduledAt, transaction)
      crash('in-conclusion')
    },
    announce({ after }) {
      crash('after-conclusion')
      job.deliveries.ended(after, delivery.outcome === 'delivered' ? 'published' : delivery.outcome)
      if (isHeard) job.deliveries.published(after)
      announce(job, mine.brand, after)
    },
  })
  if (!settled && isHeard) log.warn({ postId, attempt: attempt.number, platformPostId }, 'network published a post that a person had marked as not published')
  return settled?.after ?? null
}

/** Publishes events about a post whose result was stored. */
export function announce({ events }: Job, brand: BrandRow | null, post: PostRow): void {
  if (brand) announcePost(events, brand, post)
}
