import { moment, type Row, stamps, table, text, uuid } from '../../../platform/sql/table.ts'
import type { Platform } from '../network/network.ts'

/** Authorizations that were begun at a network and not yet answered. */
export const authorizations = table('publishing.authorizations', {
  brandId: uuid.key,
  /** SHA-256 of the state: a database dump gives nobody a state that works. */
  stateHash: text.key,
  platform: text.of<Platform>(),
  userId: uuid,
  /** PKCE verifier, sealed. */
  verifier: text,
  expiresAt: moment,
  /** Fingerprint of the browser that began it, or that confirmed it; null while none has. */
  browserHash: text.maybe,
  /** Fingerprint of what the latest confirmation page has to bring back. */
  confirmHash: text.maybe,
  /** Until when one request alone exchanges the code. */
  claimUntil: moment.maybe,
  usedAt: moment.maybe,
  /** What it has connected; null as long as it is not used, and when it was used in vain. */
  connectionId: uuid.maybe,
  /** Names at the time when it was begun, for the confirmation page. */
  begunBy: text.maybe,
  organizationName: text.maybe,
  ...stamps,
})

export type AuthorizationRow = Row<typeof authorizations>
