import { write } from '../../../store/write.ts'
import type { CheckoutSessionRow } from '../../stores/checkout/session.ts'
import type { OrderRow } from '../../stores/order.ts'
import { announceOrder } from '../payment/announce.ts'
import { hasMoreOpen } from '../payment/checkouts.ts'
import { recordIntention } from '../payment/intention.ts'
import { runTransaction } from '../payment/run.ts'
import type { Page } from './processor.ts'
import { type Ending, endSession } from './rules.ts'
import type { CheckoutWork } from './work.ts'

interface Ended {
  readonly order: OrderRow
  readonly before: CheckoutSessionRow
  readonly after: CheckoutSessionRow
  readonly money: Ending['money']
}

/**
 * Records what the processor says of a session, once, however often and in whatever order it says it. The money of a page that somebody
 * paid on becomes a transaction with the session's id, whose outcome is read at the processor as that of any payment.
 * @param page as the processor describes it; one that is still open changes nothing
 */
export async function concludeCheckout(job: CheckoutWork, sessionId: string, page: Page): Promise<void> {
  if (page.status !== 'COMPLETE' && page.status !== 'EXPIRED') return
  const ended = await recordEnd(job, sessionId, page.status, page.paymentIntentId)
  if (ended?.money) await runTransaction(job, sessionId, false)
}

async function recordEnd(job: CheckoutWork, id: string, said: 'COMPLETE' | 'EXPIRED', paymentId: string | null): Promise<Ended | null> {
  const { orders, checkoutSessions, transactions } = job
  const known = await checkoutSessions.byId.load(id)
  if (!known) return null
  return write(job, {
    async run(unit): Promise<Ended | null> {
      const { now, transaction } = unit
      const order = await orders.lock(known.orderId, transaction)
      const before = await checkoutSessions.lock(id, transaction)
      if (!order || !before) return null
      const isRecorded = (await transactions.lock(id, transaction)) !== null
      const isLast = !(await hasMoreOpen(job, order.id, { session: id }, unit))
      const ending = endSession(before, order, said, { isRecorded, isLast })
      const isNews = (ending.session.status ?? before.status) !== before.status
      const stamps = { updatedAt: now, ...(isNews && { version: before.version + 1 }) }
      const after = await checkoutSessions.update(before, { ...ending.session, ...stamps }, transaction)
      const changed = Object.keys(ending.order).length > 0
      const moved = changed ? await orders.update(order, { ...ending.order, version: order.version + 1, updatedAt: now }, transaction) : order
      if (ending.money) {
        if (!paymentId) throw new Error(`the processor names no payment of the session ${id}, which is paid`)
        const { amountMinor } = before
        await recordIntention(job, order, { id, ...ending.money, amountMinor, processorId: paymentId, statusBefore: 'DRAFT' }, unit)
      }
      return { order: moved, before, after, money: ending.money }
    },
    audit({ order, before, after, money }) {
      if (before.status === after.status && !money) return null
      const action = said === 'EXPIRED' ? 'checkout_session.expired' : 'checkout_session.completed'
      return { tenantId: order.merchantId, action, subjectId: id, details: { orderId: order.id, ...(money && { isLate: money.isLate }) } }
    },
    announce: ({ order }) => announceOrder(job.events, order),
  })
}
