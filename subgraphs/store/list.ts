import type { Sequelize } from 'sequelize'
import { isId } from '../../platform/ids.ts'
import { type Connection, isMoment, type Order } from '../../platform/page.ts'
import type { Reading } from '../../platform/sql/reading.ts'
import { rows, statement } from '../../platform/sql/statement.ts'
import { columnOf, type Row, selectList, type Table } from '../../platform/sql/table.ts'
import { nounOf } from './filter/filters.ts'
import type { ListStore } from './loader.ts'
import { bindTenant, type Tenant } from './tenancy.ts'

/** A list of rows below the parent that one of their columns names, by age. */
export interface List<T extends Table> {
  readonly below: Extract<keyof T['columns'], string>
  readonly order: 'oldest first' | 'newest first'
  /** Further condition on rows `t`, as SQL. */
  readonly only?: string
  /**
   * Maximum rows that one statement reads, if rows are so large that a page below each of many parents would exceed an
   * operation's limit.
   */
  readonly most?: number
}

/** Columns that every list by age needs. */
export type Aged = { readonly id: string; readonly createdAt: Date }

/** Orders by age, which never changes while a client pages. Cursors carry the order's name: `brands.oldest`. */
export function orderOf<R extends Aged>(table: Table, { order }: Pick<List<Table>, 'order'>): Order<R> {
  return {
    name: `${nounOf(table)}.${order === 'oldest first' ? 'oldest' : 'newest'}`,
    position: row => [row.createdAt.toISOString(), row.id],
    parts: [isMoment, isId],
  }
}

/** Opens the reader of a list for an operation or job. */
export type ReadList<T extends Table> = (opening: {
  readonly sequelize: Sequelize
  readonly viewer: Tenant | null
  readonly reading: Reading
}) => ListStore<Row<T>>

/**
 * Reads lists below their parents: one statement for any number of parents, which follows an index on (parent,
 * created_at, id) for each of them.
 * @param condition of tenancy, on rows `t`
 */
export function readList<T extends Table>(table: T, { below, order, only = 'true', most }: List<T>, condition: string): ReadList<T> {
  const parent = table.columns[below]!.type
  const [past, way] = order === 'oldest first' ? ['>', 'asc'] : ['<', 'desc']
  const page = (seen: string, after: string, own: number) =>
    bindTenant(
      `select row.* from unnest($1::${parent}[]) as parent (id)
       cross join lateral (
         select ${selectList(table, 't')} from ${table.name} t
         where t.${columnOf(below)} = parent.id and ${only} and ${seen}${after}
         order by t.created_at ${way}, t.id ${way} limit $2
       ) row
       order by row."createdAt" ${way}, row.id ${way}`,
      own,
    )
  const count = (seen: string) =>
    bindTenant(
      `select t.${columnOf(below)} as parent, count(*)::int as count from ${table.name} t
        where t.${columnOf(below)} = any($1::${parent}[]) and ${only} and ${seen} group by 1`,
      1,
    )
  // Two statements, because a shared cached plan would always read the list from its beginning.
  const statements = (seen: string) => {
    const [first, next, total] = [page(seen, '', 2), page(seen, ` and (t.created_at, t.id) ${past} ($3::timestamptz, $4::uuid)`, 4), count(seen)]
    return { first: { ...first, ...statement(first.text) }, next: { ...next, ...statement(next.text) }, total: { ...total, ...statement(total.text) } }
  }
  const [systemContext, seen] = [statements('true'), statements(condition)]
  return ({ sequelize, viewer, reading }) => {
    const { first, next, total } = viewer ? seen : systemContext
    const ask = <Found>(bound: typeof first, own: readonly unknown[]) => rows<Found>(sequelize, bound, viewer ? bound.values(own, viewer) : own, null, reading)
    return {
      most,
      async pages(parents, { after, limit }) {
        const found = after ? ask<Row<T>>(next, [parents, limit, ...after]) : ask<Row<T>>(first, [parents, limit])
        return Map.groupBy(await found, row => String((row as Record<string, unknown>)[below]))
      },
      async counts(parents) {
        const found = await ask<{ parent: string; count: number }>(total, [parents])
        return new Map(found.map(row => [row.parent, row.count]))
      },
    }
  }
}

/** A page of rows, in the form for resolvers. */
export type Page<T extends Table> = Connection<Row<T>>
