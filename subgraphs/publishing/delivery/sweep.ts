import type { Sweep } from '../../../platform/jobs/queue.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { PostKey } from '../stores/attempt.ts'
import { sentAtOnce } from '../stores/pace.ts'
import { sendComment } from './comment.ts'
import { deliver } from './deliver.ts'
import { reconcile } from './reconcile.ts'
import { takeUp } from './take-up.ts'

/** How long a due post is left to its own wake-up before the sweep takes it, in ms. */
const graceMs = 2_000
/** How often each sweep goes round, in ms. */
const everyMs = 5_000
/** How often comments are looked for whose job was lost, and for how long they are left to it, in ms. */
const commentsEveryMs = 30_000
/** How many of each kind one round takes; the next comes in 5 s. */
const atOnce = 20
/** How many held-back posts one round marks, so that none of the next rounds meets them. */
const mostMarked = 1_000

/** Takes each of the posts; one that fails is met again by the next round. */
const each = (job: Job, keys: readonly PostKey[], act: (job: Job, key: PostKey) => Promise<unknown>) =>
  Promise.all(
    keys.map(key =>
      act(job, key).catch(error => job.log.error({ err: error, postId: key.postId }, 'delivery of a post could not be started; the next round retries')),
    ),
  )

/**
 * Finds what no wake-up will find: due posts whose job was lost, calls that a crash interrupted, unknown outcomes whose
 * turn it is, comments that have not followed their post. The rows alone say what is to be done, so any number of processes may sweep at the same time; and each kind has
 * a sweep of its own, so that a network which is slow to answer about one post holds up no other.
 */
export const sweeps = (job: () => Job): readonly Sweep[] => [
  {
    name: 'overdue posts',
    everyMs,
    asksOthers: true,
    async run() {
      const { clock, attempts } = job()
      const now = clock.now()
      const before = new Date(now.getTime() - graceMs)
      const due = await attempts.overdue(before, now, atOnce)
      // Not `step`, which locks a single row: two statements mark a thousand posts here, and contain the rule.
      if (due.some(({ held }) => held)) await inTransaction(job(), ({ transaction }) => attempts.markHeldBack(before, mostMarked, transaction))
      await each(
        job(),
        [...Map.groupBy(due, ({ brandId, platform }) => `${brandId}:${platform}`).values()].flatMap(posts =>
          posts.filter(({ held }) => !held).slice(0, sentAtOnce),
        ),
        deliver,
      )
    },
  },
  {
    name: 'comments to send',
    everyMs: commentsEveryMs,
    asksOthers: true,
    run: async () => void (await each(job(), await job().attempts.uncommented(new Date(job().clock.now().getTime() - commentsEveryMs), atOnce), sendComment)),
  },
  {
    name: 'interrupted calls',
    everyMs,
    asksOthers: true,
    run: async () => void (await each(job(), await job().attempts.interrupted(job().clock.now(), atOnce), takeUp)),
  },
  {
    name: 'unknown outcomes',
    everyMs,
    asksOthers: true,
    run: async () => void (await each(job(), await job().attempts.unknown(job().clock.now(), atOnce), reconcile)),
  },
]
