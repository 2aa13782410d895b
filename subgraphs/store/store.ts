import type DataLoader from 'dataloader'
import type { Sequelize, Transaction } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import { Refusal } from '../../platform/errors.ts'
import { requireId } from '../../platform/ids.ts'
import { type Order, type PageArguments, readPage } from '../../platform/page.ts'
import { insertOften, updateOften } from '../../platform/sql/often.ts'
import type { Reading } from '../../platform/sql/reading.ts'
import { keptStatements, type NamelessStatement, rows, type Statement, statement } from '../../platform/sql/statement.ts'
import { columnOf, keyOf, modelOf, type NewRow, type Row, selectList, type Table } from '../../platform/sql/table.ts'
import type { Viewer } from '../viewer.ts'
import { type FilterOf, type Filters, filteredList, newestFirst, type Sorted, sortedOrder, type WriteList } from './filter/filters.ts'
import { type FilteredPages, filteredPages } from './filter/pages.ts'
import { type Aged, type List, orderOf, type Page, type ReadList, readList } from './list.ts'
import { createListLoader, createLoader, type ListLoader } from './loader.ts'
import { type Bound, bindTenant, conditionOf, type Tenancy } from './tenancy.ts'

/** What a noun says of the rows that it keeps. */
export interface StoreFacts<T extends Table> {
  /** In sentences: `brand`. */
  readonly what: string
  readonly tenancy: Tenancy<T>
  /** Lists below a parent that are paged, by name. */
  readonly lists?: Readonly<Record<string, List<T>>>
  /** How the one list of all rows may be filtered, which is read by `filtered`. */
  readonly filters?: Filters
  /** The order of that list. @default newestFirst */
  readonly sorted?: Sorted<T>
  /** Columns that name the one parent of many rows, each with the order in SQL of the rows below it: for lists under fifty. */
  readonly manyBy?: { readonly [Name in Extract<keyof T['columns'], string>]?: string }
  /** Rows are written many times a second: by statements that connections keep, past the model (decision 0084). @default false */
  readonly writtenOften?: boolean
}

/** The rows of one table that a viewer may see; or, for jobs, everybody's. Calls of `byId`, `manyBy` and `page` in one turn of the event loop are read together. */
export interface Rows<T extends Table, ListName extends string = string, Many extends string = string, Filter = never> {
  /** In sentences: `brand`. */
  readonly what: string
  /** One by its id; null when there is none that may be seen. */
  readonly byId: DataLoader<string, Row<T> | null>
  /** The same for an id that may be missing. */
  find(id: string | null): Promise<Row<T> | null>
  /** All rows below a parent, by the column that names it. */
  manyBy(column: Many): DataLoader<string, Row<T>[]>
  /**
   * The one with this id.
   * @param field the argument that it was asked by @default 'id'
   * @throws BAD_USER_INPUT for what is no id; NOT_FOUND, the same for another organization's as for none
   */
  require(id: string, field?: string): Promise<Row<T>>
  /** One page of a list below a parent. @throws BAD_USER_INPUT for a page that cannot be */
  page(list: ListName, parent: string, page: PageArguments): Promise<Page<T>>
  /** One page of all rows, by the filters that the noun declares; null does not narrow. @throws BAD_USER_INPUT for a page that cannot be */
  filtered(filter: Filter, page: PageArguments): Promise<Page<T>>
  /** Runs a statement of the noun's own, which itself has to say whose rows it shows. */
  read<Found extends object = Row<T>>(statement: Statement | NamelessStatement, values: readonly unknown[], transaction?: Transaction | null): Promise<Found[]>
  /** Locks the row with this id until the transaction ends, and reads it as it is now. */
  lock(id: string, transaction: Transaction): Promise<Row<T> | null>
  /** Writes a row and hands it back as it stands. */
  insert(row: NewRow<T>, transaction: Transaction): Promise<Row<T>>
  /** Writes what changed in a locked row and hands back the whole. */
  update(row: Row<T>, changes: Partial<Row<T>>, transaction: Transaction): Promise<Row<T>>
  remove(row: Row<T>, transaction: Transaction): Promise<void>
}

/** What rows are opened for: an operation of a viewer, or a job, which sees everybody's. */
export interface Opening {
  readonly sequelize: Sequelize
  readonly clock: Clock
  readonly reading: Reading
  readonly viewer: Viewer | null
}

/** What a noun can be asked, opened for one operation or one piece of work. */
export interface Openable<Opened = unknown> {
  open(opening: Opening): Opened
}

/** A noun's store: what it keeps, and how its rows are opened. */
export interface Store<T extends Table = Table, Opened = unknown> extends Openable<Opened> {
  readonly table: T
  /** The orders of its lists, by name: for whoever checks that each has its index. */
  readonly lists: Readonly<Record<string, List<T>>>
}

