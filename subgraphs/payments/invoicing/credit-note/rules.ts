import { DomainError } from '../../../../platform/errors.ts'
import type { RefundReason } from '../../resolvers.generated.ts'
import type { Credited } from '../../stores/invoicing/credit-note.ts'
import type { InvoiceRow } from '../../stores/invoicing/invoice.ts'
import { requireInvoiceMove } from '../invoice/rules.ts'

/** How many credit notes an invoice may have, and how long a reason is, in characters. */
export const most = { ofInvoice: 50, reason: 500 } as const

/**
 * Decides how much a new credit note is about.
 * @param asked in minor units; null: all that is left
 * @throws BAD_USER_INPUT for less than 1; CONFLICT, reason ILLEGAL_MOVE for an invoice that is not paid, EXCEEDS_REMAINING with
 *   `remainingMinor`, or TOO_MANY_CREDIT_NOTES
 */
export function creditOf(invoice: Pick<InvoiceRow, 'status' | 'paidMinor'>, asked: bigint | null, { amountMinor, number }: Omit<Credited, 'last'>): bigint {
  if (asked !== null && asked < 1n) throw new DomainError('BAD_USER_INPUT', 'amountMinor must be at least 1.', { field: 'amountMinor' })
  requireInvoiceMove(invoice, 'credit')
  const remaining = invoice.paidMinor - amountMinor
  if (remaining < 1n || (asked ?? remaining) > remaining)
    throw new DomainError('CONFLICT', `${remaining} minor units of this invoice may still be credited: ask for at most that.`, {
      ...{ reason: 'EXCEEDS_REMAINING', remainingMinor: String(remaining) },
    })
  if (number >= most.ofInvoice)
    throw new DomainError('CONFLICT', `An invoice has at most ${most.ofInvoice} credit notes: this one has them.`, { reason: 'TOO_MANY_CREDIT_NOTES' })
  return asked ?? remaining
}

const refundReasons: readonly RefundReason[] = ['DUPLICATE', 'FRAUDULENT', 'REQUESTED_BY_CUSTOMER', 'OTHER']

/** What a refund says that is made with a credit note: a word of its own where the reason is one, else the reason as its note. */
export function refundReasonOf(reason: string | null): { readonly reason: RefundReason; readonly note: string | null } {
  const own = refundReasons.find(each => each === reason)
  return own ? { reason: own, note: null } : { reason: 'OTHER', note: reason }
}
