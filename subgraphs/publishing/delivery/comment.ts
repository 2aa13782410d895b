import { crash } from '../../../platform/crash.ts'
import { step } from '../../store/write.ts'
import { tokenSoon } from '../connection/tokens.ts'
import type { Job } from '../context.ts'
import { organizationOf } from '../network/account/organization.ts'
import { GrantFailure, type Network } from '../network/network.ts'
import type { Comment, Delivery } from '../network/publication.ts'
import { announceStep } from '../news/announce.ts'
import type { PostKey } from '../stores/attempt.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import type { PostRow } from '../stores/post.ts'
import { retryWrite } from './conclude.ts'
import { heard } from './heard.ts'
import { placeTokenOf } from './prepare.ts'
import { type CommentEnd, commentEnd, timeoutMs } from './rules.ts'

/** State of a comment during its call, which remains if the result is lost. */
const begun = { firstCommentStatus: 'UNKNOWN', firstCommentMessage: 'Its call was begun, and what became of it is not known.' } as const

/** Time in ms after which a comment that could not be sent is tried again. */
const againMs = 30_000

/**
 * Sends the comment that follows a published post, once. The comment is marked as an unknown outcome before its call,
 * and only PENDING comments are sent: after a crash it is unknown rather than sent twice. The post stays published
 * whatever the comment's outcome.
 * @returns when to try again, if the call was certainly not made
 */
export async function sendComment(job: Job, { postId }: PostKey): Promise<Date | null> {
  const { posts, attempts, connections, clock } = job
  const post = await posts.byId.load(postId)
  if (post?.status !== 'PUBLISHED' || post.firstCommentStatus !== 'PENDING' || !post.platformPostId) return null
  const again = () => new Date(clock.now().getTime() + againMs)
  const isLate = clock.now().getTime() - (post.publishedAt ?? post.updatedAt).getTime() > timeoutMs
  const network = job.networks.get(post.platform)
  const connection = await connections.find(post.connectionId)
  if (!network?.comment || !connection?.active)
    return end(job, post, 'PENDING', { firstCommentStatus: 'FAILED', firstCommentMessage: 'The connection that sent the post does not exist any more.' })
  let token: string
  try {
    token = await tokenSoon(job, network, connection)
  } catch (error) {
    if (!(error instanceof GrantFailure)) throw error
    if (!error.permanent && !isLate) return again()
    return end(job, post, 'PENDING', { firstCommentStatus: 'FAILED', firstCommentMessage: error.message })
  }
  const target = (await attempts.lastAttempt(post))?.target ?? post.target
  const comment = {
    organizationId: await organizationOf(job, post.brandId, post.platform),
    accessToken: token,
    placeToken: placeTokenOf(job, connection, target),
    account: { externalId: connection.externalAccountId, name: connection.accountName },
    target,
    platformPostId: post.platformPostId,
    text: post.firstComment!,
  }
  const taken = await step(job, {
    of: posts,
    hold: post.id,
    decide: async (row, { transaction }) => (row.firstCommentStatus === 'PENDING' && !(await attempts.isStopped(row, transaction)) ? { changes: begun } : null),
  })
  if (!taken) return null
  crash('after-comment-row')
  const answered = heard(await call(job, network, connection, comment))
  crash('after-comment')
  const ending = commentEnd(answered, isLate)
  await retryWrite(job, { postId }, () => end(job, taken.after, 'UNKNOWN', ending))
  return ending.firstCommentStatus === 'PENDING' ? again() : null
}

/** Makes the call. A rejected token is renewed once, because a rejected call has no effect. */
async function call(job: Job, network: Network, connection: ConnectionRow, comment: Comment): Promise<Delivery> {
  const first = await network.comment!(comment)
  if (first.outcome !== 'refused' || first.code !== 'ACCESS_EXPIRED') return first
  try {
    return await network.comment!({ ...comment, accessToken: await tokenSoon(job, network, connection, comment.accessToken) })
  } catch (error) {
    if (!(error instanceof GrantFailure)) throw error
    return { outcome: 'refused', code: 'ACCESS_EXPIRED', detail: error.message }
  }
}

/** Stores the result of a comment, if its state has not changed meanwhile. */
async function end(job: Job, { id, brandId }: PostRow, from: PostRow['firstCommentStatus'], changes: CommentEnd): Promise<null> {
  await step(job, {
    of: job.posts,
    hold: id,
    decide: row => (row.firstCommentStatus === from ? { changes, isNews: changes.firstCommentStatus !== 'PENDING' } : null),
    audit: ({ after }) =>
      after.firstCommentStatus === 'PENDING'
        ? null
        : { tenantId: brandId, action: 'post.commented', subjectId: id, details: { status: after.firstCommentStatus, platformPostId: after.firstCommentId } },
    announce: ({ after }) => announceStep(job.events, after),
  })
  return null
}
