import { type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'

export const organizations = table('identity.organizations', {
  id: uuid.key,
  slug: text,
  name: text,
  ...stamps,
})

export type OrganizationRow = Row<typeof organizations>
