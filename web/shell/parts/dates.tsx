import { goTo, withSearch } from '../address.tsx'
import { momentAtWall, ownZone } from '../time.ts'
import { say } from '../words.ts'
import { addDays } from './day.ts'

const written = /^\d{4}-\d{2}-\d{2}$/

/** The day that the address names; what is no day counts as absent. */
const dayIn = (search: URLSearchParams, name: 'from' | 'to'): string | null => {
  const day = search.get(name) ?? ''
  return written.test(day) && !Number.isNaN(Date.parse(`${day}T00:00:00Z`)) ? day : null
}

/** The first moment of a day in this machine's zone, which a change of clocks may put off by an hour. */
const beginOf = (day: string): string => (momentAtWall(`${day}T00:00`, ownZone) ?? momentAtWall(`${day}T01:00`, ownZone) ?? new Date(day)).toISOString()

/** The range of the address, `?from=2026-03-02&to=2026-03-05` with both days whole, as the graph's arguments: instants, the last one left out. */
export function rangeIn(search: URLSearchParams): { readonly from?: string; readonly to?: string } {
  const [from, to] = [dayIn(search, 'from'), dayIn(search, 'to')]
  return { ...(from && { from: beginOf(from) }), ...(to && { to: beginOf(addDays(to, 1)) }) }
}

/** Whether the address names a range. */
export const hasRange = (search: URLSearchParams): boolean => dayIn(search, 'from') !== null || dayIn(search, 'to') !== null

/** Two days between which a list is read, in this machine's zone, which stands beside them. @param path the list's address */
export function Dates({ path, search }: { readonly path: string; readonly search: URLSearchParams }) {
  const [from, to] = [dayIn(search, 'from'), dayIn(search, 'to')]
  const choose = (name: string, value: string) => goTo(withSearch(path, search, { [name]: value || null, after: null }), { replace: true })
  return (
    <span className="dates">
      <label>
        {say('list.from')}
        <input className="input" type="date" value={from ?? ''} max={to ?? undefined} onChange={event => choose('from', event.target.value)} />
      </label>
      <label>
        {say('list.to')}
        <input className="input" type="date" value={to ?? ''} min={from ?? undefined} onChange={event => choose('to', event.target.value)} />
      </label>
      <span className="quiet small">{say('list.zone', { zone: ownZone })}</span>
    </span>
  )
}
