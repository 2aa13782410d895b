import { readText } from '../../../../platform/ids.ts'
import type { PageArguments } from '../../../../platform/page.ts'
import type { Context } from '../../context.ts'
import { findSpelled } from '../../engines/catalog/find.ts'
import type { StoreAppRow } from '../../engines/catalog/store.ts'
import { maxSearch, wordsOf } from '../../engines/catalog/words.ts'
import { pageOfHits } from '../entry/resolvers.ts'

/** Where apps of the store were read: at the developer platform, or from the copy of its catalogue. */
export type Source = 'developers' | 'local'

export interface Question extends PageArguments {
  readonly search?: string | null | undefined
  readonly category?: string | null | undefined
}

type Reader = Pick<Context, 'catalogEntries' | 'storeApps' | 'storeSource'>

/** Returns a page of the store's apps. @throws BAD_USER_INPUT for a search that is too long, or invalid page arguments */
export async function readStore({ catalogEntries, storeApps, storeSource }: Reader, { search: given, category: named, ...page }: Question) {
  const [search, category] = [readText(given, 'search', maxSearch), readText(named, 'category', maxSearch)]
  const listed = await storeSource.list({ search, category })
  if (listed) return { source: 'developers' as const, page: pageOfHits<StoreAppRow>(listed, page) }
  if (search === null) return { source: 'local' as const, page: await storeApps.filtered({ category }, page) }
  const words = wordsOf(search)
  const ids = words ? await findSpelled(catalogEntries, words, wanted => catalogEntries.ranked('store', wanted)) : []
  const hits = (await Promise.all(ids.map(id => storeApps.byId.load(id)))).filter(app => app !== null && (category === null || app.category === category))
  return { source: 'local' as const, page: pageOfHits<StoreAppRow>(hits as StoreAppRow[], page) }
}

/** Returns one app of the store; null when there is none. */
export async function readStoreApp({ storeApps, storeSource }: Reader, app: string): Promise<StoreAppRow | null> {
  const found = await storeSource.one(app)
  return found === null ? storeApps.ofApp(app) : (found ?? null)
}
