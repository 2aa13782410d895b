import { DomainError } from '../../../../platform/errors.ts'
import { type WriteTransaction, writing } from '../../../store/books.ts'
import { inTransaction, write } from '../../../store/write.ts'
import type { CheckoutSessionRow } from '../../stores/checkout/session.ts'
import type { OrderRow } from '../../stores/order.ts'
import { announceOrder } from '../payment/announce.ts'
import { hasMoreOpen, sessionOpen } from '../payment/checkouts.ts'
import { leaseMs } from '../payment/intention.ts'
import { requireMove } from '../payment/moves.ts'
import { outcomeOf } from '../payment/outcome.ts'
import { expiryOf, nextLook } from './rules.ts'
import type { CheckoutWork } from './work.ts'

/** A session to open. */
export interface NewSession {
  readonly id: string
  readonly orderId: string
  readonly minutes: number
  readonly successUrl: string
  readonly cancelUrl: string
  readonly linkId?: string | null
}

/** How long the title of a page is at most, in characters. */
const maxTitle = 250

/** Moves a locked order to PENDING because something leads payers to it. @param more what changes besides */
export function toPending(
  { orders }: Pick<CheckoutWork, 'orders'>,
  order: OrderRow,
  more: Partial<OrderRow>,
  { now, transaction }: WriteTransaction,
): Promise<OrderRow> {
  const changes = { ...more, ...(order.status !== 'PENDING' && { status: 'PENDING' as const }) }
  if (Object.keys(changes).length === 0) return Promise.resolve(order)
  return orders.update(order, { ...changes, version: order.version + 1, updatedAt: now }, transaction)
}

/**
 * Requires that payers may be led to a locked order.
 * @throws CONFLICT, reason ILLEGAL_MOVE, OUTCOME_UNKNOWN or MERCHANT_SUSPENDED
 */
export async function requireCheckout({ merchants }: Pick<CheckoutWork, 'merchants'>, order: OrderRow, { transaction }: WriteTransaction): Promise<void> {
  requireMove(order, 'checkout')
  await merchants.requireActive(order.merchantId, transaction)
}

/**
 * Records that a session is about to be opened at the processor.
 * @throws CONFLICT, reason ILLEGAL_MOVE, OUTCOME_UNKNOWN, MERCHANT_SUSPENDED or SESSION_OPEN
 */
export async function recordSession(work: CheckoutWork, { id, orderId, minutes, linkId = null, ...addresses }: NewSession): Promise<CheckoutSessionRow> {
  const { orders, checkoutSessions, settings } = work
  const { session } = await write(work, {
    async run(unit) {
      const { now, transaction } = unit
      const order = (await orders.lock(orderId, transaction)) ?? (await orders.require(orderId, 'orderId'))
      await requireCheckout(work, order, unit)
      const open = await checkoutSessions.openOf(orderId, transaction)
      if (open) throw sessionOpen(open.id)
      const { captureMode } = await settings.of(order.organizationId)
      const { merchantId, organizationId, currency, totalMinor: amountMinor, status: statusBefore, description, number } = order
      const title = [...(description ?? `Order ${number}`)].slice(0, maxTitle).join('')
      const place = { id, merchantId, organizationId, orderId, linkId, currency, amountMinor, statusBefore, title, captureMode, ...addresses }
      const times = { expiresAt: expiryOf(minutes, now), nextLookAt: new Date(now.getTime() + leaseMs), createdAt: now, updatedAt: now }
      const session = await checkoutSessions.insert({ ...place, ...times, createdBy: work[writing].actor }, transaction)
      return { session, order: await toPending(work, order, { checkoutSessionId: id }, unit) }
    },
    audit: ({ session }) => ({ tenantId: session.merchantId, action: 'checkout_session.created', subjectId: id, details: { orderId } }),
    announce: ({ order }) => announceOrder(work.events, order),
  })
  return session
}

/**
 * Opens a recorded session's page at the processor. Without an answer nobody learns its address, so nobody can pay on it: the record is taken back.
 * @throws CONFLICT with the failure as reason, or NO_CREDENTIAL; BUDGET_EXCEEDED; UPSTREAM_FAILED: nothing has changed then
 */
export async function openPage(job: CheckoutWork, id: string): Promise<CheckoutSessionRow | null> {
  const session = await job.checkoutSessions.byId.load(id)
  if (!session || session.processorId) return session
  try {
    return await keepPage(job, session)
  } catch (error) {
    await withdraw(job, session)
    throw pageRefusal(error)
  }
}

async function keepPage(job: CheckoutWork, session: CheckoutSessionRow): Promise<CheckoutSessionRow | null> {
  const { id, organizationId, title, amountMinor, currency, captureMode, successUrl, cancelUrl, expiresAt, orderId } = session
  const asked = { organizationId, key: id, title, amountMinor, currency, successUrl, cancelUrl, expiresAt, isHeld: captureMode === 'MANUAL' }
  const page = await job.pages.open({ ...asked, metadata: { order_id: orderId, transaction_id: id } })
  if (!page) throw new Error('the gateway answered without a page')
  return inTransaction(job, async ({ now, transaction }) => {
    const held = await job.checkoutSessions.lock(id, transaction)
    // One that was closed meanwhile is closed at the processor by whoever looks at it next.
    const nextLookAt = held?.status === 'OPEN' ? nextLook(held, now) : now
    return held && job.checkoutSessions.update(held, { processorId: page.id, url: page.url, nextLookAt, updatedAt: now }, transaction)
  })
}

/** Takes back what `recordSession` has written; of one that was closed meanwhile nothing more is to be done. */
const withdraw = (job: CheckoutWork, { id, orderId }: CheckoutSessionRow): Promise<OrderRow | null> =>
  write(job, {
    async run(unit): Promise<OrderRow | null> {
      const { now, transaction } = unit
      const order = await job.orders.lock(orderId, transaction)
      const session = await job.checkoutSessions.lock(id, transaction)
      if (!order || !session || session.processorId) return null
      if (session.status !== 'OPEN') {
        await job.checkoutSessions.update(session, { nextLookAt: null, updatedAt: now }, transaction)
        return null
      }
      await job.checkoutSessions.remove(session, transaction)
      const isBack = order.status === 'PENDING' && order.paymentPhase === 'NONE' && !(await hasMoreOpen(job, orderId, { session: id }, unit))
      const changes = { checkoutSessionId: null, ...(isBack && { status: session.statusBefore }), version: order.version + 1, updatedAt: now }
      return job.orders.update(order, changes, transaction)
    },
    audit: ({ merchantId }) => ({ tenantId: merchantId, action: 'checkout_session.withdrawn', subjectId: id, details: { orderId } }),
    announce: order => announceOrder(job.events, order),
  })

/** What people are told when no page could be opened. */
export function pageRefusal(error: unknown): unknown {
  const outcome = outcomeOf(error, true)
  if (outcome.kind === 'NOT_SENT') return outcome.refusal
  if (outcome.kind === 'FAILED') return new DomainError('CONFLICT', `No page could be opened. ${outcome.failure.message}`, { reason: outcome.failure.code })
  return new DomainError('UPSTREAM_FAILED', 'The payment processor did not answer, and no page was opened: try again in a moment.', { reason: 'NO_ANSWER' })
}
