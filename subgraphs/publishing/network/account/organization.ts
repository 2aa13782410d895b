import type { Platform } from '../network.ts'
import { everyNetwork } from '../networks.ts'

/** The part of a store of brands that is needed here. */
interface Brands {
  readonly byId: { load(id: string): Promise<{ readonly organizationId: string } | null>; clear(id: string): unknown }
}

/**
 * Returns the organization on whose behalf a network is called through the gateway: the one that owns the brand now;
 * null for a network that is called directly. Nothing is cached: later facts about a post are attributed to the
 * organization that owns the brand then.
 */
export async function organizationOf({ brands }: { readonly brands: Brands }, brandId: string, platform: Platform): Promise<string | null> {
  if (!everyNetwork[platform].protocol?.viaGateway) return null
  const brand = await brands.byId.load(brandId)
  brands.byId.clear(brandId)
  return brand?.organizationId ?? null
}
