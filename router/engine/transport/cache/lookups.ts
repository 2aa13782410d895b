import type { ExecutionResult } from 'graphql'
import type { Caching } from '../../data/caching.ts'
import { type Data, isData } from '../../data/merge.ts'
import type { Fetch, FetchCall } from '../../engine.ts'
import { passedHeaders } from '../propagation.ts'
import { headersOf } from './headers.ts'
import { canonical, tagOf, verdictOf } from './key.ts'
import { type Part, valuesOf } from './parts.ts'
import { type Fork, type Kept, label, type Mark, type ResponseCache } from './store.ts'

/** Maximum characters of an answer that is kept. */
const mostCharacters = 1024 * 1024

/** A fetch of a query that may be answered by the cache. */
export interface Asked {
  readonly fetch: Fetch
  readonly call: FetchCall
  readonly caching: Caching
}

/** One answer that is wanted: of a root field, or of an entity. */
export interface Wanted {
  readonly part: Part
  readonly key: string
  /** Its value, parsed for this caller; undefined for one that must be fetched. */
  found: unknown
  /** Its arguments or its representation. */
  readonly values: { readonly args?: Data; readonly key?: Data }
}

/** An answer of a subgraph without errors. */
export interface Answered extends Asked {
  readonly result: ExecutionResult
  /** The cache's mark of when the fetch began. */
  readonly mark: Mark
}

export interface LookupOptions {
  readonly cache: ResponseCache
  /** Seconds for what neither schema nor subgraph names an age of. */
  readonly defaultMaxAge: number
  /** Maximum seconds for which anything is kept. */
  readonly maxAge: number
  /** Names of the client's headers that subgraphs receive. */
  readonly passed: readonly string[]
  /** Whether subgraphs say by HTTP headers how long their answers may be kept. */
  readonly readsHeaders: boolean
  /** Returns who asks, as text, for answers that are kept for each viewer; null for nobody who is known. */
  viewerOf(call: FetchCall): string | null
  /** Whether answers are labelled by the organization that they are for. @default false */
  readonly byOwner?: boolean | undefined
}

/** Finds and keeps single answers. */
export interface Lookups {
  /** Returns what is wanted, before it is looked for. */
  want(part: Part, values: Wanted['values'], asked: Asked): Wanted
  /** Reads from a shared store what memory does not have; null where there is nothing to wait for. */
  load(wanted: readonly (Wanted | null)[], asked: Asked): Promise<void> | null
  /** Looks for what is wanted in memory. */
  look(wanted: Wanted, asked: Asked): void
  /** Keeps an answer as long as schema and subgraph allow. @param tags of the subgraph's answer */
  keep(wanted: Wanted, value: unknown, tags: readonly string[], answered: Answered): void
  /** Counts a part for which the cache is not asked. */
  pass(part: Part, asked: Asked): void
}

