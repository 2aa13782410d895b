import { newId } from '../../../platform/ids.ts'
import { OutboundFailure } from '../../../platform/outbound.ts'
import { inTransaction, record } from '../../store/write.ts'
import { tokenSoon } from '../connection/tokens.ts'
import type { Job } from '../context.ts'
import { GrantFailure, type Lookup, type Unsent } from '../network/network.ts'
import type { AttemptRow, PostKey } from '../stores/attempt.ts'
import { sendMs } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { conclude, insist } from './conclude.ts'
import { concludeCall, send } from './deliver.ts'
import { ask, concludeFound } from './reconcile.ts'
import { absentAfterMs, type Ending, isFree, isLate, wait } from './rules.ts'

/**
 * Takes up a post whose call was interrupted by a crash: the network is asked whether it has the post.
 *
 * It has: published. It cannot be asked: that is no "not there", so the post waits and the network is asked again, for an hour;
 * then, or when only a person could make it answer, the outcome is unknown. It does not list it: the call is made again, with the
 * same text, at once where the network refuses duplicates, else when it has not listed it for two minutes. All the while the post
 * stays in phase SENDING, so nobody can edit, delete or revert what the network may have.
 */
export async function takeUp(job: Job, key: PostKey): Promise<void> {
  const { posts, attempts, clock } = job
  const taken = await inTransaction(job, async ({ transaction }) => {
    const post = await attempts.lockIfFree(key, transaction)
    if (post?.deliveryPhase !== 'SENDING' || !isFree(post, clock.now())) return null
    const attempt = await attempts.lastAttempt(post, transaction)
    const claim = { claimId: newId(clock.now()), claimUntil: new Date(clock.now().getTime() + sendMs) }
    return attempt && { post: await posts.update(post, claim, transaction), attempt }
  })
  if (!taken) return
  const { post, attempt } = taken
  job.log.warn({ postId: post.id, attempt: attempt.number }, 'a delivery was interrupted: asking the network what became of it')
  let lookup: Lookup
  try {
    lookup = await ask(job, post, attempt)
  } catch (error) {
    job.log.warn({ err: error, postId: post.id }, 'the network could not say what became of an interrupted call')
    if (!isForGood(error) && (await waits(job, post))) return
    await conclude(job, attempt, { outcome: 'unknown', detail: `the call was interrupted, and ${inWords(error)}` })
    return
  }
  if (lookup.found) return concludeFound(job, attempt, lookup)
  const age = clock.now().getTime() - attempt.startedAt.getTime()
  // Not listed is not absent: the claim ends by itself, and the next sweep asks again.
  if (!job.networks.get(post.platform)?.refusesDuplicates && age < absentAfterMs) return
  const again = await beginAgain(job, post, attempt)
  if (!again) return
  const ending = await callAgain(job, again)
  if (ending.outcome !== 'unsent') return insist(job, again.attempt, () => concludeCall(job, again.attempt, ending))
  if (await waits(job, again.post, again)) return
  await conclude(job, again.attempt, { outcome: 'unknown', detail: `the call was interrupted, and ${ending.detail}` })
}

/** Only a person can make the network answer. */
const isForGood = (error: unknown): boolean => error instanceof GrantFailure && error.permanent

/**
 * Leaves an interrupted post to the next round, which comes when this claim is over.
 * @param unsent the attempt that was recorded for a second call, when that was surely not made
 * @returns whether it waits; not when it has been an hour
 */
async function waits(job: Job, post: PostRow, unsent?: Again): Promise<boolean> {
  const { posts, attempts, clock } = job
  return inTransaction(job, async ({ transaction }) => {
    const present = await posts.lock(post.id, transaction)
    if (present?.claimId !== post.claimId || present?.deliveryPhase !== 'SENDING') return true
    const now = clock.now()
    const waiting = wait(present, now)
    if (!waiting) return false
    if (unsent) await attempts.conclude(unsent.attempt, { finishedAt: now, outcome: 'NOT_SENT', updatedAt: now }, transaction)
    await posts.update(present, { ...waiting, waitsUntil: present.claimUntil }, transaction)
    return true
  })
}

interface Again {
  readonly post: PostRow
  readonly attempt: AttemptRow
}

/** Records the next attempt, the same in text and place. */
async function beginAgain(job: Job, post: PostRow, last: AttemptRow): Promise<Again | null> {
  const { posts, attempts, clock } = job
  return inTransaction(job, async ({ transaction }) => {
    const present = await posts.lock(post.id, transaction)
    if (present?.claimId !== post.claimId || present?.deliveryPhase !== 'SENDING') return null
    const now = clock.now()
    if (last.outcome === null)
      await attempts.conclude(
        last,
        { finishedAt: now, outcome: 'NOT_DELIVERED', detail: 'interrupted, and not listed by the network', updatedAt: now },
        transaction,
      )
    const { connectionId, externalAccountId, copy, inReplyTo } = last
    const attempt = await attempts.begin({ post: present, connectionId, externalAccountId, copy, inReplyTo }, now, transaction)
    await record(
      job,
      {
        tenantId: post.brandId,
        action: 'post.taken-up',
        subjectId: post.id,
        details: { attempt: attempt.number },
      },
      { transaction, now },
    )
    return { post: await posts.update(present, { attempts: attempt.number, claimUntil: new Date(now.getTime() + sendMs) }, transaction), attempt }
  })
}

/** Makes the call again. Whatever the network refuses now says nothing of the call before, so a refusal leaves the outcome open. */
async function callAgain(job: Job, { post, attempt }: Again): Promise<Ending | Unsent> {
  const network = job.networks.get(post.platform)
  const connection = await job.connections.find(attempt.connectionId)
  if (!network || !connection?.active) return { outcome: 'unknown', detail: 'the call was interrupted, and the connection is not there any more' }
  try {
    const accessToken = await tokenSoon(job, network, connection)
    if (isLate(attempt, job.clock.now())) return { outcome: 'unsent', detail: 'could not be made again in its time' }
    const delivery = await send(job, post, attempt, { network, connection, accessToken })
    if (delivery.outcome !== 'refused') return delivery
    return { outcome: 'unknown', refusal: delivery.code, detail: `the call was interrupted, and the next one refused: ${delivery.detail}` }
  } catch (error) {
    return { outcome: isForGood(error) ? 'unknown' : 'unsent', detail: `the call was interrupted, and ${inWords(error)}` }
  }
}

/** What people may read of an error: ours are written for them, others may hold anything. */
const inWords = (error: unknown): string =>
  error instanceof GrantFailure || error instanceof OutboundFailure ? error.message : 'the network could not be asked'
