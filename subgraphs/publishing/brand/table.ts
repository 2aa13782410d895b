import { moment, type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'

export const brands = table('publishing.brands', {
  id: uuid.key,
  organizationId: uuid,
  name: text,
  description: text.maybe,
  /** Null while it is in use. */
  archivedAt: moment.maybe,
  ...stamps,
})

export type BrandRow = Row<typeof brands>
