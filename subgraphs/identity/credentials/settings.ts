import type { Quotas } from '../context.ts'
import type { Retention } from '../retention.ts'

/** What identity is told by the composition root; nothing in this folder reads the environment. */
export interface IdentitySettings {
  /** Signs session cookies and encrypts the private signing keys at rest; at least 32 characters. Changing it ends every session. */
  readonly secret: string
  /** Whether pages of an origin may send the session cookie; those of the public address always may. */
  trustsOrigin(origin: string): boolean
  /** The header in which the router passes the client's address; it removes the same header from what comes from outside. */
  readonly clientAddressHeader: string
  readonly quotas: Quotas
  readonly retention: Retention
}
