import { DomainError } from '../../../../platform/errors.ts'
import { change } from '../../../store/write.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { nextReminder, queueMail } from '../../engines/invoicing/mail/queue.ts'
import type { ResendInvoiceInput } from '../../resolvers.generated.ts'
import type { InvoiceRow } from '../../stores/invoicing/invoice.ts'
import type { OrderRow } from '../../stores/order.ts'
import { invoiceLine } from './audit.ts'
import { openPage } from './page.ts'
import { most, requireInvoiceMove } from './rules.ts'

const hourMs = 3_600_000

/** Mails an invoice again; once for each key. */
export async function resendInvoice(context: Context, input: ResendInvoiceInput): Promise<InvoiceRow> {
  const { viewer, customers, invoices, invoiceMails, orders, paymentLinks } = context
  const { id, expectedVersion } = input
  const { orderId } = await invoices.require(id)
  let order: OrderRow | null = null
  return change(context, {
    of: invoices,
    ...{ id, expectedVersion, once: { what: 'resendInvoice', tenantId: activeOrganization(viewer, 'Invoices'), input } },
    async before({ transaction }) {
      if (orderId !== null) order = await orders.lock(orderId, transaction)
    },
    async decide(invoice, unit) {
      requireInvoiceMove(invoice, 'resend')
      const customer = await customers.lock(invoice.customerId, unit.transaction)
      if (!customer?.email)
        throw new DomainError('CONFLICT', 'The customer has no mail address: give the customer one first.', { reason: 'NO_ADDRESS', field: 'id' })
      const since = new Date(unit.now.getTime() - hourMs)
      const { number, resent } = await invoiceMails.countsOf(invoice.id, 'INVOICE', since, unit.transaction)
      if (resent >= most.resendsAnHour)
        throw new DomainError('RATE_LIMITED', `An invoice is mailed again at most ${most.resendsAnHour} times within an hour: wait.`, {
          retryAfter: hourMs / 1_000,
        })
      await queueMail(context, invoice, { kind: 'INVOICE', n: number + 1, isResent: true }, unit)
      // A link is open for ninety days, an invoice until it is paid.
      const isOpen = await paymentLinks.hasOpen(order!.id, null, unit.transaction)
      const renewed = isOpen ? {} : { paymentUrl: (await openPage(context, order!, unit)).paymentUrl }
      return { ...renewed, isMailed: true, nextReminderAt: nextReminder(invoice.reminders, unit.now), updatedAt: unit.now }
    },
    audit: ({ before, after }) => invoiceLine('invoice.resent', before, after),
    announce: () => void invoiceMails.manyBy('invoiceId').clear(id),
  })
}