type NamesOf<Of> = Of extends object ? Extract<keyof Of, string> : never

/**
 * Declares a store.
 * @param own statements that only this noun has, on top of the rows
 */
export function store<T extends Table, const Facts extends StoreFacts<T>, Own extends object = object>(
  table: T,
  facts: Facts & StoreFacts<T>,
  own?: (rows: Rows<T>, opening: Opening) => Own,
): Store<T, Rows<T, NamesOf<Facts['lists']>, NamesOf<Facts['manyBy']>, FilterOf<T, Facts['filters']>> & Own> {
  const plan = planOf(table, facts)
  const lists = (facts.lists ?? {}) as Readonly<Record<string, List<T>>>
  return {
    table,
    lists,
    open(opening) {
      const opened = new OpenRows(plan as Plan<Table>, opening)
      return (own ? Object.assign(opened, own(opened as unknown as Rows<T>, opening)) : opened) as never
    },
  }
}

/** The statements of a table, made once. */
interface Plan<T extends Table> {
  readonly table: T
  readonly what: string
  readonly key: readonly string[]
  readonly fallbacks: Readonly<Record<string, unknown>>
  readonly writtenOften: boolean
  readonly byIds: Both
  readonly lock: Both
  readonly manyBy: Readonly<Record<string, Both>>
  readonly lists: Readonly<Record<string, { readonly order: Order<Row<T> & Aged>; readonly read: ReadList<T> }>>
  readonly filtered: {
    readonly order: Order<Record<string, unknown>>
    readonly kept: (text: string) => Statement | NamelessStatement
    readonly write: WriteList
  } | null
}

/** Each combination of filters is a statement of its own: how many of a list connections keep. */
const mostTexts = 100

/** A statement on everybody's rows, and on those of one viewer. */
interface Both {
  readonly everybodys: Statement
  readonly seen: Statement & Bound
}

function planOf<T extends Table>(table: T, facts: StoreFacts<T>): Plan<T> {
  const { what, tenancy, lists = {}, filters, sorted = newestFirst as Sorted<T>, manyBy = {}, writtenOften = false } = facts
  const condition = conditionOf(tenancy)
  const select = `select ${selectList(table, 't')} from ${table.name} t where`
  const both = (where: string, rest = ''): Both => {
    const seen = bindTenant(`${select} ${where} and ${condition}${rest}`, 1)
    return { everybodys: statement(`${select} ${where}${rest}`), seen: { ...seen, ...statement(seen.text) } }
  }
  const idType = table.columns.id?.type
  return {
    table,
    what,
    key: keyOf(table),
    fallbacks: fallbacksOf(table),
    writtenOften,
    byIds: both(`t.id = any($1::${idType}[])`),
    lock: both('t.id = $1', ' for no key update of t'),
    manyBy: Object.fromEntries(
      Object.entries(manyBy).map(([name, order]) => [name, both(`t.${columnOf(name)} = any($1::${table.columns[name]!.type}[])`, ` order by ${order}`)]),
    ),
    lists: Object.fromEntries(
      Object.entries(lists as Record<string, List<T>>).map(([name, list]) => [
        name,
        { order: orderOf<Row<T> & Aged>(table, list), read: readList(table, list, condition) },
      ]),
    ),
    filtered: filters ? { order: sortedOrder(table, sorted), kept: keptStatements(mostTexts), write: filteredList(table, tenancy, filters, sorted) } : null,
  }
}

type AnyRow = Record<string, unknown> & { id: string }

/** A class, because one is made for every store that an operation touches: its loaders are made when they are asked for. */
class OpenRows {
  readonly plan: Plan<Table>
  readonly opening: Opening
  one: DataLoader<string, AnyRow | null> | null = null
  many: Map<string, DataLoader<string, AnyRow[]>> | null = null
  pages: Map<string, ListLoader<AnyRow>> | null = null
  filteredBy: FilteredPages<AnyRow, Readonly<Record<string, unknown>>> | null = null

  constructor(plan: Plan<Table>, opening: Opening) {
    this.plan = plan
    this.opening = opening
  }

  get what(): string {
    return this.plan.what
  }

  get byId(): DataLoader<string, AnyRow | null> {
    this.one ??= createLoader<string, AnyRow | null>(this.opening.reading, async ids => {
      const found = await this.ask(this.plan.byIds, ids)
      if (ids.length === 1) return [found[0] ?? null]
      const byId = new Map(found.map(row => [row.id, row]))
      return ids.map(id => byId.get(id) ?? null)
    })
    return this.one
  }

