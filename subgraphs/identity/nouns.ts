import type { Clock } from '../../platform/clock.ts'
import type { Limit } from '../../platform/limit.ts'
import type { Operation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import { type ApiKeyStore, openApiKeyStore } from './api-key/store.ts'
import { type MembershipStore, openMembershipStore } from './membership/store.ts'
import { type OrganizationStore, openOrganizationStore } from './organization/store.ts'
import type { Quotas } from './quota.ts'
import { openServiceEntryStore, type ServiceEntryStore } from './service-entry/store.ts'
import type { Claims } from './session/rules.ts'
import { openSessionStore, type SessionStore } from './session/store.ts'
import type { Tables } from './tables.ts'
import { openUserStore, type UserStore } from './user/store.ts'

/** What the resolvers of one operation stand on; its loaders are its own. */
export interface Context {
  readonly viewer: Viewer
  readonly requestId: string
  readonly now: () => Date
  readonly users: UserStore
  readonly organizations: OrganizationStore
  readonly memberships: MembershipStore
  readonly apiKeys: ApiKeyStore
  readonly services: ServiceEntryStore
  readonly sessions: SessionStore
  /** Makes an access token. */
  readonly sign: (claims: Claims) => Promise<string>
  readonly quotas: Quotas
  /** Counts by person the addresses that were tried with `addMember`. */
  readonly additions: Limit
}

/** What outlives an operation. */
export interface Ground extends Pick<Context, 'sign' | 'quotas' | 'additions'> {
  readonly tables: Tables
  readonly clock: Clock
  readonly environment: string
}

export function openContext({ tables, clock, environment, sign, quotas, additions }: Ground, viewer: Viewer, operation: Operation): Context {
  return {
    viewer,
    requestId: operation.requestId,
    now: () => clock.now(),
    users: openUserStore(tables, viewer, operation),
    organizations: openOrganizationStore(tables, operation),
    memberships: openMembershipStore(tables, operation),
    apiKeys: openApiKeyStore(tables, operation),
    services: openServiceEntryStore(tables, environment, operation),
    sessions: openSessionStore(tables),
    sign,
    quotas,
    additions,
  }
}
