import { newId } from '../../../platform/ids.ts'
import { OutboundFailure } from '../../../platform/outbound/failure.ts'
import { alter, step } from '../../store/write.ts'
import { tokenSoon } from '../connection/tokens.ts'
import type { Job } from '../context.ts'
import { mediaOf } from '../media/deliverable.ts'
import { GrantFailure } from '../network/network.ts'
import type { Lookup, Unsent } from '../network/publication.ts'
import type { AttemptRow, PostKey } from '../stores/attempt.ts'
import { sendMs } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { whileClaimed } from './claimed.ts'
import { conclude, retryWrite } from './conclude.ts'
import { concludeCall, type Sending, send } from './deliver.ts'
import { ask, concludeFound } from './reconcile.ts'
import { absentAfterMs, type Ending, isFree, isLate, lookupOf, wait } from './rules.ts'

/**
 * Takes up a post whose call was interrupted by a crash: the network is asked whether it has the post.
 *
 * If it has the post, the post is published. If it cannot be asked, the post waits and the network is asked again, for
 * an hour; then, or when only a person could make it answer, the outcome is unknown. If it does not list the post, the
 * call is repeated with the same text, at once where the network rejects duplicates, else after two minutes. All the
 * while the post stays in phase SENDING, so nobody can edit, delete or revert what the network may have.
 */
export async function takeUp(job: Job, key: PostKey): Promise<void> {
  const { posts, attempts, clock } = job
  const taken = await step(job, {
    of: posts,
    hold: transaction => attempts.lockIfFree(key, transaction),
    async decide(post, { now, transaction }) {
      if (post.deliveryPhase !== 'SENDING' || !isFree(post, now)) return null
      const attempt = await attempts.lastAttempt(post, transaction)
      return attempt && { along: async () => attempt, changes: { claimId: newId(now), claimUntil: new Date(now.getTime() + sendMs) } }
    },
  })
  if (!taken?.along) return
  const { after: post, along: attempt } = taken
  job.log.warn({ postId: post.id, attempt: attempt.number }, 'delivery was interrupted: asking the network for its outcome')
  const network = job.networks.get(post.platform)
  if (network && lookupOf(network, attempt.target) === 'NONE')
    return void (await conclude(job, attempt, { outcome: 'unknown', detail: 'the call was interrupted' }))
  let lookup: Lookup
  try {
    lookup = await ask(job, post, attempt)
  } catch (error) {
    job.log.warn({ err: error, postId: post.id }, 'network could not tell the outcome of an interrupted call')
    if (!isForGood(error) && (await waits(job, post))) return
    await conclude(job, attempt, { outcome: 'unknown', detail: `the call was interrupted, and ${inWords(error)}` })
    return
  }
  if (lookup.found) return concludeFound(job, attempt, lookup)
  const age = clock.now().getTime() - attempt.startedAt.getTime()
  // A post that is not listed may still exist: the claim expires, and the next sweep asks again.
  if (!network?.refusesDuplicates && age < absentAfterMs) return
  const again = await beginAgain(job, post, attempt)
  if (!again) return
  const ending = await callAgain(job, again)
  if (ending.outcome !== 'unsent') return retryWrite(job, again.attempt, () => concludeCall(job, again.attempt, ending))
  if (await waits(job, again.post, again)) return
  await conclude(job, again.attempt, { outcome: 'unknown', detail: `the call was interrupted, and ${ending.detail}` })
}

/** Whether only a person can make the network answer. */
const isForGood = (error: unknown): boolean => error instanceof GrantFailure && error.permanent

/**
 * Leaves an interrupted post to the next round, after this claim.
 * @param unsent the attempt recorded for a second call, if that was certainly not made
 * @returns whether it waits; false after an hour
 */
async function waits(job: Job, taken: PostRow, unsent?: Sending): Promise<boolean> {
  let isOver = false
  await whileClaimed(job, taken, {
    decide(post, { now }) {
      const waiting = wait(post, now)
      isOver = !waiting
      const along = unsent && alter(job.attempts, unsent.attempt, { finishedAt: now, outcome: 'NOT_SENT' })
      return waiting && { along, changes: { ...waiting, waitsUntil: post.claimUntil } }
    },
  })
  return !isOver
}

/** Records the next attempt with the same text, place and prepared media. */
async function beginAgain(job: Job, taken: PostRow, last: AttemptRow): Promise<Sending | null> {
  const { attempts } = job
  const { connectionId, externalAccountId, copy, inReplyTo, target, handle, content } = last
  const begun = await whileClaimed(job, taken, {
    decide(post, { now }) {
      const interrupted = { finishedAt: now, outcome: 'NOT_DELIVERED', detail: 'interrupted, and not listed by the network' } as const
      return {
        async along(unit) {
          if (last.outcome === null) await alter(attempts, last, interrupted)(unit)
          return attempts.begin({ post, connectionId, externalAccountId, copy, inReplyTo, target, handle, content }, unit)
        },
        changes: ({ number }: AttemptRow) => ({ attempts: number, claimUntil: new Date(now.getTime() + sendMs) }),
      }
    },
    audit: ({ after }) => ({ tenantId: after.brandId, action: 'post.taken-up', subjectId: after.id, details: { attempt: after.attempts } }),
  })
  return begun?.along ? { post: begun.after, attempt: begun.along } : null
}

/** Repeats the call. A rejection now says nothing about the earlier call, so the outcome stays open. */
async function callAgain(job: Job, { post, attempt }: Sending): Promise<Ending | Unsent> {
  const network = job.networks.get(post.platform)
  const connection = await job.connections.find(attempt.connectionId)
  if (!network || !connection?.active) return { outcome: 'unknown', detail: 'the call was interrupted, and the connection does not exist any more' }
  try {
    const accessToken = await tokenSoon(job, network, connection)
    const found = post.media.length > 0 ? await mediaOf(job, post, post.platform) : { media: [] }
    if ('failed' in found) return { outcome: 'unknown', detail: `the call was interrupted, and ${found.failed}` }
    if (isLate(attempt, job.clock.now())) return { outcome: 'unsent', detail: 'could not be made again in its time' }
    const delivery = await send(job, post, attempt, { network, connection, accessToken, media: found.media })
    if (delivery.outcome !== 'refused') return delivery
    return { outcome: 'unknown', refusal: delivery.code, detail: `the call was interrupted, and the next one refused: ${delivery.detail}` }
  } catch (error) {
    return { outcome: isForGood(error) ? 'unknown' : 'unsent', detail: `the call was interrupted, and ${inWords(error)}` }
  }
}

/** Returns an error's message for people: our own messages are written for them, others are replaced. */
const inWords = (error: unknown): string =>
  error instanceof GrantFailure || error instanceof OutboundFailure ? error.message : 'the network could not be asked'
