import { DomainError } from '../../../../platform/errors.ts'
import { requireName } from '../../../../platform/ids.ts'
import type { SharedLinkRow } from '../../stores/dashboard/shared-link.ts'
import { max as ofLinks, readLink, requireLink } from '../place.ts'

/** Maximum links of an organization. */
export const maxLinks = 50

/** A link's contents, as they are given; undefined for what is left out. */
export interface GivenLink {
  readonly title?: string | null | undefined
  readonly url?: URL | string | null | undefined
  readonly icon?: URL | string | null | undefined
}

/** Reads what a change mentions. @throws BAD_USER_INPUT with the field that is wrong */
export function readChanges({ title, url, icon }: GivenLink, isDevelopment: boolean): Partial<Pick<SharedLinkRow, 'title' | 'url' | 'icon'>> {
  return {
    ...(title !== undefined && { title: requireName(title ?? '', 'title', ofLinks.title) }),
    ...(url !== undefined && { url: requireLink(url ?? '', 'url', isDevelopment) }),
    ...(icon !== undefined && { icon: readLink(icon, 'icon', isDevelopment) }),
  }
}

/** Checks that an organization may have one more. @throws CONFLICT, reason LIMIT */
export function requireRoom(count: number): void {
  if (count >= maxLinks) throw new DomainError('CONFLICT', `${maxLinks} shared links are the most: remove one first.`, { reason: 'LIMIT' })
}

/** Returns the order after a link has moved to a place. @throws BAD_USER_INPUT for a place before the first */
export function moved(ids: readonly string[], id: string, place: number): readonly string[] {
  if (place < 0) throw new DomainError('BAD_USER_INPUT', `order is ${place}: the first place is 0.`, { field: 'order' })
  const others = ids.filter(each => each !== id)
  return [...others.slice(0, place), id, ...others.slice(place)]
}
