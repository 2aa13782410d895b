import { record, type WriteTransaction } from '../../../store/books.ts'
import type { InvoiceRow, Invoices } from '../../stores/invoicing/invoice.ts'
import type { OrderRow } from '../../stores/order.ts'
import { type Announcing, announceToWebhooks } from '../outgoing/announce.ts'
import { type MailQueue, queueMail } from './mail/queue.ts'
import { paidInvoiceRecord } from './record.ts'

/** What an invoice is paid with. */
export interface InvoiceWork extends MailQueue, Announcing {
  readonly invoices: Invoices
}

/** What becomes of an invoice whose order was paid. */
export const paidBy = ({ capturedMinor, paidAt }: Pick<OrderRow, 'capturedMinor' | 'paidAt'>) => ({
  ...{ status: 'PAID' as const, paidMinor: capturedMinor, paidAt: paidAt! },
})

/** Has the invoice of an order become PAID with it, in the transaction that records the payment. A draft becomes it when it is finalized. */
export async function settleInvoice(work: InvoiceWork, order: OrderRow, unit: WriteTransaction): Promise<void> {
  const { invoices } = work
  const invoice = await invoices.lockOfOrder(order.id, unit.transaction)
  if (invoice?.status !== 'FINALIZED') return
  const paid = await invoices.update(invoice, { ...paidBy(order), version: invoice.version + 1, updatedAt: unit.now }, unit.transaction)
  const { id, organizationId } = paid
  await record(work, { tenantId: organizationId, action: 'invoice.paid', subjectId: id, details: { changes: statusChange(invoice, paid) } }, unit)
  await followPaidInvoice(work, paid, unit)
}

/** Has everything follow that an invoice leads to which has become PAID, by whatever way, in the transaction of that change. */
export async function followPaidInvoice(work: MailQueue & Announcing, invoice: InvoiceRow, unit: WriteTransaction): Promise<void> {
  const { id: entityId, organizationId } = invoice
  if (invoice.isMailed) await queueMail(work, invoice, { kind: 'RECEIPT', n: 1 }, unit)
  const data = paidInvoiceRecord(invoice, await work.invoiceMails.ofInvoice(entityId, unit.transaction))
  await announceToWebhooks(work, { event: 'invoice.paid', organizationId, entityId, data }, unit)
}

const statusChange = (before: InvoiceRow, after: InvoiceRow) => [{ field: 'status', before: before.status, after: after.status }]
