import type { ExecutionResult, GraphQLError } from 'graphql'
import { type Data, isData } from '../../data/merge.ts'
import type { Fetch, FetchCall, Transport } from '../../engine.ts'
import type { Supergraph } from '../../supergraph.ts'
import { type CacheHeaders, headersOf } from './headers.ts'
import { type Asked, createLookups, type LookupOptions, type Lookups, representationsIn, textsIn, type Wanted } from './lookups.ts'
import { createPartReader, type EntityGroup, type FetchParts, type RootPart, variablesIn, withRoots } from './parts.ts'
import type { ResponseCache } from './store.ts'

export interface CachingTransportOptions extends Omit<LookupOptions, 'cache' | 'passed' | 'readsHeaders'> {
  readonly supergraph: Supergraph
  /** @default nothing is kept: only how long answers may be kept is noted */
  readonly cache?: ResponseCache | undefined
  /** Returns the labels that a mutation drops. @default it drops nothing */
  readonly droppedBy?: ((fetch: Fetch, call: FetchCall) => readonly string[]) | undefined
  /** Whether an operation may be answered from the cache. @default each may */
  readonly mayUse?: ((call: FetchCall) => boolean) | undefined
}

/** Maximum number of different sets of root fields of one fetch whose documents are kept. */
const mostDivisions = 16

/** Sends a fetch to its subgraph. */
type Ask = (asked: Asked, parts: FetchParts | null) => Promise<ExecutionResult>

/** What answering from a cache takes. */
interface Answering {
  readonly cache: ResponseCache
  readonly lookups: Lookups
  readonly ask: Ask
}

/**
 * Wraps a transport so that root fields and entities of queries come from the cache where it has them, each on its own,
 * and so that an operation knows how long its answer may be kept.
 */
export function cachingTransport<T extends Transport>(transport: T, { supergraph, cache, droppedBy, mayUse, ...options }: CachingTransportOptions): T {
  const { defaultMaxAge } = options
  const { passed = [], readsCacheHeaders = false } = transport
  const partsOf = createPartReader(supergraph, defaultMaxAge)
  const lookups = cache ? createLookups({ ...options, cache, passed, readsHeaders: readsCacheHeaders }) : null
  const answering = cache && lookups && { cache, lookups, ask }

  return {
    ...transport,
    async fetch(fetch, call) {
      const { caching } = call.operation
      if (!caching) return cache && droppedBy && fetch.kind === 'mutation' ? change(cache, fetch, call, droppedBy(fetch, call)) : transport.fetch(fetch, call)
      const parts = partsOf(fetch)
      const asked = { fetch, call, caching }
      if (!answering) return ask(asked, parts)
      const isPassed = !answering.cache.isCurrent() || mayUse?.(call) === false
      if (isPassed) caching.pass()
      if (!parts || caching.wish === 'none' || isPassed) {
        for (const part of parts?.roots ?? []) answering.lookups.pass(part, asked)
        return ask(asked, parts)
      }
      return parts.roots ? answerRoots(asked, parts.roots, answering) : answerEntities(asked, parts.groups, answering)
    },
  }

  /** Asks the subgraph, and notes how long its answer may be kept. */
  async function ask({ fetch, call, caching }: Asked, parts: FetchParts | null): Promise<ExecutionResult> {
    caching.fetched()
    const result = await transport.fetch(fetch, call)
    const headers = headersOf(result)
    // Where the schema says nothing, the subgraph decides, else the default.
    const isSilent = parts?.roots ? parts.roots.some(({ keeping }) => !keeping.isSaid) : !caching.isSaid
    const isUnkept = headers?.vary.includes('*')
    caching.restrict(isUnkept ? 0 : (headers?.maxAge ?? (isSilent ? defaultMaxAge : Number.POSITIVE_INFINITY)), isPrivate(headers, passed))
    return result
  }

  /** Sends a mutation, after which nothing with these labels is kept: whatever it answered, it may have changed something. */
  async function change(cache: ResponseCache, fetch: Fetch, call: FetchCall, labels: readonly string[]): Promise<ExecutionResult> {
    try {
      return await transport.fetch(fetch, call)
    } finally {
      if (labels.length > 0) {
        cache.drop(labels, 'mutation')
        await cache.settled()
      }
    }
  }
}

/** Whether an answer is for its caller alone: what depends on headers of the client may not go to clients with others. */
const isPrivate = (headers: CacheHeaders | null, passed: readonly string[]): boolean =>
  headers !== null && (headers.isPrivate || passed.some(name => headers.vary.includes(name)))

async function answerRoots(asked: Asked, roots: readonly RootPart[], { cache, lookups, ask }: Answering): Promise<ExecutionResult> {
  const { fetch, call, caching } = asked
  const wanted = roots.map(part => lookups.want(part, { args: part.args(call.variables) }, asked))
  const loading = lookups.load(wanted, asked)
  if (loading) await loading
  for (const each of wanted) lookups.look(each, asked)
  const data: Data = {}
  for (const [at, { key }] of roots.entries()) if (wanted[at]!.found !== undefined) data[key] = wanted[at]!.found
  const missing = wanted.map(({ found }) => found === undefined)
  if (!missing.includes(true)) return { data }
  const rest = missing.includes(false) ? divided(fetch, missing) : fetch
  const mark = cache.begin()
  const sent = { fetch: rest, call: rest === fetch ? call : { ...call, variables: variablesIn(rest, call.variables) }, caching }
  const result = await ask(sent, { roots: roots.filter((_, at) => missing[at]) })
  if (!isData(result.data)) return result
  if (!result.errors) {
    const tags = textsIn(result.extensions?.apolloCacheTags)
    for (const [at, { key }] of roots.entries()) if (missing[at]) lookups.keep(wanted[at]!, result.data[key], tags, { ...asked, result, mark })
  }
  return rest === fetch ? result : { ...result, data: { ...data, ...result.data } }
}

