import type { Sweep } from '../../../platform/jobs/queue.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { PostKey } from '../stores/attempt.ts'
import { sentAtOnce } from '../stores/pace.ts'
import { sendComment } from './comment.ts'
import { deliver } from './deliver.ts'
import { reconcile } from './reconcile.ts'
import { takeUp } from './take-up.ts'

/** Time in ms for which a due post is left to its own wake-up before the sweep takes it. */
const graceMs = 2_000
/** Interval in ms of each sweep. */
const everyMs = 5_000
/** Interval in ms of the search for comments whose job was lost, and the time for which they are left to it. */
const commentsEveryMs = 30_000
/** Maximum posts of each kind in one round; the next round comes in 5 s. */
const atOnce = 20
/** Maximum number of held-back posts that one round marks, so that later rounds skip them. */
const mostMarked = 1_000

/** Processes each of the posts; a failing one is processed again in the next round. */
const each = (job: Job, keys: readonly PostKey[], act: (job: Job, key: PostKey) => Promise<unknown>) =>
  Promise.all(
    keys.map(key =>
      act(job, key).catch(error => job.log.error({ err: error, postId: key.postId }, 'delivery of a post could not be started; the next round retries')),
    ),
  )

/**
 * Sweeps for work without a wake-up: due posts whose job was lost, calls that a crash interrupted, unknown outcomes to
 * ask about, and comments that have not followed their post. The rows alone determine the work, so any number of
 * processes may sweep at once. Each kind has its own sweep, so that a slow network delays no other kind.
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
