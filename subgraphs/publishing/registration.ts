import type { Registration } from '../subgraph.ts'
import type { Applications, NetworkPlaces } from './network/networks.ts'

/** How publishing presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'publishing',
  appId: 'app_publishing',
  title: 'Publishing',
  contexts: ['organization'],
  icon: '/icons/publishing.svg',
  asks: ['providers:ai.invoke', 'providers:service.invoke', 'providers:org.admin', 'agents:knowledge.read'],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}

/** What publishing is told by configuration. */
export interface PublishingSettings {
  /** Ours at networks: where none is, the gateway to providers may keep one. */
  readonly applications: Applications
  readonly whereabouts: NetworkPlaces
  readonly quotas: Quotas
  readonly retention: Retention
}

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Brands of one organization, archived ones included. */
  readonly brandsAnOrganization: number
  /** Posts that one caller (a person, a key) writes in 24 hours. */
  readonly postsADay: number
  /** Pictures and films of one brand. */
  readonly mediaABrand: number
  /** Of the unfinished uploads of one organization together, as long as they are to be. */
  readonly uploadMiBAnOrganization: number
}

/** For how many days records are kept that nothing rests on any more. */
export interface Retention {
  /** Of the audit. */
  readonly auditDays: number
  /** Of attempts to deliver: at least 8, for a network may call a text a duplicate of one that is seven days old. */
  readonly attemptDays: number
}
