import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { inTransaction } from '../../../store/write.ts'
import type { CheckoutSessionRow } from '../../stores/checkout/session.ts'
import { leaseMs } from '../payment/intention.ts'
import { concludeCheckout } from './conclude.ts'
import { openPage } from './open.ts'
import type { Page } from './processor.ts'
import { nextLook } from './rules.ts'
import type { CheckoutWork } from './work.ts'

/** How often sessions are looked for about which the processor is to be asked, in ms. */
const everyMs = 3_000
/** About how many one round asks, together and of one organization. */
const [atOnce, perOrganization] = [20, 4]

/**
 * Asks the processor about sessions that are due: about open ones, whose events may be lost, about those that were closed here and are
 * to be closed there, and about those whose process died before their page was open.
 */
export const sessionLooks = (job: () => CheckoutWork): Sweep => ({
  name: 'checkout sessions',
  everyMs,
  asksOthers: true,
  async run() {
    const now = job().clock.now()
    await Promise.all((await job().checkoutSessions.due(now, perOrganization, atOnce)).map(id => lookAfterSession(job(), id)))
  },
})

/** Asks the processor about a session, and records what it says. It never throws: one that cannot be looked after is due again later. */
export async function lookAfterSession(job: CheckoutWork, id: string): Promise<void> {
  try {
    const now = job.clock.now()
    const taken = await inTransaction(job, ({ transaction }) => job.checkoutSessions.take(id, now, new Date(now.getTime() + leaseMs), transaction))
    if (taken) await look(job, taken)
  } catch (error) {
    job.log.warn({ err: error, sessionId: id }, 'a checkout session could not be looked after; it is tried again')
  }
}

/** Asks about the session that the processor calls this, at once, as when it has sent an event. @returns false: it is none of ours */
export async function lookAfterPage(job: CheckoutWork, processorId: string): Promise<boolean> {
  const session = await job.checkoutSessions.byProcessorId(processorId)
  if (session) await concludeCheckout(job, session.id, await read(job, session))
  return session !== null
}

async function look(job: CheckoutWork, session: CheckoutSessionRow): Promise<void> {
  const { id, processorId, status } = session
  if (!processorId) {
    await openPage(job, id)
    return
  }
  try {
    const page = status === 'CLOSED' ? await close(job, session) : await read(job, session)
    await concludeCheckout(job, id, page)
    if (page.status === 'OPEN') await lookAgain(job, id)
  } catch (error) {
    await lookAgain(job, id)
    throw error
  }
}

const lookAgain = (job: CheckoutWork, id: string): Promise<void> =>
  inTransaction(job, async ({ now, transaction }) => {
    const session = await job.checkoutSessions.lock(id, transaction)
    if (session?.nextLookAt) await job.checkoutSessions.update(session, { nextLookAt: nextLook(session, now) }, transaction)
  })

async function read({ pages }: CheckoutWork, { organizationId, processorId }: CheckoutSessionRow): Promise<Page> {
  const page = await pages.read(organizationId, processorId!)
  if (!page) throw new Error('the gateway answered without a page')
  return page
}

/** Closes a page; of one that is paid or over the processor refuses that, and the page says which. */
async function close(job: CheckoutWork, session: CheckoutSessionRow): Promise<Page> {
  const { organizationId, id, processorId } = session
  try {
    return (await job.pages.close(organizationId, `close:${id}`, processorId!)) ?? (await read(job, session))
  } catch (error) {
    const page = await read(job, session).catch(() => null)
    if (page && page.status !== 'OPEN') return page
    throw error
  }
}
