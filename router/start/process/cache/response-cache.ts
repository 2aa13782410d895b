import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { CarriedEvents } from '../../../../carriers/events.ts'
import type { Config } from '../../../../config.ts'
import { newId } from '../../../../platform/ids.ts'
import type { Invalidation } from '../../../door/http/invalidation.ts'
import type { Transport } from '../../../engine/engine.ts'
import type { Supergraph } from '../../../engine/supergraph.ts'
import { cachingTransport } from '../../../engine/transport/cache/caching-transport.ts'
import { openRedisStore } from '../../../engine/transport/cache/redis/store.ts'
import { withSharedStore } from '../../../engine/transport/cache/shared.ts'
import { createResponseCache, type DropCause, isDropCause, label, type ResponseCache } from '../../../engine/transport/cache/store.ts'
import { passedHeaders, viewerKey } from '../../../engine/transport/propagation.ts'
import { registerFigures } from '../../../metrics/figure.ts'
import { responseCacheFigures } from '../../../metrics/response-cache.ts'
import { labelsOfEvent, labelsOfMutation } from './changes.ts'

type Settings = Config['responseCache']

/** Settings of a process that keeps nothing. */
export const usualCaching: Settings = { store: 'off', bytes: 0, maxAge: 300, defaultMaxAge: 0, onMutation: 'subgraph', invalidationToken: null }

const known = new WeakMap<Registry, ResponseCache>()

/** Returns the response cache of this process; undefined where it is off, or not opened yet. */
export const responseCacheOf = (metrics: Registry): ResponseCache | undefined => known.get(metrics)

/**
 * Opens the response cache of this process, for all graphs that it serves one after the other; none where it is off.
 * @param stack  collects the end of the connection to a shared store
 * @param events of the platform, by which changes are known @default none: the graph is another one
 */
export function openResponseCache(
  { store, bytes }: Settings,
  { metrics, log, stack }: { readonly metrics: Registry; readonly log: Logger; readonly stack: AsyncDisposableStack },
  events?: CarriedEvents,
): void {
  if (store === 'off' || known.has(metrics)) return
  const memory = createResponseCache(bytes)
  const shared = store === 'memory' ? null : openRedisStore({ url: store, log, now: memory.now, drops: { dropped: memory.follow, missed: memory.clear } })
  if (shared) stack.defer(() => shared.close())
  const tiers = shared ? withSharedStore(memory, shared) : memory
  const made = events ? followingEvents(tiers, events, shared !== null) : tiers
  known.set(metrics, made)
  registerFigures(metrics, responseCacheFigures(made))
}

/** Topic on which routers say what they drop. */
const topic = 'response-cache'
/** Maximum characters of the labels of one event. */
const mostCharacters = 6_000

/**
 * Drops what events of the platform make old, and uses nothing while some may be missing. Without a shared store other
 * routers hear by events what this one drops.
 */
function followingEvents(cache: ResponseCache, events: CarriedEvents, isShared: boolean): ResponseCache {
  const id = newId()
  const watch = events.watch({
    announced(at, { from, labels, cause, ...ids }) {
      if (at !== topic) {
        const old = labelsOfEvent(at, ids)
        if (old) cache.drop(old, 'change')
      } else if (from !== id) {
        if (labels) cache.follow(JSON.parse(labels), isDropCause(cause ?? '') ? (cause as DropCause) : 'missed')
        else cache.clear()
      }
    },
    missed: cache.clear,
  })
  if (!isShared)
    cache.onDrop((labels, cause) => {
      // Every router hears of changes itself.
      if (cause === 'change') return
      const text = JSON.stringify(labels)
      events.announce(topic, { from: id, cause, ...(text.length <= mostCharacters && { labels: text }) })
    })
  return { ...cache, isCurrent: () => watch.isCurrent() && cache.isCurrent(), find: key => (watch.isCurrent() ? cache.find(key) : undefined) }
}

/** Drops what a request of `POST /invalidation` names, in all routers. @returns how many answers of this one it were */
export async function invalidate(cache: ResponseCache | undefined, invalidations: readonly Invalidation[]): Promise<number> {
  const count = cache?.drop(invalidations.flatMap(labelsOf), 'request') ?? 0
  await cache?.settled()
  return count
}

function labelsOf(each: Invalidation): readonly string[] {
  switch (each.kind) {
    case 'subgraph':
      return [label.subgraph(each.subgraph)]
    case 'type':
      return [label.type(each.subgraph, each.type)]
    case 'cache_tag':
      return each.subgraphs.map(subgraph => label.tag(subgraph, each.cache_tag))
  }
}

/** Wraps the transport of one graph to answer from the cache, and to note how long answers may be kept. */
export function keepingAnswers(transport: Transport, supergraph: Supergraph, settings: Settings, metrics: Registry): Transport {
  const cache = responseCacheOf(metrics)
  const { passed = [], readsCacheHeaders = false } = transport
  if (!cache && !readsCacheHeaders) return transport
  const { maxAge, defaultMaxAge, onMutation } = settings
  return cachingTransport(transport, {
    supergraph,
    cache,
    maxAge,
    defaultMaxAge,
    // Subgraphs that are told no viewer know callers by their headers only.
    viewerOf: ({ viewer, headers }) => {
      if (!readsCacheHeaders) return viewer.kind === 'anonymous' ? null : viewerKey(viewer)
      const values = passedHeaders(passed, headers)
      return values.length === 0 ? null : JSON.stringify(values)
    },
    // What is answered to a service goes into an answer of its own, which the router may keep after it heard of a change.
    mayUse: ({ viewer }) => viewer.kind !== 'service',
    byOwner: !readsCacheHeaders,
    droppedBy: ({ subgraph }, { viewer }) => {
      if (!readsCacheHeaders) return labelsOfMutation(subgraph, viewer)
      return onMutation === 'subgraph' ? [label.subgraph(subgraph)] : []
    },
  })
}
