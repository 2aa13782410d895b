import type { JobQueue, Sweep } from '../../../platform/jobs/queue.ts'

/** The queue of wake-ups for mails that are to leave. */
export const sendQueueName = 'send-mail'

/** Number of mails that one process handles at once. */
const concurrency = 8
/**
 * Interval in ms of the search for mails without a wake-up, the time for which a mail is left to its own, and maximum
 * mails in one round.
 */
const sweeping = { everyMs: 5_000, graceMs: 2_000, atOnce: 20 }

/** Creates the queue. @param deliver tries a mail; resolves to the time of the next attempt */
export const sendQueue = (deliver: (mailId: string) => Promise<Date | null>): JobQueue => ({
  name: sendQueueName,
  concurrency,
  async handle({ mailId }) {
    const again = await deliver(mailId!)
    return again ? { again } : undefined
  },
})

/** Finds mails whose wake-up was lost, or whose attempt died. Any number of processes may run it at the same time. */
export const sendSweep = (
  overdue: (before: Date, most: number) => Promise<readonly string[]>,
  deliver: (mailId: string) => Promise<unknown>,
  now: () => Date,
): Sweep => ({
  name: 'mails that wait',
  everyMs: sweeping.everyMs,
  asksOthers: true,
  async run() {
    const found = await overdue(new Date(now().getTime() - sweeping.graceMs), sweeping.atOnce)
    await Promise.all(found.map(deliver))
  },
})
