import { useEffect, useRef, useState } from 'react'
import { useMutation } from 'urql'
import { type Problem, problemOf } from '../../shell/data/problems.ts'
import { dayName, momentAtWall } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type CalendarCellFragment, MoveEntryDocument } from './calendar.generated.ts'
import { stepped, type View } from './views.ts'

/** What moves entries of a calendar, and what they look like meanwhile. */
export interface Moving {
  /** What is held by its handle, and the time on the walls at which it would be put. */
  readonly held: { readonly id: string; readonly wall: string } | null
  /** What a reader is told. */
  readonly told: string
  readonly problem: Problem | null
  /** Where an entry stands: on the screen, before the graph has said so. */
  wallOf(entry: CalendarCellFragment): string
  /** Takes a key on its handle. @returns whether it was one that means something here */
  press(entry: CalendarCellFragment, key: string): boolean
  put(entry: CalendarCellFragment, wall: string): Promise<void>
  leave(): void
}

const own = (entry: CalendarCellFragment): string => `${entry.day}T${entry.time}`
const spoken = (wall: string, view: View): string => (view === 'week' ? `${dayName(wall.slice(0, 10))} ${wall.slice(11)}` : dayName(wall.slice(0, 10)))

/** Moves entries by drag, by handle and keys, or to a time that is named. An entry is there at once, and comes back with the reason when the graph refuses. */
export function useMoving(view: View, zone: string, entries: readonly CalendarCellFragment[], reload: () => void): Moving {
  const [, move] = useMutation(MoveEntryDocument)
  const [held, setHeld] = useState<Moving['held']>(null)
  const [moved, setMoved] = useState<ReadonlyMap<string, string>>(new Map())
  const [problem, setProblem] = useState<Problem | null>(null)
  const [told, setTold] = useState('')
  const focusNext = useRef<string | null>(null)
  const wallOf = (entry: CalendarCellFragment) => moved.get(entry.id) ?? own(entry)
  // What was moved is where it was put once the graph says so too.
  useEffect(() => {
    setMoved(before => {
      const left = [...before].filter(([id, wall]) => entries.some(entry => entry.id === id && own(entry) !== wall))
      return left.length === before.size ? before : new Map(left)
    })
  }, [entries])
  useEffect(() => {
    if (!focusNext.current) return
    document.querySelector<HTMLElement>(`[data-post="${focusNext.current}"] button`)?.focus()
    focusNext.current = null
  })
  async function put(entry: CalendarCellFragment, wall: string) {
    setHeld(null)
    if (wall === own(entry)) return
    const at = momentAtWall(wall, zone)
    if (!at) return setProblem({ sentence: say('posts.skipped'), code: null, reason: null, field: null, requestId: null })
    setProblem(null)
    setMoved(before => new Map([...before, [entry.id, wall]]))
    focusNext.current = entry.id
    setTold(say('calendar.put', { title: entry.title, day: spoken(wall, view) }))
    const { data, error } = await move({ input: { id: entry.id, at: at.toISOString(), expectedVersion: entry.version } })
    if (data?.moveCalendarEntry) reload()
    else setMoved(before => new Map([...before].filter(([id]) => id !== entry.id)))
    setProblem(problemOf(error))
    if (error) setTold(say('calendar.back', { title: entry.title, day: spoken(own(entry), view) }))
  }
  function press(entry: CalendarCellFragment, key: string): boolean {
    if (key === 'Enter' || key === ' ') {
      if (held?.id === entry.id) void put(entry, held.wall)
      else {
        setHeld({ id: entry.id, wall: wallOf(entry) })
        setTold(say('calendar.held', { title: entry.title, day: spoken(wallOf(entry), view) }))
      }
      return true
    }
    if (held?.id !== entry.id) return false
    if (key === 'Escape') {
      setHeld(null)
      setTold(say('calendar.left', { title: entry.title }))
      return true
    }
    const wall = stepped(held.wall, key, view, document.documentElement.dir === 'rtl')
    if (wall === null) return false
    setHeld({ id: entry.id, wall })
    setTold(spoken(wall, view))
    return true
  }
  return { held, told, problem, wallOf, press, put, leave: () => setHeld(null) }
}
