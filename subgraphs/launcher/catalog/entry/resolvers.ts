import { isId, readText } from '../../../../platform/ids.ts'
import { type Order, type PageArguments, readPage, toConnection } from '../../../../platform/page.ts'
import type { Context } from '../../context.ts'
import { findSpelled } from '../../engines/catalog/find.ts'
import { maxSearch, wordsOf } from '../../engines/catalog/words.ts'
import type { QueryCatalogEntriesArgs, Resolvers } from '../../resolvers.generated.ts'
import type { CatalogEntryRow } from '../../stores/catalog-entry.ts'
import { isEntitled } from '../../stores/commerce/entitlement.ts'
import { iconPath, isLaunchable, maintainedUntil, requireEntry } from './rules.ts'

/** The order is that of the hits; an app that is no longer found ends a page's cursor. */
export const asRanked: Order<{ readonly id: string }> = { name: 'catalogEntries.ranked', position: ({ id }) => [id], parts: [isId] }

/** Returns a page of hits, in their order. */
export function pageOfHits<Hit extends { readonly id: string }>(hits: readonly Hit[], page: PageArguments) {
  const request = readPage(page, asRanked)
  const from = request.after === null ? 0 : hits.findIndex(({ id }) => id === request.after![0]) + 1
  const isGone = request.after !== null && from === 0
  return toConnection(isGone ? [] : hits.slice(from, from + request.limit), request, asRanked as Order<Hit>, async () => hits.length)
}

type Filter = PageArguments & { readonly [Name in 'category' | 'kind' | 'origin' | 'installed']?: QueryCatalogEntriesArgs[Name] | undefined }

async function found({ catalogEntries, installations }: Context, search: string, filter: Filter) {
  const words = wordsOf(search)
  const ids = words ? await findSpelled(catalogEntries, words, wanted => catalogEntries.ranked('context', wanted)) : []
  const entries = (await Promise.all(ids.map(id => catalogEntries.byId.load(id)))).filter(entry => entry !== null)
  const standing = typeof filter.installed === 'boolean' ? await installations.standing() : null
  const fits = (entry: CatalogEntryRow) =>
    (['category', 'kind', 'origin'] as const).every(name => !filter[name] || entry[name] === filter[name]) &&
    (standing === null || standing.has(entry.app) === filter.installed)
  return pageOfHits(entries.filter(fits), filter)
}

export const catalogEntryResolvers: Resolvers = {
  Query: {
    catalogEntries: (_, { search, category, kind, origin, installed, ...page }, context) => {
      const text = readText(search, 'search', maxSearch)
      const filter = { category: readText(category, 'category', maxSearch), kind, origin, installed }
      return text === null ? context.catalogEntries.filtered(filter, page) : found(context, text, { ...filter, ...page })
    },
    catalogEntry: async (_, { app }, { catalogEntries }) => requireEntry(await catalogEntries.ofApp(app), app),
  },

  CatalogEntry: {
    __resolveReference: ({ id }, { catalogEntries }) => (isId(id) ? catalogEntries.byId.load(id) : null),
    icon: ({ app }, _, { publicUrl }) => `${publicUrl}${iconPath(app)}`,
    launchable: entry => isLaunchable(entry),
    mobileApps: ({ mobileApps }) => mobileApps as never,
    status: (entry, _, context) => (maintainedUntil(entry, context.clock.now()) ? 'MAINTENANCE' : 'AVAILABLE'),
    statusUntil: (entry, _, context) => maintainedUntil(entry, context.clock.now()),
    installed: async ({ app }, _, { installations }) => (await installations.standing()).has(app),
    entitled: async (entry, _, { entitlements }) => isEntitled(entry, await entitlements.rights()),
    installation: async ({ app }, _, { installations }) => (await installations.standing()).get(app) ?? null,
    accessRequest: ({ app }, _, { accessRequests }) => accessRequests.ownOf(app),
    service: ({ id, origin }) => (origin === 'PLATFORM' ? { __typename: 'ServiceEntry', id } : null),
  },
}
