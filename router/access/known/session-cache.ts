import { LRUCache } from 'lru-cache'

/** How long an answer of identity may be used again, in milliseconds: a revocation holds after that. */
const keptMs = 1000
const mostKept = 10_000

/** Caches sessions or API keys as identity last returned them; lookups of one turn of the event loop share one call. */
export interface SessionCache<Value> {
  /**
   * The value of one key, at most a second old; undefined when it does not stand. Throws what the lookup throws.
   * @param since elapsed milliseconds: an answer that was asked for before it does not count @default none
   */
  of(key: string, since?: number): Promise<Value | undefined>
  /** Makes every next question a fresh one, those under way included. */
  forget(): void
}

/**
 * Puts a short memory and batching before one of the authority's questions.
 * @param elapsed milliseconds since some beginning: age is no moment, and does not follow the platform's clock @default performance.now
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
