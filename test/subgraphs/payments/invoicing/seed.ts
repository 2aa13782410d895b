import { newId } from '../../../../platform/ids.ts'
import { workOut } from '../../../../subgraphs/payments/order/rules.ts'
import type { CreditNoteRow } from '../../../../subgraphs/payments/stores/invoicing/credit-note.ts'
import type { InvoiceRow } from '../../../../subgraphs/payments/stores/invoicing/invoice.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { seedOrder } from '../order/seed.ts'
import { seedCustomer } from '../parties/customer/seed.ts'

type Graph = Pick<Supergraph, 'clock' | 'platform'>
interface Place {
  readonly organizationId: string
  readonly userId?: string | null
}

/** A draft of an invoice over 10.00 EUR to a customer of its own, past every rule. */
export async function seedInvoice(graph: Graph, { organizationId }: Place, more: Partial<InvoiceRow> = {}): Promise<InvoiceRow> {
  const now = graph.clock.now()
  const job = graph.platform.payments.job('user:x')
  const customer = await seedCustomer(graph, { organizationId })
  return inTransaction(job, async ({ transaction }) => {
    const fresh = { id: newId(now), organizationId, name: 'A merchant', defaultCurrency: 'EUR', createdAt: now, createdBy: 'user:x' }
    const merchantId = more.merchantId ?? (await job.merchants.ensureDefault(fresh, transaction))
    const amounts = workOut([{ name: 'Ticket', unitAmountMinor: 1000n }])
    const place = { id: newId(now), organizationId, merchantId, customerId: customer.id, currency: 'EUR' }
    return job.invoices.insert({ ...place, ...amounts, createdAt: now, updatedAt: now, createdBy: 'user:x', ...more }, transaction)
  })
}

const parties = {
  merchant: { name: 'A merchant', legalName: null, country: null, taxId: null, supportEmail: null },
  customer: { name: 'A customer', reference: null },
}

/** The same, finalized, with the order that is to pay it. */
export async function seedFinalized(graph: Graph, place: Place, more: Partial<InvoiceRow> = {}): Promise<InvoiceRow> {
  const now = graph.clock.now()
  const order = await seedOrder(graph, place)
  const job = graph.platform.payments.job('user:x')
  const number = await inTransaction(job, async ({ transaction }) => {
    await job.orders.update(order, { status: 'PENDING' }, transaction)
    return job.invoices.nextNumber(order.merchantId, order.organizationId, transaction)
  })
  const issued = { status: 'FINALIZED', number: `INV-${number}`, merchantId: order.merchantId, orderId: order.id, issuedAt: now, dueAt: now, parties } as const
  return seedInvoice(graph, place, { ...issued, ...more })
}

/** The same, paid by another way than its order. */
export const seedPaidInvoice = (graph: Graph, place: Place): Promise<InvoiceRow> =>
  seedFinalized(graph, place, { status: 'PAID', paidAt: graph.clock.now(), paidMinor: 1000n })

/** A credit note over 1.00 EUR of a paid invoice, past every rule. */
export async function seedCreditNote(graph: Graph, place: Place, more: Partial<CreditNoteRow> = {}): Promise<CreditNoteRow> {
  const now = graph.clock.now()
  const { id: invoiceId, merchantId, organizationId, number } = await seedPaidInvoice(graph, place)
  const job = graph.platform.payments.job('user:x')
  const row = { id: newId(now), merchantId, organizationId, invoiceId, sequence: 1, number: `${number}-C1`, amountMinor: 100n, currency: 'EUR' }
  return inTransaction(job, ({ transaction }) => job.creditNotes.insert({ ...row, createdAt: now, updatedAt: now, createdBy: 'user:x', ...more }, transaction))
}

/** A mail of an invoice that was sent. */
export function seedMail(graph: Graph, organizationId: string, invoiceId: string): Promise<unknown> {
  const now = graph.clock.now()
  const job = graph.platform.payments.job('user:x')
  const row = { id: newId(now), organizationId, invoiceId, kind: 'INVOICE', n: 1, status: 'SENT', createdAt: now, updatedAt: now, createdBy: 'user:x' } as const
  return inTransaction(job, ({ transaction }) => job.invoiceMails.insert(row, transaction))
}
