import type { OrderRow } from '../../stores/order.ts'
import type { RefundRow } from '../../stores/refund.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { type Booking, bookings } from '../ledger/movements.ts'
import { statusWithMoney } from './moves.ts'
import type { Failure, Outcome } from './outcome.ts'

/** What an outcome changes, in each of the records that it is of. */
export interface Settlement {
  readonly order: Partial<OrderRow>
  /** null: the intention is taken back, as if it had never been. */
  readonly transaction: Partial<TransactionRow> | null
  /** null: it is taken back with its transaction. */
  readonly refund: Partial<RefundRow> | null
  readonly bookings: readonly Booking[]
}

/** What an outcome is of. */
export interface Settled {
  /** PENDING or UNKNOWN: a known outcome is not settled again. */
  readonly transaction: TransactionRow
  /** The refund that the transaction pays out; null for every other one. */
  readonly refund: RefundRow | null
}

/** When the processor is asked again after each try of an unknown outcome, in ms: then hourly, for 22 hours. */
const soon = [5_000, 30_000, 120_000, 600_000, 3_600_000] as const
const hourMs = 3_600_000
const hourlyTries = 22

/**
 * Returns when the processor is asked again, by how often it was called before; null once only a person can tell the outcome. The whole lies
 * within the day for which the processor remembers a key.
 * @param attempts calls so far, 1 or more
 */
export function nextTry(attempts: number, now: Date): Date | null {
  const ms = soon[attempts - 1] ?? (attempts - soon.length <= hourlyTries ? hourMs : null)
  return ms === null ? null : new Date(now.getTime() + ms)
}

const without = { failureCode: null, failureMessage: null } as const
const because = ({ code, message }: Failure) => ({ failureCode: code, failureMessage: message })
const nothingMore = { order: {}, refund: {}, bookings: [] } as const

/** Decides what an outcome changes in an order, its transaction, and the refund that it pays out. It changes nothing itself. */
export function settle(order: OrderRow, { transaction, refund }: Settled, outcome: Outcome, now: Date): Settlement {
  if (outcome.kind === 'UNKNOWN') return unknown(transaction, outcome.processorId ?? null, now)
  const over = { nextAttemptAt: null, paymentMethod: null, paymentCustomer: null, completedAt: now }
  if (outcome.kind === 'NOT_SENT') return takenBack(order, transaction, refund)
  if (outcome.kind === 'FAILED') {
    const processorId = outcome.processorId ?? transaction.processorId
    const row = { ...over, status: 'FAILED' as const, processorId, ...because(outcome.failure) }
    return { ...failed(order, { transaction, refund }, outcome.failure), transaction: row }
  }
  const processorId = outcome.processorId ?? transaction.processorId
  return { ...succeeded(order, { transaction, refund }, processorId, now), transaction: { ...over, ...without, status: 'SUCCEEDED', processorId } }
}

function unknown({ type, attempts, processorId: known, isLate }: TransactionRow, processorId: string | null, now: Date): Settlement {
  // What the processor has a name for is under way there: it is read by that name until it has ended.
  const name = processorId ?? known
  const status = name === null ? ('UNKNOWN' as const) : ('PENDING' as const)
  // A refund may be under way at a bank for days, and reading it by its name needs no remembered key.
  const nextAttemptAt = nextTry(attempts, now) ?? (name === null ? null : new Date(now.getTime() + hourMs))
  const transaction = { status, processorId: name, nextAttemptAt }
  if (type === 'REFUND') return { ...nothingMore, transaction, refund: { status } }
  if (isLate) return { ...nothingMore, transaction }
  return { ...nothingMore, transaction, order: { paymentPhase: name === null ? 'UNKNOWN' : 'PROCESSING' } }
}

/** What an order returns to when nothing was sent. */
function takenBack(order: OrderRow, { type, statusBefore, amountMinor, isLate }: TransactionRow, refund: RefundRow | null): Settlement {
  const back = { ...nothingMore, transaction: null }
  // What was approved waits for approval again, and holds its amount.
  if (refund?.decidedBy) return { ...back, refund: { status: 'AWAITING_APPROVAL', decidedBy: null, decidedAt: null } }
  if (type === 'REFUND') return { ...back, order: { returningMinor: order.returningMinor - amountMinor }, refund: null }
  if (isLate) return back
  if (type === 'CAPTURE' || type === 'VOID') return { ...back, order: { paymentPhase: 'AUTHORIZED' } }
  return { ...back, order: { paymentPhase: 'NONE', ...(statusBefore && { status: statusBefore }) } }
}

