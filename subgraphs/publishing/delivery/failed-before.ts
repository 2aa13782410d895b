import { writeFacts } from '../../store/books.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { factsOf } from '../news/announce.ts'

/** Maximum number of posts whose facts one transaction writes. */
const atOnce = 100

/**
 * Publishes facts about posts that had failed before such facts existed, once. Several processes may run it at the same
 * time.
 */
export async function publishFailedBefore(open: () => Job): Promise<void> {
  for (;;) {
    const job = open()
    const more = await inTransaction(job, async unit => {
      const taken = await job.posts.takeFailedBefore(atOnce, unit.transaction)
      if (!taken) return false
      const told = taken.flatMap(({ organizationId, ...post }) => factsOf(null, post, { organizationId, publicUrl: job.publicUrl }))
      // Workflows do not receive these old failures.
      await writeFacts(
        job,
        told.filter(({ kind }) => kind === 'attention.opened'),
        unit,
      )
      return true
    })
    if (!more) return
  }
}
