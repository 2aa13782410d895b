import { usableToken } from '../connection/tokens.ts'
import { AccessExpired, type Lookup } from '../network/network.ts'
import type { PostRow } from '../post/table.ts'
import type { Room } from '../room.ts'
import { announce, conclude } from './deliver.ts'
import { absentAfterMs, askAgainAfterMs, failure, noClaim, reconcileForMs } from './rules.ts'
import type { PostKey } from './store.ts'
import type { AttemptRow } from './table.ts'

/** Asks the network about a post of unknown outcome, and concludes when the answer tells; else says when to ask again. */
export async function reconcile(room: Room, key: PostKey): Promise<void> {
  const { sequelize, deliveries, clock } = room
  const taken = await sequelize.transaction(async transaction => {
    const post = await deliveries.lockIfFree(key, transaction)
    if (post?.deliveryPhase !== 'UNKNOWN') return null
    const attempt = await deliveries.lastAttempt(post, transaction)
    const now = clock.now()
    if (!attempt?.reconcileAt || attempt.reconcileAt > now) return null
    const again = now.getTime() - attempt.startedAt.getTime() < reconcileForMs
    const next = {
      reconciled: attempt.reconciled + 1,
      reconcileAt: again ? new Date(now.getTime() + askAgainAfterMs(attempt.reconciled)) : null,
      updatedAt: now,
    }
    // The next time is written before the network is asked: a crash in between costs one round, and two workers never ask at once.
    await deliveries.conclude(attempt, next, transaction)
    return { post, attempt: { ...attempt, ...next } }
  })
  if (!taken) return
  const { post, attempt } = taken
  let lookup: Lookup
  try {
    lookup = await ask(room, post, attempt)
  } catch (error) {
    room.log.warn({ err: error, postId: post.id }, 'the network could not say what became of a post; it is asked again')
    return
  }
  if (lookup.found) return void (await conclude(room, attempt, { ...lookup, outcome: 'delivered' }))
  if (clock.now().getTime() - attempt.startedAt.getTime() < absentAfterMs) return
  await closeAsAbsent(room, post, attempt, 'delivery')
}

/** Ends an unknown outcome with "it is not there": the post is failed and can be rescheduled. */
export async function closeAsAbsent(room: Room, { brandId, id }: PostRow, attempt: AttemptRow, actor: string): Promise<PostRow | null> {
  const { sequelize, posts, deliveries, clock } = room
  const closed = await sequelize.transaction(async transaction => {
    const post = await posts.lock(brandId, id, transaction)
    if (post?.deliveryPhase !== 'UNKNOWN' || post.attempts !== attempt.number) return null
    const now = clock.now()
    await deliveries.conclude(attempt, { outcome: 'NOT_DELIVERED', reconcileAt: null, updatedAt: now }, transaction)
    await room.audit(transaction, { brandId, actor, action: 'post.not-delivered', subjectId: id, at: now, details: { attempt: attempt.number } })
    return posts.update(post, { ...noClaim, ...failure('NOT_DELIVERED', post.platform, '', now), updatedAt: now, version: post.version + 1 }, transaction)
  })
  if (closed) await announce(room, closed)
  return closed
}

/**
 * Asks the network, by the connection that made the call, whether it has the attempt's post.
 * @throws when it cannot tell
 */
export async function ask(room: Room, post: PostRow, attempt: AttemptRow): Promise<Lookup> {
  const network = room.networks.get(post.platform)
  const [connection] = await room.connections.byIds([attempt.connectionId])
  if (!network || !connection?.active) throw new Error('the connection is not there any more')
  const accessToken = await usableToken(room, network, connection)
  const publication = {
    account: { externalId: connection.externalAccountId, name: connection.accountName },
    copy: attempt.copy,
    inReplyTo: attempt.inReplyTo,
  }
  const taken = await room.deliveries.takenIds(post)
  const [earliest = attempt] = await room.deliveries.doubtfulBefore(attempt)
  try {
    return await network.find({ ...publication, accessToken }, earliest.startedAt, taken)
  } catch (error) {
    if (!(error instanceof AccessExpired)) throw error
    const renewed = await usableToken(room, network, connection, accessToken)
    return network.find({ ...publication, accessToken: renewed }, earliest.startedAt, taken)
  }
}
