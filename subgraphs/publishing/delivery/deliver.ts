import { crash } from '../../../platform/crash.ts'
import { newId } from '../../../platform/ids.ts'
import { announcePost } from '../announce.ts'
import { chooseConnection } from '../connection/rules.ts'
import type { ConnectionRow } from '../connection/table.ts'
import { usableToken } from '../connection/tokens.ts'
import { type Delivery, GrantFailure, type Network } from '../network/network.ts'
import type { PostRow } from '../post/table.ts'
import { deliverQueue, type Room } from '../room.ts'
import { claimMs, type FailureCode, failure, isDue, isFree, isLate, noClaim, repliesTo, sendMs, settle } from './rules.ts'
import type { PostKey } from './store.ts'
import type { AttemptRow } from './table.ts'

/**
 * Delivers a post whose time has come, once: claim, prepare, record the attempt, call, conclude.
 *
 * It may be called at any time, by several workers, again after a crash. Each step reads the row afresh under its lock,
 * so an edit, a new time or a revert beats whatever was queued before; once the attempt is recorded nobody sends the
 * post again before the network was asked what became of it.
 */
export async function deliver(room: Room, key: PostKey): Promise<void> {
  const claimed = await claim(room, key)
  if (!claimed) return
  crash('after-claim')
  const prepared = await prepare(room, claimed)
  if ('failed' in prepared) return giveUp(room, claimed, prepared.failed, prepared.detail)
  const begun = await begin(room, claimed, prepared.connection)
  if (!begun) return
  crash('after-attempt-row')
  if (isLate(begun.attempt, room.clock.now())) return putBack(room, begun)
  const answered = await send(room, begun.post, begun.attempt, prepared)
  crash('after-call')
  const delivery = await doubted(room, begun.attempt, answered)
  await conclude(room, begun.attempt, delivery)
}

/** Takes the post, if it is due and nobody has it. */
async function claim({ sequelize, posts, deliveries, clock }: Room, key: PostKey): Promise<PostRow | null> {
  return sequelize.transaction(async transaction => {
    const post = await deliveries.lockIfFree(key, transaction)
    if (!post || post.deliveryPhase === 'SENDING' || post.deliveryPhase === 'UNKNOWN' || !isFree(post, clock.now())) return null
    const [predecessor = null] = await posts.predecessors([post.id], transaction)
    const now = clock.now()
    if (!isDue(post, predecessor, now)) return null
    return posts.update(post, { deliveryPhase: 'CLAIMED', claimId: newId(now), claimUntil: new Date(now.getTime() + claimMs) }, transaction)
  })
}

export interface Prepared {
  readonly network: Network
  readonly connection: ConnectionRow
  readonly accessToken: string
}

/** Finds the connection and a token that works: everything that may fail before anything is sent. */
async function prepare(room: Room, post: PostRow): Promise<Prepared | { failed: FailureCode; detail: string }> {
  const network = room.networks.get(post.platform)
  const connection = chooseConnection(await room.connections.byBrands([post.brandId]), post.platform, post.authorId)
  if (!network || !connection) return { failed: 'NO_CONNECTION', detail: '' }
  try {
    return { network, connection, accessToken: await usableToken(room, network, connection) }
  } catch (error) {
    if (!(error instanceof GrantFailure)) throw error
    return { failed: error.permanent ? 'CONNECTION_EXPIRED' : 'NETWORK_UNAVAILABLE', detail: error.message }
  }
}

/** Ends an attempt before it began: the post fails, if it is still this worker's. */
async function giveUp(room: Room, claimed: PostRow, code: FailureCode, detail: string): Promise<void> {
  const { sequelize, posts, clock, audit } = room
  const failed = await sequelize.transaction(async transaction => {
    const post = await posts.lock(claimed.brandId, claimed.id, transaction)
    if (!post || post.claimId !== claimed.claimId) return null
    const now = clock.now()
    const changes = {
      ...noClaim,
      ...failure(code, post.platform, detail, now),
      status: 'FAILED' as const,
      attempts: post.attempts + 1,
      updatedAt: now,
      version: post.version + 1,
    }
    await audit(transaction, { brandId: post.brandId, actor: 'delivery', action: 'post.failed', subjectId: post.id, at: now, details: { code } })
    return posts.update(post, changes, transaction)
  })
  if (failed) await announce(room, failed)
}

/** Records the attempt, with the text as it stands at this moment; after this the call counts as made. */
async function begin(
  { sequelize, posts, deliveries, clock }: Room,
  claimed: PostRow,
  connection: ConnectionRow,
): Promise<{ post: PostRow; attempt: AttemptRow } | null> {
  return sequelize.transaction(async transaction => {
    const post = await posts.lock(claimed.brandId, claimed.id, transaction)
    if (!post || post.claimId !== claimed.claimId) return null
    const [predecessor = null] = await posts.predecessors([post.id], transaction)
    const now = clock.now()
    if (!isDue(post, predecessor, now)) {
      await posts.update(post, noClaim, transaction)
      return null
    }
    const attempt = await deliveries.begin({ post, connectionId: connection.id, copy: post.copy, inReplyTo: repliesTo(post, predecessor) }, now, transaction)
    const sending = { deliveryPhase: 'SENDING' as const, attempts: attempt.number, connectionId: connection.id, claimUntil: new Date(now.getTime() + sendMs) }
    return { post: await posts.update(post, sending, transaction), attempt }
  })
}

