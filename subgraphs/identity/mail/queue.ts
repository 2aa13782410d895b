import type { JobQueue, Sweep } from '../../../platform/jobs/queue.ts'

/** The queue of wake-ups for mails that are to leave. */
export const sendQueueName = 'send-mail'

/** How many mails one process looks at together. */
const concurrency = 8
/** How often mails without a wake-up are looked for, in ms, how long a mail is left to its own, and how many one round takes. */
const sweeping = { everyMs: 5_000, graceMs: 2_000, atOnce: 20 }

/** The queue as it runs. @param deliver tries a mail; resolves to when it is to be looked at again */
export const sendQueue = (deliver: (mailId: string) => Promise<Date | null>): JobQueue => ({
  name: sendQueueName,
  concurrency,
  async handle({ mailId }) {
    const again = await deliver(mailId!)
    return again ? { again } : undefined
  },
})

/** Finds mails whose wake-up was lost, or whose try has died. Any number of processes may do so at the same time. */
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