  async find(id: string | null): Promise<AnyRow | null> {
    return id === null ? null : this.byId.load(id)
  }

  manyBy(column: string): DataLoader<string, AnyRow[]> {
    this.many ??= new Map()
    let loader = this.many.get(column)
    if (!loader) {
      loader = createLoader<string, AnyRow[]>(this.opening.reading, async parents => {
        const found = Map.groupBy(await this.ask(this.plan.manyBy[column]!, parents), row => row[column] as string)
        return parents.map(parent => found.get(parent) ?? [])
      })
      this.many.set(column, loader)
    }
    return loader
  }

  async require(id: string, field = 'id'): Promise<AnyRow> {
    const row = await this.byId.load(requireId(id, field))
    if (row) return row
    throw notFound(this.plan.what, id)
  }

  async page(list: string, parent: string, page: PageArguments) {
    const { order, read } = this.plan.lists[list]!
    const request = readPage(page, order as Order<AnyRow>)
    this.pages ??= new Map()
    let loader = this.pages.get(list)
    if (!loader) {
      loader = createListLoader(this.opening.reading, order as Order<AnyRow>, read(this.opening) as never)
      this.pages.set(list, loader)
    }
    const found = await loader.load(parent, request)
    for (const row of found.nodes) this.byId.prime(row.id, row)
    return found
  }

  async filtered(filter: Readonly<Record<string, unknown>>, page: PageArguments) {
    const { order, kept, write } = this.plan.filtered!
    const request = readPage(page, order)
    this.filteredBy ??= filteredPages<AnyRow, Readonly<Record<string, unknown>>>(this as never, this.opening.reading, {
      kept,
      page: (wanted, request) => write(wanted, this.opening, request),
      count: wanted => write(wanted, this.opening),
      order: () => order,
    })
    return this.filteredBy(filter, request)
  }

  read(wanted: Statement | NamelessStatement, values: readonly unknown[], transaction?: Transaction | null) {
    return rows<AnyRow>(this.opening.sequelize, wanted, values, transaction, this.countedBy(transaction))
  }

  async lock(id: string, transaction: Transaction): Promise<AnyRow | null> {
    return (await this.ask(this.plan.lock, id, transaction))[0] ?? null
  }

  async insert(row: Record<string, unknown>, transaction: Transaction): Promise<AnyRow> {
    const { table, fallbacks, writtenOften } = this.plan
    const whole = { ...fallbacks, ...row } as AnyRow
    if (writtenOften) await insertOften(this.opening.sequelize, table, whole, transaction)
    else await modelOf(this.opening.sequelize, table).create(row, { transaction, returning: false })
    this.remember(whole, transaction)
    return whole
  }

  async update(row: AnyRow, changes: Partial<AnyRow>, transaction: Transaction): Promise<AnyRow> {
    const { table, writtenOften } = this.plan
    const whole = { ...row, ...changes } as AnyRow
    if (writtenOften) await updateOften(this.opening.sequelize, table, this.place(row), changes, transaction)
    else await modelOf(this.opening.sequelize, table).update(changes, { where: this.place(row), transaction })
    this.remember(whole, transaction)
    return whole
  }

  async remove(row: AnyRow, transaction: Transaction): Promise<void> {
    await modelOf(this.opening.sequelize, this.plan.table).destroy({ where: this.place(row), transaction })
    this.remember({ id: row.id }, transaction)
  }

  /** What was read before does not stand any more once the transaction is through. */
  private remember(row: { id: string }, transaction: Transaction): void {
    transaction.afterCommit(() => {
      this.one?.clear(row.id)
    })
  }

  private ask({ everybodys, seen }: Both, value: unknown, transaction?: Transaction): Promise<AnyRow[]> {
    const { sequelize, viewer } = this.opening
    const [wanted, values] = viewer ? [seen, seen.values([value], viewer)] : [everybodys, [value]]
    return rows(sequelize, wanted, values, transaction, this.countedBy(transaction))
  }

  /** What is read in a transaction is bounded by whoever writes it, and not held until the operation is answered. */
  private countedBy(transaction?: Transaction | null) {
    return transaction ? undefined : this.opening.reading
  }

  private place(row: AnyRow): Record<string, unknown> {
    return Object.fromEntries(this.plan.key.map(name => [name, row[name]]))
  }
}

/** What a new row has where nothing is given. */
const fallbacksOf = ({ columns }: Table): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(columns).flatMap(([name, { fallback }]) => (fallback === undefined ? [] : [[name, fallback]])))

/** The same for what another organization has as for what nobody has. */
export const notFound = (what: string, id: string): Refusal => new Refusal('NOT_FOUND', `The active organization has no ${what} ${id}.`, { id })
