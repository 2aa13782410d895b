import { type Stepping, step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { PostRow, posts } from '../stores/post.ts'

/**
 * A step with a post that this worker has taken, to prepare or to send it. Nothing comes of it once that claim is gone: somebody has changed
 * the post, another worker has taken it over, or its delivery has ended.
 */
export const whileClaimed = <Along = undefined>(
  job: Job,
  claimed: PostRow,
  { decide, ...following }: Omit<Stepping<typeof posts, PostRow, Along>, 'of' | 'hold'>,
) =>
  step<typeof posts, PostRow, Along>(job, {
    ...following,
    of: job.posts,
    hold: claimed.id,
    decide: (post, unit) => (post.claimId === claimed.claimId && post.deliveryPhase === claimed.deliveryPhase ? decide(post, unit) : null),
  })
