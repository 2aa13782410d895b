import { DomainError } from '../../../../platform/errors.ts'
import { json, moment, type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { containing, type FilterSql } from '../../../store/filter/filters.ts'
import { store } from '../../../store/store.ts'
import type { MetadataRow } from '../order.ts'

export const customers = table('payments.customers', {
  organizationId: uuid.key,
  id: uuid.key,
  /** Null once erased. */
  name: text.maybe,
  email: text.maybe,
  reference: text.maybe,
  /** The customer's account on this platform. */
  userId: uuid.maybe,
  metadata: json.of<readonly MetadataRow[]>().or([]),
  /** What the processor knows the customer by; null before the first payment method. */
  processorId: text.maybe,
  erasedAt: moment.maybe,
  ...stamps,
})

export type CustomerRow = Row<typeof customers>

/** What a search looks into; an index has the same expression. */
const words = `lower(coalesce(t.name, '') || ' ' || coalesce(t.email, '') || ' ' || coalesce(t.reference, ''))`

export const customerStore = store(customers, {
  what: 'customer',
  tenancy: { by: 'organizationId' },
  filters: {
    search: { where: (search: string, { bind }: FilterSql) => `${words} like lower(${bind(containing(search))})`, depends: true },
  },
})

/** Customers as they are opened for an operation, or for a job. */
export type Customers = ReturnType<(typeof customerStore)['open']>

/** @throws CONFLICT, reason CUSTOMER_ERASED, for a customer that was erased */
export function requireKept({ erasedAt }: Pick<CustomerRow, 'erasedAt'>): void {
  if (erasedAt) throw new DomainError('CONFLICT', 'The customer was erased and takes no change: create another.', { reason: 'CUSTOMER_ERASED' })
}
