import { dropCauses, type ResponseCache } from '../engine/transport/cache/store.ts'
import type { Figure } from './figure.ts'

/** Figures of the response cache. */
export function responseCacheFigures(cache: ResponseCache): readonly Figure[] {
  const byType = (what: 'hits' | 'misses' | 'bypasses') => () => [...cache.figures().types].map(([type, counts]) => ({ labels: { type }, value: counts[what] }))
  return [
    {
      name: 'supergraph_response_cache_hits_total',
      help: 'Root fields and entities that came from the response cache, by type.',
      labels: ['type'],
      read: byType('hits'),
    },
    {
      name: 'supergraph_response_cache_misses_total',
      help: 'Root fields and entities that the response cache did not have.',
      labels: ['type'],
      read: byType('misses'),
    },
    {
      name: 'supergraph_response_cache_bypasses_total',
      help: 'Root fields and entities for which the response cache was not asked, because the request said so.',
      labels: ['type'],
      read: byType('bypasses'),
    },
    { name: 'supergraph_response_cache_bytes', help: 'Bytes of the answers in the response cache.', read: () => cache.figures().bytes },
    { name: 'supergraph_response_cache_entries', help: 'Answers in the response cache.', read: () => cache.figures().entries },
    {
      name: 'supergraph_response_cache_invalidations_total',
      help: 'Occasions on which answers were dropped from the response cache, by cause.',
      labels: ['cause'],
      // Each series exists from the start: one that appears later shows no increase.
      read: () => dropCauses.map(cause => ({ labels: { cause }, value: cache.figures().drops.get(cause) ?? 0 })),
    },
    {
      name: 'supergraph_response_cache_store_errors_total',
      help: 'Commands of the shared store of the response cache that failed or took more than 100 ms.',
      read: () => cache.figures().storeErrors,
    },
  ]
}
