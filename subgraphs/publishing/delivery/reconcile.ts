import { UniqueConstraintError } from 'sequelize'
import { tokenSoon } from '../connection/tokens.ts'
import { AccessExpired, GrantFailure, type Lookup } from '../network/network.ts'
import type { PostRow } from '../post/table.ts'
import type { Room } from '../room.ts'
import { announce, conclude } from './conclude.ts'
import { absentAfterMs, askAgainAfterMs, doubtSince, failure, farthestPauseMs, hasCome, noClaim, reconcileForMs, yieldsTo } from './rules.ts'
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
    if (!attempt?.reconcileAt || !hasCome(attempt.reconcileAt, now, farthestPauseMs)) return null
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
  if (lookup.found) return concludeFound(room, attempt, lookup)
  const isDuplicate = attempt.refusal === 'DUPLICATE_CONTENT'
  const isAbsent = clock.now().getTime() - attempt.startedAt.getTime() >= absentAfterMs
  // The network called it a duplicate: of a post that is another's, or of one that nobody finds. The same text is never taken.
  if (isDuplicate && (isAbsent || lookup.isAnothers))
    await conclude(room, attempt, { outcome: 'refused', code: 'DUPLICATE_CONTENT', detail: attempt.detail ?? '' })
  else if (isAbsent) await closeAsAbsent(room, post, attempt, 'delivery')
}

/** Concludes that an attempt was delivered as a post which the network lists, unless another post was named it in this moment: then it is asked again. */
export async function concludeFound(room: Room, attempt: AttemptRow, found: Extract<Lookup, { found: true }>): Promise<void> {
  try {
    await conclude(room, attempt, { ...found, outcome: 'delivered' })
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error
    room.log.info({ postId: attempt.postId, platformPostId: found.platformPostId }, 'the post that the network lists was named another post’s meanwhile')
  }
}

/** Ends an unknown outcome with "it is not there": the post is failed and can be rescheduled. */
export async function closeAsAbsent(room: Room, { brandId, id }: PostRow, attempt: AttemptRow, actor: string): Promise<PostRow | null> {
  const { sequelize, posts, deliveries, clock } = room
  const closed = await sequelize.transaction(async transaction => {
    const post = await posts.lock(brandId, id, transaction)
    if (post?.deliveryPhase !== 'UNKNOWN' || post.attempts !== attempt.number) return null
    const now = clock.now()
    await deliveries.conclude(attempt, { outcome: 'NOT_DELIVERED', finishedAt: attempt.finishedAt ?? now, reconcileAt: null, updatedAt: now }, transaction)
    await room.audit(transaction, { brandId, actor, action: 'post.not-delivered', subjectId: id, at: now, details: { attempt: attempt.number } })
    return posts.update(post, { ...noClaim, ...failure('NOT_DELIVERED', post.platform, '', now), updatedAt: now, version: post.version + 1 }, transaction)
  })
  if (closed) await announce(room, closed)
  return closed
}

/**
 * Asks the network, by the connection that made the call, whether it has the attempt's post.
 * @throws when it cannot tell; a permanent GrantFailure when it never will
 */
export async function ask(room: Room, post: PostRow, attempt: AttemptRow): Promise<Lookup> {
  const { deliveries, clock } = room
  const network = room.networks.get(post.platform)
  const [connection] = await room.connections.byIds(attempt.connectionId ? [attempt.connectionId] : [])
  if (!network || !connection?.active) throw new GrantFailure('the connection is not there any more', true)
  const accessToken = await tokenSoon(room, network, connection)
  const publication = {
    account: { externalId: connection.externalAccountId, name: connection.accountName },
    copy: attempt.copy,
    inReplyTo: attempt.inReplyTo,
  }
  const [earlier] = await deliveries.doubtful(attempt, doubtSince(attempt))
  const since = earlier && earlier.startedAt < attempt.startedAt ? earlier.startedAt : attempt.startedAt
  const find = async (token: string) => {
    const taken = await deliveries.takenIds(attempt, new Date(since.getTime() - absentAfterMs))
    return network.find({ ...publication, accessToken: token }, since, taken)
  }
  const lookup = await find(accessToken).catch(async error => {
    if (!(error instanceof AccessExpired)) throw error
    return find(await tokenSoon(room, network, connection, accessToken))
  })
  // Read after the network: whoever was named the post meanwhile carries its id, and the unique index keeps it from a second.
  if (lookup.found && (await deliveries.rivals(attempt)).some(rival => yieldsTo(attempt, rival, clock.now())))
    throw new Error('the network lists the text, perhaps as another post that is open too')
  return lookup
}
