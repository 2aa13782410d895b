import { Refusal } from '../../../platform/errors.ts'
import type { Viewer } from '../../viewer.ts'

/** Whether the viewer's active organization owns the brand: the one rule of ownership for all that belongs to a brand. */
export const canSee = (viewer: Viewer, brand: { organizationId: string } | null): boolean =>
  brand !== null && viewer.organizationId !== null && brand.organizationId === viewer.organizationId

/**
 * Hands back the brand if it is the viewer's.
 * @throws NOT_FOUND, the same for a foreign brand as for none
 */
export function owned<Brand extends { organizationId: string }>(viewer: Viewer, brand: Brand | null, id: string): Brand {
  if (brand && canSee(viewer, brand)) return brand
  throw new Refusal('NOT_FOUND', `The active organization has no brand ${id}.`, { id })
}