export function createLookups(options: LookupOptions): Lookups {
  const { cache, maxAge: mostAge, defaultMaxAge, readsHeaders, passed, byOwner = false } = options
  // Where the schema says nothing, the subgraph's answer decides.
  const mayBeKept = ({ keeping }: Part) => keeping.maxAge > 0 || (!keeping.isSaid && readsHeaders)

  const find = (key: string, call: FetchCall): Kept | undefined => {
    let found = cache.find(key)
    if (found && !('text' in found)) {
      const own = forkedKey(key, found, call, options)
      found = own === null ? undefined : cache.find(own)
    }
    return found && 'text' in found ? found : undefined
  }

  return {
    want(part, values, { call, caching }) {
      const pieces = [part.hash, canonical(values.args ?? values.key), valuesOf(part, call.variables), caching.labels]
      if (part.guard) pieces.push(verdictOf(part.guard, call))
      return { part, key: pieces.join('\n'), found: undefined, values }
    },
    load(wanted, { call, caching }) {
      const read = cache.load
      if (!read || caching.wish !== 'use') return null
      const keys = new Set<string>()
      for (const each of wanted) if (each && mayBeKept(each.part)) keys.add(each.key)
      const first = read([...keys])
      // Below forks.
      const second = () =>
        read(
          [...keys].flatMap(key => {
            const found = cache.find(key)
            return (found && !('text' in found) && forkedKey(key, found, call, options)) || []
          }),
        )
      return first ? first.then(() => second() ?? undefined) : second()
    },
    look(wanted, asked) {
      const { part, key } = wanted
      const { call, caching } = asked
      const kept = caching.wish === 'use' && mayBeKept(part) ? find(key, call) : undefined
      if (!kept) {
        const isPassed = caching.wish !== 'use'
        cache.count(part.type, isPassed ? 'bypasses' : 'misses')
        return show(part, asked, isPassed ? 'bypass' : 'miss')
      }
      call.operation.holds(kept.text.length)
      const left = (kept.until - cache.now()) / 1000
      caching.hit()
      caching.restrict(left, kept.isPrivate)
      cache.count(part.type, 'hits')
      show(part, asked, 'hit', { maxAge: Math.floor(left), isPrivate: kept.isPrivate })
      wanted.found = JSON.parse(kept.text)
    },
    keep({ part, key, values }, value, tags, { fetch: { subgraph }, call, result, mark }) {
      const { keeping } = part
      const headers = headersOf(result)
      const named = headers?.maxAge
      const maxAge = Math.min(mostAge, keeping.isSaid ? Math.min(keeping.maxAge, named ?? Number.POSITIVE_INFINITY) : (named ?? defaultMaxAge))
      if (!(maxAge > 0) || value === undefined || headers?.vary.includes('*')) return
      const text = JSON.stringify(value)
      if (text.length > mostCharacters) return
      const isPrivate = keeping.isPrivate || (headers?.isPrivate ?? false)
      const vary = headers ? passed.filter(name => headers.vary.includes(name)).sort() : []
      const labels = [label.subgraph(subgraph), ...part.types.map(type => label.type(subgraph, type)), ...tagLabels(subgraph, part, values, tags)]
      if (byOwner) labels.push(part.guard || isPrivate ? label.owner(subgraph, call.viewer.organizationId) : label.open(subgraph))
      const until = cache.now() + maxAge * 1000
      const fork: Fork | null = isPrivate || vary.length > 0 ? { isPrivate, vary, until, labels } : null
      const own = fork ? forkedKey(key, fork, call, options) : key
      if (own === null) return
      if (fork && !cache.keep(key, fork, mark)) return
      cache.keep(own, { text, until, isPrivate: fork !== null, labels }, mark)
    },
    pass(part, asked) {
      cache.count(part.type, 'bypasses')
      show(part, asked, 'bypass')
    },
  }

  function show(
    { type, field, keeping }: Part,
    { fetch, caching }: Asked,
    state: 'hit' | 'miss' | 'bypass',
    found?: Pick<Kept, 'isPrivate'> & { maxAge: number },
  ) {
    if (!caching.parts) return
    const maxAge = found?.maxAge ?? (keeping.maxAge > 0 && Number.isFinite(keeping.maxAge) ? Math.min(keeping.maxAge, mostAge) : null)
    const isPrivate = found?.isPrivate ?? keeping.isPrivate
    caching.parts.push({ subgraph: fetch.subgraph, type, field, state, maxAge, scope: isPrivate ? 'PRIVATE' : 'PUBLIC' })
  }
}

/** Returns the key of what depends on viewer or headers; null where the viewer is not known. */
function forkedKey(key: string, { isPrivate, vary }: Fork, call: FetchCall, { viewerOf }: LookupOptions): string | null {
  const viewer = isPrivate ? viewerOf(call) : ''
  return viewer === null ? null : `${key}\n${JSON.stringify([viewer, ...passedHeaders(vary, call.headers)])}`
}

const tagLabels = (subgraph: string, { tags: formats }: Part, values: Wanted['values'], tags: readonly string[]): string[] =>
  [...new Set([...formats.flatMap(format => tagOf(format, values) ?? []), ...tags])].map(tag => label.tag(subgraph, tag))

/** Reads a list of tags that a subgraph sent. */
export const textsIn = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter(each => typeof each === 'string').slice(0, mostTags) : [])

/** Maximum number of tags of one answer. */
const mostTags = 100

/** Returns the objects of a variable with representations. */
export const representationsIn = (variables: Data, name: string): readonly Data[] => {
  const value = variables[name]
  return Array.isArray(value) ? value.filter(isData) : []
}
