import { newId } from '../../../../../platform/ids.ts'
import { fromProcessor } from '../../../../currencies.ts'
import { type WriteTransaction, writeFacts, writing } from '../../../../store/books.ts'
import type { OrderRow } from '../../../stores/order.ts'
import type { RefundReason, RefundRow } from '../../../stores/refund.ts'
import type { TransactionRow } from '../../../stores/transaction.ts'
import { type Effect, type EventHandler, numberIn, type ProcessorEvent, type Subject, textIn } from '../../webhook/event.ts'
import { approvalFacts } from '../announce.ts'
import { conclude, concludeHeld, type Held, isOpen } from '../conclude.ts'
import { failureOf, type Outcome } from '../outcome.ts'
import { noteContradiction } from '../run.ts'
import type { PaymentWork } from '../work.ts'
import { giveUpRefund } from './failed-refund.ts'
import { ourId } from './intent.ts'
import { insertForeign } from './take-in.ts'

/** Our transaction of a refund at the processor; null for one that was made there. */
async function transactionOf(job: PaymentWork, { object }: ProcessorEvent): Promise<TransactionRow | null> {
  const named = await job.transactions.atProcessor(textIn(object, 'id') ?? '')
  const found = named[0] ?? (await job.transactions.find(ourId(object, 'transaction_id')))
  return found?.type === 'REFUND' ? found : null
}

/**
 * Finds whose a payment at the processor is, by which refunds and disputes name what they are of.
 * @returns null for nobody's payment; NOT_YET while a payment is under way here whose name is not known
 */
export async function whosePayment(job: PaymentWork, event: ProcessorEvent): Promise<Subject | 'NOT_YET' | null> {
  const paymentId = textIn(event.object, 'payment_intent')
  const [payment] = paymentId === null ? [] : await job.transactions.atProcessor(paymentId)
  if (payment) return { organizationId: payment.organizationId, orderId: payment.orderId, isKnown: true }
  const order = await job.orders.find(ourId(event.object, 'order_id'))
  if (order) return { organizationId: order.organizationId, orderId: order.id, isKnown: false }
  // A payment begins here before it does at the processor, whose seconds are whole.
  return (await job.transactions.hasNameless(new Date(event.occurredAt.getTime() + 1_000))) ? 'NOT_YET' : null
}

async function whose(job: PaymentWork, event: ProcessorEvent): Promise<Subject | 'NOT_YET' | null> {
  const ours = await transactionOf(job, event)
  return ours ? { organizationId: ours.organizationId, orderId: ours.orderId, isKnown: true } : whosePayment(job, event)
}

/** What the processor says of a refund. */
function outcomeOf({ object }: ProcessorEvent): Outcome {
  const processorId = textIn(object, 'id')
  const status = textIn(object, 'status')
  if (status === 'succeeded') return { kind: 'SUCCEEDED', processorId }
  if (status === 'failed' || status === 'canceled') return { kind: 'FAILED', failure: failureOf('PROCESSOR_ERROR'), processorId }
  return { kind: 'UNKNOWN', processorId }
}

async function apply(job: PaymentWork, event: ProcessorEvent, { orderId }: Subject): Promise<Effect> {
  const known = await transactionOf(job, event)
  const outcome = outcomeOf(event)
  if (!known) return takeInRefund(job, orderId!, event, outcome)
  if (!isOpen(known)) return applyEnded(job, event, known, outcome)
  // What is under way there is under way here.
  if (outcome.kind === 'UNKNOWN' || (await conclude(job, known.id, outcome))) return 'DONE'
  // An answer or another event was quicker: what it recorded decides.
  const ended = await job.transactions.byId.clear(known.id).load(known.id)
  return ended ? applyEnded(job, event, ended, outcome) : 'NOT_YET'
}

