import type { Context } from '../context.ts'
import { documentOf } from '../engines/invoicing/pdf/document.ts'
import { requireInvoiceMove } from '../invoicing/invoice/rules.ts'

/** Where documents of invoices are: the id of the invoice in its first group. */
export const invoicePdfPath = /^\/payments\/api\/invoices\/([^/]+)\/pdf$/

/** Answers an issued invoice as PDF. @throws NOT_FOUND; CONFLICT, reason ILLEGAL_MOVE, for a draft; RATE_LIMITED as the printer */
export async function answerInvoicePdf({ invoices, printer }: Context, id: string): Promise<Response> {
  const invoice = await invoices.require(id)
  requireInvoiceMove(invoice, 'print')
  const bytes = await printer.print(invoice.organizationId, documentOf(invoice))
  const name = `${invoice.number}.pdf`
  const headers = { 'content-type': 'application/pdf', 'content-disposition': `inline; filename="${name}"`, 'cache-control': 'private, no-cache' }
  return new Response(new Uint8Array(bytes), { headers })
}
