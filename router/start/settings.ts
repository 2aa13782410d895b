import type { Config } from '../../config.ts'
import { addressHeader } from '../../platform/caller/cause.ts'
import type { Addresses } from '../../subgraphs/providers/engines/third-party/addresses.ts'
import type { CredentialServers, EmailSettings } from '../../subgraphs/providers/registration.ts'
import type { Hosts } from '../hosts.ts'
import type { Settings } from './registry.ts'

/** What configuration, or the sandbox in its place, decides for single subgraphs. */
export interface Configured {
  /** Signs sessions; at least 32 characters. */
  readonly authSecret: string
  /** Whose pages may send the session cookie, and where each service is found. */
  readonly hosts: Pick<Hosts, 'trusts' | 'addressesOf'>
  /** Ours at networks. */
  readonly applications: Config['applications']
  /** Where networks are, for applications that the gateway to providers keeps. */
  readonly whereabouts: Config['whereabouts']
  readonly quotas: Config['quotas']
  readonly retention: Config['retention']
  readonly prices: Config['prices']
  readonly aiTimes: Config['aiTimes']
  /** Mail of the gateway. */
  readonly email: EmailSettings
  readonly paymentsAddresses: Config['paymentsAddresses']
  readonly signUp: Config['signUp']
  readonly registry: Config['registry']
  readonly foreignIssuer: Config['foreignIssuer']
  readonly mail: Config['mail']
  /** Whether the gateway asks sources of models of its own accord. */
  readonly synchronisesModels: boolean
  /** Where the gateway finds third parties. */
  readonly thirdParties: Addresses
  /** How servers are reached that credentials name. */
  readonly credentialServers: CredentialServers
}

/** Hands each subgraph what it takes beside the foundation, alike in every mode; who takes nothing has no row. */
export const settingsFrom = ({
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
  signUp,
  registry,
  foreignIssuer,
  mail,
  thirdParties,
  synchronisesModels,
  credentialServers,
}: Configured): Settings => ({
  identity: { secret: authSecret, trustsOrigin: hosts.trusts, clientAddressHeader: addressHeader, quotas, retention, signUp, registry, foreignIssuer, mail },
  publishing: { applications, whereabouts, quotas, retention },
  agents: { quotas, retention },
  payments: { quotas, addresses: paymentsAddresses },
  providers: { quotas, retention, prices, aiTimes, email, thirdParties, synchronisesModels, credentialServers },
})