/** Takes in an event of a refund whose outcome is recorded: one that had succeeded may have failed since. */
async function applyEnded(job: PaymentWork, { object }: ProcessorEvent, known: TransactionRow, outcome: Outcome): Promise<Effect> {
  if (outcome.kind === 'FAILED') {
    if (known.status === 'SUCCEEDED') await giveUpRefund(job, known, outcome.failure)
    return 'DONE'
  }
  if (known.status === 'SUCCEEDED') return outcome.kind === 'SUCCEEDED' ? 'DONE' : 'BACKWARDS'
  // A refund that has failed stays so; one that a person said has failed may have gone through after all.
  if (outcome.kind === 'SUCCEEDED' && known.processorId === null) {
    await noteContradiction(job, known.id, textIn(object, 'id'))
    return 'DONE'
  }
  return 'BACKWARDS'
}

const reasons: Readonly<Record<string, RefundReason>> = { duplicate: 'DUPLICATE', fraudulent: 'FRAUDULENT', requested_by_customer: 'REQUESTED_BY_CUSTOMER' }

/** Takes in a refund that somebody made at the processor itself. */
async function takeInRefund(job: PaymentWork, orderId: string, { object }: ProcessorEvent, outcome: Outcome): Promise<Effect> {
  const processorId = textIn(object, 'id')!
  const { amountMinor } = fromProcessor(numberIn(object, 'amount'), textIn(object, 'currency') ?? '')
  let effect: Effect = 'NOT_YET'
  const hold = async (order: OrderRow, unit: WriteTransaction): Promise<Held | null> => {
    // Another event of the same refund may have been quicker.
    if ((await job.transactions.atProcessor(processorId, unit.transaction)).length > 0) return null
    // One that has failed moves nothing, so it needs no room; it is written down, so that an older event of it does not take it in.
    const room = amountMinor < 1n ? null : outcome.kind === 'FAILED' ? order : await makeRoom(job, order, amountMinor, unit)
    if (!room) return null
    effect = 'DONE'
    const refund = await insertRefund(job, order, { amountMinor, reason: reasons[textIn(object, 'reason') ?? ''] ?? 'OTHER' }, unit)
    const before = await insertForeign(job, order, { type: 'REFUND', amountMinor, processorId, refundId: refund.id }, unit)
    return { before, refundBefore: refund, order: { ...room, returningMinor: room.returningMinor + amountMinor } }
  }
  await concludeHeld(job, orderId, hold, outcome)
  return effect
}

function insertRefund(
  job: PaymentWork,
  order: OrderRow,
  { amountMinor, reason }: Pick<RefundRow, 'amountMinor' | 'reason'>,
  unit: WriteTransaction,
): Promise<RefundRow> {
  const { id: orderId, merchantId, organizationId, currency } = order
  const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: job[writing].actor }
  const place = { id: newId(unit.now), merchantId, organizationId, orderId, currency }
  return job.refunds.insert({ ...place, amountMinor, reason, status: 'PENDING', origin: 'PROCESSOR', ...stamps }, unit.transaction)
}

/**
 * Frees the amounts of refunds that wait for approval, the latest first, until so much can go back: at the processor it has already.
 * @returns the order with what is left held; null where even that does not do
 */
async function makeRoom(job: PaymentWork, order: OrderRow, amountMinor: bigint, unit: WriteTransaction): Promise<OrderRow | null> {
  const { refunds, publicUrl } = job
  const { now, transaction } = unit
  let { returningMinor } = order
  const left = () => order.capturedMinor - order.refundedMinor - returningMinor
  const waiting = left() >= amountMinor ? [] : (await refunds.manyBy('orderId').load(order.id)).filter(({ status }) => status === 'AWAITING_APPROVAL')
  for (const { id } of waiting) {
    if (left() >= amountMinor) break
    const held = await refunds.lock(id, transaction)
    if (held?.status !== 'AWAITING_APPROVAL') continue
    const { code: failureCode, message: failureMessage } = failureOf('AMOUNT_REFUSED')
    const after = await refunds.update(held, { status: 'FAILED', failureCode, failureMessage, updatedAt: now, version: held.version + 1 }, transaction)
    await writeFacts(job, approvalFacts(order, held, after, publicUrl), unit)
    returningMinor -= held.amountMinor
  }
  return left() >= amountMinor ? { ...order, returningMinor } : null
}

/** What happens on the processor's events of refunds. */
export const refundEvents: EventHandler<PaymentWork> = { whose, apply }
