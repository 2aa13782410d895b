import { DomainError } from './errors.ts'

/** Default number of rows of a page. */
export const defaultFirst = 20
/** Maximum number of rows of a page. */
export const mostFirst = 100

/**
 * A total order of a list, by which pages are cut (keyset pagination): the last part must be unique.
 * `parts` checks each value of a cursor that comes back, so that nothing malformed reaches SQL.
 */
export interface Order<Row> {
  /** Name of the list and its order, e.g. `posts.newest`: cursors of other lists are rejected. */
  readonly name: string
  /** A row's position: the values of the order's columns, as text, in the order of `parts`. */
  position(row: Row): readonly string[]
  readonly parts: readonly ((value: string) => boolean)[]
}

/** A client's arguments of a list. */
export interface PageArguments {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
}

/** A request that was checked. */
export interface PageRequest {
  /** Maximum rows of the page: 1 to 100. */
  readonly first: number
  /** Limit for SQL: one row more than the page, which shows whether there is a next page. */
  readonly limit: number
  /** The position after which the page begins; null for the first page. */
  readonly after: readonly string[] | null
}

export interface Connection<Row> {
  readonly nodes: readonly Row[]
  readonly edges: readonly { readonly cursor: string; readonly node: Row }[]
  readonly pageInfo: PageInfo
  /** Runs only when the client selects the field. */
  totalCount(): Promise<number>
}

export interface PageInfo {
  readonly hasNextPage: boolean
  /** Whether the page was requested by a cursor: at least the cursor's row precedes it. */
  readonly hasPreviousPage: boolean
  readonly startCursor: string | null
  readonly endCursor: string | null
}

/**
 * Checks `first` and `after` of a list field.
 * @throws BAD_USER_INPUT for a size outside 1 to 100 and for a cursor of another list
 */
export function readPage<Row>({ first, after }: PageArguments, order: Order<Row>): PageRequest {
  const size = first ?? defaultFirst
  if (!Number.isInteger(size) || size < 1 || size > mostFirst)
    throw new DomainError('BAD_USER_INPUT', `first is ${size}: ask for 1 to ${mostFirst} entries, and for more with after.`, { field: 'first' })
  return { first: size, limit: size + 1, after: after === null || after === undefined ? null : readCursor(after, order) }
}

/**
 * Builds the page from the rows that SQL returned for `request.limit`.
 * @param count counts the whole list, without the page's limits
 */
export function toConnection<Row>(rows: readonly Row[], request: PageRequest, order: Order<Row>, count: () => Promise<number>): Connection<Row> {
  const nodes = rows.slice(0, request.first)
  const edges = nodes.map(node => ({ cursor: writeCursor(node, order), node }))
  return {
    nodes,
    edges,
    pageInfo: {
      hasNextPage: rows.length > request.first,
      hasPreviousPage: request.after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: count,
  }
}

/** Writes the opaque cursor of a row's position in a list. */
export function writeCursor<Row>(row: Row, order: Order<Row>): string {
  return Buffer.from(JSON.stringify([order.name, ...order.position(row)])).toString('base64url')
}

function readCursor<Row>(cursor: string, order: Order<Row>): readonly string[] {
  const [name, ...position] = parse(cursor)
  const fits = name === order.name && position.length === order.parts.length && position.every((value, at) => order.parts[at]!(value))
  if (!fits)
    throw new DomainError('BAD_USER_INPUT', 'after is not a cursor of this list: pass one that this list answered, as it was given.', { field: 'after' })
  return position
}

function parse(cursor: string): string[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(value) && value.every(part => typeof part === 'string') ? value : []
  } catch {
    return []
  }
}

/**
 * For `Order.parts`: whether a value is a moment in ISO 8601 in UTC with milliseconds, of the years 0001 to 9999;
 * PostgreSQL accepts neither the year 0 nor a signed one.
 */
export function isMoment(value: string): boolean {
  if (!/^(?!0000)\d{4}-/.test(value)) return false
  const at = Date.parse(value)
  return !Number.isNaN(at) && new Date(at).toISOString() === value
}

/** For `Order.parts`: whether PostgreSQL can store a text. */
export const isText = (value: string): boolean => value.length <= 1000 && !value.includes('\0')
