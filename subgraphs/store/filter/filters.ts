import type { Clock } from '../../../platform/clock.ts'
import { isId } from '../../../platform/ids.ts'
import { isMoment, isText, type Order, type PageRequest } from '../../../platform/page.ts'
import { columnOf, type Row, selectList, type Table } from '../../../platform/sql/table.ts'
import { bindTenant, conditionOf, type Tenancy, type Tenant } from '../tenancy.ts'
import type { Asked } from './pages.ts'

/** Helpers for writing a condition. */
export interface FilterSql {
  /** Adds a value to the statement. @returns its placeholder */
  bind(value: unknown): string
  readonly now: Date
}

/** Builds an SQL condition on rows `t`, with `:organization`, `:person` and `:roles` for the viewer's. */
export type Condition<Value> = (value: Value, sql: FilterSql) => string

/** How a column is compared with a field of a filter. */
export type Comparison = 'eq' | 'any' | 'range'

/**
 * How one field of a filter restricts a list:
 * - `eq`: its column has the value,
 * - `any`: its column has one of the values,
 * - `range`: its column lies at or after `since` and before `until`,
 * - a condition of its own; with `depends`, one that holds for nearly every row or nearly none, so that its statement
 * is planned each time.
 */
export type Filter = Comparison | Condition<never> | { readonly where: Condition<never>; readonly depends: true }

/** The fields by which a list can be filtered. Those without a condition of their own are named like their column. */
export type Filters = Readonly<Record<string, Filter>>

/** A period; a missing bound is unlimited. */
export interface Period {
  readonly since?: Date | null | undefined
  /** Exclusive upper bound. */
  readonly until?: Date | null | undefined
}

type FilterValue<F, Value> = F extends 'eq'
  ? Value
  : F extends 'any'
    ? readonly Value[]
    : F extends 'range'
      ? Period
      : F extends (value: infer Own, sql: never) => string
        ? Own
        : F extends { readonly where: (value: infer Own, sql: never) => string }
          ? Own
          : never

/** Filter of a list; null fields do not restrict it. */
export type FilterOf<T extends Table, Of> = Of extends Filters
  ? { readonly [Name in keyof Of]?: FilterValue<Of[Name], Name extends keyof Row<T> ? Row<T>[Name] : never> | null | undefined }
  : never

/** The order of a filtered list: by a column, then by id. Cursors contain its name. */
export interface Sorted<T extends Table> {
  readonly by: Extract<keyof T['columns'], string>
  readonly way: 'asc' | 'desc'
  readonly name: string
}

/** The usual order. */
export const newestFirst = { by: 'createdAt', way: 'desc', name: 'newest' } as const
export const oldestFirst = { by: 'createdAt', way: 'asc', name: 'oldest' } as const

/** Returns a table's noun for cursors: `apiKeys`. */
export const nounOf = ({ name }: Table): string => name.split('.')[1]!.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The order in which a filtered list is paged. */
export function sortedOrder<T extends Table>(table: T, { by, name }: Sorted<T>): Order<Record<string, unknown>> {
  const isTime = isMomentColumn(table, by)
  return {
    name: `${nounOf(table)}.${name}`,
    position: row => [isTime ? (row[by] as Date).toISOString() : String(row[by]), String(row.id)],
    parts: [isTime ? isMoment : isWholeColumn(table, by) ? isWhole : isText, isId],
  }
}

const isWholeColumn = (table: Table, name: string): boolean => table.columns[name]!.type === 'bigint'
/** Whether a part of a cursor is a number that a bigint holds. */
const isWhole = (value: string): boolean => /^-?\d{1,18}$/.test(value)
const isMomentColumn = (table: Table, name: string): boolean => table.columns[name]!.type.startsWith('timestamptz')

/** Adds a value to a statement. @returns its placeholder */
type Bind = FilterSql['bind']

/**
 * Builds the conditions of fields that are compared with their columns.
 * @param alias of the rows in the statement
 */
export const comparisonsOf = (filters: Readonly<Record<string, Comparison>>, filter: object, bind: Bind, alias: string): string[] =>
  askedOf(filters, filter).flatMap(([name, how, value]) => comparisonBy(how, `${alias}.${columnOf(name)}`, value as never, bind))

