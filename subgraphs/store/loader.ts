import DataLoader from 'dataloader'
import { type Connection, type Order, type PageRequest, toConnection } from '../../platform/page.ts'
import type { Reading } from '../../platform/sql/reading.ts'

/**
 * Creates a loader for one operation: the keys of one turn of the event loop are read by one statement, each once.
 * After the operation ended no batch begins.
 * @param batch returns one value or error for each key, in the order of the keys
 * @param most  maximum keys of one statement, for rows so large that one statement for all of them would exceed an
 * operation's
 *   limit @default all of them
 */
export function createLoader<Key, Value>(
  reading: Reading,
  batch: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
  most?: number,
): DataLoader<Key, Value> {
  return loaderOf(reading, keys => reading.statement(() => batch(keys)), most === undefined ? {} : { maxBatchSize: most })
}

/**
 * Creates a loader with a statement for each key.
 * @param nameOf identifies keys that are not plain values
 */
export function createEachLoader<Key, Value>(reading: Reading, one: (key: Key) => Promise<Value>, nameOf?: (key: Key) => unknown): DataLoader<Key, Value> {
  return loaderOf(reading, keys => Promise.all(keys.map(key => reading.statement(() => one(key)))), nameOf ? { cacheKeyFn: nameOf } : {})
}

function loaderOf<Key, Value>(
  reading: Reading,
  batch: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
  options: DataLoader.Options<Key, Value, unknown>,
): DataLoader<Key, Value> {
  const load = async (keys: readonly Key[]) => {
    reading.signal.throwIfAborted()
    return batch(keys)
  }
  return new DataLoader<Key, Value, unknown>(load, { cache: !reading.fresh, ...options }) as DataLoader<Key, Value>
}

/** Loads a list below each of many parents, for one operation. */
export interface ListLoader<Row> {
  /** Returns one page of the list below a parent. */
  load(parent: string, page: PageRequest): Promise<Connection<Row>>
}

/** Reads a list below parents. */
export interface ListStore<Row> {
  /** Maximum rows of one statement, which then covers as many parents as fit; undefined: all of them. */
  readonly most?: number | undefined
  /**
   * Reads the same page of the lists below all these parents, in one statement: the rows below each, in the order of
   * the list, up to `page.limit`.
   */
  pages(parents: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, readonly Row[]>>
  /** Counts the lists below all these parents, in one statement. A parent without rows may be missing. */
  counts(parents: readonly string[]): Promise<ReadonlyMap<string, number>>
}

/**
 * Reads the lists of one level of an operation together: one statement over all parents for each page (`first` and
 * `after`), and one for the totals.
 */
export function createListLoader<Row>(reading: Reading, order: Order<Row>, store: ListStore<Row>): ListLoader<Row> {
  const pages = new Map<string, DataLoader<string, Connection<Row>>>()
  let counts: DataLoader<string, number> | undefined
  const countOf = (parent: string) => {
    counts ??= createLoader<string, number>(reading, async parents => {
      const found = await store.counts(parents)
      return parents.map(each => found.get(each) ?? 0)
    })
    return counts.load(parent)
  }
  return {
    load(parent, page) {
      const name = JSON.stringify([page.first, page.after])
      let loader = pages.get(name)
      if (!loader) {
        loader = createLoader<string, Connection<Row>>(
          reading,
          async parents => {
            const found = await store.pages(parents, page)
            return parents.map(each => toConnection(found.get(each) ?? [], page, order, () => countOf(each)))
          },
          store.most && Math.max(1, Math.floor(store.most / page.limit)),
        )
        pages.set(name, loader)
      }
      return loader.load(parent)
    },
  }
}
