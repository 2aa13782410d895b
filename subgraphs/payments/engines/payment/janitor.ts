import { newId } from '../../../../platform/ids.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { inTransaction } from '../../../store/write.ts'
import { beginVoid } from './begin.ts'
import { leaseMs } from './intention.ts'
import { runTransaction } from './run.ts'
import type { PaymentWork } from './work.ts'

/** How often transactions are looked for whose processor is to be asked again, in ms. */
const everyMs = 2_000
/** How many one round asks about, together and of one organization. */
const [atOnce, perOrganization] = [20, 4]

/**
 * Asks the processor again about transactions whose outcome nobody knows, and about those whose process died: the same call under the same
 * key. The rows alone say what is due, so any number of processes may look at the same time.
 */
export const janitor = (job: () => PaymentWork): Sweep => ({
  name: 'transactions without an outcome',
  everyMs,
  asksOthers: true,
  async run() {
    const now = job().clock.now()
    await Promise.all((await job().transactions.due(now, perOrganization, atOnce)).map(id => lookAfter(job(), id)))
  },
})

/** One that cannot be looked after is due again when its lease is over. */
async function lookAfter(job: PaymentWork, id: string): Promise<void> {
  try {
    const taken = await inTransaction(job, ({ now, transaction }) => job.transactions.take(id, now, new Date(now.getTime() + leaseMs), transaction))
    if (taken) await runTransaction(job, id, false)
  } catch (error) {
    job.log.error({ err: error, transactionId: id }, 'a transaction could not be looked after; it is due again when its lease is over')
  }
}

/** How long money may be held, how often authorizations held for longer are looked for, and how long a failed release rests, in ms. */
const [heldMs, lapsesEveryMs, restMs] = [7 * 86_400_000, 60_000, 3_600_000]

/** Releases what was held for seven days and neither captured nor voided: its order is a draft again. */
export const lapses = (job: () => PaymentWork): Sweep => ({
  name: 'authorizations that lapse',
  everyMs: lapsesEveryMs,
  asksOthers: true,
  async run() {
    const work = job()
    const [before, unchangedSince] = [heldMs, restMs].map(ms => new Date(work.clock.now().getTime() - ms)) as [Date, Date]
    // Every try changes its order, so one that fails makes room for others, and fills the audit no faster than once an hour.
    await Promise.all((await work.orders.heldSince(before, unchangedSince, atOnce)).map(id => lapse(work, id)))
  },
})

async function lapse(job: PaymentWork, orderId: string): Promise<void> {
  try {
    const id = newId(job.clock.now())
    await beginVoid(job, id, { orderId })
    await runTransaction(job, id, true)
  } catch (error) {
    // Somebody may have captured or voided it at this very moment.
    job.log.warn({ err: error, orderId }, 'an authorization could not be released; it is tried again in an hour')
  }
}