const divisions = new WeakMap<Fetch, Map<string, Fetch>>()

/** Returns the fetch of some root fields of a fetch; the same object for the same ones, as transports expect. */
function divided(fetch: Fetch, isKept: readonly boolean[]): Fetch {
  const known = divisions.get(fetch) ?? new Map<string, Fetch>()
  divisions.set(fetch, known)
  const name = isKept.map(Number).join('')
  const found = known.get(name)
  if (found) return found
  const made = withRoots(fetch, at => isKept[at]!)
  if (known.size < mostDivisions) known.set(name, made)
  return made
}

async function answerEntities(asked: Asked, groups: readonly EntityGroup[], { cache, lookups, ask }: Answering): Promise<ExecutionResult> {
  const { call, caching } = asked
  const wanted = groups.map(group => representationsIn(call.variables, group.representations).map(each => wantEntity(group, each, asked, lookups)))
  const all = wanted.flat()
  const loading = lookups.load(all, asked)
  if (loading) await loading
  for (const each of all) if (each) lookups.look(each, asked)
  const missing = missingIn(groups, wanted)
  const isMissing = [...missing.values()].some(({ length }) => length > 0)
  if (!isMissing) return { data: Object.fromEntries(groups.map(({ key }, at) => [key, wanted[at]!.map(each => each?.found ?? null)])) }
  const variables: Data = { ...call.variables }
  for (const [name, positions] of missing) {
    const all = call.variables[name] as readonly unknown[]
    if (positions.length < all.length) variables[name] = positions.map(position => all[position])
  }
  const mark = cache.begin()
  const result = await ask({ ...asked, call: { ...call, variables } }, { groups })
  if (!result.errors && isData(result.data)) {
    const tags: unknown = result.extensions?.apolloEntityCacheTags
    for (const [at, { key, representations }] of groups.entries()) {
      const answered: unknown = result.data[key]
      if (!Array.isArray(answered)) continue
      for (const [index, position] of missing.get(representations)!.entries()) {
        const each = wanted[at]![position]
        // An entity that was not found may be made at any time.
        if (each && each.found === undefined && isData(answered[index]))
          lookups.keep(each, answered[index], textsIn(Array.isArray(tags) ? tags[index] : []), { ...asked, caching, result, mark })
      }
    }
  }
  return withFound(result, groups, wanted, missing)
}

function wantEntity(group: EntityGroup, representation: Data, asked: Asked, lookups: Lookups): Wanted | null {
  const type = representation.__typename
  const part = typeof type === 'string' ? group.of(type) : null
  return part && lookups.want(part, { key: representation }, asked)
}

/** Positions of the representations of which some entity is missing, by variable. */
type Missing = ReadonlyMap<string, readonly number[]>

function missingIn(groups: readonly EntityGroup[], wanted: readonly (readonly (Wanted | null)[])[]): Missing {
  const missing = new Map<string, Set<number>>()
  for (const [at, { representations }] of groups.entries()) {
    const known = missing.get(representations) ?? new Set<number>()
    missing.set(representations, known)
    for (const [position, each] of wanted[at]!.entries()) if (each?.found === undefined) known.add(position)
  }
  return new Map([...missing].map(([name, positions]) => [name, [...positions].sort((one, other) => one - other)]))
}

/** Puts the entities that the cache had between those that a subgraph answered. */
function withFound(
  result: ExecutionResult,
  groups: readonly EntityGroup[],
  wanted: readonly (readonly (Wanted | null)[])[],
  missing: Missing,
): ExecutionResult {
  if (wanted.every(each => each.every(one => one?.found === undefined))) return result
  const { data } = result
  const whole: Data = { ...data }
  for (const [at, { key, representations }] of groups.entries()) {
    const positions = missing.get(representations)!
    const answered: unknown = isData(data) ? data[key] : positions.map(() => null)
    // What is no list of entities is reported as the subgraph's failure.
    if (!Array.isArray(answered) || answered.length < positions.length) continue
    const all: unknown[] = wanted[at]!.map(each => each?.found ?? null)
    for (const [index, position] of positions.entries()) all[position] = answered[index]
    whole[key] = all
  }
  const errors = result.errors?.map(error => placed(error, groups, missing))
  return { ...result, data: whole, ...(errors && { errors }) }
}

/** Returns an error at the position of its entity among all. */
function placed(error: GraphQLError, groups: readonly EntityGroup[], missing: Missing): GraphQLError {
  const [key, index, ...rest] = Array.isArray(error?.path) ? error.path : []
  const group = groups.find(each => each.key === key)
  const position = group && typeof index === 'number' ? missing.get(group.representations)![index] : undefined
  if (position === undefined || position === index) return error
  // A copy would lose what an error has of its prototype.
  return Object.create(error, { path: { value: [key, position, ...rest], enumerable: true } })
}
