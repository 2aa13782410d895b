import { DomainError } from '../../../../platform/errors.ts'
import type { DisputeRow, DisputeStatus } from '../../stores/events/dispute.ts'
import { type Booking, bookings } from '../ledger/movements.ts'

/** What the processor's statuses are here; of inquiries (`warning_…`), which move no money, there is no dispute. */
const statuses: Readonly<Record<string, DisputeStatus>> = { needs_response: 'OPEN', under_review: 'UNDER_REVIEW', won: 'WON', lost: 'LOST' }

/** The status of a dispute by the processor's word; null for one that moved no money. */
export const statusOf = (word: string | null): DisputeStatus | null => statuses[word ?? ''] ?? null

const ranks: Readonly<Record<DisputeStatus, number>> = { OPEN: 0, UNDER_REVIEW: 1, WON: 2, LOST: 2 }

/** Whether a dispute is not decided. */
export const isOpenDispute = (status: DisputeStatus): boolean => ranks[status] < 2

/**
 * Requires that a dispute takes an answer: evidence, or that it is accepted.
 * @throws CONFLICT, reason ILLEGAL_MOVE for one that is not open, or is being accepted; EVIDENCE_LATE for evidence after `evidenceDueBy`
 */
export function requireAnswerable({ status: from, asks, evidenceDueBy }: DisputeRow, verb: 'submit' | 'accept', now: Date): void {
  if (from !== 'OPEN' || asks)
    throw new DomainError('CONFLICT', `A dispute that is ${from}${asks ? ', and is being answered,' : ''} does not allow ${verb}.`, {
      ...{ reason: 'ILLEGAL_MOVE', from, verb, possible: [] },
    })
  if (verb === 'submit' && evidenceDueBy && now > evidenceDueBy)
    throw new DomainError('CONFLICT', `The bank took evidence of this dispute until ${evidenceDueBy.toISOString()}: it is too late.`, {
      reason: 'EVIDENCE_LATE',
    })
}

/** What a status changes: the movements of money, and by how much more of the order is held. */
export interface DisputeMove {
  readonly bookings: readonly Booking[]
  readonly heldMinor: bigint
}

/**
 * Decides what the processor's word makes of a dispute.
 * @param from null: it is new here
 * @returns null where it would lead backwards
 */
export function moveOf(from: DisputeStatus | null, to: DisputeStatus, { amountMinor }: Pick<DisputeRow, 'amountMinor'>): DisputeMove | null {
  if (from !== null && from !== to && ranks[to] <= ranks[from]) return null
  const opened = from === null ? [bookings.disputeOpened(amountMinor)] : []
  const held = from === null ? amountMinor : 0n
  if (to === from || isOpenDispute(to)) return { bookings: opened, heldMinor: held }
  if (to === 'LOST') return { bookings: [...opened, bookings.disputeLost(amountMinor)], heldMinor: held }
  return { bookings: [...opened, bookings.disputeWon(amountMinor)], heldMinor: held - amountMinor }
}
