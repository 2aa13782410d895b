import { UniqueConstraintError } from 'sequelize'
import { crash } from '../../../platform/crash.ts'
import { newId } from '../../../platform/ids.ts'
import { step } from '../../store/write.ts'
import { keepGone } from '../connection/gone.ts'
import { tokenSoon } from '../connection/tokens.ts'
import type { Job } from '../context.ts'
import { organizationOf } from '../network/account/organization.ts'
import { GrantFailure } from '../network/network.ts'
import type { Delivery, Medium, Publication } from '../network/publication.ts'
import { announceStep } from '../news/announce.ts'
import type { AttemptRow, PostKey } from '../stores/attempt.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import { sendMs } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { held, prolong, whileClaimed } from './claimed.ts'
import { conclude, failPost, releaseForRetry, reschedule, retryWrite, waitForWindow } from './conclude.ts'
import { heard } from './heard.ts'
import { type Prepared, placeTokenOf, prepare } from './prepare.ts'
import { sendAfter } from './renewal.ts'
import { claimMs, doubtSince, dueAt, type Ending, isDue, isFree, isLate, noClaim } from './rules.ts'

/**
 * Delivers a post whose time has come, once: claim, prepare, record the attempt, call, conclude.
 *
 * It may be called at any time, by several workers, again after a crash. Each step reads the row under its lock, so an
 * edit, a new time or a revert takes precedence over what was queued before. Once the attempt is recorded, the post is
 * not sent again before the network was asked for the outcome.
 * @returns when to try again, for a post that is not due by this process's clock
 */
export async function deliver(job: Job, key: PostKey): Promise<Date | null> {
  const { claimed, again } = await claim(job, key)
  if (claimed) await sendClaimed(job, claimed)
  return again
}

async function sendClaimed(job: Job, claimed: PostRow): Promise<void> {
  crash('after-claim')
  announceStep(job.events, claimed)
  const prepared = await prepare(job, claimed)
  if ('renewal' in prepared) return sendAfter(job, claimed, prepared.renewal)
  if ('shutUntil' in prepared) return waitForWindow(job, claimed, prepared.shutUntil)
  if ('processing' in prepared) return reschedule(job, claimed, prepared.processing, prepared.againInMs)
  if ('waits' in prepared) return releaseForRetry(job, claimed, null, prepared.waits)
  if ('failed' in prepared) return failPost(job, claimed, prepared.failed, prepared.detail)
  const begun = await begin(job, claimed, prepared)
  if (!begun) return announceStep(job.events, claimed)
  crash('after-attempt-row')
  announceStep(job.events, begun.post)
  if (isLate(begun.attempt, job.clock.now())) return releaseForRetry(job, begun.post, begun.attempt, 'the call could not be made in its time')
  const answered = await send(job, begun.post, begun.attempt, prepared)
  if (answered.outcome === 'unsent') return retryWrite(job, begun.attempt, () => releaseForRetry(job, begun.post, begun.attempt, answered.detail))
  crash('after-call')
  await retryWrite(job, begun.attempt, () => concludeCall(job, begun.attempt, answered))
}

/** Claims the post, if it is due and not claimed; or returns when it will be due, if only its time has not come. */
async function claim(job: Job, key: PostKey): Promise<{ claimed: PostRow | null; again: Date | null }> {
  const { posts, attempts } = job
  let again = null as Date | null
  const taken = await step(job, {
    of: posts,
    hold: transaction => attempts.lockIfFree(key, transaction),
    async decide(post, { now, transaction }) {
      if (post.brandStopped || post.deliveryPhase === 'SENDING' || post.deliveryPhase === 'UNKNOWN' || !isFree(post, now)) return null
      const predecessor = post.position > 1 ? await posts.predecessor(post.id, transaction) : null
      if (isDue(post, predecessor, now))
        return { changes: { deliveryPhase: 'CLAIMED' as const, claimId: newId(now), claimUntil: new Date(now.getTime() + claimMs) } }
      const due = dueAt(post, now)
      again = due && due > now ? due : null
      return null
    },
  })
  return { claimed: taken?.after ?? null, again }
}

/** Records the attempt, with the present text; after this the call counts as made. */
async function begin(job: Job, claimed: PostRow, { connection, target, media, inReplyTo, handle }: Prepared): Promise<Sending | null> {
  const { posts, attempts } = job
  const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
  const begun = await whileClaimed(job, claimed, {
    async decide(post, { now, transaction }) {
      const predecessor = post.position > 1 ? await posts.predecessor(post.id, transaction) : null
      if (!isDue(post, predecessor, now) || (await attempts.isStopped({ ...account, brandId: post.brandId }, transaction))) return { changes: noClaim }
      const { copy, title, link, visibility } = post
      const sent = { ...account, post, copy, target, inReplyTo, handle, content: { title, link, visibility, mediaIds: media.map(({ assetId }) => assetId) } }
      return {
        along: unit => attempts.begin(sent, unit),
        changes: ({ number }: AttemptRow) => ({
          ...account,
          deliveryPhase: 'SENDING' as const,
          attempts: number,
          claimUntil: new Date(now.getTime() + sendMs),
        }),
      }
    },
  })
  return begun?.along ? { post: begun.after, attempt: begun.along } : null
}

