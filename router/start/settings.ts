import type { Config } from '../../config.ts'
import { addressHeader } from '../../subgraphs/seal.ts'
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
  readonly quotas: Config['quotas']
  readonly retention: Config['retention']
  readonly paymentsAddresses: Config['paymentsAddresses']
  /** What may be called although it lies on a private address. */
  readonly allowedOrigins: readonly string[]
}

/** Hands each subgraph what it takes beside the foundation, alike in every mode; who takes nothing has no row. */
export const settingsFrom = ({ authSecret, hosts, applications, quotas, retention, paymentsAddresses, allowedOrigins }: Configured): Settings => ({
  identity: { secret: authSecret, trustsOrigin: hosts.trusts, clientAddressHeader: addressHeader, quotas, retention },
  publishing: { applications, quotas, retention },
  agents: { quotas, retention },
  payments: { quotas, addresses: paymentsAddresses },
  providers: { quotas, retention, allowedOrigins },
})
