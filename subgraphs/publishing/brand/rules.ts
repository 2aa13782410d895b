import { isDeepStrictEqual } from 'node:util'
import { readTimeZone } from '../../../platform/clock.ts'
import { DomainError } from '../../../platform/errors.ts'
import { readText, requireId, requireName } from '../../../platform/ids.ts'
import { type ApprovalMode, type BrandRow, requireInUse } from '../stores/brand.ts'

/** Maximum characters of a brand's texts. */
export const longest = { name: 80, description: 2000 } as const

/** Reads a brand's name, without surrounding white space. @throws BAD_USER_INPUT for an invalid or too long name */
export const readName = (given: string | null | undefined): string => requireName(given ?? '', 'name', longest.name)

/**
 * Reads a description; null for an empty one.
 * @throws BAD_USER_INPUT when it is too long
 */
export const readDescription = (given: string | null | undefined): string | null => readText(given, 'description', longest.description)

/** Maximum number of persons who may approve a brand's posts besides owners and admins. */
export const mostApprovers = 50

/** Reads ids of persons, without duplicates. @throws BAD_USER_INPUT for an invalid id, and for too many */
export function readApprovers(given: readonly string[] | null | undefined): readonly string[] {
  const ids = [...new Set((given ?? []).map(id => requireId(id, 'approverIds')))]
  if (ids.length > mostApprovers)
    throw new DomainError('BAD_USER_INPUT', `approverIds names ${ids.length} persons: the maximum is ${mostApprovers}.`, { field: 'approverIds' })
  return ids
}

/** Reads an approval mode. @throws BAD_USER_INPUT for null: a brand always has one */
function readMode(given: ApprovalMode | null): ApprovalMode {
  if (given) return given
  throw new DomainError('BAD_USER_INPUT', 'approvalMode cannot be null: leave it out to keep it.', { field: 'approvalMode' })
}

/** Editable fields of a brand; undefined ones stay unchanged. */
export interface BrandEdit {
  readonly name?: string | null | undefined
  readonly description?: string | null | undefined
  readonly timeZone?: string | null | undefined
  readonly approvalMode?: ApprovalMode | null | undefined
  readonly approverIds?: readonly string[] | null | undefined
}

/** Returns the changes of an edit; empty when the brand has these values already. */
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

/** Returns the changes of pausing; none if the brand is paused already. @throws CONFLICT, reason BRAND_ARCHIVED */
export function pause(brand: BrandRow, now: Date): Partial<BrandRow> {
  requireInUse(brand)
  return brand.pausedAt ? {} : { pausedAt: now }
}

/** Returns the changes of resuming; none if the brand is not paused. @throws CONFLICT, reason BRAND_ARCHIVED */
export function resume(brand: BrandRow): Partial<BrandRow> {
  requireInUse(brand)
  return { pausedAt: null }
}

/**
 * Returns the changes of archiving.
 * @param scheduled number of its posts that are scheduled or being sent
 * @throws CONFLICT: BRAND_ARCHIVED, POSTS_SCHEDULED
 */
export function archive(brand: BrandRow, scheduled: number, now: Date): Partial<BrandRow> {
  if (brand.archivedAt) return {}
  if (scheduled > 0)
    throw new DomainError(
      'CONFLICT',
      `${scheduled === 1 ? 'A post of the brand is' : `${scheduled} posts of the brand are`} scheduled: cancel or delete what is, or wait until it is sent.`,
      {
        reason: 'POSTS_SCHEDULED',
        scheduled,
      },
    )
  return { archivedAt: now }
}
