/** A map that holds at most so many entries, or so much weight: past it those that were longest unused go. */
export interface Lru<Key, Value> {
  get(key: Key): Value | undefined
  /** Puts an entry in, or weighs one anew that is there. The newest stays, whatever it weighs. */
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
  readonly size: number
}

/** How entries are weighed that differ much in size. */
export interface Weighing<Value> {
  /** What all entries together may weigh. */
  readonly most: number
  weigh(value: Value): number
}

/** @param most entries, at least one */
export function createLru<Key, Value>(most: number, weighing?: Weighing<Value>): Lru<Key, Value> {
  // A Map remembers the order of insertion, so taking out and putting in again moves an entry to the young end.
  const entries = new Map<Key, Value>()
  const weights = new Map<Key, number>()
  let weight = 0
  const lighten = (key: Key) => {
    weight -= weights.get(key) ?? 0
    weights.delete(key)
  }
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (weighing) {
        lighten(key)
        const own = weighing.weigh(value)
        weights.set(key, own)
        weight += own
      }
      while (entries.size > 1 && (entries.size > most || (weighing && weight > weighing.most))) {
        const oldest = entries.keys().next().value!
        entries.delete(oldest)
        lighten(oldest)
      }
    },
    delete(key) {
      entries.delete(key)
      lighten(key)
    },
    clear() {
      entries.clear()
      weights.clear()
      weight = 0
    },
    get size() {
      return entries.size
    },
  }
}
