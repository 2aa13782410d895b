import type { Jobs } from '../../platform/jobs.ts'
import type { Foundation } from '../subgraph.ts'
import type { Audit } from './audit.ts'
import type { BrandStore } from './brand/store.ts'
import type { KeyCheck } from './connection/keys.ts'
import type { ConnectionStore } from './connection/store.ts'
import type { DeliveryStore } from './delivery/store.ts'
import type { AuthorizationStore } from './integration/store.ts'
import type { Networks } from './network/network.ts'
import type { PostStore } from './post/store.ts'
import type { WidgetStore } from './widget/store.ts'

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Brands of one organization, archived ones included. */
  readonly brandsAnOrganization: number
  /** Posts that one caller (a person, a key) writes in 24 hours. */
  readonly postsADay: number
}

/** What publishing works with in one process: made once in definition.ts, shared by resolvers and jobs. */
export interface Room extends Pick<Foundation, 'sequelize' | 'ask' | 'events' | 'clock' | 'cipher' | 'log' | 'publicUrl'> {
  readonly networks: Networks
  readonly quotas: Quotas
  readonly jobs: Jobs
  readonly audit: Audit
  /** The renewals of tokens that are under way in this process, by connection. */
  readonly renewals: Map<string, Promise<string>>
  readonly brands: BrandStore
  readonly posts: PostStore
  readonly connections: ConnectionStore
  readonly keys: KeyCheck
  readonly deliveries: DeliveryStore
  readonly authorizations: AuthorizationStore
  readonly widget: WidgetStore
  /** What delivery does when a renewal ends that a post waits for. */
  readonly afterRenewals: Set<Promise<void>>
}
