import type { JobQueue, Sweep } from '../../../../platform/jobs/queue.ts'

/** The queue of wake-ups for mails that are to leave. */
export const emailQueueName = 'send-email'

/** How many mails one process looks at together, and how many of one organization, whose server may be slow, all processes. */
const [concurrency, perGroup] = [16, 4]
/** How often mails without a wake-up are looked for, in ms, how long a mail is left to its own, and how many one round takes. */
const sweeping = { everyMs: 5_000, graceMs: 2_000, atOnce: 20 }

/** The queue as it runs. @param deliver tries a mail; resolves to when it is to be looked at again */
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

/** Finds mails whose wake-up was lost, or whose try has died. Any number of processes may do so at the same time. */
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
