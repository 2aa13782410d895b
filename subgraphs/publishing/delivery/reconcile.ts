import { UniqueConstraintError } from 'sequelize'
import { alter, step } from '../../store/write.ts'
import { tokenSoon } from '../connection/tokens.ts'
import type { Job } from '../context.ts'
import { organizationOf } from '../network/account/organization.ts'
import { AccessExpired, GrantFailure } from '../network/network.ts'
import type { Lookup } from '../network/publication.ts'
import type { AttemptRow, PostKey } from '../stores/attempt.ts'
import { farthestPauseMs, hasCome } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { announce, belonging, conclude } from './conclude.ts'
import { publicationOf } from './deliver.ts'
import { failure } from './failure.ts'
import { heardOf } from './heard.ts'
import { absentAfterMs, askAgainAfterMs, doubtSince, noClaim, reconcileForMs, yieldsTo } from './rules.ts'

/**
 * Asks the network about a post of unknown outcome, and concludes when the answer is clear; else schedules the next
 * question.
 */
export async function reconcile(job: Job, key: PostKey): Promise<void> {
  const { attempts, clock, posts } = job
  const taken = await step(job, {
    of: posts,
    hold: transaction => attempts.lockIfFree(key, transaction),
    async decide(post, { now, transaction }) {
      if (post.deliveryPhase !== 'UNKNOWN') return null
      const attempt = await attempts.lastAttempt(post, transaction)
      if (!attempt?.reconcileAt || !hasCome(attempt.reconcileAt, now, farthestPauseMs)) return null
      const again = now.getTime() - attempt.startedAt.getTime() < reconcileForMs
      const reconcileAt = again ? new Date(now.getTime() + askAgainAfterMs(attempt.reconciled)) : null
      // The next time is stored before the request to the network: a crash in between costs one round, and two workers
      // never ask at once.
      return { along: alter(attempts, attempt, { reconciled: attempt.reconciled + 1, reconcileAt }), changes: {} }
    },
  })
  if (!taken?.along) return
  const { after: post, along: attempt } = taken
  let lookup: Lookup
  try {
    lookup = await ask(job, post, attempt)
  } catch (error) {
    job.log.warn({ err: error, postId: post.id }, 'network could not tell whether a post was published; it will be asked again')
    return
  }
  if (lookup.found) return concludeFound(job, attempt, lookup)
  const isDuplicate = attempt.refusal === 'DUPLICATE_CONTENT'
  const isAbsent = clock.now().getTime() - attempt.startedAt.getTime() >= absentAfterMs
  // The network reported a duplicate, of another post or of one that cannot be found. A post with the same text is never linked.
  if (isDuplicate && (isAbsent || lookup.isAnothers))
    await conclude(job, attempt, { outcome: 'refused', code: 'DUPLICATE_CONTENT', detail: attempt.detail ?? '' })
  else if (isAbsent) await closeAsAbsent(job, post, attempt)
}

/**
 * Concludes that an attempt was delivered as a post that the network lists, unless another post got that id in this
 * moment: then the network is asked again.
 */
export async function concludeFound(job: Job, attempt: AttemptRow, found: Extract<Lookup, { found: true }>): Promise<void> {
  try {
    await conclude(job, attempt, { ...found, outcome: 'delivered' })
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error
    job.log.info({ postId: attempt.postId, platformPostId: found.platformPostId }, 'post found at the network was linked to another post meanwhile')
  }
}

/** Ends an unknown outcome as not published: the post is failed and can be rescheduled. */
export async function closeAsAbsent(job: Job, { id, brandId }: PostRow, attempt: AttemptRow): Promise<PostRow | null> {
  const { posts, attempts } = job
  const mine = belonging(job, { id, brandId })
  const closed = await step(job, {
    of: posts,
    hold: mine.hold,
    decide(post, { now }) {
      if (post.deliveryPhase !== 'UNKNOWN' || post.attempts !== attempt.number) return null
      const ended = { outcome: 'NOT_DELIVERED', finishedAt: attempt.finishedAt ?? now, reconcileAt: null } as const
      return { along: alter(attempts, attempt, ended), changes: { ...noClaim, ...failure('NOT_DELIVERED', post.platform, '', now) }, isNews: true }
    },
    audit: ({ after }) => ({ tenantId: after.brandId, action: 'post.not-delivered', subjectId: id, details: { attempt: attempt.number } }),
    facts: mine.facts,
    announce: ({ after }) => announce(job, mine.brand, after),
  })
  return closed?.after ?? null
}

/**
 * Asks the network, by the attempt's connection, whether it has the attempt's post.
 * @throws when the answer is unclear; a permanent GrantFailure when it always will be
 */
export async function ask(job: Job, post: PostRow, attempt: AttemptRow): Promise<Lookup> {
  const { attempts, clock } = job
  const network = job.networks.get(post.platform)
  const connection = await job.connections.find(attempt.connectionId)
  if (!network || !connection?.active) throw new GrantFailure('the connection does not exist any more', true)
  const accessToken = await tokenSoon(job, network, connection)
  const publication = { ...publicationOf(job, post, attempt, connection), organizationId: await organizationOf(job, post.brandId, post.platform) }
  const [earlier] = await attempts.doubtful(attempt, doubtSince(attempt))
  const since = earlier && earlier.startedAt < attempt.startedAt ? earlier.startedAt : attempt.startedAt
  const find = async (token: string) => {
    const taken = await attempts.takenIds(attempt, new Date(since.getTime() - absentAfterMs))
    return heardOf(await network.find({ ...publication, accessToken: token }, since, taken))
  }
  const lookup = await find(accessToken).catch(async error => {
    if (!(error instanceof AccessExpired)) throw error
    return find(await tokenSoon(job, network, connection, accessToken))
  })
  // Read after the network's answer: a post that got this id meanwhile contains it, and the unique index prevents a
  // second one.
  if (lookup.found && (await attempts.rivals(attempt)).some(rival => yieldsTo(attempt, rival, clock.now())))
    throw new Error('the network lists the text, perhaps as another post that is open too')
  return lookup
}
