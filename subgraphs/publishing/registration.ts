import type { Registration } from '../subgraph.ts'
import type { Applications, NetworkPlaces } from './network/networks.ts'

/** Publishing's registration: data only, so that other processes can read it. */
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

/** Settings of publishing from the configuration. */
export interface PublishingSettings {
  /** Our applications at networks; for other networks the gateway to providers may have one. */
  readonly applications: Applications
  readonly whereabouts: NetworkPlaces
  readonly quotas: Quotas
  readonly retention: Retention
}

/** Quotas, so that one caller cannot fill the database. */
export interface Quotas {
  /** Brands of one organization, archived ones included. */
  readonly brandsAnOrganization: number
  /** Posts that one caller (a person or a key) may create in 24 hours. */
  readonly postsADay: number
  /** Pictures and videos of one brand. */
  readonly mediaABrand: number
  /** Total announced size of the unfinished uploads of one organization. */
  readonly uploadMiBAnOrganization: number
}

/** Days after which records without further use are deleted. */
export interface Retention {
  /** Days for entries of the audit log. */
  readonly auditDays: number
  /** Days for attempts: at least 8, because a network may report a text as a duplicate of a seven-day-old one. */
  readonly attemptDays: number
}
