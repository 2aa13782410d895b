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

/** A post that failed, in the record. */
const failed = ({ after }: { readonly after: PostRow }) =>
  after.status === 'FAILED' ? { tenantId: after.brandId, action: 'post.failed', subjectId: after.id, details: { code: after.failureCode } } : null

/** A post and its brand, as a step of delivery holds them. */
export interface Belonging {
  /** The locked brand; null before it is locked, and if it was deleted. */
  readonly brand: BrandRow | null
  /** Holds the brand and then the post, as people do who change one: nobody moves the brand elsewhere before what is told of the post is written. */
  readonly hold: (transaction: Transaction) => Promise<PostRow | null>
  /** What other services are told of a step of the post. */
  readonly tell: (step: { readonly before: PostRow; readonly after: PostRow }) => readonly NewFact[]
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
    tell: ({ before, after }) => (brand ? factsOf(before, after, { organizationId: brand.organizationId, publicUrl }) : []),
  }
}

/** Ends an attempt before it began: the post fails, if it is still this worker's. */
export async function failPost(job: Job, claimed: PostRow, code: FailureCode, detail: string): Promise<void> {
  const mine = belonging(job, claimed)
  await whileClaimed(job, claimed, {
    hold: mine.hold,
    decide: (post, { now }) => ({ changes: fail(post, code, detail, now), isNews: true }),
    audit: failed,
    tell: mine.tell,
    announce({ after }) {
      job.deliveries.ended(after, 'given_up')
      announce(job, mine.brand, after)
    },
  })
}

/**
 * Puts a post back whose call was surely not made, if it is still this worker's: it waits, is tried again, and fails when the
 * network could not be reached for an hour.
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
    tell: mine.tell,
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

/** Leaves a post until its network's limit is open again, if it is still this worker's; it fails when that takes more than an hour. */
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
    tell: mine.tell,
    async wake({ after }, { transaction }) {
      if (after.waitsUntil) await wakeUp(job.jobs, after, after.waitsUntil, transaction)
    },
    announce({ after }) {
      job.deliveries.ended(after, after.waitsUntil ? 'postponed' : 'given_up')
      announce(job, mine.brand, after)
    },
  })
}

/** Leaves a post to the network, which works on what it needs, if it is still this worker's: nothing is wrong, so nobody is told that it waits. */
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

/** How long after it failed an outcome is written again, in ms. */
const writeAgainMs = 500

/**
 * Writes what the network answered, again and again while the database is away, for as long as a call's lease: the answer is known
 * nowhere else. Whoever takes the post up meanwhile is heard first or later, as with any worker that is late.
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

/** Whether the database may take later what it did not take now: everything but what its constraints forbid. */
const mayPass = (error: unknown): boolean =>
  error instanceof BaseError && !(error instanceof ValidationError) && !(error as { parent?: { code?: string } }).parent?.code?.startsWith('23')

/**
 * Writes what became of an attempt: the post, the attempt, the audit and the next post's wake-up in one transaction.
 * Concluding twice changes nothing.
 * Whoever found out, delivery itself or a person, is named by the context.
 * @returns the post as it is now; null when there was nothing to conclude
 * @throws UniqueConstraintError when the account's id of the post is another post's already
 */
export async function conclude(job: Job, attempt: AttemptRow, delivery: Ending): Promise<PostRow | null> {
  const { posts, attempts, jobs, log } = job
  if (attempt.postId === null) return null
  const { postId, connectionId, externalAccountId } = attempt
  const platformPostId = delivery.outcome === 'delivered' ? delivery.platformPostId : null
  // The network's own "delivered" is always heard, also of an attempt that another worker, seeing nothing there, has followed
  // by a next one; a person's word, and every other outcome, counts only while this attempt is the one that is open.
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
    tell: mine.tell,
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

/** Tells screens about a post whose outcome was written. */
export function announce({ events }: Job, brand: BrandRow | null, post: PostRow): void {
  if (brand) announcePost(events, brand, post)
}
