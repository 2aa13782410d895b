import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accountants,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  type RouteRow,
  readOrders,
  row,
} from '../../../access/row.ts'
import { seedWaiting } from '../payment/seed.ts'
import { seedCreditNote, seedFinalized, seedInvoice, seedMail, seedPaidInvoice } from './seed.ts'

const read: readonly Scope[] = ['payments:invoices.read']
/** Enough to be answered with the invoice that was changed; not to read any other. */
const write: readonly Scope[] = ['payments:invoices.write']
const both = (scope: Scope): readonly Scope[] => [...read, scope]

const ofOwner = ({ owner }: Parameters<Fresh>[0]) => ({ organizationId: owner.organizationId!, userId: owner.userId })
const draft: Fresh = async stage => (await seedInvoice(stage.graph, ofOwner(stage))).id
const finalized: Fresh = async stage => (await seedFinalized(stage.graph, ofOwner(stage))).id
const addressed: Fresh = async stage => {
  const { id, customerId } = await seedFinalized(stage.graph, ofOwner(stage))
  await stage.graph.rows(`update payments.customers set email = 'ada@example.com' where id = $1`, [customerId])
  return id
}
const paid: Fresh = async stage => (await seedPaidInvoice(stage.graph, ofOwner(stage))).id
const customer: Fresh = async stage => (await seedInvoice(stage.graph, ofOwner(stage))).customerId

const byId = ({ fresh }: Ids) => `id: "${fresh}"`
const mutation = (name: string, cells: string, input: (ids: Ids) => string, fresh: Fresh) =>
  row(`Mutation.${name}`, write, read, cells, change(name, input, 'id'), name, fresh)
const invoice = (field: string) => (ids: Ids) => `{ invoice(id: "${ids.invoice}") { ${field} } }`
const note = (field: string) => (ids: Ids) => `{ creditNote(id: "${ids.creditNote}") { ${field} } }`

const invoices = '/payments/api/invoices'
const notes = '/payments/api/credit-notes'
const changing = (method: string, rest: string, fresh: Fresh, body?: object): RouteRow => ({
  ...{ at: `${method} ${invoices}/:id${rest}`, scopes: write, less: read, cells: accountants, fresh },
  path: ids => `${invoices}/${ids.fresh}${rest}`,
  ...(body && { body: () => body }),
})

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    const place = { organizationId: owner.organizationId!, userId: owner.userId! }
    await seedCreditNote(graph, { organizationId: outsider.organizationId! })
    const refund = await seedWaiting(graph, place)
    const { id, invoiceId } = await seedCreditNote(graph, place, { refundId: refund.id })
    await graph.rows(`update payments.invoices set metadata = '[{"key": "a", "value": "b"}]' where id = $1`, [invoiceId])
    await seedMail(graph, place.organizationId, invoiceId)
    const { orderId } = await seedFinalized(graph, place)
    return { creditNote: id, invoice: invoiceId, invoicedOrder: orderId! }
  },
  fields: [
    row('Query.invoice', read, readOrders, byScope, invoice('id'), 'invoice'),
    row('Query.invoices', read, readOrders, byScopeEachTheirOwn, constant('{ invoices { nodes { id } } }'), 'invoices'),
    row('Query.creditNote', read, readOrders, byScope, note('id'), 'creditNote'),
    row('Query.creditNotes', read, readOrders, byScopeEachTheirOwn, constant('{ creditNotes { nodes { id } } }'), 'creditNotes'),
    mutation('createInvoice', accountants, ({ fresh }) => `customerId: "${fresh}", currency: "EUR", lines: [{ name: "x", unitAmountMinor: 1 }]`, customer),
    mutation('updateInvoice', accountants, ids => `${byId(ids)}, memo: "x"`, draft),
    mutation('deleteInvoice', accountants, byId, draft),
    mutation('finalizeInvoice', accountants, ids => `${byId(ids)}, send: false`, draft),
    mutation('voidInvoice', accountants, byId, finalized),
    mutation('markInvoicePaid', accountants, byId, finalized),
    mutation('resendInvoice', accountants, byId, addressed),
    mutation('createCreditNote', accountants, ({ fresh }) => `invoiceId: "${fresh}", amountMinor: 1`, paid),
    row('Invoice.customer', both('payments:customers.read'), read, byScope, invoice('customer { id }'), 'invoice.customer'),
    row('Invoice.order', both('payments:payments.read'), read, byScope, invoice('order { id }'), 'invoice.order'),
    row('Invoice.merchant', both('payments:merchants.read'), read, byScope, invoice('merchant { id }'), 'invoice.merchant'),
    row('CreditNote.invoice', read, readOrders, byScope, note('invoice { id }'), 'creditNote.invoice'),
    row('CreditNote.refund', both('payments:transactions.read'), read, byScope, note('refund { id }'), 'creditNote.refund'),
    row(
      'Order.invoice',
      both('payments:payments.read'),
      readOrders,
      byScope,
      ids => `{ order(id: "${ids.invoicedOrder}") { invoice { id } } }`,
      'order.invoice',
    ),
  ],
  routes: [
    { at: `GET ${invoices}`, scopes: read, less: readOrders, cells: byScopeEachTheirOwn, path: () => invoices },
    {
      ...{ at: `POST ${invoices}`, scopes: write, less: read, cells: accountants, path: () => invoices, fresh: customer },
      body: ({ fresh }) => ({ customerId: fresh, currency: 'EUR', lines: [{ name: 'x', unitAmountMinor: 1 }] }),
    },
    { at: `GET ${invoices}/:id`, scopes: read, less: readOrders, cells: byScope, path: ids => `${invoices}/${ids.invoice}` },
    changing('PUT', '', draft, { memo: 'x' }),
    changing('DELETE', '', draft),
    changing('POST', '/finalize', draft, { send: false }),
    changing('POST', '/void', finalized),
    changing('POST', '/mark-paid', finalized),
    changing('POST', '/resend', addressed),
    { at: `GET ${invoices}/:id/pdf`, scopes: read, less: readOrders, cells: byScope, path: ids => `${invoices}/${ids.invoice}/pdf` },
    changing('POST', '/credit-notes', paid, { amountMinor: 1 }),
    { at: `GET ${notes}`, scopes: read, less: readOrders, cells: byScopeEachTheirOwn, path: () => notes },
    { at: `GET ${notes}/:id`, scopes: read, less: readOrders, cells: byScope, path: ids => `${notes}/${ids.creditNote}` },
  ],
}
