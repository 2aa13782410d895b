import { nounRoutes } from '../derive/route.ts'

import type { Row } from '../row.ts'

export const invoiceRows: readonly Row[] = [
  ...nounRoutes({
    select: {
      Invoice: `
      id number status currency lines { name sku quantity unitAmount discount taxRate tax total } subtotal discount tax total amountDue customerId orderId merchantId
      memo issuedAt dueAt paidAt paymentUrl metadata { key value } mails { id kind status at }
      creditNotes { id number amount reason refundId createdAt } createdAt version`,
      CreditNote: 'id number invoiceId amount reason refundId createdAt',
    },
    routes: {
      'GET /api/invoices': 'invoices',
      'POST /api/invoices': 'createInvoice',
      'GET /api/invoices/:id': 'invoice',
      'PUT /api/invoices/:id': 'updateInvoice',
      'DELETE /api/invoices/:id': 'deleteInvoice',
      'POST /api/invoices/:id/finalize': { run: 'finalizeInvoice', mayBeEmpty: true },
      'POST /api/invoices/:id/void': { run: 'voidInvoice', mayBeEmpty: true },
      'POST /api/invoices/:id/mark-paid': { run: 'markInvoicePaid', mayBeEmpty: true },
      'POST /api/invoices/:id/resend': { run: 'resendInvoice', mayBeEmpty: true },
      'POST /api/invoices/:id/credit-notes': {
        run: 'createCreditNote',
        names: { invoiceId: 'id' },
        mayBeEmpty: true,
        status: 201,
        location: '/payments/api/credit-notes/{id}',
      },
      'GET /api/credit-notes': 'creditNotes',
      'GET /api/credit-notes/:id': 'creditNote',
    },
  }),
  {
    kind: 'forward',
    method: 'GET',
    path: '/api/invoices/:id/pdf',
    access: { scope: 'payments:invoices.read' },
    limit: 0,
    to: 'payments',
    why: 'own answer',
    describes: [
      {
        name: 'readInvoiceDocument',
        does: 'An issued invoice as PDF, with its fonts: the same bytes each time. 409 (reason `ILLEGAL_MOVE`) for a draft.',
        params: { id: 'The invoice.' },
        refuses: [404, 409, 429],
        answers: { 200: { description: 'The document.', type: 'application/pdf', schema: { type: 'string', format: 'binary' } } },
      },
    ],
  },
]
