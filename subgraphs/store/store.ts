import type DataLoader from 'dataloader'
import type { Sequelize, Transaction } from 'sequelize'
import type { Clock } from '../../platform/clock.ts'
import { DomainError } from '../../platform/errors.ts'
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

/** A noun's declaration of its store. */
export interface StoreFacts<T extends Table> {
  /** Name of a record in messages: `brand`. */
  readonly what: string
  readonly tenancy: Tenancy<T>
  /** Lists below a parent that are paged, by name. */
  readonly lists?: Readonly<Record<string, List<T>>>
  /** Filters of the list of all rows, which `filtered` reads. */
  readonly filters?: Filters
  /** The order of that list. @default newestFirst */
  readonly sorted?: Sorted<T>
  /**
   * Columns that name the one parent of many rows, each with the SQL order of the rows below it: for lists under fifty.
   */
  readonly manyBy?: { readonly [Name in Extract<keyof T['columns'], string>]?: string }
  /**
   * Whether rows are written many times a second: by cached statements, without the model (decision 0084). @default
   * false
   */
  readonly writtenOften?: boolean
}

/**
 * The rows of one table that a viewer may see or, for jobs, all rows. Calls of `byId`, `manyBy` and `page` in one turn
 * of the event loop are read together.
 */
export interface Rows<T extends Table, ListName extends string = string, Many extends string = string, Filter = never> {
  /** Name of a record in messages: `brand`. */
  readonly what: string
  /** Loads a row by its id; null when there is none that the viewer may see. */
  readonly byId: DataLoader<string, Row<T> | null>
  /** Loads a row by an id that may be null. */
  find(id: string | null): Promise<Row<T> | null>
  /** Loads all rows below a parent, by the column that names it. */
  manyBy(column: Many): DataLoader<string, Row<T>[]>
  /**
   * Returns the row with this id.
   * @param field the argument that held the id @default 'id'
   * @throws BAD_USER_INPUT for an invalid id; NOT_FOUND, the same for a missing row and for another organization's
   */
  require(id: string, field?: string): Promise<Row<T>>
  /** Returns one page of a list below a parent. @throws BAD_USER_INPUT for invalid page arguments */
  page(list: ListName, parent: string, page: PageArguments): Promise<Page<T>>
  /**
   * Returns one page of all rows, by the filters that the noun declares; null does not restrict. @throws BAD_USER_INPUT
   * for invalid page arguments
   */
  filtered(filter: Filter, page: PageArguments): Promise<Page<T>>
  /** Runs a statement of the noun's own, which must contain the condition of tenancy itself. */
  read<Found extends object = Row<T>>(statement: Statement | NamelessStatement, values: readonly unknown[], transaction?: Transaction | null): Promise<Found[]>
  /** Locks the row with this id until the transaction ends, and returns its present state. */
  lock(id: string, transaction: Transaction): Promise<Row<T> | null>
  /** Inserts a row and returns it. */
  insert(row: NewRow<T>, transaction: Transaction): Promise<Row<T>>
  /** Writes the changes of a locked row and returns the whole row. */
  update(row: Row<T>, changes: Partial<Row<T>>, transaction: Transaction): Promise<Row<T>>
  remove(row: Row<T>, transaction: Transaction): Promise<void>
}

/** The operation of a viewer or the job that rows are opened for; a job sees all rows. */
export interface StoreContext {
  readonly sequelize: Sequelize
  readonly clock: Clock
  readonly reading: Reading
  readonly viewer: Viewer | null
}

/** A store that can be opened for one operation or one piece of work. */
export interface Openable<Opened = unknown> {
  open(opening: StoreContext): Opened
}

/** A noun's store: its table, and how its rows are opened. */
export interface Store<T extends Table = Table, Opened = unknown> extends Openable<Opened> {
  readonly table: T
  /** The orders of its lists, by name: a test checks that each has its index. */
  readonly lists: Readonly<Record<string, List<T>>>
}

type NamesOf<Of> = Of extends object ? Extract<keyof Of, string> : never

/**
 * Declares a store.
 * @param own statements that only this noun has, in addition to the rows
 */
export function store<T extends Table, const Facts extends StoreFacts<T>, Own extends object = object>(
  table: T,
  facts: Facts & StoreFacts<T>,
  own?: (rows: Rows<T>, opening: StoreContext) => Own,
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

/** The statements of a table, built once. */
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

/** Maximum cached statements of a list: each combination of filters needs one. */
const mostTexts = 100

/** A statement on all rows, and one on those of a viewer. */
interface Both {
  readonly systemContext: Statement
  readonly seen: Statement & Bound
}

function planOf<T extends Table>(table: T, facts: StoreFacts<T>): Plan<T> {
  const { what, tenancy, lists = {}, filters, sorted = newestFirst as Sorted<T>, manyBy = {}, writtenOften = false } = facts
  const condition = conditionOf(tenancy)
  const select = `select ${selectList(table, 't')} from ${table.name} t where`
  const both = (where: string, rest = ''): Both => {
    const seen = bindTenant(`${select} ${where} and ${condition}${rest}`, 1)
    return { systemContext: statement(`${select} ${where}${rest}`), seen: { ...seen, ...statement(seen.text) } }
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

/**
 * Opened rows are a class, because one is created for every store that an operation uses: its loaders are created on
 * demand.
 */
class OpenRows {
  readonly plan: Plan<Table>
  readonly opening: StoreContext
  one: DataLoader<string, AnyRow | null> | null = null
  many: Map<string, DataLoader<string, AnyRow[]>> | null = null
  pages: Map<string, ListLoader<AnyRow>> | null = null
  filteredBy: FilteredPages<AnyRow, Readonly<Record<string, unknown>>> | null = null

  constructor(plan: Plan<Table>, opening: StoreContext) {
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

  /** Replaces cached rows once the transaction is committed. */
  private remember(row: { id: string }, transaction: Transaction): void {
    transaction.afterCommit(() => {
      this.one?.clear(row.id)
    })
  }

  private ask({ systemContext, seen }: Both, value: unknown, transaction?: Transaction): Promise<AnyRow[]> {
    const { sequelize, viewer } = this.opening
    const [wanted, values] = viewer ? [seen, seen.values([value], viewer)] : [systemContext, [value]]
    return rows(sequelize, wanted, values, transaction, this.countedBy(transaction))
  }

  /**
   * Returns the counter for reads: reads in a transaction are not counted, because their author bounds them and they
   * are not held until the answer.
   */
  private countedBy(transaction?: Transaction | null) {
    return transaction ? undefined : this.opening.reading
  }

  private place(row: AnyRow): Record<string, unknown> {
    return Object.fromEntries(this.plan.key.map(name => [name, row[name]]))
  }
}

/** Returns the default values of a new row. */
const fallbacksOf = ({ columns }: Table): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(columns).flatMap(([name, { fallback }]) => (fallback === undefined ? [] : [[name, fallback]])))

/** Error for a missing row; the same for another organization's row. */
export const notFound = (what: string, id: string): DomainError => new DomainError('NOT_FOUND', `The active organization has no ${what} ${id}.`, { id })
