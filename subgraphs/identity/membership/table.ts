import { moment, type Row, stamps, table, texts, uuid } from '../../../platform/sql/table.ts'

export const memberships = table('identity.memberships', {
  organizationId: uuid.key,
  id: uuid.key,
  userId: uuid,
  roles: texts,
  /** When the person last made this organization the active one. */
  lastUsedAt: moment.maybe,
  ...stamps,
})

export type MembershipRow = Row<typeof memberships>
