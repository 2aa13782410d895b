import type { Clock } from '../../platform/clock.ts'
import type { Limit } from '../../platform/limit.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import { apiKeyStore } from './stores/api-key.ts'
import { membershipStore, ownMembershipStore } from './stores/membership.ts'
import { organizationStore } from './stores/organization.ts'
import { serviceEntryStore } from './stores/service-entry.ts'
import { sessionStore } from './stores/session.ts'
import { setupLinkStore } from './stores/setup-link.ts'
import { userStore } from './stores/user.ts'

/** What identity keeps, each store under the name by which resolvers and set-up know it. */
export const stores = {
  users: userStore,
  organizations: organizationStore,
  memberships: membershipStore,
  ownMemberships: ownMembershipStore,
  apiKeys: apiKeyStore,
  serviceEntries: serviceEntryStore,
  sessions: sessionStore,
  setupLinks: setupLinkStore,
}

/** How much may be made, so that one caller cannot fill the database or search it for people. */
export interface Quotas {
  /** Organizations that one person creates in 24 hours, and has created in all. */
  readonly organizationsADay: number
  readonly organizationsAPerson: number
  /** Members of one organization. */
  readonly membersAnOrganization: number
  /** Addresses that one person tries with `addMember` in an hour, found or not; counted by each process for itself. */
  readonly additionsAnHour: number
  /** API keys of one organization that stand (neither revoked nor expired), and that are created in 24 hours. */
  readonly keysAnOrganization: number
  readonly keysADay: number
}

/** What an access token says (RFC 7519), beside `iss` and `aud`. */
export interface Claims {
  /** The person. */
  readonly sub: string
  /** The session: a token of a session that was signed out is refused although it has not expired. */
  readonly sid: string
  /** The active organization; absent in personal context. */
  readonly org?: string
  readonly ctx: 'personal' | 'organization'
  /** Roles within the active organization. */
  readonly roles: readonly string[]
  /** Seconds since 1970. */
  readonly iat: number
  /** Seconds since 1970. */
  readonly exp: number
}

/** What identity works with besides: made once in `definition.ts`. */
export interface Services {
  readonly clock: Clock
  /** Whose registry of services is shown. */
  readonly environment: string
  /** Makes an access token. */
  readonly sign: (claims: Claims) => Promise<string>
  readonly quotas: Quotas
  /** Counts by person the addresses that were tried with `addMember`. */
  readonly additions: Limit
}

/** What resolvers receive: who asks, and what they may see. */
export type Context = ContextOf<typeof stores, Services>

/** What set-up, demo and registry work with: everybody's rows. */
export type Job = JobContextOf<typeof stores, object>
