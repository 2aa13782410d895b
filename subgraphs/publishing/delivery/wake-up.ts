import type { Transaction } from 'sequelize'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { JobQueue } from '../../../platform/jobs/queue.ts'
import type { PostKey } from '../stores/attempt.ts'
import { sentAtOnce } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'

/** The queue of wake-ups for posts whose time has come. */
const name = 'deliver-post'

type Sleeper = Pick<PostRow, 'brandId' | 'id' | 'platform'>

/** Schedules a post. Each post has one wake-up: a later call moves it. */
export const wakeUp = (jobs: Jobs, { brandId, id, platform }: Sleeper, at: Date, transaction: Transaction): Promise<void> =>
  jobs.enqueue(name, { brandId, postId: id, platform }, { transaction, startAfter: at, key: id })

/** Cancels a post's wake-up. */
export const letSleep = (jobs: Jobs, { id }: Pick<PostRow, 'id'>, transaction: Transaction): Promise<void> => jobs.cancel(name, id, { transaction })

/**
 * Creates the delivery queue: the posts of one brand for one network share a connection, so only a few of them are sent
 * at once, and they delay no others.
 * @param deliver processes a post; resolves to the next time, if it was too early
 */
export const deliverQueue = (deliver: (key: PostKey) => Promise<Date | null>): JobQueue => ({
  name,
  groupOf: ({ brandId, platform }) => `${brandId}:${platform}`,
  perGroup: sentAtOnce,
  async handle({ brandId, postId }) {
    const again = await deliver({ brandId: brandId!, postId: postId! })
    return again ? { again } : undefined
  },
})

/** The queue of comments that follow published posts. */
const commentName = 'first-comment'

/** Schedules the comment of a post, for after its publication. */
export const commentSoon = (jobs: Jobs, { brandId, id, platform }: Sleeper, at: Date, transaction: Transaction): Promise<void> =>
  jobs.enqueue(commentName, { brandId, postId: id, platform }, { transaction, startAfter: at, key: id })

/** Creates the comment queue: comments of one brand on one network use one connection, as its posts do. */
export const commentQueue = (send: (key: PostKey) => Promise<Date | null>): JobQueue => ({
  name: commentName,
  groupOf: ({ brandId, platform }) => `${brandId}:${platform}`,
  perGroup: sentAtOnce,
  async handle({ brandId, postId }) {
    const again = await send({ brandId: brandId!, postId: postId! })
    return again ? { again } : undefined
  },
})
