import type { Clock } from '../../../../platform/clock.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import { type CatalogEntryRow, compareTitles } from '../../stores/catalog-entry.ts'
import { readListed } from './read.ts'

/** An app of the store, as the developer platform or the copy has it. */
export type StoreAppRow = Pick<
  CatalogEntryRow,
  'id' | 'app' | 'title' | 'summary' | 'description' | 'category' | 'publisher' | 'contexts' | 'capabilities' | 'screenshots' | 'release'
>

export interface StoreOptions {
  readonly outbound: WayOut
  readonly clock: Clock
  readonly developersUrl: string | null
}

/** The developer platform's routes of the store, which need no credentials. */
export interface StoreSource {
  /** Lists all apps, those of a category, or those that a search finds in their order; null when the platform does not answer. */
  list(question: { readonly search?: string | null; readonly category?: string | null | undefined }): Promise<readonly StoreAppRow[] | null>
  /** Returns one app; undefined when there is none, null when the platform does not answer. */
  one(app: string): Promise<StoreAppRow | undefined | null>
}

/** Time limit of an answer, in ms. */
const timeoutMs = 2_000
/** Lifetime of a cached answer in ms. */
const keptMs = 60_000
/** Maximum number of cached answers. */
const maxKept = 200

interface Answer {
  readonly status: number
  readonly body: unknown
}

const isOfStore = ({ origin, kind, lifecycle }: Pick<CatalogEntryRow, 'origin' | 'kind' | 'lifecycle'>): boolean =>
  origin === 'STORE' && kind === 'APPLICATION' && lifecycle !== 'RETIRED'

const readApp = (value: unknown): StoreAppRow | undefined => {
  const read = readListed(value)
  return read && isOfStore(read) ? read : undefined
}

/** Opens the developer platform's store. Answers are cached for a minute; failures are not. */
export function openStoreSource({ outbound, clock, developersUrl }: StoreOptions): StoreSource {
  const kept = new Map<string, { readonly answer: Promise<Answer | null>; readonly until: number }>()

  async function ask(path: string): Promise<Answer | null> {
    try {
      const { status, text } = await outbound(`${developersUrl}/api/store/${path}`, { headers: { accept: 'application/json' }, timeoutMs })
      return status === 200 || status === 404 ? { status, body: JSON.parse(text) } : null
    } catch {
      return null
    }
  }

  function answerOf(path: string): Promise<Answer | null> {
    const now = clock.now().getTime()
    const known = kept.get(path)
    if (known && now < known.until && now >= known.until - keptMs) return known.answer
    kept.delete(path)
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value!)
    const answer = ask(path).then(given => {
      if (!given) kept.delete(path)
      return given
    })
    kept.set(path, { answer, until: now + keptMs })
    return answer
  }

  return {
    async list({ search, category }) {
      if (developersUrl === null) return null
      const answer = await answerOf(search ? `search?q=${encodeURIComponent(search)}` : 'apps')
      const apps: unknown = answer?.status === 200 ? Object(answer.body).apps : null
      if (!Array.isArray(apps)) return null
      const read = apps.flatMap(each => readApp(each) ?? []).filter(app => !category || app.category === category)
      return search ? read : read.sort(compareTitles)
    },
    async one(app) {
      if (developersUrl === null) return null
      const answer = await answerOf(`apps/${encodeURIComponent(app)}`)
      if (!answer) return null
      return answer.status === 404 ? undefined : (readApp(answer.body) ?? null)
    },
  }
}
