import type { ReactNode } from 'react'

/** A column: its heading, and what a row shows in it. */
export interface Column<Row> {
  readonly id: string
  readonly heading: string
  /** Whether it is what the row is about: a link, which takes the room that is left. */
  readonly isMain?: boolean
  /** Whether it is a figure that says nothing without its heading, which stands before it where a row is a block. */
  readonly isFigure?: boolean
  cell(row: Row): ReactNode
}

/** Which rows are chosen, for what is done with several at once. */
export interface Selection<Row> {
  readonly chosen: ReadonlySet<string>
  onChange(chosen: ReadonlySet<string>): void
  /** What its box is called. */
  nameOf(row: Row): string
  readonly all: string
}

/** Rows of one kind; below 640 px each becomes a block. It scrolls sideways within itself. @param attributes of a row, for tests */
export const Table = <Row extends { readonly id: string }>({
  label,
  columns,
  rows,
  current,
  attributes,
  selection,
}: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** The row whose detail is open beside it. */
  readonly current?: string | undefined
  attributes?(row: Row): Readonly<Record<`data-${string}`, string>>
  readonly selection?: Selection<Row> | undefined
}) => (
  <div className="table">
    <table aria-label={label}>
      <thead>
        <tr>
          {selection && (
            <td className="choose">
              <input
                type="checkbox"
                aria-label={selection.all}
                checked={rows.length > 0 && rows.every(({ id }) => selection.chosen.has(id))}
                onChange={event => selection.onChange(new Set(event.target.checked ? rows.map(({ id }) => id) : []))}
              />
            </td>
          )}
          {columns.map(({ id, heading }) => (
            <th key={id} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <tr key={row.id} aria-current={row.id === current ? 'true' : undefined} {...attributes?.(row)}>
            {selection && (
              <td className="choose">
                <input
                  type="checkbox"
                  aria-label={selection.nameOf(row)}
                  checked={selection.chosen.has(row.id)}
                  onChange={event =>
                    selection.onChange(event.target.checked ? new Set([...selection.chosen, row.id]) : selection.chosen.difference(new Set([row.id])))
                  }
                />
              </td>
            )}
            {columns.map(({ id, heading, isMain, isFigure, cell }) => (
              <td key={id} className={isMain ? 'main' : undefined} data-heading={isFigure ? heading : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
