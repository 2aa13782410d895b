import { DomainError } from '../../../../platform/errors.ts'
import { requireId, requireName } from '../../../../platform/ids.ts'
import { slugPattern } from '../../stores/catalog-entry.ts'
import type { FavouriteRow } from '../../stores/dashboard/favourite.ts'
import { max as ofLinks, requireLink } from '../place.ts'

/** Maximum favourites that are shown, and that are stored with those of removed apps, of a person in one context. */
export const max = { shown: 50, stored: 200 } as const

/** What a favourite leads to: an app, or an address with its title. */
export type Target = Pick<FavouriteRow, 'app' | 'title' | 'url'>

/** A favourite as it is given. */
export interface GivenTarget {
  readonly app?: string | null | undefined
  readonly title?: string | null | undefined
  readonly url?: URL | string | null | undefined
}

const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

/** Reads what a favourite leads to. @throws BAD_USER_INPUT unless it is an app, or an address with its title */
export function readTarget({ app, title, url }: GivenTarget, isDevelopment: boolean): Target {
  const isLink = (url ?? title ?? null) !== null
  if (((app ?? null) !== null) === isLink) throw mistake('app', 'A favourite is an app, or an address with its title: give app, or title and url.')
  if (app !== null && app !== undefined) {
    if (!slugPattern.test(app)) throw mistake('app', 'app is no slug: take the `app` of a catalogue entry.')
    return { app, title: null, url: null }
  }
  if (url === null || url === undefined) throw mistake('url', 'url is missing: a title alone leads nowhere.')
  return { app: null, title: requireName(title ?? '', 'title', ofLinks.title), url: requireLink(url, 'url', isDevelopment) }
}

/** Returns the favourite that leads there already; undefined without one. */
export const sameOf = (present: readonly FavouriteRow[], { app, title, url }: Target): FavouriteRow | undefined =>
  present.find(row => row.app === app && row.title === title && row.url === url)

/** Returns those that are shown: addresses, and apps that can be used in the context, up to the maximum. */
export const shownOf = (rows: readonly FavouriteRow[], isUsable: (app: string) => boolean): readonly FavouriteRow[] =>
  rows.filter(({ app }) => app === null || isUsable(app)).slice(0, max.shown)

/** Checks that one more may be added. @throws CONFLICT, reason LIMIT */
export function requireRoom(present: readonly FavouriteRow[], isUsable: (app: string) => boolean): void {
  if (shownOf(present, isUsable).length < max.shown && present.length < max.stored) return
  throw new DomainError('CONFLICT', `${max.shown} favourites are the most: remove one first.`, { reason: 'LIMIT' })
}

/**
 * Returns all favourites in their new order: those that are shown as they are named, the others at the places that they have.
 * @throws BAD_USER_INPUT unless each that is shown is named once
 */
export function ordered(present: readonly FavouriteRow[], shown: readonly FavouriteRow[], given: readonly string[]): readonly string[] {
  // Rejects such a long list before its entries are read.
  if (given.length > max.stored) throw mistake('ids', `ids has ${given.length} entries: name each favourite once.`)
  const ids = given.map(id => requireId(id, 'ids'))
  const wanted = new Set(ids)
  if (wanted.size !== ids.length || ids.length !== shown.length || !shown.every(({ id }) => wanted.has(id)))
    throw mistake('ids', `ids names ${ids.length} favourites: name each of the ${shown.length} once, as \`favourites\` answers them.`)
  const [next, isShown] = [ids.values(), new Set(shown.map(({ id }) => id))]
  return present.map(({ id }) => (isShown.has(id) ? next.next().value! : id))
}
