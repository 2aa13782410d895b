import { goTo, Link } from '../../shell/address.tsx'
import { dayName } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { CalendarCellFragment } from './calendar.generated.ts'
import { Entry } from './entry.tsx'
import type { Moving } from './move.ts'
import type { View } from './views.ts'

export interface DayProps {
  readonly day: string
  readonly view: View
  readonly today: string
  /** The month that is looked at, `2026-03`. */
  readonly month: string
  readonly zone: string
  readonly entries: readonly CalendarCellFragment[]
  readonly moving: Moving
  readonly mayMove: boolean
  /** The entry with an id, for what is dropped here. */
  find(id: string): CalendarCellFragment | undefined
}

/** In a month so many entries of a day are drawn; the others are behind a link to the day. */
const maxInMonth = 4

/** A day with what stands in it. An entry that is dropped on it keeps its time of day; `n` writes a post for it. */
export function Day({ day, view, today, month, zone, entries, moving, mayMove, find }: DayProps) {
  const isTarget = moving.held?.wall.startsWith(day)
  const classes = ['day', view === 'month' && !day.startsWith(month) && 'outside', day === today && 'today', isTarget && 'target']
  const sorted = entries.toSorted((a, b) => moving.wallOf(a).localeCompare(moving.wallOf(b)))
  const shown = view === 'month' && sorted.length > maxInMonth + 1 ? sorted.slice(0, maxInMonth) : sorted
  const left = sorted.length - shown.length
  // What a reader is told holds what is seen.
  const shownName = dayName(day, { weekday: 'short', day: 'numeric', month: 'short' })
  return (
    <section
      className={classes.filter(Boolean).join(' ')}
      data-day={day}
      aria-label={dayName(day)}
      onDragOver={event => event.preventDefault()}
      onDrop={event => {
        const entry = find(event.dataTransfer.getData('text/plain'))
        if (entry) void moving.put(entry, `${day}T${moving.wallOf(entry).slice(11)}`)
      }}
      onKeyDown={event => {
        if (event.key === 'n' && mayMove && !moving.held && !/^(?:INPUT|TEXTAREA)$/.test((event.target as Element).tagName)) goTo(`/compose?at=${day}`)
      }}
    >
      <Link className="number" to={`/compose?at=${day}`} aria-label={say('calendar.write', { day: view === 'month' ? dayName(day) : shownName })}>
        {view === 'month' ? Number(day.slice(8)) : shownName}
      </Link>
      {shown.length > 0 && (
        <ul>
          {shown.map(entry => (
            <Entry key={entry.id} entry={entry} moving={moving} zone={zone} isWide={view === 'list'} mayMove={mayMove} />
          ))}
        </ul>
      )}
      {left > 0 && (
        <Link className="small" to={`/calendar?view=list&at=${day}`} aria-label={say('calendar.more-of-day', { count: left, day: dayName(day) })}>
          +{left}
        </Link>
      )}
    </section>
  )
}
