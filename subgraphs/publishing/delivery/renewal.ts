import type { Job } from '../context.ts'
import { GrantFailure } from '../network/network.ts'
import { announceStep } from '../news/announce.ts'
import type { PostRow } from '../stores/post.ts'
import { whileClaimed } from './claimed.ts'
import { failPost, releaseForRetry } from './conclude.ts'
import { noClaim } from './rules.ts'
import { wakeUp } from './wake-up.ts'

/**
 * Postpones a claimed post until the renewal of its connection's token ends, which may take many seconds: no worker
 * waits. Afterwards the post is processed at once; after a temporary failure it waits, and after a permanent one it
 * fails. If this process dies meanwhile, the claim expires.
 */
export function sendAfter(job: Job, claimed: PostRow, renewal: Promise<unknown>): void {
  const after = renewal
    .then(
      () => release(job, claimed),
      async error => {
        if (!(error instanceof GrantFailure)) throw error
        if (error.permanent) await failPost(job, claimed, 'CONNECTION_EXPIRED', error.message)
        else await releaseForRetry(job, claimed, null, error.message)
      },
    )
    .catch(error => job.log.error({ err: error, postId: claimed.id }, 'follow-up of a token renewal failed; the sweep finds the post'))
    .finally(() => job.afterRenewals.delete(after))
  job.afterRenewals.add(after)
}

/** Releases a claim, and schedules the post for now. */
async function release(job: Job, claimed: PostRow): Promise<void> {
  await whileClaimed(job, claimed, {
    decide: () => ({ changes: noClaim }),
    wake: ({ after }, { now, transaction }) => wakeUp(job.jobs, after, now, transaction),
  })
  announceStep(job.events, claimed)
}

/** Time in ms for which a stop waits for running renewals. */
const stopMs = 4_000

/** Resolves when no renewal runs and no post waits for one any more, or after four seconds. */
export async function renewalsEnded({ afterRenewals, renewals }: Pick<Job, 'afterRenewals' | 'renewals'>): Promise<void> {
  const waited = Promise.withResolvers<void>()
  const timer = setTimeout(waited.resolve, stopMs)
  await Promise.race([Promise.allSettled([...afterRenewals, ...renewals.values()]), waited.promise])
  clearTimeout(timer)
}
