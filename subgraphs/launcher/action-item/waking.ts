import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { announceSnooze } from './rules.ts'

/** Maximum snoozes that end in one run. */
const atOnce = 500

/** Ends the snoozes whose time has come, and gives their items back. @returns when the next one ends; null without one */
export async function endSnoozes(job: Job): Promise<Date | null> {
  const woken = await inTransaction(job, ({ transaction, now }) => job.snoozes.wakeDue(now, atOnce, transaction))
  for (const each of woken) announceSnooze(job.events, each)
  return job.snoozes.nextDue()
}
