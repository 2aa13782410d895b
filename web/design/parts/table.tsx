import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** A column: its heading, and what a row shows in it. */
export interface Column<Row> {
  readonly id: string
  readonly heading: string
  /** Whether it is what the row is about: a link, which takes the room that is left. */
  readonly isMain?: boolean
  /** Whether it is a figure that says nothing without its heading, which stands before it where a row is a block. */
  readonly isFigure?: boolean
  /** Whether it stays the longest beside an open panel, such as a state; the others give way from the last on. */
  readonly isKept?: boolean
  cell(row: Row): ReactNode
}

/** The turn in which each column gives way, from 1 on; none for what the row is about. */
function turnsOf(columns: readonly Pick<Column<never>, 'id' | 'isMain' | 'isKept'>[]): ReadonlyMap<string, number> {
  const others = columns.filter(({ isMain }) => !isMain).toReversed()
  const inTurn = [...others.filter(({ isKept }) => !isKept), ...others.filter(({ isKept }) => isKept)]
  return new Map(inTurn.map(({ id }, at) => [id, at + 1]))
}

/** Which rows are chosen, for what is done with several at once. */
export interface Selection<Row> {
  readonly chosen: ReadonlySet<string>
  onChange(chosen: ReadonlySet<string>): void
  /** What its box is called. */
  nameOf(row: Row): string
  readonly all: string
}

/**
 * Rows of one kind; below 640 px each becomes a block, without what it does not have. Beside an open panel, which shows
 * all of a row, columns give way until the others fit; else it scrolls sideways within itself.
 * @param attributes of a row, for tests
 */
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
}) => {
  const turns = turnsOf(columns)
  return (
    <Scroller label={label} turns={current === undefined ? 0 : turns.size}>
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
              <th key={id} scope="col" data-turn={turns.get(id)}>
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
                  <td key={id} className={classOf(isMain, shown === '–' && !isFigure)} data-heading={isFigure ? heading : undefined} data-turn={turns.get(id)}>
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
}

function classOf(isMain: boolean | undefined, isNothing: boolean): string | undefined {
  return [isMain && 'main', isNothing && 'none'].filter(Boolean).join(' ') || undefined
}

interface ScrollerProps {
  readonly label: string
  /** How many columns may give way. */
  readonly turns: number
  readonly children: ReactNode
}

/** What scrolls sideways where its content is wider, once no column may give way any more; then keys scroll it too. */
function Scroller({ label, turns, children }: ScrollerProps) {
  const own = useRef<HTMLDivElement>(null)
  const [isWider, setWider] = useState(false)
  useLayoutEffect(() => {
    if (turns > 0) makeRoom(own.current!, turns)
  })
  useEffect(() => {
    const look = () => setWider(makeRoom(own.current!, turns))
    const observer = new ResizeObserver(look)
    observer.observe(own.current!)
    observer.observe(own.current!.firstElementChild!)
    return () => observer.disconnect()
  }, [turns])
  return (
    <div className="table" ref={own} {...(isWider && { role: 'group', 'aria-label': label, tabIndex: 0 })}>
      {children}
    </div>
  )
}

/** Has columns give way until the table fits, before anything is drawn. @returns whether it is still wider */
function makeRoom(box: HTMLElement, turns: number): boolean {
  const isWider = () => box.scrollWidth > box.clientWidth
  let gone = ''
  box.dataset.gone = gone
  for (let turn = 1; turn <= turns && isWider(); turn++) {
    gone += `${turn} `
    box.dataset.gone = gone
  }
  return isWider()
}
