import { Refusal } from './errors.ts'

/** How many rows a page has when the client does not say. */
export const defaultFirst = 20
/** How many rows a client may ask for at once. */
export const mostFirst = 100

/**
 * A total order of a list, by which pages are cut (keyset pagination): the last part must be unique.
 * `parts` checks each value of a cursor that comes back, so that nothing malformed reaches SQL.
 */
export interface Order<Row> {
  /** Names the list and its order, e.g. `posts.newest`: a cursor of one list is refused by another. */
  readonly name: string
  /** A row's position: the values of the order's columns, as text, in the order of `parts`. */
  position(row: Row): readonly string[]
  readonly parts: readonly ((value: string) => boolean)[]
}

/** What a client asks for. */
export interface PageArguments {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
}

/** A request that was checked. */
export interface PageRequest {
  /** How many rows the page has at most: 1 to 100. */
  readonly first: number
  /** Ask SQL for this many: one more than the page, which tells whether there is a next one. */
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
  /** Whether the page was asked for by a cursor: there was at least the row that the cursor stood on. */
  readonly hasPreviousPage: boolean
  readonly startCursor: string | null
  readonly endCursor: string | null
}

/**
 * Checks `first` and `after` of a list field.
 * @throws BAD_USER_INPUT for a size outside 1 to 100 and for a cursor that is not one of this list
 */
export function readPage<Row>({ first, after }: PageArguments, order: Order<Row>): PageRequest {
  const size = first ?? defaultFirst
  if (!Number.isInteger(size) || size < 1 || size > mostFirst)
    throw new Refusal('BAD_USER_INPUT', `first is ${size}: ask for 1 to ${mostFirst} entries, and for more with after.`, { field: 'first' })
  return { first: size, limit: size + 1, after: after === null || after === undefined ? null : readCursor(after, order) }
}

/**
 * Makes the page of the rows that SQL gave for `request.limit`.
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

/** The opaque text that stands for a row's place in a list. */
export function writeCursor<Row>(row: Row, order: Order<Row>): string {
  return Buffer.from(JSON.stringify([order.name, ...order.position(row)])).toString('base64url')
}

function readCursor<Row>(cursor: string, order: Order<Row>): readonly string[] {
  const [name, ...position] = parse(cursor)
  const fits = name === order.name && position.length === order.parts.length && position.every((value, at) => order.parts[at]!(value))
  if (!fits) throw new Refusal('BAD_USER_INPUT', 'after is not a cursor of this list: pass one that this list answered, as it was given.', { field: 'after' })
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
 * For `Order.parts`: a moment as ISO 8601 in UTC with milliseconds, of the years 0001 to 9999: PostgreSQL reads neither the year 0 nor
 * one with a sign.
 */
export function isMoment(value: string): boolean {
  if (!/^(?!0000)\d{4}-/.test(value)) return false
  const at = Date.parse(value)
  return !Number.isNaN(at) && new Date(at).toISOString() === value
}

/** For `Order.parts`: any text PostgreSQL can hold. */
export const isText = (value: string): boolean => value.length <= 1000 && !value.includes('\0')
