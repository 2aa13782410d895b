import { newId } from '../../../../platform/ids.ts'
import { record, type WriteTransaction } from '../../../store/books.ts'
import { change } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { nextReminder, queueMail, remindersOf } from '../../engines/invoicing/mail/queue.ts'
import { followPaidInvoice, paidBy } from '../../engines/invoicing/paid.ts'
import { announceOrder } from '../../engines/payment/announce.ts'
import type { FinalizeInvoiceInput } from '../../resolvers.generated.ts'
import type { PaymentSettingsRow } from '../../stores/admin/settings.ts'
import type { InvoiceRow } from '../../stores/invoicing/invoice.ts'
import { type MerchantRow, requireActiveMerchant } from '../../stores/merchant.ts'
import type { OrderRow } from '../../stores/order.ts'
import { type CustomerRow, requireKept } from '../../stores/parties/customer.ts'
import { invoiceLine } from './audit.ts'
import { openPage } from './page.ts'
import { amountsOf, dueOn, requireInvoiceable, requireInvoiceMove } from './rules.ts'

/** What an invoice is issued with, all of it locked. */
interface Issue {
  readonly invoice: InvoiceRow
  readonly merchant: MerchantRow
  readonly customer: CustomerRow
  /** The order that it is of; null for lines of its own. */
  readonly order: OrderRow | null
}

/**
 * Issues a draft under the next number of its merchant; once for each key. Locks are taken in one order: order, invoice, customer, merchant,
 * and the merchant's number last, on which the next invoice of the merchant waits.
 */
export async function finalizeInvoice(context: Context, input: FinalizeInvoiceInput): Promise<InvoiceRow> {
  const { viewer, customers, events, invoices, merchants, orders, settings } = context
  const tenantId = activeOrganization(viewer, 'Invoices')
  const { id, expectedVersion } = input
  const { orderId } = await invoices.require(id)
  const ofOrganization = await settings.of(tenantId)
  let order: OrderRow | null = null
  return change(context, {
    of: invoices,
    ...{ id, expectedVersion, once: { what: 'finalizeInvoice', tenantId, input } },
    async before({ transaction }) {
      if (orderId !== null) order = await orders.lock(orderId, transaction)
    },
    async decide(invoice, unit) {
      requireInvoiceMove(invoice, 'finalize')
      const customer = (await customers.lock(invoice.customerId, unit.transaction))!
      const merchant = (await merchants.held(invoice.merchantId, unit.transaction))!
      const issued = await issue(context, { invoice, merchant, customer, order }, ofOrganization, unit)
      order = issued.order
      return { ...issued.changes, isMailed: input.send ?? true }
    },
    audit: ({ before, after }) => invoiceLine('invoice.finalized', before, after),
    async wake({ after }, unit) {
      if (after.isMailed) await queueMail(context, after, { kind: 'INVOICE', n: 1 }, unit)
      if (after.status === 'PAID') await followPaidInvoice(context, after, unit)
    },
    announce: () => announceOrder(events, order!),
  })
}

async function issue(
  context: Context,
  { invoice, merchant, customer, order: given }: Issue,
  { invoiceDueDays, reminderDays }: PaymentSettingsRow,
  unit: WriteTransaction,
) {
  requireKept(customer)
  if (given) requireInvoiceable(given, { customerId: customer.id, merchantId: null })
  const isPaid = given !== null && given.paidAt !== null
  if (!isPaid) requireActiveMerchant(merchant)
  const ordered = given ?? (await writeOrder(context, invoice, unit))
  const { order, paymentUrl } = isPaid ? { order: ordered, paymentUrl: null } : await openPage(context, ordered, unit)
  const { name, legalName, country, taxId, supportEmail } = merchant
  const dueAt = dueOn(invoice, invoiceDueDays, unit.now)
  const reminders = isPaid ? [] : remindersOf(dueAt, reminderDays, unit.now)
  const changes: Partial<InvoiceRow> = {
    ...amountsOf(order),
    ...{ status: 'FINALIZED', orderId: order.id, issuedAt: unit.now, dueAt, paymentUrl, reminders },
    nextReminderAt: nextReminder(reminders, unit.now),
    parties: { merchant: { name, legalName, country, taxId, supportEmail }, customer: { name: customer.name!, reference: customer.reference } },
    ...(isPaid && paidBy(order)),
    number: `${merchant.invoicePrefix}-${await context.invoices.nextNumber(merchant.id, merchant.organizationId, unit.transaction)}`,
  }
  return { changes, order }
}

/** Writes the order that pays an invoice of lines of its own. */
async function writeOrder(context: Context, invoice: InvoiceRow, unit: WriteTransaction): Promise<OrderRow> {
  const { viewer, orders } = context
  const { merchantId, organizationId, customerId, currency, lines, subtotalMinor, discountMinor, taxMinor, totalMinor } = invoice
  const amounts = { lines, subtotalMinor, discountMinor, taxMinor, totalMinor }
  const number = await orders.nextNumber(organizationId, unit.transaction)
  const stamps = { createdAt: unit.now, updatedAt: unit.now, createdBy: actorOf(viewer) }
  const place = { id: newId(unit.now), merchantId, organizationId, customerId, userId: viewer.userId, number, currency }
  const order = await orders.insert({ ...place, ...amounts, ...stamps }, unit.transaction)
  await record(context, { tenantId: merchantId, action: 'order.created', subjectId: order.id }, unit)
  return order
}
