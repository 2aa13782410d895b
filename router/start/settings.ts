import type { Config } from '../../config.ts'
import type { XSettings } from '../../subgraphs/publishing/network/x/oauth.ts'
import { addressHeader } from '../door/forward.ts'
import type { ServiceOrigin } from '../door/hosts.ts'
import type { Settings } from './registry.ts'

/** What configuration, or the sandbox in its place, decides for single subgraphs. */
export interface Told {
  readonly databaseUrl: string
  /** Signs sessions; at least 32 characters. */
  readonly authSecret: string
  /** Addresses of the services, whose pages may send the session cookie. */
  readonly origins: readonly ServiceOrigin[]
  /** Null: no application of ours at X. */
  readonly x: XSettings | null
  readonly quotas: Config['quotas']
}

/** Hands each subgraph what it takes beside the foundation, alike in every mode; who takes nothing has no row. */
export const settingsFrom = ({ databaseUrl, authSecret, origins, x, quotas }: Told): Settings => ({
  identity: { databaseUrl, secret: authSecret, trustedOrigins: origins.map(({ origin }) => origin), clientAddressHeader: addressHeader, quotas },
  publishing: { x },
})
