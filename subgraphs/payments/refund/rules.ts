import { DomainError } from '../../../platform/errors.ts'
import { refundableOf, requireMove } from '../engines/payment/moves.ts'
import type { OrderRow } from '../stores/order.ts'
import type { RefundRow } from '../stores/refund.ts'

/** How many refunds an order may have, and how long a note is, in characters. */
export const most = { ofOrder: 50, note: 500 } as const

/**
 * Decides how much goes back.
 * @param asked  in minor units; null: all that may still go back
 * @param number how many refunds the order has
 * @throws BAD_USER_INPUT for less than 1; CONFLICT, reason ILLEGAL_MOVE before money was taken, DISPUTED while a dispute is open,
 *   REFUND_EXCEEDS_REMAINING with `refundableMinor`, or TOO_MANY_REFUNDS
 */
export function amountOf(order: OrderRow, asked: bigint | null, { number, isDisputed }: { readonly number: number; readonly isDisputed: boolean }): bigint {
  if (asked !== null && asked < 1n) throw new DomainError('BAD_USER_INPUT', 'amountMinor must be at least 1.', { field: 'amountMinor' })
  requireMove(order, 'refund')
  requireUndisputed(isDisputed)
  const refundable = refundableOf(order)
  if (refundable < 1n || (asked ?? refundable) > refundable)
    throw new DomainError('CONFLICT', `${refundable} minor units of this order may still go back: ask for at most that.`, {
      ...{ reason: 'REFUND_EXCEEDS_REMAINING', refundableMinor: String(refundable) },
    })
  if (number >= most.ofOrder)
    throw new DomainError('CONFLICT', `An order has at most ${most.ofOrder} refunds: this one has them.`, { reason: 'TOO_MANY_REFUNDS' })
  return asked ?? refundable
}

/** @throws CONFLICT, reason DISPUTED, while a dispute of the order is open */
export function requireUndisputed(isDisputed: boolean): void {
  if (isDisputed) throw new DomainError('CONFLICT', 'A dispute of this order is open: nothing goes back until it is decided.', { reason: 'DISPUTED' })
}

/** What may be decided of a refund. */
type Decision = 'approve' | 'reject'

/** @throws CONFLICT, reason ILLEGAL_MOVE, unless the refund waits */
export function requireWaiting({ status: from }: Pick<RefundRow, 'status'>, verb: Decision): void {
  if (from === 'AWAITING_APPROVAL') return
  throw new DomainError('CONFLICT', `A refund that is ${from} does not wait for approval: there is nothing to ${verb}.`, {
    ...{ reason: 'ILLEGAL_MOVE', from, verb, possible: [] },
  })
}

/**
 * Requires that a second person approves.
 * @param keyMaker who made the key that asked for it; null where no key did, or nobody is known
 * @throws FORBIDDEN, reason SAME_PERSON
 */
export function requireSecondPerson({ requestedBy }: Pick<RefundRow, 'requestedBy'>, userId: string | null, keyMaker: string | null): void {
  if (userId !== null && userId !== requestedBy && userId !== keyMaker) return
  throw new DomainError(
    'FORBIDDEN',
    'A second person has to approve this refund: not the one who requested it, nor the one who created the API key that did.',
    {
      reason: 'SAME_PERSON',
    },
  )
}