/**
 * Builds the conditions of a filter on rows `t`. Unused fields add nothing to the statement, so that PostgreSQL can
 * choose an index for it.
 */
const conditionsOf = (filters: Filters, filter: object, sql: FilterSql): string[] =>
  askedOf(filters, filter).flatMap(([name, how, value]) => {
    if (typeof how === 'string') return comparisonBy(how, `t.${columnOf(name)}`, value as never, sql.bind)
    return [(typeof how === 'function' ? how : how.where)(value as never, sql)]
  })

/** The fields that a filter gives a value. */
const askedOf = <How>(filters: Readonly<Record<string, How>>, filter: object): (readonly [string, How, unknown])[] =>
  Object.entries(filters).flatMap(([name, how]) => {
    const value = (filter as Readonly<Record<string, unknown>>)[name]
    return value === null || value === undefined ? [] : [[name, how, value] as const]
  })

function comparisonBy(how: Comparison, column: string, value: never, bind: Bind): string[] {
  if (how === 'range') return periodOf(column, value, bind)
  return [how === 'eq' ? `${column} = ${bind(value)}` : `${column} = any(${bind(value)}::text[])`]
}

const periodOf = (column: string, { since, until }: Period, bind: Bind): string[] => [
  ...(since ? [`${column} >= ${bind(since)}`] : []),
  ...(until ? [`${column} < ${bind(until)}`] : []),
]

/** Builds the `like` pattern for texts that contain these words. */
export const containing = (words: string): string => `%${words.replace(/[\\%_]/g, '\\$&')}%`

/** Writes the statements of a filtered list: of a page if a request is given, else of the count. */
export type WriteList = (
  filter: Readonly<Record<string, unknown>>,
  opening: { readonly viewer: Tenant | null; readonly clock: Clock },
  page?: PageRequest,
) => Asked

/** Builds the statements of a filtered list of the rows that a viewer may see or, for jobs, of all rows. */
export function filteredList<T extends Table>(table: T, tenancy: Tenancy<T>, filters: Filters, { by, way }: Sorted<T>): WriteList {
  const [columns, [systemContext, seen]] = [selectList(table, 't'), rowsOf(table, tenancy)]
  const [sort, type] = [columnOf(by), isMomentColumn(table, by) ? 'timestamptz' : isWholeColumn(table, by) ? 'bigint' : 'text']
  const depending = Object.fromEntries(Object.entries(filters).filter(([, how]) => typeof how === 'object'))
  return (filter, { viewer, clock }, page) => {
    const values: unknown[] = []
    const bind = (value: unknown): string => `$${values.push(value)}`
    const { from, where } = viewer ? seen : systemContext
    const asked = conditionsOf(filters, filter, {
      bind,
      get now() {
        return clock.now()
      },
    })
    const past = page?.after ? [`(t.${sort}, t.id) ${way === 'asc' ? '>' : '<'} (${bind(page.after[0])}::${type}, ${bind(page.after[1])}::uuid)`] : []
    const conditions = [...where, ...asked, ...past]
    const text = [
      `select ${page ? columns : 'count(*)::int as count'} from ${from}`,
      ...(conditions.length > 0 ? [`where ${conditions.join(' and ')}`] : []),
      ...(page ? [`order by t.${sort} ${way}, t.id ${way} limit ${bind(page.limit)}`] : []),
    ].join(' ')
    const depends = askedOf(depending, filter).length > 0
    if (!viewer) return { text, values, depends }
    const bound = bindTenant(text, values.length)
    return { text: bound.text, values: bound.values(values, viewer), depends }
  }
}

/**
 * Builds the two FROM clauses, for all rows and for those that a viewer may see. The rows of a parent table are joined,
 * because its index leads to them.
 */
function rowsOf<T extends Table>(table: T, tenancy: Tenancy<T>) {
  const systemContext = { from: `${table.name} t`, where: [] as readonly string[] }
  if ('everybody' in tenancy) return [systemContext, systemContext] as const
  if (!('through' in tenancy)) return [systemContext, { ...systemContext, where: [conditionOf(tenancy)] }] as const
  const { through, by, owner } = tenancy
  const from = `${through.name} o join ${table.name} t on t.${columnOf(by)} = o.id`
  return [systemContext, { from, where: [`o.${columnOf(owner)} = :organization`] }] as const
}
