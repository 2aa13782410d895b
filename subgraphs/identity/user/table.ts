import { foreignMoment, type Row, table, text, truth, uuid } from '../../../platform/sql/table.ts'

/** People, as the credential library keeps them; we read its table and write it only when a person is provisioned. */
export const users = table('identity.users', {
  id: uuid.key,
  name: text,
  email: text,
  emailVerified: truth,
  image: text.maybe,
  createdAt: foreignMoment,
  updatedAt: foreignMoment,
})

export type UserRow = Row<typeof users>
