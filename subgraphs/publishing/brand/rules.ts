import { Refusal } from '../../../platform/errors.ts'
import { requireName } from '../../../platform/ids.ts'
import type { Viewer } from '../../viewer.ts'
import { checkText } from '../post/rules.ts'
import type { BrandRow } from './table.ts'

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

/**
 * The organization in which the viewer is active.
 * @param things what belongs to it: `Posts`
 * @throws FORBIDDEN when none is
 */
export function activeOrganization({ organizationId }: Viewer, things: string): string {
  if (organizationId) return organizationId
  throw new Refusal('FORBIDDEN', `${things} belong to an organization and none is active: switch to one first.`)
}

/**
 * Refuses what would change an archived brand, or anything that belongs to it.
 * @throws CONFLICT, reason BRAND_ARCHIVED
 */
export function requireInUse({ archivedAt }: { archivedAt: Date | null }): void {
  if (archivedAt) throw new Refusal('CONFLICT', 'The brand is archived and takes no change: restore it first.', { reason: 'BRAND_ARCHIVED' })
}

/** How long the words of a brand may be, in characters. */
export const longest = { name: 80, description: 2000 } as const

/** A brand's name without blanks around it. @throws BAD_USER_INPUT for what is no name, or is longer than one */
export const readName = (given: string | null | undefined): string => requireName(given ?? '', 'name', longest.name)

/**
 * A description; null for none, and for one without words.
 * @throws BAD_USER_INPUT when it is too long
 */
export function readDescription(given: string | null | undefined): string | null {
  const description = checkText(given?.trim() ?? '', 'description')
  const { length } = [...description]
  if (length > longest.description)
    throw new Refusal('BAD_USER_INPUT', `description has ${length} characters: ${longest.description} are the most.`, { field: 'description' })
  return description || null
}

/** What people may change in a brand; what is undefined stays. */
export interface BrandEdit {
  readonly name?: string | null | undefined
  readonly description?: string | null | undefined
}

/** What an edit changes; nothing when the brand is like that already. */
export function editBrand(brand: BrandRow, { name, description }: BrandEdit): Partial<BrandRow> {
  requireInUse(brand)
  const wanted = {
    name: name === undefined ? brand.name : readName(name),
    description: description === undefined ? brand.description : readDescription(description),
  }
  return wanted.name === brand.name && wanted.description === brand.description ? {} : wanted
}

/**
 * What archiving changes.
 * @param scheduled how many of its posts wait for their time, or are being sent
 * @throws CONFLICT: BRAND_ARCHIVED, POSTS_SCHEDULED
 */
export function archive(brand: BrandRow, scheduled: number, now: Date): Partial<BrandRow> {
  if (brand.archivedAt) return {}
  if (scheduled > 0)
    throw new Refusal(
      'CONFLICT',
      `${scheduled === 1 ? 'A post of the brand is' : `${scheduled} posts of the brand are`} scheduled: clear its scheduledAt or delete what is, or wait until it is sent.`,
      {
        reason: 'POSTS_SCHEDULED',
        scheduled,
      },
    )
  return { archivedAt: now }
}
