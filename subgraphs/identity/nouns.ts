import type { Clock } from '../../platform/clock.ts'
import type { Limit } from '../../platform/limit.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import { apiKeyStore } from './api-key/store.ts'
import { membershipStore, ownMembershipStore } from './membership/store.ts'
import { organizationStore } from './organization/store.ts'
import type { Quotas } from './quota.ts'
import { serviceEntryStore } from './service-entry/table.ts'
import type { Claims } from './session/rules.ts'
import { sessionStore } from './session/store.ts'
import { setupLinkStore } from './setup/store.ts'
import { userStore } from './user/store.ts'

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
export type Work = JobContextOf<typeof stores, object>
