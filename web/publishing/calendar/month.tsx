import { useEffect, useRef, useState } from 'react'
import { useMutation } from 'urql'
import { Link } from '../../shell/address.tsx'
import { type Problem, problemOf } from '../../shell/data/problems.ts'
import { Failure } from '../../shell/region.tsx'
import { addDays, dayName, momentAtWall } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type CalendarCellFragment, MoveEntryDocument } from './calendar.generated.ts'
import { Entry } from './entry.tsx'

export interface MonthProps {
  readonly days: readonly string[]
  /** `2026-03` */
  readonly month: string
  readonly today: string
  readonly zone: string
  readonly entries: readonly CalendarCellFragment[]
  /** Reads them again: what was moved stands in another place of the order. */
  reload(): void
}

/** How far an arrow key moves an entry, in days. */
const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }

/**
 * The days of a month with what stands in them. An entry moves by drag, or by its handle: Enter takes it, arrows choose the day, Enter puts
 * it there, Escape leaves it. It is there at once, and comes back with the reason when the graph refuses.
 */
export function Month({ days, month, today, zone, entries, reload }: MonthProps) {
  const [, move] = useMutation(MoveEntryDocument)
  const [held, setHeld] = useState<{ readonly id: string; readonly day: string } | null>(null)
  const [moving, setMoving] = useState<ReadonlyMap<string, string>>(new Map())
  const [problem, setProblem] = useState<Problem | null>(null)
  const [told, setTold] = useState('')
  const focusNext = useRef<string | null>(null)
  const dayIn = (entry: CalendarCellFragment) => moving.get(entry.id) ?? entry.day
  // What was moved is where it was put once the graph says so too.
  useEffect(() => {
    setMoving(before => {
      const left = [...before].filter(([id, day]) => entries.some(entry => entry.id === id && entry.day !== day))
      return left.length === before.size ? before : new Map(left)
    })
  }, [entries])
  useEffect(() => {
    if (!focusNext.current) return
    document.querySelector<HTMLElement>(`[data-post="${focusNext.current}"] button`)?.focus()
    focusNext.current = null
  })
  async function put(entry: CalendarCellFragment, day: string) {
    setHeld(null)
    if (day === entry.day) return
    const at = momentAtWall(`${day}T${entry.time}`, zone)
    if (!at) return setProblem({ sentence: say('posts.skipped'), code: null, reason: null, field: null, requestId: null })
    setProblem(null)
    setMoving(before => new Map([...before, [entry.id, day]]))
    focusNext.current = entry.id
    setTold(say('calendar.put', { title: entry.title, day: dayName(day) }))
    const { data, error } = await move({ input: { id: entry.id, at: at.toISOString(), expectedVersion: entry.version } })
    if (data?.moveCalendarEntry) reload()
    else setMoving(before => new Map([...before].filter(([id]) => id !== entry.id)))
    setProblem(problemOf(error))
    if (error) setTold(say('calendar.back', { title: entry.title, day: dayName(entry.day) }))
  }
  function press(entry: CalendarCellFragment, key: string): boolean {
    if (key === 'Enter' || key === ' ') {
      if (held?.id === entry.id) void put(entry, held.day)
      else {
        setHeld({ id: entry.id, day: dayIn(entry) })
        setTold(say('calendar.held', { title: entry.title, day: dayName(dayIn(entry)) }))
      }
      return true
    }
    if (held?.id !== entry.id) return false
    if (key === 'Escape') {
      setHeld(null)
      setTold(say('calendar.left', { title: entry.title }))
      return true
    }
    const step = steps[key]
    if (step === undefined) return false
    const day = addDays(held.day, document.documentElement.dir === 'rtl' && Math.abs(step) === 1 ? -step : step)
    setHeld({ id: entry.id, day })
    setTold(dayName(day))
    return true
  }
  return (
    <>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <p className="unseen" role="status">
        {told}
      </p>
      <div className="month">
        {days.slice(0, 7).map(day => (
          <div key={day} className="weekday" aria-hidden>
            {dayName(day, { weekday: 'short' })}
          </div>
        ))}
        {days.map(day => {
          const here = entries.filter(entry => dayIn(entry) === day)
          const classes = ['day', !day.startsWith(month) && 'outside', day === today && 'today', held?.day === day && 'target']
          return (
            <section
              key={day}
              className={classes.filter(Boolean).join(' ')}
              data-day={day}
              aria-label={dayName(day)}
              onDragOver={event => event.preventDefault()}
              onDrop={event => {
                const entry = entries.find(({ id }) => id === event.dataTransfer.getData('text/plain'))
                if (entry) void put(entry, day)
              }}
            >
              <Link className="number" to={`/compose?at=${day}`} aria-label={say('calendar.write', { day: dayName(day) })}>
                {Number(day.slice(8))}
              </Link>
              {here.length > 0 && (
                <ul>
                  {here.map(entry => (
                    <Entry key={entry.id} entry={entry} isHeld={held?.id === entry.id} press={press} leave={() => setHeld(null)} />
                  ))}
                </ul>
              )}
            </section>
          )
        })}
      </div>
    </>
  )
}