/** A post whose call is in progress, with the attempt that records what is sent. */
export interface Sending {
  readonly post: PostRow
  readonly attempt: AttemptRow
}

/**
 * Returns the publication of an attempt, as recorded. The post's other fields cannot change while its outcome is open;
 * attempts of earlier versions take the place from the post.
 */
export function publicationOf(
  job: Job,
  { tags, target: named }: PostRow,
  { copy, inReplyTo, target: recorded, handle, content: { title, link, visibility } }: AttemptRow,
  connection: ConnectionRow,
  media: readonly Medium[] = [],
): Omit<Publication, 'accessToken' | 'organizationId'> {
  const account = { externalId: connection.externalAccountId, name: connection.accountName }
  const target = recorded ?? named
  return { placeToken: placeTokenOf(job, connection, target), account, copy, title, link, visibility, tags, target, media, inReplyTo, handle }
}

/**
 * Makes the call, and stores the network's rate limit. A rejected token is renewed once, because a rejected call has
 * published nothing.
 */
export async function send(job: Job, post: PostRow, attempt: AttemptRow, prepared: Callable): Promise<Delivery> {
  const answered = heard(await held(job, post, sendMs, () => call(job, post, attempt, prepared)))
  if ('limit' in answered && answered.limit)
    await job.connections
      .keepLimit(prepared.connection, answered.limit, job.clock.now())
      .catch(error => job.log.warn({ err: error, postId: post.id }, 'network’s rate limit could not be stored'))
  // An error about a comment may concern the post it belongs to.
  if (answered.outcome === 'refused' && answered.code === 'TARGET_UNAVAILABLE' && attempt.inReplyTo === null)
    await keepGone(job, prepared.connection, attempt.target ?? post.target, answered.detail).catch(error =>
      job.log.warn({ err: error, postId: post.id }, 'target that accepts no posts could not be marked'),
    )
  return answered
}

/** Parameters of a call. */
export type Callable = Pick<Prepared, 'network' | 'connection' | 'accessToken' | 'media'>

async function call(job: Job, post: PostRow, attempt: AttemptRow, { network, connection, accessToken, media }: Callable): Promise<Delivery> {
  const publication = publicationOf(job, post, attempt, connection, media)
  const organizationId = await organizationOf(job, post.brandId, post.platform)
  const first = await network.publish({ ...publication, organizationId, accessToken })
  if (first.outcome !== 'refused' || first.code !== 'ACCESS_EXPIRED') return first
  try {
    await extend(job, post)
    const renewed = await tokenSoon(job, network, connection, accessToken)
    await extend(job, post)
    return await network.publish({ ...publication, organizationId, accessToken: renewed })
  } catch (error) {
    if (!(error instanceof GrantFailure)) throw error
    return error.permanent ? { outcome: 'refused', code: 'ACCESS_EXPIRED', detail: error.message } : { outcome: 'unsent', detail: error.message }
  }
}

/**
 * Treats "duplicate" as an unknown outcome when an earlier call may have published this text for the account, by
 * whichever post or brand: the network is asked before a person is told to change the text, which would publish it
 * twice.
 */
async function doubted({ attempts }: Job, attempt: AttemptRow, answered: Ending): Promise<Ending> {
  if (answered.outcome !== 'refused' || answered.code !== 'DUPLICATE_CONTENT') return answered
  const earlier = await attempts.doubtful(attempt, doubtSince(attempt))
  if (!earlier.length) return answered
  return { outcome: 'unknown', refusal: answered.code, detail: 'it has the text already, perhaps from an earlier attempt' }
}

/**
 * Concludes an attempt by the network's answer. If another post has the returned id, assigned by a person or from a
 * list, it is unknown which of the two it belongs to.
 */
export async function concludeCall(job: Job, attempt: AttemptRow, answered: Ending): Promise<void> {
  const ending = await doubted(job, attempt, answered)
  try {
    await conclude(job, attempt, ending)
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error
    job.log.error({ err: error, postId: attempt.postId }, 'network returned the id of a post that is already linked to another one')
    await conclude(job, attempt, { outcome: 'unknown', detail: 'network returned the id of a post that is already linked to another one' })
  }
}

/** Keeps other workers from asking the network while this one renews its token and calls again. */
async function extend(job: Job, sent: PostRow): Promise<void> {
  if (!(await prolong(job, sent, sendMs))) throw new GrantFailure('another worker has taken the post over', false)
}
