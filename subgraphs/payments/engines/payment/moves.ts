import { DomainError } from '../../../../platform/errors.ts'
import type { OrderRow, OrderStatus } from '../../stores/order.ts'

/** What somebody may do with an order. */
export type Verb = 'update' | 'pay' | 'checkout' | 'capture' | 'void' | 'cancel' | 'refund'

/** From which statuses each verb leads; in what phase of its payment an order has to be besides. */
const moves: Readonly<Record<Verb, { readonly from: readonly OrderStatus[]; readonly phases: readonly OrderRow['paymentPhase'][] }>> = {
  update: { from: ['DRAFT'], phases: ['NONE'] },
  pay: { from: ['DRAFT', 'PENDING', 'FAILED'], phases: ['NONE'] },
  checkout: { from: ['DRAFT', 'PENDING', 'FAILED'], phases: ['NONE'] },
  capture: { from: ['PENDING'], phases: ['AUTHORIZED'] },
  void: { from: ['PENDING'], phases: ['AUTHORIZED'] },
  cancel: { from: ['DRAFT', 'PENDING', 'FAILED'], phases: ['NONE', 'AUTHORIZED'] },
  refund: { from: ['PAID', 'PARTIALLY_REFUNDED', 'REFUNDED'], phases: ['NONE'] },
}
const verbs = Object.keys(moves) as readonly Verb[]

/** How far an order has got: what decides on the moves that it allows. */
export type Standing = Pick<OrderRow, 'status' | 'paymentPhase'>

/** Whether an order allows a verb as it stands. */
export const allowsMove = ({ status, paymentPhase }: Standing, verb: Verb): boolean =>
  moves[verb].from.includes(status) && moves[verb].phases.includes(paymentPhase)

/** The verbs that an order allows as it stands. */
export const possibleFor = (order: Standing): readonly Verb[] => verbs.filter(verb => allowsMove(order, verb))

/**
 * Requires that an order allows a verb as it stands.
 * @throws CONFLICT, reason OUTCOME_UNKNOWN while nobody knows what became of its payment; else reason ILLEGAL_MOVE with `from`, `verb` and `possible`
 */
export function requireMove(order: Standing, verb: Verb): void {
  if (allowsMove(order, verb)) return
  const { status: from, paymentPhase } = order
  if (paymentPhase === 'PROCESSING' || paymentPhase === 'UNKNOWN')
    throw new DomainError('CONFLICT', `A payment of this order is under way, and its outcome is not known yet: read the order again before you ${verb} it.`, {
      ...{ reason: 'OUTCOME_UNKNOWN', paymentPhase },
    })
  const possible = possibleFor(order)
  const rest = possible.length > 0 ? `it allows ${possible.join(', ')}` : 'it allows nothing more'
  throw new DomainError('CONFLICT', `An order that is ${from} does not allow ${verb}: ${rest}.`, { reason: 'ILLEGAL_MOVE', from, verb, possible })
}

/** The amounts of an order, in minor units of its currency. */
export type Amounts = Pick<OrderRow, 'capturedMinor' | 'refundedMinor' | 'returningMinor' | 'disputedMinor'>

/** What may still go back to whoever paid, in minor units; never below zero. */
export function refundableOf({ capturedMinor, refundedMinor, returningMinor, disputedMinor }: Amounts): bigint {
  const rest = capturedMinor - refundedMinor - returningMinor - disputedMinor
  return rest > 0n ? rest : 0n
}

/** What is still to be paid, in minor units: the total until something is captured. */
export const dueOf = ({ capturedMinor, totalMinor }: Pick<OrderRow, 'capturedMinor' | 'totalMinor'>): bigint => (capturedMinor > 0n ? 0n : totalMinor)

/** What the status of an order with money goes by. */
export type Money = Pick<OrderRow, 'status' | 'capturedMinor' | 'refundedMinor' | 'lateMinor' | 'lateReturnedMinor' | 'lateKeptMinor'>

/**
 * The status of an order by how much of its money went back; an order without money stays as it is. Late money that goes back by itself does not
 * count beside money that is kept. An order that had no other is REFUNDED once all of it went back, unless something leads payers to it.
 */
export function statusWithMoney({ status, capturedMinor, refundedMinor, lateMinor, lateReturnedMinor, lateKeptMinor }: Money): OrderStatus {
  if (capturedMinor === 0n) return status
  const [kept, returned] = [capturedMinor - lateMinor + lateKeptMinor, refundedMinor - lateReturnedMinor]
  if (kept === 0n) return status === 'PENDING' || lateReturnedMinor < lateMinor ? status : 'REFUNDED'
  if (returned === 0n) return 'PAID'
  return returned < kept ? 'PARTIALLY_REFUNDED' : 'REFUNDED'
}