function failed(order: OrderRow, { transaction: { type, amountMinor, isLate }, refund }: Settled, failure: Failure): Omit<Settlement, 'transaction'> {
  if (type === 'REFUND') {
    const amounts = {
      returningMinor: order.returningMinor - amountMinor,
      ...(refund?.origin === 'AUTOMATIC' && { lateKeptMinor: order.lateKeptMinor + amountMinor }),
    }
    return { ...nothingMore, order: { ...amounts, ...statusBy({ ...order, ...amounts }) }, refund: { status: 'FAILED', ...because(failure) } }
  }
  if (isLate) return nothingMore
  // What is held is held still: it can be captured or voided again.
  if (type === 'CAPTURE' || type === 'VOID') return { ...nothingMore, order: { paymentPhase: 'AUTHORIZED', ...because(failure) } }
  const status = statusWithMoney({ ...order, status: 'FAILED' })
  return { ...nothingMore, order: { status, paymentPhase: 'NONE', ...because(failure) } }
}

function succeeded(
  order: OrderRow,
  { transaction: { type, amountMinor, cancelsOrder, isLate }, refund }: Settled,
  processorPaymentId: string | null,
  now: Date,
): Omit<Settlement, 'transaction'> {
  if (isLate) return late(order, type, amountMinor, processorPaymentId)
  if (type === 'AUTHORIZE') {
    const changes = { authorizedMinor: amountMinor, authorizedAt: now, processorPaymentId, ...without }
    return { ...nothingMore, order: { ...changes, status: 'PENDING', paymentPhase: 'AUTHORIZED' } }
  }
  if (type === 'VOID') {
    const changes = { authorizedMinor: 0n, authorizedAt: null, processorPaymentId: null, ...without }
    return { ...nothingMore, order: { ...changes, status: statusWithMoney({ ...order, status: cancelsOrder ? 'CANCELLED' : 'DRAFT' }), paymentPhase: 'NONE' } }
  }
  if (type === 'REFUND') {
    const amounts = {
      refundedMinor: order.refundedMinor + amountMinor,
      returningMinor: order.returningMinor - amountMinor,
      ...(refund?.origin === 'AUTOMATIC' && { lateReturnedMinor: order.lateReturnedMinor + amountMinor }),
    }
    const changes = { ...amounts, ...statusBy({ ...order, ...amounts }) }
    return { order: changes, refund: { status: 'SUCCEEDED', ...without }, bookings: [bookings.refunded(amountMinor)] }
  }
  // What was held beyond the captured part is released by the processor.
  const amounts = { capturedMinor: order.capturedMinor + amountMinor, authorizedMinor: 0n, authorizedAt: null }
  const paid = { status: statusWithMoney({ ...order, ...amounts }), paymentPhase: 'NONE' as const, paidAt: now, ...without }
  const changes = { ...amounts, ...paid, ...(type === 'PURCHASE' && { processorPaymentId }) }
  return { ...nothingMore, order: changes, bookings: [bookings.captured(amountMinor)] }
}

/** The status of an order after money went back, or did not; while a payment is under way that decides. */
const statusBy = (order: OrderRow): Partial<OrderRow> => (order.paymentPhase === 'NONE' ? { status: statusWithMoney(order) } : {})

/** Money that its order could not take: it is counted, and held for the refund that gives it back. What is held of a card is only released. */
function late(order: OrderRow, type: TransactionRow['type'], amountMinor: bigint, processorPaymentId: string | null): Omit<Settlement, 'transaction'> {
  if (type !== 'PURCHASE') return nothingMore
  const amounts = {
    capturedMinor: order.capturedMinor + amountMinor,
    lateMinor: order.lateMinor + amountMinor,
    returningMinor: order.returningMinor + amountMinor,
  }
  // Should it not go back, a person refunds it by this name.
  const named = order.processorPaymentId === null && order.paymentPhase === 'NONE' ? { processorPaymentId } : {}
  return { ...nothingMore, order: { ...amounts, ...named }, bookings: [bookings.captured(amountMinor)] }
}
