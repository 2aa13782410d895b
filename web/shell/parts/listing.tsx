import { type Column, type Selection, Table } from '../../design/parts/table.tsx'
import { Link, useSearch, withSearch } from '../address.tsx'
import { Region, type RegionProps } from '../region.tsx'
import { say } from '../words.ts'

export interface ListingProps<Row> extends Pick<RegionProps, 'state' | 'problem' | 'retry' | 'empty' | 'title' | 'tools'> {
  /** What it lists, for who does not see it. */
  readonly label: string
  /** The list's own address: the pager leads to other pages of it. */
  readonly path: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** The row whose detail is open beside the list. */
  readonly current?: string | undefined
  readonly page?: { readonly hasNextPage: boolean; readonly endCursor?: string | null | undefined } | null | undefined
  /** Of all pages together, where the graph counts them. */
  readonly total?: number | null | undefined
  /** How many there are, in the list's own words. @default entries */
  countOf?(count: number): string
  readonly selection?: Selection<Row> | undefined
  attributes?(row: Row): Readonly<Record<`data-${string}`, string>>
}

/** A page of a list: rows, how many there are, and the way to more. */
export function Listing<Row extends { readonly id: string }>({
  label,
  path,
  columns,
  rows,
  current,
  page,
  total,
  countOf = count => say('list.count', { count }),
  selection,
  attributes,
  ...region
}: ListingProps<Row>) {
  return (
    <Region {...region} isFlush lines={8}>
      <Table label={label} columns={columns} rows={rows} current={current} selection={selection} {...(attributes && { attributes })} />
      <Pager path={path} page={page} count={countOf(total ?? rows.length)} />
    </Region>
  )
}

/** How many there are, and the way to more of a list. @param path the list's own address */
export function Pager({ path, page, count }: Pick<ListingProps<never>, 'path' | 'page'> & { readonly count: string }) {
  const search = useSearch()
  return (
    <div className="pager">
      <span>{count}</span>
      <span className="actions">
        {search.get('after') && (
          <Link className="button quiet" to={withSearch(path, search, { after: null })}>
            {say('list.first')}
          </Link>
        )}
        {page?.hasNextPage && page.endCursor && (
          <Link className="button quiet" to={withSearch(path, search, { after: page.endCursor })}>
            {say('list.next')}
          </Link>
        )}
      </span>
    </div>
  )
}

/** The cursor of the address, as an argument of a list whose pages have a size of their own. */
export function afterOf(search: URLSearchParams): { readonly after?: string } {
  const after = search.get('after')
  return after === null ? {} : { after }
}

/** The page of a list that the address names, as the graph's arguments. */
export function pageOf(search: URLSearchParams, first = 50): { readonly first: number; readonly after?: string } {
  return { first, ...afterOf(search) }
}
