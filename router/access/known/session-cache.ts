import { LRUCache } from 'lru-cache'

/** How long an answer of identity is cached, in milliseconds: a revocation takes effect after that. */
const keptMs = 1000
const mostKept = 10_000

/** Caches sessions or API keys as identity last returned them; lookups of one turn of the event loop share one call. */
export interface SessionCache<Value> {
  /**
   * Returns the value of one key, at most a second old; undefined when it is invalid. Throws the errors of the lookup.
   * @param since elapsed milliseconds: older answers are not used @default none is too old
   */
  of(key: string, since?: number): Promise<Value | undefined>
  /** Clears the cache; lookups in progress are not cached either. */
  forget(): void
}

/**
 * Adds a short-lived cache and batching to one of the authority's lookups.
 * @param elapsed monotonic clock in ms, for the age of cached answers @default performance.now
 */
export function createSessionCache<Value>(
  lookup: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  elapsed: () => number = () => performance.now(),
): SessionCache<Value> {
  const kept = new LRUCache<string, { readonly at: number; readonly answer: Promise<Value | undefined> }>({ max: mostKept })
  let batch: { readonly keys: Set<string>; readonly answer: Promise<ReadonlyMap<string, Value>> } | null = null

  const ask = (key: string): Promise<Value | undefined> => {
    if (!batch) {
      const keys = new Set<string>()
      batch = {
        keys,
        answer: new Promise(resolve => setImmediate(resolve)).then(() => {
          batch = null
          return lookup([...keys])
        }),
      }
    }
    batch.keys.add(key)
    return batch.answer.then(answers => answers.get(key))
  }

  return {
    of(key, since = Number.NEGATIVE_INFINITY) {
      const known = kept.get(key)
      if (known && known.at >= since && elapsed() - known.at < keptMs) return known.answer
      const entry = { at: elapsed(), answer: ask(key) }
      kept.set(key, entry)
      // A failed lookup says nothing about the key, so the next request looks it up again.
      entry.answer.catch(() => {
        if (kept.get(key) === entry) kept.delete(key)
      })
      return entry.answer
    },
    forget() {
      kept.clear()
      batch = null
    },
  }
}
