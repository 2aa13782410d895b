import { changesOf } from '../../admin/audit/rules.ts'
import type { InvoiceRow } from '../../stores/invoicing/invoice.ts'

/** Fields that the audit log shows. */
const audited = [
  ...(['status', 'number', 'currency', 'totalMinor', 'customerId', 'orderId', 'memo', 'dueAt', 'metadata'] as const),
] satisfies readonly (keyof InvoiceRow)[]

/** The entry of a change of an invoice. @param said what was said with it, which is no field of the invoice */
export const invoiceLine = (action: string, before: InvoiceRow | null, after: InvoiceRow, said: { readonly [field: string]: string | null } = {}) => ({
  tenantId: after.organizationId,
  action,
  subjectId: after.id,
  details: {
    changes: [
      ...changesOf(before, after, audited),
      ...Object.entries(said).flatMap(([field, value]) => (value === null ? [] : [{ field, before: null, after: value }])),
    ],
  },
})
