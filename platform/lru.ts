/** A map that holds at most so many entries: past it the one that was longest unused goes. */
export interface Lru<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
  readonly size: number
}

/** @param most entries, at least one */
export function createLru<Key, Value>(most: number): Lru<Key, Value> {
  // A Map remembers the order of insertion, so taking out and putting in again moves an entry to the young end.
  const entries = new Map<Key, Value>()
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
      if (entries.size > most) entries.delete(entries.keys().next().value!)
    },
    delete(key) {
      entries.delete(key)
    },
    clear() {
      entries.clear()
    },
    get size() {
      return entries.size
    },
  }
}
