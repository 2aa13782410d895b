import type { Quotas } from '../context.ts'
import type { MailSettings } from '../mail/open.ts'
import type { Retention } from '../stores/retention.ts'
import type { SignUp } from './account/ground.ts'

/** Who issues access tokens in place of identity. */
export interface ForeignIssuer {
  readonly issuer: string
  readonly jwksUrl: string
  readonly audience: string
}

/** What identity is told by the composition root; nothing in this folder reads the environment. */
export interface IdentitySettings {
  /** Signs session cookies; at least 32 characters. Changing it ends every session. */
  readonly secret: string
  /** Whether pages of an origin may send the session cookie; those of the public address always may. */
  trustsOrigin(origin: string): boolean
  /** The header in which the router passes the client's address; it removes the same header from what comes from outside. */
  readonly clientAddressHeader: string
  readonly quotas: Quotas
  readonly retention: Retention
  /** Who may make an account. */
  readonly signUp: SignUp
  /** Who issues access tokens in place of identity; null: identity does. */
  readonly foreignIssuer: ForeignIssuer | null
  readonly registry: {
    /** Address below which the registry of production has an entry by its slug; null: staging falls back on nothing. */
    readonly production: string | null
  }
  readonly mail: MailSettings
}
