import type { Registration } from '../subgraph.ts'

/** How agents presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'agents',
  appId: 'app_agents',
  title: 'Agents',
  contexts: ['organization'],
  icon: '/icons/agents.svg',
  asks: ['providers:ai.invoke', 'publishing:posts.write'],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}

/** What agents are told by configuration. */
export interface AgentsSettings {
  readonly quotas: Quotas
  readonly retention: { readonly auditDays: number }
}

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Person profiles that one caller writes in 24 hours. */
  readonly profilesADay: number
  /** Sources of profiles that one caller adds in 24 hours. */
  readonly sourcesADay: number
  /** Snapshots that one caller takes in 24 hours. */
  readonly snapshotsADay: number
}
