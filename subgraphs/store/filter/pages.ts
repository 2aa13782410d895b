import type DataLoader from 'dataloader'
import { type Connection, type Order, type PageRequest, toConnection } from '../../../platform/page.ts'
import type { Reading } from '../../../platform/sql/reading.ts'
import type { NamelessStatement, Statement } from '../../../platform/sql/statement.ts'
import { createEachLoader } from '../loader.ts'

/** SQL for one filter, with its values. */
export interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
  /** The best plan depends on the values, such as a word that every row contains or none: the statement is planned each time. @default false */
  readonly depends?: boolean
}

/** Reads a list whose filters the caller chooses. */
interface FilteredList<Row, Filter> {
  /** Caches texts as statements (`keptStatements`), up to a maximum. */
  readonly kept: (text: string) => Statement | NamelessStatement
  page(filter: Filter, request: PageRequest): Asked
  /** Builds a statement for one row with the `count`. */
  count(filter: Filter): Asked
  order(filter: Filter): Order<Row>
}

interface Read<Row> {
  readonly byId: DataLoader<string, Row | null>
  read<Found extends object>(statement: Statement | NamelessStatement, values: readonly unknown[]): Promise<Found[]>
}

/** Reads a page of a filtered list. */
export type FilteredPages<Row, Filter> = (filter: Filter, request: PageRequest) => Promise<Connection<Row>>

/**
 * Reads pages of a filtered list for one operation: a page under several aliases is read once, and so is its total; the
 * records of a page are cached by id.
 */
export function filteredPages<Row extends { readonly id: string }, Filter>(
  rows: Read<Row>,
  reading: Reading,
  { kept, page, count, order }: FilteredList<Row, Filter>,
): FilteredPages<Row, Filter> {
  const ask = <Found extends object>({ text, values, depends }: Asked) => rows.read<Found>(depends ? { text } : kept(text), values)
  const pages = createEachLoader<{ filter: Filter; request: PageRequest }, Row[]>(
    reading,
    ({ filter, request }) => ask<Row>(page(filter, request)),
    JSON.stringify,
  )
  const counts = createEachLoader<Filter, number>(reading, async filter => (await ask<{ count: number }>(count(filter)))[0]!.count, JSON.stringify)
  return async (filter, request) => {
    const found = toConnection(await pages.load({ filter, request }), request, order(filter), () => counts.load(filter))
    for (const row of found.nodes) rows.byId.prime(row.id, row)
    return found
  }
}
