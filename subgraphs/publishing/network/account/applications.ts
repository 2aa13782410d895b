import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Adapter, Application, Network, Networks, Platform } from '../network.ts'
import type { Applications } from '../networks.ts'

/** Our applications at networks, and the networks spoken to with them, as they stand at this moment. */
export interface OpenApplications {
  /** Those at which an application is set up; the map stays the same one, whatever changes. */
  readonly networks: Networks
  /** Null where none is set up. */
  of(platform: Platform): Application | null
  /** Resolves when what is kept elsewhere is no older than a minute. Never rejects. */
  fresh(): Promise<void>
}

/** Opens the networks at which configuration sets up an application. */
export function openApplications(adapters: ReadonlyMap<Platform, Adapter>, configured: Applications, outbound: WayOut): OpenApplications {
  const present = new Map<Platform, Application>()
  const networks = new Map<Platform, Network>()
  const set = (platform: Platform, application: Application | null): void => {
    const adapter = adapters.get(platform)
    if (!adapter || application === null) {
      present.delete(platform)
      networks.delete(platform)
      return
    }
    present.set(platform, application)
    networks.set(platform, adapter.open(application, outbound))
  }
  for (const platform of adapters.keys()) set(platform, configured[platform] ?? null)
  return { networks, of: platform => present.get(platform) ?? null, fresh: async () => {} }
}
