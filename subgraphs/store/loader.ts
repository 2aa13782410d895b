import DataLoader from 'dataloader'
import { type Connection, type Order, type PageRequest, toConnection } from '../../platform/page.ts'
import type { Reading } from '../../platform/sql/reading.ts'

/**
 * A loader for one operation: what is asked for in one turn is read in one batch and by one statement, each key once. Once nobody waits for the operation
 * no batch begins any more, and what was read is counted against what an operation may hold.
 * @param batch  one value for each key, or why there is none, in the order of the keys
 * @param nameOf what tells keys apart that are no plain values
 */
export function createLoader<Key, Value>(
  reading: Reading,
  batch: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
  nameOf?: (key: Key) => unknown,
): DataLoader<Key, Value> {
  return loaderOf(reading, keys => reading.statement(() => batch(keys)), nameOf)
}

/** The same where each key takes a statement of its own. */
export function createEachLoader<Key, Value>(reading: Reading, one: (key: Key) => Promise<Value>, nameOf?: (key: Key) => unknown): DataLoader<Key, Value> {
  return loaderOf(reading, keys => Promise.all(keys.map(key => reading.statement(() => one(key)))), nameOf)
}

function loaderOf<Key, Value>(
  reading: Reading,
  batch: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
  nameOf?: (key: Key) => unknown,
): DataLoader<Key, Value> {
  const load = async (keys: readonly Key[]) => {
    reading.signal.throwIfAborted()
    const values = await batch(keys)
    reading.read(charactersIn(values))
    return values
  }
  const options = { cache: !reading.fresh, ...(nameOf && { cacheKeyFn: nameOf }) }
  return new DataLoader<Key, Value, unknown>(load, options) as DataLoader<Key, Value>
}

/** A list that stands below each of many parents, for one operation. */
export interface ListLoader<Row> {
  /** One page of the list below a parent. */
  load(parent: string, page: PageRequest): Promise<Connection<Row>>
}

/** How a list below parents is read. */
export interface ListStore<Row> {
  /** The same page of the lists below all these parents, in one statement: the rows below each, in the order of the list, up to `page.limit`. */
  pages(parents: readonly string[], page: PageRequest): Promise<ReadonlyMap<string, readonly Row[]>>
  /** How long the lists below all these parents are, in one statement. A parent without rows may be missing. */
  counts(parents: readonly string[]): Promise<ReadonlyMap<string, number>>
}

/**
 * Reads the lists of one level of an operation together: one statement for each page that is asked for (`first` and `after`), however
 * many parents it is asked of, and one for the totals of those that are asked for their total.
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
        loader = createLoader<string, Connection<Row>>(reading, async parents => {
          const found = await store.pages(parents, page)
          return parents.map(each => toConnection(found.get(each) ?? [], page, order, () => countOf(each)))
        })
        pages.set(name, loader)
      }
      return loader.load(parent)
    },
  }
}

/** Characters of text in rows, or in lists or pages of them. */
function charactersIn(values: readonly unknown[]): number {
  let characters = 0
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    const rows = Array.isArray(value) ? value : 'nodes' in value && Array.isArray(value.nodes) ? value.nodes : [value]
    for (const row of rows) for (const name in row) if (typeof row[name] === 'string') characters += row[name].length
  }
  return characters
}
