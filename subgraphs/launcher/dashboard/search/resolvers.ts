import { DomainError } from '../../../../platform/errors.ts'
import { readText } from '../../../../platform/ids.ts'
import { iconPath } from '../../catalog/entry/rules.ts'
import type { Context } from '../../context.ts'
import { findSpelled } from '../../engines/catalog/find.ts'
import { maxSearch, wordsOf } from '../../engines/catalog/words.ts'
import type { QueryLauncherSearchArgs, Resolvers } from '../../resolvers.generated.ts'
import type { CatalogEntryRow } from '../../stores/catalog-entry.ts'
import { isEntitled } from '../../stores/commerce/entitlement.ts'
import type { Hit } from '../../stores/dashboard/search.ts'
import { shownFavourites } from '../favourite/resolvers.ts'

/** Maximum hits of an answer. */
export const maxHits = 50

const appHit = ({ id, title, app }: Pick<CatalogEntryRow, 'id' | 'title' | 'app'>): Hit => ({ kind: 'APP', id, title, app, url: null, icon: null, score: 0 })

/** Returns the entry of an app that the active context may use; null for any other. */
async function usable({ catalogEntries, entitlements }: Context, app: string): Promise<CatalogEntryRow | null> {
  const entry = await catalogEntries.ofApp(app)
  return entry && isEntitled(entry, await entitlements.rights()) ? entry : null
}

/** Days whose launches say which apps are at hand. */
const launchDays = 30

/** Returns apps of the platform that are installed and not paid for: no search shows them. */
async function unpaid({ entitlements }: Context): Promise<readonly string[]> {
  const rights = await entitlements.rights()
  return rights.apps.filter(app => !isEntitled({ app, origin: 'PLATFORM' }, rights))
}

/** Returns what is at hand without a search: favourites in their order, then the other apps by the launches of the last days, then by title. */
async function atHand(context: Context, limit: number): Promise<readonly Hit[]> {
  const [favourites, hidden] = [await shownFavourites(context), await unpaid(context)]
  const hits = await Promise.all(
    favourites.map(async ({ id, app, title, url }): Promise<Hit | null> => {
      if (app === null) return { kind: 'LINK', id, title: title!, app, url, icon: null, score: 0 }
      const entry = await usable(context, app)
      return entry && appHit(entry)
    }),
  )
  const shown = hits.filter(hit => hit !== null).slice(0, limit)
  const since = new Date(context.clock.now().getTime() - launchDays * 86_400_000)
  const known = favourites.flatMap(({ app }) => app ?? [])
  return [...shown, ...(shown.length < limit ? await context.search.mostLaunched(since, [...hidden, ...known], limit - shown.length) : [])]
}

async function search(context: Context, { query, first }: Pick<QueryLauncherSearchArgs, 'query'> & { readonly first: number }): Promise<readonly Hit[]> {
  if (first < 1 || first > maxHits) throw new DomainError('BAD_USER_INPUT', `first is ${first}: it takes 1 to ${maxHits}.`, { field: 'first' })
  const text = readText(query, 'query', maxSearch)
  if (text === null) return atHand(context, first)
  const words = wordsOf(text)
  if (!words) return []
  const hidden = await unpaid(context)
  const found = await findSpelled(context.catalogEntries, words, wanted => context.search.find(wanted, hidden, first))
  return found.length > 0 ? found : context.search.findAlike(words.each, hidden, first)
}

export const searchResolvers: Resolvers = {
  Query: {
    launcherSearch: async (_, { query, first }, context) => [...(await search(context, { query, first: first ?? 10 }))],
  },
  LauncherHit: {
    icon: ({ kind, app, icon }, _, { publicUrl }) => (kind === 'APP' ? `${publicUrl}${iconPath(app!)}` : (icon ?? null)),
  },
}
