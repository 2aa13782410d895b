import { type Stepping, step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { PostRow, posts } from '../stores/post.ts'
import { prolongEveryMs } from './rules.ts'

/**
 * Runs a step with a claimed post. It has no effect once the claim is gone: the post was edited, another worker took it
 * over, or its delivery has ended.
 */
export const whileClaimed = <Along = undefined>(
  job: Job,
  claimed: PostRow,
  {
    decide,
    hold = claimed.id,
    ...following
  }: Omit<Stepping<typeof posts, PostRow, Along>, 'of' | 'hold'> & Partial<Pick<Stepping<typeof posts, PostRow, Along>, 'hold'>>,
) =>
  step<typeof posts, PostRow, Along>(job, {
    ...following,
    of: job.posts,
    hold,
    decide: (post, unit) => (post.claimId === claimed.claimId && post.deliveryPhase === claimed.deliveryPhase ? decide(post, unit) : null),
  })

/** Prolongs a claim from now; null when it is gone. */
export const prolong = (job: Job, claimed: PostRow, forMs: number) =>
  whileClaimed(job, claimed, { decide: (_, { now }) => ({ changes: { claimUntil: new Date(now.getTime() + forMs) } }) })

/**
 * Prolongs a claim while its worker does something of unknown duration, such as an upload. A worker that dies prolongs
 * nothing, and a claim that was taken away stays away.
 */
export async function held<Result>(job: Job, claimed: PostRow, forMs: number, work: () => Promise<Result>): Promise<Result> {
  const timer = setInterval(
    () => void prolong(job, claimed, forMs).catch(error => job.log.warn({ err: error, postId: claimed.id }, 'claim on a post could not be extended')),
    prolongEveryMs,
  )
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
