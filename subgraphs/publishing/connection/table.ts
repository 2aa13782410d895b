import { integer, json, moment, type Row, stamps, table, text, texts, truth, uuid } from '../../../platform/sql/table.ts'
import type { Platform } from '../network/network.ts'

/** Tokens are sealed before they come here. */
export const connections = table('publishing.connections', {
  brandId: uuid.key,
  id: uuid.key,
  platform: text.of<Platform>(),
  authorId: uuid,
  active: truth.or(true),
  externalAccountId: text,
  accountName: text,
  scopes: texts.or([]),
  metadata: json.of<Record<string, unknown>>().or({}),
  accessToken: text.maybe,
  refreshToken: text.maybe,
  tokenExpiresAt: moment.maybe,
  connectedAt: moment,
  /** Who renews the tokens at this moment, and until when nobody else does; both null: nobody. */
  renewalId: uuid.maybe,
  renewalUntil: moment.maybe,
  /** Grows while the worker that renews is alive; 0 in a claim of a program that does not count. */
  renewalBeats: integer.or(0),
  deactivatedReason: text.maybe,
  ...stamps,
})

export type ConnectionRow = Row<typeof connections>
