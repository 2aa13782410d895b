import type { Config } from '../../config.ts'
import { addressHeader } from '../../platform/caller/cause.ts'
import type { CallersWay } from '../../platform/outbound/callers.ts'
import type { AgentsSettings } from '../../subgraphs/agents/registration.ts'
import type { LauncherSettings } from '../../subgraphs/launcher/registration.ts'
import type { Addresses } from '../../subgraphs/providers/engines/third-party/addresses.ts'
import type { CredentialServers, EmailSettings } from '../../subgraphs/providers/registration.ts'
import type { Foundation } from '../../subgraphs/subgraph.ts'
import type { Hosts } from '../hosts.ts'
import type { Settings } from './registry.ts'

/** Settings of single subgraphs, from the configuration or the sandbox in its place. */
export interface Configured {
  /** Secret that signs sessions; at least 32 characters. */
  readonly authSecret: string
  /** Origins whose pages may send the session cookie, and the address of each service. */
  readonly hosts: Pick<Hosts, 'trusts' | 'addressesOf'>
  /** Our applications at networks. */
  readonly applications: Config['applications']
  /** Addresses of networks, for applications that the gateway to providers keeps. */
  readonly whereabouts: Config['whereabouts']
  readonly quotas: Config['quotas']
  readonly retention: Config['retention']
  readonly prices: Config['prices']
  readonly aiTimes: Config['aiTimes']
  /** Settings of the gateway's mail. */
  readonly email: EmailSettings
  readonly paymentsAddresses: Config['paymentsAddresses']
  readonly paymentsEvents: Config['paymentsEvents']
  readonly paymentsSettlement: Config['paymentsSettlement']
  readonly signUp: Config['signUp']
  readonly registry: Config['registry']
  readonly mobileBuilds: Config['mobileBuilds']
  readonly foreignIssuer: Config['foreignIssuer']
  readonly mail: Config['mail']
  /** Whether the gateway synchronizes model sources by itself. */
  readonly synchronisesModels: boolean
  /** Addresses of the gateway's third parties. */
  readonly thirdParties: Addresses
  /** Connections to servers that credentials name. */
  readonly credentialServers: CredentialServers
  /** Connections to servers that connectors of agents name. */
  readonly connectorsWay: CallersWay
  /** The settlement and policy service, the developer platform, and the model of vectors, as agents work with them. */
  readonly agentsNeighbours: Pick<AgentsSettings, 'policyService' | 'developersUrl' | 'embeddingModel'>
  readonly publicChat: AgentsSettings['publicChat']
  /** The developer platform, as the launcher works with it. */
  readonly launcherNeighbours: Pick<LauncherSettings, 'developersUrl'>
  /** Ways by which notifications of the launcher reach people. */
  readonly reaching: LauncherSettings['reaching']
  readonly billing: Config['billing']
  /** The marketing site, as the launcher works with it. */
  readonly marketing: Config['marketing']
}

/** Returns the dashboard's address: that of its own host, else its prefix on the platform's. */
const dashboardOf = (hosts: Pick<Hosts, 'addressesOf'>, publicUrl: string): string => hosts.addressesOf('launcher').dashboard ?? `${publicUrl}/launcher`

/**
 * Divides what a process gives to its subgraphs into the common dependencies and each one's settings, the same in every
 * mode; a subgraph without settings has no entry.
 */
export function divided({
  authSecret,
  hosts,
  applications,
  whereabouts,
  quotas,
  retention,
  prices,
  aiTimes,
  email,
  paymentsAddresses,
  paymentsEvents,
  paymentsSettlement,
  signUp,
  registry,
  mobileBuilds,
  foreignIssuer,
  mail,
  thirdParties,
  synchronisesModels,
  credentialServers,
  connectorsWay,
  agentsNeighbours,
  publicChat,
  launcherNeighbours,
  reaching,
  marketing,
  billing,
  ...foundation
}: Foundation & Configured): { readonly foundation: Foundation; readonly settings: Settings } {
  const settings: Settings = {
    identity: {
      ...{ secret: authSecret, trustsOrigin: hosts.trusts, clientAddressHeader: addressHeader },
      ...{ quotas, retention, signUp, registry, mobileBuilds, foreignIssuer, mail },
    },
    publishing: { applications, whereabouts, quotas, retention },
    agents: { quotas, retention, connectorsWay, publicChat, ...agentsNeighbours },
    launcher: {
      ...{
        appsWay: connectorsWay,
        dashboardUrl: dashboardOf(hosts, foundation.publicUrl),
        reaching,
        developersWebUrl: marketing.developersWebUrl,
        ...launcherNeighbours,
      },
      billing: { secrets: billing.stripe, prices: billing.prices ?? {}, isLive: foundation.environment === 'production' },
      marketing: marketingOf(marketing, hosts.addressesOf('launcher').marketing ?? `${foundation.publicUrl}/marketing`, publicChat.challengeSecret),
    },
    payments: { quotas, addresses: paymentsAddresses, signedBy: paymentsEvents, callbacks: paymentsSettlement },
    providers: { quotas, retention, prices, aiTimes, email, thirdParties, synchronisesModels, credentialServers },
  }
  return { foundation, settings }
}

/** Returns the launcher's settings of the marketing site. @param url its address */
const marketingOf = ({ leadsMailTo, demoTimeZone, consentUrl, consentProject }: Config['marketing'], url: string, challengeSecret: string | null) => ({
  ...{ url, leadsMailTo, demoTimeZone, challengeSecret },
  consentService: consentUrl === null ? null : { url: consentUrl, project: consentProject },
})
