import type { JobQueue, Sweep } from '../../../../platform/jobs/queue.ts'

/** The queue of wake-ups for mails that are to leave. */
export const emailQueueName = 'send-email'

/**
 * Maximum mails that one process handles at once, and that all processes handle of one organization, whose server may
 * be slow.
 */
const [concurrency, perGroup] = [16, 4]
/**
 * Interval in ms of the search for mails without a wake-up, the time for which a mail is left to its own, and maximum
 * mails in one round.
 */
const sweeping = { everyMs: 5_000, graceMs: 2_000, atOnce: 20 }

/** Creates the queue. @param deliver tries a mail; resolves to the time of the next attempt */
export const emailQueue = (deliver: (messageId: string) => Promise<Date | null>): JobQueue => ({
  name: emailQueueName,
  concurrency,
  perGroup,
  groupOf: ({ organizationId }) => organizationId ?? null,
  async handle({ messageId }) {
    const again = await deliver(messageId!)
    return again ? { again } : undefined
  },
})

/** Finds mails whose wake-up was lost, or whose attempt died. Any number of processes may run it at the same time. */
export const emailSweep = (
  overdue: (before: Date, most: number) => Promise<readonly string[]>,
  deliver: (messageId: string) => Promise<unknown>,
  now: () => Date,
): Sweep => ({
  name: 'mails of the gateway that wait',
  everyMs: sweeping.everyMs,
  asksOthers: true,
  async run() {
    const found = await overdue(new Date(now().getTime() - sweeping.graceMs), sweeping.atOnce)
    await Promise.all(found.map(deliver))
  },
})
