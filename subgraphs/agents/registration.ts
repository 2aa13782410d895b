import type { CallersWay } from '../../platform/outbound/callers.ts'
import type { ChallengeProvider } from '../../platform/outbound/challenge-provider.ts'
import type { Registration } from '../subgraph.ts'

/** How agents presents itself to the registry: data alone, so that whoever runs apart may read it. */
export const registration: Registration = {
  slug: 'agents',
  appId: 'app_agents',
  title: 'Agents',
  contexts: ['organization'],
  icon: '/icons/agents.svg',
  asks: ['payments:payments.create', 'payments:payments.read', 'providers:ai.invoke', 'publishing:posts.read', 'publishing:posts.write'],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}

/** Settings of agents from the configuration. */
export interface AgentsSettings {
  readonly publicChat: {
    /** The site of pages that name none; null: none is. */
    readonly site: string | null
    /** What challenges are signed with; null: a secret that the processes share in their database. */
    readonly challengeSecret: string | null
    /** Who challenges visitors in place of the platform; null: it does so itself. */
    readonly challengeProvider: ChallengeSettings | null
  }
  /** Where the settlement and policy service is; null: actions that cross organizations cannot begin. */
  readonly policyService: { readonly url: string; readonly secrets: readonly string[] } | null
  /** Where the developer platform is, which lists mobile apps; null: it is not asked. */
  readonly developersUrl: string | null
  /** The model that makes vectors of passages and questions; null: passages are found by their words alone. */
  readonly embeddingModel: string | null
  readonly quotas: Quotas
  readonly retention: { readonly auditDays: number }
  /** To the servers of connectors: public ones, and those that the operator allows. */
  readonly connectorsWay: CallersWay
}

/** A provider of challenges, as it is set up. */
export interface ChallengeSettings {
  readonly provider: ChallengeProvider
  readonly secret: string
  readonly siteKey: string
  /** Where solutions are verified; null: at the provider's own address. */
  readonly verifyUrl: string | null
  /** Host names of the pages that visitors may solve challenges on. */
  isOwnPage(hostname: string): boolean
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
