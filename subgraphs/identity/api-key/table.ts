import { moment, type Row, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'

export const apiKeys = table('identity.api_keys', {
  organizationId: uuid.key,
  id: uuid.key,
  name: text,
  /** SHA-256 of the clear text, hex. */
  hash: text,
  /** The first characters of the clear text, by which people recognise a key. */
  prefix: text,
  scopes: texts,
  expiresAt: moment.maybe,
  revokedAt: moment.maybe,
  lastUsedAt: moment.maybe,
  ...stamps,
})

export type ApiKeyRow = Row<typeof apiKeys>
