import { addDays } from '../../shell/parts/day.ts'

/** Ways to look at a calendar. */
export const views = ['month', 'week', 'list'] as const
export type View = (typeof views)[number]

/** Days that a list shows. */
const listDays = 31

/** The Monday of the week in which a day lies. */
export const mondayOf = (day: string): string => addDays(day, -((new Date(`${day}T12:00:00Z`).getUTCDay() + 6) % 7))

/** The days that a view shows around a day: six weeks of its month, its week, or a month from it on. */
export function daysOf(view: View, at: string): readonly string[] {
  const [begin, count] = view === 'month' ? [mondayOf(`${at.slice(0, 7)}-01`), 42] : view === 'week' ? [mondayOf(at), 7] : [at, listDays]
  return Array.from({ length: count }, (_, each) => addDays(begin, each))
}

/** The day around which the next or former part of the calendar is shown. @param by 1 or -1 */
export function turned(view: View, at: string, by: number): string {
  if (view !== 'month') return addDays(at, by * (view === 'week' ? 7 : listDays))
  const there = new Date(`${at.slice(0, 7)}-01T12:00:00Z`)
  there.setUTCMonth(there.getUTCMonth() + by)
  return there.toISOString().slice(0, 10)
}

/** A time on the walls that a key moves an entry to: by days, or in a week view by quarters of an hour too; null for a key that means nothing here. */
export function stepped(wall: string, key: string, view: View, isRightToLeft: boolean): string | null {
  const [day, time] = [wall.slice(0, 10), wall.slice(11)]
  const along = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : 0
  const down = key === 'ArrowUp' ? -1 : key === 'ArrowDown' ? 1 : 0
  if (along !== 0) return `${addDays(day, isRightToLeft ? -along : along)}T${time}`
  if (down === 0) return null
  if (view !== 'week') return `${addDays(day, down * 7)}T${time}`
  return new Date(Date.parse(`${wall}:00Z`) + down * 15 * 60_000).toISOString().slice(0, 16)
}
