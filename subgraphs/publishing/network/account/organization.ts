import type { Platform } from '../network.ts'
import { everyNetwork } from '../networks.ts'

/** As much of a store of brands as is asked. */
interface Brands {
  readonly byId: { load(id: string): Promise<{ readonly organizationId: string } | null>; clear(id: string): unknown }
}

/**
 * For whom a network is asked, as the gateway counts it: the organization that has the brand at this moment; null for a network that is asked
 * directly. Nothing is cached: later facts about a post go to the brand's organization at that time.
 */
export async function organizationOf({ brands }: { readonly brands: Brands }, brandId: string, platform: Platform): Promise<string | null> {
  if (!everyNetwork[platform].protocol?.viaGateway) return null
  const brand = await brands.byId.load(brandId)
  brands.byId.clear(brandId)
  return brand?.organizationId ?? null
}
