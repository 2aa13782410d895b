import { DomainError } from '../../../../platform/errors.ts'
import { readText } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { change } from '../../../store/write.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { followPaidInvoice } from '../../engines/invoicing/paid.ts'
import { announceOrder } from '../../engines/payment/announce.ts'
import { requireMove } from '../../engines/payment/moves.ts'
import type { MarkInvoicePaidInput, VoidInvoiceInput } from '../../resolvers.generated.ts'
import type { InvoiceRow } from '../../stores/invoicing/invoice.ts'
import type { OrderRow } from '../../stores/order.ts'
import { invoiceLine } from './audit.ts'
import { cancelWithPages } from './page.ts'
import { type InvoiceVerb, most, requireInvoiceMove } from './rules.ts'

interface Ending {
  readonly what: 'voidInvoice' | 'markInvoicePaid'
  readonly verb: InvoiceVerb
  readonly input: VoidInvoiceInput | MarkInvoicePaidInput
  readonly action: string
  readonly said: { readonly [field: string]: string | null }
  changes(invoice: InvoiceRow, unit: WriteTransaction): Partial<InvoiceRow>
}

/** Ends an invoice that is to be paid, and cancels the order that would pay it; once for each key. */
async function end(context: Context, { what, verb, input, action, said, changes }: Ending): Promise<InvoiceRow> {
  const { viewer, events, invoices, orders } = context
  const tenantId = activeOrganization(viewer, 'Invoices')
  const { orderId } = await invoices.require(input.id)
  let order: OrderRow | null = null
  return change(context, {
    of: invoices,
    ...{ id: input.id, expectedVersion: input.expectedVersion, once: { what, tenantId, input } },
    async before({ transaction }) {
      if (orderId !== null) order = await orders.lock(orderId, transaction)
    },
    async decide(invoice, unit) {
      requireInvoiceMove(invoice, verb)
      order = await cancelOrderOf(context, order!, unit)
      return changes(invoice, unit)
    },
    audit: ({ before, after }) => invoiceLine(action, before, after, said),
    async wake({ after }, unit) {
      if (after.status === 'PAID') await followPaidInvoice(context, after, unit)
    },
    announce: () => announceOrder(events, order!),
  })
}

/** @throws CONFLICT, reason OUTCOME_UNKNOWN while a payment is under way, ILLEGAL_MOVE while money is held: that may come to be captured */
async function cancelOrderOf(context: Context, order: OrderRow, unit: WriteTransaction): Promise<OrderRow> {
  if (order.status === 'CANCELLED') return order
  requireMove(order, 'cancel')
  if (order.paymentPhase === 'AUTHORIZED')
    throw new DomainError('CONFLICT', 'Money is held for the order of this invoice: capture or void that order first.', {
      ...{ reason: 'ILLEGAL_MOVE', from: order.status, verb: 'cancel', possible: ['capture', 'void'] },
    })
  return cancelWithPages(context, order, unit)
}

/** Gives up an invoice that is not paid. */
export const voidInvoice = (context: Context, input: VoidInvoiceInput): Promise<InvoiceRow> =>
  end(context, {
    ...{ what: 'voidInvoice', verb: 'void', input, action: 'invoice.voided', said: { reason: readText(input.reason, 'reason', most.reason) } },
    changes: () => ({ status: 'VOID' }),
  })

/** Notes that the money of an invoice came by another way. */
export const markInvoicePaid = (context: Context, input: MarkInvoicePaidInput): Promise<InvoiceRow> =>
  end(context, {
    ...{ what: 'markInvoicePaid', verb: 'mark_paid', input, action: 'invoice.marked_paid' },
    said: { reference: readText(input.reference, 'reference', most.reference) },
    changes: ({ totalMinor }, { now }) => ({ status: 'PAID', paidMinor: totalMinor, paidAt: now }),
  })
