import { crash } from '../../../../platform/crash.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { step } from '../../../store/write.ts'
import type { OrderRow } from '../../stores/order.ts'
import type { RefundRow } from '../../stores/refund.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { type Movement, post } from '../ledger/post.ts'
import { announceOrder, approvalFacts, paidFact, refundedFact, unknownFacts } from './announce.ts'
import { closeSessionsAndLinks } from './checkouts.ts'
import { returnLate } from './intention.ts'
import type { Outcome } from './outcome.ts'
import { followPaid } from './paid.ts'
import { announceOutcome } from './records.ts'
import { type Settlement, settle } from './settle.ts'
import type { PaymentWork } from './work.ts'

/** Whether nobody knows yet what became of a transaction. */
export const isOpen = ({ status }: Pick<TransactionRow, 'status'>): boolean => status === 'PENDING' || status === 'UNKNOWN'

/** A transaction and its refund, before and after a conclusion; null after it: the intention was taken back. */
interface Concluded {
  readonly before: TransactionRow
  readonly after: TransactionRow | null
  readonly refundBefore: RefundRow | null
  readonly refundAfter: RefundRow | null
  /** What the ledger is to have of it. */
  readonly movements: readonly Movement[]
}

/** Why a person says that a transaction succeeded or failed. */
export interface PersonsWord {
  readonly note: string | null
}

/** What the audit calls what became of a transaction. */
const actions = {
  SUCCEEDED: 'transaction.succeeded',
  FAILED: 'transaction.failed',
  UNKNOWN: 'transaction.left_unknown',
  PENDING: 'transaction.left_pending',
} as const

/** A transaction whose outcome is recorded, and the refund that it pays out, both as they stand. */
export interface Held {
  /** PENDING or UNKNOWN. */
  readonly before: TransactionRow
  readonly refundBefore: RefundRow | null
  /** The order as the outcome finds it, where something of it changes first. @default as it stands */
  readonly order?: OrderRow
}

/**
 * Records what became of a transaction, all in one database transaction: its row, its order, the refund that it pays out, the ledger, the audit
 * and the facts for others. Only the first known outcome counts; a later one changes nothing.
 * @param word what a person said of it, who ends it in the processor's place; null when the processor answered
 * @returns the order as it stands then; null when the outcome had been recorded before
 */
export async function conclude(job: PaymentWork, transactionId: string, outcome: Outcome, word: PersonsWord | null = null): Promise<OrderRow | null> {
  const known = await job.transactions.byId.load(transactionId)
  if (!known?.orderId) return null
  const hold = async (_: OrderRow, { transaction }: WriteTransaction): Promise<Held | null> => {
    const before = await job.transactions.lock(transactionId, transaction)
    if (!before || !isOpen(before)) return null
    return { before, refundBefore: before.refundId ? await job.refunds.lock(before.refundId, transaction) : null }
  }
  return concludeHeld(job, known.orderId, hold, outcome, word)
}

/**
 * The same for a transaction that is locked, or written, once its order is under lock.
 * @param hold hands it over; null: there is nothing to record
 */
export async function concludeHeld(
  job: PaymentWork,
  orderId: string,
  hold: (order: OrderRow, unit: WriteTransaction) => Promise<Held | null>,
  outcome: Outcome,
  word: PersonsWord | null = null,
): Promise<OrderRow | null> {
  const { orders, events, publicUrl } = job
  let at = new Date(0)
  const stepped = await step(job, {
    of: orders,
    hold: orderId,
    async decide(order, unit) {
      at = unit.now
      const held = await hold(order, unit)
      if (!held) return null
      const { before, refundBefore, order: found = order } = held
      const settlement = settle(found, { transaction: before, refund: refundBefore }, outcome, unit.now)
      const changes = { returningMinor: found.returningMinor, ...settlement.order }
      return { changes, isNews: true, along: () => writeAlong(job, order, { before, refundBefore }, settlement, unit) }
    },
    audit({ after: { merchantId }, along }) {
      const { before, after } = along!
      const action = after ? (word ? 'transaction.resolved' : actions[after.status]) : 'transaction.withdrawn'
      const what = { type: before.type, orderId: before.orderId, status: after?.status ?? null, failure: after?.failureCode ?? null }
      const details = { ...what, ...(word?.note && { changes: [{ field: 'note', before: null, after: word.note }] }) }
      return { tenantId: merchantId, action, subjectId: before.id, details }
    },
    facts: ({ after, along }) => factsOf(after, along!, publicUrl, at),
    async wake(changed, unit) {
      await announceOutcome(job, changed, changed.along!, unit)
      await followPaid(job, changed, unit)
      if (changed.after.status === 'CANCELLED') await closeSessionsAndLinks(job, changed.after, unit)
      if (changed.along!.after?.status === 'SUCCEEDED') await returnLate(job, changed.after, changed.along!.after, unit)
      // The very last: every statement after it would hold up the next posting of the merchant.
      await post(job, changed.after, changed.along!.movements, unit)
    },
    announce({ after }) {
      crash('outcome-recorded')
      announceOrder(events, after)
    },
  })
  return stepped?.after ?? null
}

async function writeAlong(
  job: PaymentWork,
  order: OrderRow,
  { before, refundBefore }: Pick<Concluded, 'before' | 'refundBefore'>,
  settlement: Settlement,
  unit: WriteTransaction,
): Promise<Concluded> {
  const { transactions, refunds } = job
  const stamps = ({ version }: { readonly version: number }) => ({ version: version + 1, updatedAt: unit.now })
  const after = settlement.transaction && (await transactions.update(before, { ...settlement.transaction, ...stamps(before) }, unit.transaction))
  if (!after) await transactions.remove(before, unit.transaction)
  let refundAfter: RefundRow | null = null
  if (refundBefore && settlement.refund) refundAfter = await refunds.update(refundBefore, { ...settlement.refund, ...stamps(refundBefore) }, unit.transaction)
  else if (refundBefore) await refunds.remove(refundBefore, unit.transaction)
  const movements = settlement.bookings.map(booking => ({ ...booking, currency: before.currency, orderId: order.id }))
  return { before, after, refundBefore, refundAfter, movements }
}

/** Returns the facts about a conclusion. */
function factsOf(order: OrderRow, { before, after, refundBefore, refundAfter }: Concluded, publicUrl: string, at: Date) {
  const facts = [...unknownFacts(order, before, after, publicUrl, at), ...approvalFacts(order, refundBefore, refundAfter, publicUrl)]
  if (after?.status !== 'SUCCEEDED') return facts
  if (before.type === 'REFUND') facts.push(refundedFact(order, before.amountMinor, at))
  if ((before.type === 'PURCHASE' || before.type === 'CAPTURE') && !before.isLate) facts.push(paidFact(order, before.amountMinor, at))
  return facts
}
