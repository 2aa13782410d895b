import { DomainError } from '../../../../platform/errors.ts'
import { newId, readText, requireId } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { change, create, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { readMetadata } from '../../order/metadata.ts'
import type { CreateInvoiceInput, DeleteInvoiceInput, UpdateInvoiceInput } from '../../resolvers.generated.ts'
import type { InvoiceRow } from '../../stores/invoicing/invoice.ts'
import type { OrderRow } from '../../stores/order.ts'
import { requireKept } from '../../stores/parties/customer.ts'
import { invoiceLine } from './audit.ts'
import { amountsOf, editInvoice, most, readSubject, requireInvoiceable, requireInvoiceMove } from './rules.ts'

/** Writes a draft; once for each key. */
export async function createInvoice(context: Context, input: CreateInvoiceInput): Promise<InvoiceRow> {
  const { viewer, customers, invoices, merchants, orders, quotas } = context
  const organizationId = activeOrganization(viewer, 'Invoices')
  const subject = readSubject(input)
  const words = { memo: readText(input.memo, 'memo', most.memo), metadata: readMetadata(input.metadata) ?? [], dueAt: input.dueAt ?? null }
  const customer = await customers.require(input.customerId, 'customerId')
  requireKept(customer)
  const merchant = input.merchantId ? await merchants.require(input.merchantId, 'merchantId') : null
  const parties = { customerId: customer.id, merchantId: merchant?.id ?? null }
  if (subject.orderId !== null) requireInvoiceable(await orders.require(subject.orderId, 'orderId'), parties)
  const known = merchant?.id ?? (await merchants.defaultOf(organizationId))
  const name = known ? '' : await context.nameOf(viewer)
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: invoices,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const written = await invoices.madeBy(createdBy, now, quotas.ordersADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: quotas.ordersADay }, 'invoices that you wrote', 'wait', now)
      const place = { id, organizationId, ...words, customerId: customer.id, createdAt: now, updatedAt: now, createdBy }
      if (subject.orderId !== null) {
        const order = (await orders.lock(requireId(subject.orderId, 'orderId'), transaction))!
        requireInvoiceable(order, parties)
        requireNoOther(await invoices.lockOfOrder(order.id, transaction))
        return { ...place, orderId: order.id, merchantId: order.merchantId, ...amountsOf(order) }
      }
      const fresh = { id: newId(now), organizationId, name, defaultCurrency: subject.currency, createdAt: now, createdBy }
      const merchantId = known ?? (await merchants.ensureDefault(fresh, transaction))
      return { ...place, merchantId, currency: subject.currency, ...subject.amounts }
    },
    audit: row => invoiceLine('invoice.created', null, row),
  })
  return row
}

/** @throws CONFLICT, reason ALREADY_INVOICED, when the order has an invoice that is not void */
function requireNoOther(other: InvoiceRow | null): void {
  if (other)
    throw new DomainError('CONFLICT', 'The order has an invoice: void or delete that one first.', {
      ...{ reason: 'ALREADY_INVOICED', invoiceId: other.id, field: 'orderId' },
    })
}

/** Changes a draft, or the metadata of any invoice; once for each key. */
export async function updateInvoice(context: Context, input: UpdateInvoiceInput): Promise<InvoiceRow> {
  const { viewer, customers, invoices, orders } = context
  const tenantId = activeOrganization(viewer, 'Invoices')
  const { id, expectedVersion, idempotencyKey: _, ...fields } = input
  const customer = fields.customerId ? await customers.require(fields.customerId, 'customerId') : null
  if (customer) requireKept(customer)
  const { orderId } = await invoices.require(id)
  let order: OrderRow | null = null
  return change(context, {
    of: invoices,
    ...{ id, expectedVersion, once: { what: 'updateInvoice', tenantId, input } },
    async before({ transaction }) {
      if (customer && orderId !== null) order = await orders.lock(orderId, transaction)
    },
    decide(invoice) {
      const changes = editInvoice(invoice, { ...fields, ...(customer && { customerId: customer.id }) })
      if (order && customer) requireInvoiceable(order, { customerId: customer.id, merchantId: null })
      return changes
    },
    audit: ({ before, after }) => invoiceLine('invoice.updated', before, after),
  })
}

/** Deletes a draft. */
export const deleteInvoice = (context: Context, { id, expectedVersion }: DeleteInvoiceInput): Promise<InvoiceRow> =>
  remove(context, {
    ...{ of: context.invoices, id, expectedVersion },
    decide: invoice => requireInvoiceMove(invoice, 'delete'),
    audit: invoice => ({ ...invoiceLine('invoice.deleted', invoice, invoice) }),
  })
