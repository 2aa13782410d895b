import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { inTransaction } from '../../../store/write.ts'
import type { PaymentMethodSessionRow } from '../../stores/parties/payment-method-session.ts'
import { nextLook } from '../checkout/rules.ts'
import { leaseMs } from '../payment/intention.ts'
import { type EventHandler, textIn } from '../webhook/event.ts'
import { concludeMethodSession } from './conclude.ts'
import { openMethodPage } from './open.ts'
import type { KeepingWork } from './work.ts'

/** How often sessions are looked for about which the processor is to be asked, in ms: its events come first. */
const everyMs = 30_000
/** About how many one round asks, together and of one organization. */
const [atOnce, perOrganization] = [20, 4]

/** Asks the processor about sessions that are due, whose events may be lost, and about those whose process died before their page was open. */
export const methodSessionLooks = (job: () => KeepingWork): Sweep => ({
  name: 'payment method sessions',
  everyMs,
  asksOthers: true,
  async run() {
    const now = job().clock.now()
    await Promise.all((await job().paymentMethodSessions.due(now, perOrganization, atOnce)).map(id => lookAfter(job(), id)))
  },
})

/** It never throws: one that cannot be looked after is due again later. */
async function lookAfter(work: KeepingWork, id: string): Promise<void> {
  try {
    const now = work.clock.now()
    const taken = await inTransaction(work, ({ transaction }) => work.paymentMethodSessions.take(id, now, new Date(now.getTime() + leaseMs), transaction))
    if (!taken) return
    if (!taken.processorId) return await openMethodPage(work, id)
    if ((await readAndConclude(work, taken)) === 'OPEN') await lookAgain(work, id)
  } catch (error) {
    work.log.warn({ err: error, sessionId: id }, 'a payment method session could not be looked after; it is tried again')
  }
}

async function readAndConclude(work: KeepingWork, { id, organizationId, processorId }: PaymentMethodSessionRow): Promise<string | null> {
  const page = await work.pages.read(organizationId, processorId!)
  if (!page) throw new Error('the gateway answered without a page')
  await concludeMethodSession(work, id, page)
  return page.status
}

const lookAgain = (work: KeepingWork, id: string): Promise<void> =>
  inTransaction(work, async ({ now, transaction }) => {
    const session = await work.paymentMethodSessions.lock(id, transaction)
    if (session?.nextLookAt) await work.paymentMethodSessions.update(session, { nextLookAt: nextLook(session, now) }, transaction)
  })

/** What happens on the processor's events of pages in mode `setup`: the page is read, because an event may be old. */
export const methodSessionEvents: EventHandler<KeepingWork> = {
  async whose({ paymentMethodSessions }, { object }) {
    const session = await paymentMethodSessions.byProcessorId(textIn(object, 'id') ?? '')
    return session && { organizationId: session.organizationId, orderId: null, isKnown: true }
  },

  async apply(work, { object }) {
    const session = await work.paymentMethodSessions.byProcessorId(textIn(object, 'id') ?? '')
    if (!session) return 'NOT_YET'
    await readAndConclude(work, session)
    return 'DONE'
  },
}
