import { type ReactNode, useEffect, useRef, useState } from 'react'

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

/** Rows of one kind; below 640 px each becomes a block, without what it does not have. It scrolls sideways within itself. @param attributes of a row, for tests */
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
  <Scroller label={label}>
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
            {columns.map(({ id, heading, isMain, isFigure, cell }) => {
              const shown = cell(row)
              return (
                <td key={id} className={isMain ? 'main' : shown === '–' && !isFigure ? 'none' : undefined} data-heading={isFigure ? heading : undefined}>
                  {shown}
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  </Scroller>
)

/** What scrolls sideways where its content is wider; then keys scroll it too. */
function Scroller({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const own = useRef<HTMLDivElement>(null)
  const [isWider, setWider] = useState(false)
  useEffect(() => {
    const look = () => setWider(own.current !== null && own.current.scrollWidth > own.current.clientWidth)
    const observer = new ResizeObserver(look)
    observer.observe(own.current!)
    observer.observe(own.current!.firstElementChild!)
    return () => observer.disconnect()
  }, [])
  return (
    <div className="table" ref={own} {...(isWider && { role: 'group', 'aria-label': label, tabIndex: 0 })}>
      {children}
    </div>
  )
}
