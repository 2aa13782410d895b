import { tell } from '../../store/books.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { factsOf } from '../news/announce.ts'

/** How many posts one transaction tells of. */
const atOnce = 100

/** Tells of the posts that had failed before anybody was told of it, once. Several processes may do so at the same time. */
export async function tellOfFailedBefore(open: () => Job): Promise<void> {
  for (;;) {
    const job = open()
    const more = await inTransaction(job, async unit => {
      const taken = await job.posts.takeFailedBefore(atOnce, unit.transaction)
      if (!taken) return false
      const told = taken.flatMap(({ organizationId, ...post }) => factsOf(null, post, { organizationId, publicUrl: job.publicUrl }))
      // Workflows are not told of these old failures.
      await tell(
        job,
        told.filter(({ kind }) => kind === 'attention.opened'),
        unit,
      )
      return true
    })
    if (!more) return
  }
}
