/** A map that keeps at most `most` entries and forgets the one that was not used for longest. */
export interface Cache<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  readonly size: number
}

/** Makes an empty cache of at most `most` entries. */
export function createCache<Value>(most: number): Cache<Value> {
  const entries = new Map<string, Value>()
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      // A Map remembers insertion order: put in again, an entry is the youngest.
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
    get size() {
      return entries.size
    },
  }
}
