import type { MobileApp } from '../../subgraph.ts'
import type { Quotas } from '../context.ts'
import type { MailSettings } from '../mail/open.ts'
import type { Retention } from '../stores/retention.ts'
import type { SignUp } from './account/ground.ts'

/** The issuer of access tokens in place of identity. */
export interface ForeignIssuer {
  readonly issuer: string
  readonly jwksUrl: string
  readonly audience: string
}

/** Settings of identity from the composition root; nothing in this folder reads the environment. */
export interface IdentitySettings {
  /** Secret that signs session cookies; at least 32 characters. Changing it ends every session. */
  readonly secret: string
  /** Whether pages of an origin may send the session cookie; those of the public address always may. */
  trustsOrigin(origin: string): boolean
  /** Header in which the router passes the client's address; the router removes it from outside requests. */
  readonly clientAddressHeader: string
  readonly quotas: Quotas
  readonly retention: Retention
  /** Who may create an account. */
  readonly signUp: SignUp
  /** Issuer of access tokens in place of identity; null for identity itself. */
  readonly foreignIssuer: ForeignIssuer | null
  readonly registry: {
    /** Base address of production's registry entries; null for no fallback. */
    readonly production: string | null
  }
  /** Native apps by service; those of the others are what their registrations say. */
  readonly mobileBuilds: Readonly<Partial<Record<string, readonly MobileApp[]>>>
  readonly mail: MailSettings
}
