import type { DropCause, Fork, Kept, ResponseCache, SharedMark } from './store.ts'

/** A store of answers that several routers share, behind the memory of each. */
export interface SharedStore {
  /** Whether drops of other routers arrive here, so that what is kept may be used. */
  isCurrent(): boolean
  /** Begins a fetch; null while the store is not in use. */
  begin(): SharedMark | null
  /** Reads entries; undefined for each that is missing, or cannot be read in time. Never rejects. */
  read(keys: readonly string[]): Promise<readonly (Kept | Fork | undefined)[]>
  /** Keeps an answer, without waiting, unless something that it depends on was dropped since `begin`. */
  keep(key: string, value: Kept | Fork, began: SharedMark): void
  /**
   * Drops in the store and in all routers; everything without labels. Resolves when the store has done it, or after its time limit: then it is
   * repeated, and this router uses nothing of the cache before. Never rejects.
   */
  drop(labels: readonly string[] | null, cause: DropCause): Promise<void>
  /** Number of commands that failed or took too long. */
  readonly errors: number
}

/** What a shared store tells of other routers. */
export interface SharedDrops {
  /** Another router has dropped these labels. */
  dropped(labels: readonly string[], cause: DropCause): void
  /** Drops may have been missed: everything counts as dropped. */
  missed(): void
}

/** Puts a shared store behind a cache in memory. */
export function withSharedStore(memory: ResponseCache, store: SharedStore): ResponseCache {
  let dropping: Promise<unknown> = Promise.resolve()
  let open = 0
  return {
    ...memory,
    isCurrent: () => memory.isCurrent() && store.isCurrent(),
    find: key => (store.isCurrent() ? memory.find(key) : undefined),
    begin: () => ({ ...memory.begin(), shared: store.begin() }),
    load(keys) {
      if (!store.isCurrent()) return null
      const missing = keys.filter(key => memory.find(key) === undefined)
      return missing.length === 0 ? null : load(missing)
    },
    keep(key, value, mark) {
      if (!memory.keep(key, value, mark)) return false
      if (mark.shared !== null) store.keep(key, value, mark.shared)
      return true
    },
    drop(labels, cause) {
      const count = memory.drop(labels, cause)
      dropShared(labels, cause)
      return count
    },
    clear() {
      memory.clear()
      dropShared(null, 'missed')
    },
    settled: () => (open === 0 ? null : dropping.then(() => {})),
    figures: () => ({ ...memory.figures(), storeErrors: store.errors }),
  }

  function dropShared(labels: readonly string[] | null, cause: DropCause): void {
    open += 1
    dropping = Promise.all([dropping, store.drop(labels, cause).finally(() => (open -= 1))])
  }

  async function load(keys: readonly string[]): Promise<void> {
    // What is dropped while it is read is not kept in memory.
    const mark = memory.begin()
    const found = await store.read(keys)
    for (const [at, key] of keys.entries()) if (found[at]) memory.keep(key, found[at], mark)
  }
}
