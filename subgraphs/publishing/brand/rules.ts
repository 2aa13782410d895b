import { isDeepStrictEqual } from 'node:util'
import { readTimeZone } from '../../../platform/clock.ts'
import { Refusal } from '../../../platform/errors.ts'
import { readText, requireId, requireName } from '../../../platform/ids.ts'
import { type ApprovalMode, type BrandRow, requireInUse } from '../stores/brand.ts'

/** How long the words of a brand may be, in characters. */
export const longest = { name: 80, description: 2000 } as const

/** A brand's name without blanks around it. @throws BAD_USER_INPUT for what is no name, or is longer than one */
export const readName = (given: string | null | undefined): string => requireName(given ?? '', 'name', longest.name)

/**
 * A description; null for none, and for one without words.
 * @throws BAD_USER_INPUT when it is too long
 */
export const readDescription = (given: string | null | undefined): string | null => readText(given, 'description', longest.description)

/** How many persons may decide on a brand's posts beside owners and admins. */
export const mostApprovers = 50

/** Ids of persons, each once. @throws BAD_USER_INPUT for what is no id, and for too many */
export function readApprovers(given: readonly string[] | null | undefined): readonly string[] {
  const ids = [...new Set((given ?? []).map(id => requireId(id, 'approverIds')))]
  if (ids.length > mostApprovers)
    throw new Refusal('BAD_USER_INPUT', `approverIds names ${ids.length} persons: ${mostApprovers} are the most.`, { field: 'approverIds' })
  return ids
}

/** An approval mode. @throws BAD_USER_INPUT for null: a brand always has one */
function readMode(given: ApprovalMode | null): ApprovalMode {
  if (given) return given
  throw new Refusal('BAD_USER_INPUT', 'approvalMode cannot be null: leave it out to keep it.', { field: 'approvalMode' })
}

/** What people may change in a brand; what is undefined stays. */
export interface BrandEdit {
  readonly name?: string | null | undefined
  readonly description?: string | null | undefined
  readonly timeZone?: string | null | undefined
  readonly approvalMode?: ApprovalMode | null | undefined
  readonly approverIds?: readonly string[] | null | undefined
}

/** What an edit changes; nothing when the brand is like that already. */
export function editBrand(brand: BrandRow, { name, description, timeZone, approvalMode, approverIds }: BrandEdit): Partial<BrandRow> {
  requireInUse(brand)
  const wanted: Partial<BrandRow> = {
    name: name === undefined ? brand.name : readName(name),
    description: description === undefined ? brand.description : readDescription(description),
    timeZone: timeZone === undefined ? brand.timeZone : readTimeZone(timeZone),
    approvalMode: approvalMode === undefined ? brand.approvalMode : readMode(approvalMode),
    approverIds: approverIds === undefined ? brand.approverIds : readApprovers(approverIds),
  }
  return Object.fromEntries(Object.entries(wanted).filter(([field, value]) => !isDeepStrictEqual(brand[field as keyof BrandRow], value)))
}

/** What pausing changes: nothing of one that is paused already. @throws CONFLICT, reason BRAND_ARCHIVED */
export function pause(brand: BrandRow, now: Date): Partial<BrandRow> {
  requireInUse(brand)
  return brand.pausedAt ? {} : { pausedAt: now }
}

/** What resuming changes: nothing of one that is not paused. @throws CONFLICT, reason BRAND_ARCHIVED */
export function resume(brand: BrandRow): Partial<BrandRow> {
  requireInUse(brand)
  return { pausedAt: null }
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
      `${scheduled === 1 ? 'A post of the brand is' : `${scheduled} posts of the brand are`} scheduled: cancel or delete what is, or wait until it is sent.`,
      {
        reason: 'POSTS_SCHEDULED',
        scheduled,
      },
    )
  return { archivedAt: now }
}
