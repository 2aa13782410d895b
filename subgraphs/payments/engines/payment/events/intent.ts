import { isId } from '../../../../../platform/ids.ts'
import { fromProcessor } from '../../../../currencies.ts'
import type { OrderRow } from '../../../stores/order.ts'
import type { TransactionRow, TransactionType } from '../../../stores/transaction.ts'
import { type Effect, type EventHandler, numberIn, objectIn, type ProcessorEvent, type Subject, textIn } from '../../webhook/event.ts'
import { conclude, isOpen } from '../conclude.ts'
import { codeOfCard, failureOf, type Outcome } from '../outcome.ts'
import { noteContradiction } from '../run.ts'
import type { PaymentWork } from '../work.ts'
import { takeIn } from './take-in.ts'

/** The types of transactions that a payment at the processor has. */
const ofPayment: ReadonlySet<TransactionType> = new Set(['AUTHORIZE', 'CAPTURE', 'PURCHASE', 'VOID'])

/** An id that we gave the processor with an object; null where it has none of ours. */
export function ourId(object: ProcessorEvent['object'], name: string): string | null {
  const id = textIn(objectIn(object, 'metadata'), name)
  return id !== null && isId(id) ? id : null
}

/** Types after which a payment without a transaction here is waited for: money moved, or is held. */
const moves: ReadonlySet<string> = new Set(['payment_intent.succeeded', 'payment_intent.amount_capturable_updated'])

async function whose(job: PaymentWork, { type, object }: ProcessorEvent): Promise<Subject | null> {
  const [named] = await job.transactions.atProcessor(textIn(object, 'id') ?? '')
  const transaction = named ?? (await job.transactions.find(ourId(object, 'transaction_id')))
  if (transaction) return { organizationId: transaction.organizationId, orderId: transaction.orderId, isKnown: true }
  const order = await job.orders.find(ourId(object, 'order_id'))
  return order && { organizationId: order.organizationId, orderId: order.id, isKnown: !moves.has(type) }
}

/** The transactions of one payment at the processor, the earliest first. */
async function allOf(job: PaymentWork, order: OrderRow, { object }: ProcessorEvent): Promise<readonly TransactionRow[]> {
  const [id, ours] = [textIn(object, 'id'), ourId(object, 'transaction_id')]
  const isMine = ({ id: own, type, processorId }: TransactionRow) =>
    processorId === id || own === ours || (processorId === null && order.processorPaymentId === id && (type === 'CAPTURE' || type === 'VOID'))
  return (await job.transactions.allOf(order.id)).filter(each => ofPayment.has(each.type) && isMine(each))
}

/** What an event says of a transaction that is open; null: nothing yet. */
function outcomeFor(open: TransactionRow, { type, object }: ProcessorEvent): Outcome | null {
  const processorId = textIn(object, 'id')
  const succeeded: Outcome = { kind: 'SUCCEEDED', processorId }
  const failed = (code: Parameters<typeof failureOf>[0]): Outcome => ({ kind: 'FAILED', failure: failureOf(code), processorId })
  const isPayment = open.type === 'PURCHASE' || open.type === 'AUTHORIZE'
  switch (type) {
    case 'payment_intent.succeeded': {
      if (open.type === 'CAPTURE') return receivedBy(object) === open.amountMinor ? succeeded : failed('PROCESSOR_ERROR')
      return open.type === 'VOID' ? failed('PROCESSOR_ERROR') : succeeded
    }
    case 'payment_intent.canceled':
      return open.type === 'VOID' ? succeeded : failed('PROCESSOR_ERROR')
    case 'payment_intent.payment_failed': {
      const { decline_code: decline, code } = objectIn(object, 'last_payment_error')
      return isPayment ? failed(codeOfCard(decline as string | null, code as string | null)) : null
    }
    default:
      return open.type === 'AUTHORIZE' ? succeeded : null
  }
}

const receivedBy = (object: ProcessorEvent['object']): bigint =>
  fromProcessor(numberIn(object, 'amount_received'), textIn(object, 'currency') ?? '').amountMinor

/** What the present outcome of a payment's transactions makes of an event once none of them is open. */
type Standing = 'HELD' | 'TAKEN' | 'RELEASED' | 'FAILED'

function standingOf(transactions: readonly TransactionRow[]): Standing {
  const has = (...types: readonly TransactionType[]) => transactions.some(({ type, status }) => status === 'SUCCEEDED' && types.includes(type))
  if (has('CAPTURE', 'PURCHASE')) return 'TAKEN'
  if (has('VOID')) return 'RELEASED'
  return has('AUTHORIZE') ? 'HELD' : 'FAILED'
}

/** How often one event can move a payment on: an authorization whose outcome was unknown, a capture that failed, and the capture. */
const maxSteps = 4

async function apply(job: PaymentWork, event: ProcessorEvent, { orderId }: Subject): Promise<Effect> {
  for (let count = 0; count < maxSteps; count += 1) {
    const order = orderId ? await job.orders.byId.load(orderId) : null
    if (!order) return 'NOT_YET'
    const transactions = await allOf(job, order, event)
    const open = transactions.find(isOpen)
    if (!open) return applyEnded(job, event, order, transactions)
    const outcome = outcomeFor(open, event)
    if (!outcome) return 'DONE'
    await conclude(job, open.id, outcome)
  }
  return 'NOT_YET'
}

/** Takes in what was done at the processor itself: a capture, or a release. */
async function applyEnded(job: PaymentWork, event: ProcessorEvent, order: OrderRow, transactions: readonly TransactionRow[]): Promise<Effect> {
  const [standing, { type, object }] = [standingOf(transactions), event]
  const processorId = textIn(object, 'id')!
  if (type === 'payment_intent.succeeded') {
    if (standing === 'TAKEN') return 'DONE'
    if (standing === 'RELEASED') return 'BACKWARDS'
    if (standing === 'HELD') return takeIn(job, order.id, { type: 'CAPTURE', amountMinor: receivedBy(object), processorId })
    for (const { id } of transactions) await noteContradiction(job, id, processorId)
    return 'DONE'
  }
  if (type === 'payment_intent.canceled') {
    if (standing === 'TAKEN') return 'BACKWARDS'
    return standing === 'HELD' ? takeIn(job, order.id, { type: 'VOID', amountMinor: order.authorizedMinor, processorId }) : 'DONE'
  }
  if (type === 'payment_intent.payment_failed') return standing === 'FAILED' ? 'DONE' : 'BACKWARDS'
  return standing === 'HELD' ? 'DONE' : 'BACKWARDS'
}

/** What happens on the processor's events of payments. */
export const intentEvents: EventHandler<PaymentWork> = { whose, apply }
