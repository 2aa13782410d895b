import { Refusal } from '../../../platform/errors.ts'
import { checkText, requireName } from '../../../platform/ids.ts'
import { type BrandRow, requireInUse } from '../stores/brand.ts'

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