/** Ends an attempt whose call was not made, because this process stood still: the post goes back to the queue. */
async function putBack(room: Room, { post, attempt }: { post: PostRow; attempt: AttemptRow }): Promise<void> {
  const { sequelize, posts, deliveries, clock, jobs } = room
  await sequelize.transaction(async transaction => {
    const present = await posts.lock(post.brandId, post.id, transaction)
    if (present?.claimId !== post.claimId || present?.deliveryPhase !== 'SENDING') return
    const now = clock.now()
    await deliveries.conclude(attempt, { finishedAt: now, outcome: 'REFUSED', detail: 'the call was not made in its time', updatedAt: now }, transaction)
    await posts.update(present, noClaim, transaction)
    await jobs.enqueue(deliverQueue, { brandId: post.brandId, postId: post.id }, { transaction })
  })
}

/** Makes the call. A token that the network refuses is renewed once: a refused call has published nothing. */
export async function send(room: Room, post: PostRow, attempt: AttemptRow, { network, connection, accessToken }: Prepared): Promise<Delivery> {
  const publication = { account: { externalId: connection.externalAccountId, name: connection.accountName }, copy: attempt.copy, inReplyTo: attempt.inReplyTo }
  const first = await network.publish({ ...publication, accessToken })
  if (first.outcome !== 'refused' || first.code !== 'ACCESS_EXPIRED') return first
  try {
    await extend(room, post)
    const renewed = await usableToken(room, network, connection, accessToken)
    await extend(room, post)
    return await network.publish({ ...publication, accessToken: renewed })
  } catch (error) {
    if (!(error instanceof GrantFailure)) throw error
    return { outcome: 'refused', code: error.permanent ? 'ACCESS_EXPIRED' : 'NETWORK_UNAVAILABLE', detail: error.message }
  }
}

/** "Duplicate" after an attempt that seemed to have failed is news of that attempt: the network is asked once more. */
async function doubted({ deliveries }: Room, attempt: AttemptRow, answered: Delivery): Promise<Delivery> {
  if (answered.outcome !== 'refused' || answered.code !== 'DUPLICATE_CONTENT') return answered
  const [earlier] = await deliveries.doubtfulBefore(attempt)
  return earlier ? { outcome: 'unknown', detail: `it has the text already, perhaps from attempt ${earlier.number}` } : answered
}

/** Keeps others from asking the network while this worker renews its token and calls again. */
async function extend({ posts, sequelize, clock }: Room, post: PostRow): Promise<void> {
  await sequelize.transaction(async transaction => {
    const present = await posts.lock(post.brandId, post.id, transaction)
    if (present?.claimId !== post.claimId || present?.deliveryPhase !== 'SENDING') throw new GrantFailure('another worker has taken the post over', false)
    await posts.update(present, { claimUntil: new Date(clock.now().getTime() + sendMs) }, transaction)
  })
}

const outcomeOf = { delivered: 'DELIVERED', refused: 'REFUSED', unknown: 'UNKNOWN' } as const

/**
 * Writes what became of an attempt: the post, the attempt, the audit and the next post's wake-up in one transaction.
 * Concluding twice changes nothing.
 * @param actor who found out: delivery itself, or a person
 * @returns the post as it is now; null when there was nothing to conclude
 */
export async function conclude(room: Room, attempt: AttemptRow, delivery: Delivery, actor = 'delivery'): Promise<PostRow | null> {
  const { sequelize, posts, deliveries, clock, audit, jobs, log } = room
  const settled = await sequelize.transaction(async transaction => {
    const post = await posts.lock(attempt.brandId, attempt.postId, transaction)
    // The network's own "delivered" is always heard, also of an attempt that another worker, seeing nothing there, has followed
    // by a next one; a person's word, and every other outcome, counts only while this attempt is the one that is open.
    const isHeard = delivery.outcome === 'delivered' && actor === 'delivery'
    const isOpen = post?.attempts === attempt.number && (post.deliveryPhase === 'SENDING' || post.deliveryPhase === 'UNKNOWN')
    if (isHeard && (post?.status === 'PUBLISHED' || !post))
      log.warn(
        { postId: attempt.postId, attempt: attempt.number, platformPostId: delivery.platformPostId },
        'the network published a post whose outcome was settled otherwise',
      )
    if (!post || post.status === 'PUBLISHED' || !(isOpen || isHeard)) return null
    const now = clock.now()
    const { outcome } = delivery
    const platformPostId = outcome === 'delivered' ? delivery.platformPostId : null
    const detail = outcome === 'delivered' ? null : delivery.detail
    await deliveries.conclude(
      attempt,
      {
        finishedAt: now,
        outcome: outcomeOf[outcome],
        platformPostId,
        detail,
        reconcileAt: outcome === 'unknown' ? new Date(now.getTime() + 1000) : null,
        updatedAt: now,
      },
      transaction,
    )
    const row = await posts.update(post, settle(post, delivery, now), transaction)
    await audit(transaction, {
      brandId: row.brandId,
      actor,
      action: `post.${outcome === 'delivered' ? 'published' : 'failed'}`,
      subjectId: row.id,
      at: now,
      details: { attempt: attempt.number, platformPostId, code: row.failureCode },
    })
    const next = outcome === 'delivered' ? await posts.successor(row, transaction) : null
    await posts.release(next, transaction)
    if (next?.status === 'SCHEDULED' && next.scheduledAt)
      await jobs.enqueue(deliverQueue, { brandId: next.brandId, postId: next.id }, { transaction, startAfter: next.scheduledAt })
    crash('in-conclusion')
    return row
  })
  crash('after-conclusion')
  if (settled) await announce(room, settled)
  return settled
}

/** Tells screens about a post whose outcome was written. */
export async function announce({ brands, events }: Room, post: PostRow): Promise<void> {
  const [brand] = await brands.byIds([post.brandId])
  if (brand) announcePost(events, brand, post, 'status')
}
