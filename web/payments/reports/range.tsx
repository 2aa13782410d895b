import { Link, useSearch, withSearch } from '../../shell/address.tsx'
import { addDays } from '../../shell/parts/day.ts'
import { dayOf } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'

const ranges = [7, 30, 90, 365] as const

/** Whole days of UTC up to today, as the ledger counts them. */
export interface Range {
  readonly days: number
  /** The first day: `2026-03-02`. */
  readonly first: string
  readonly from: string
  readonly to: string
}

/** The range that the address names. @default 30 days */
export function rangeOf(search: URLSearchParams): Range {
  const days = ranges.find(each => String(each) === search.get('days')) ?? 30
  const tomorrow = addDays(dayOf(new Date(), 'UTC'), 1)
  const first = addDays(tomorrow, -days)
  return { days, first, from: `${first}T00:00:00.000Z`, to: `${tomorrow}T00:00:00.000Z` }
}

/** Links to the same page with other ranges. */
export function Ranges({ path, chosen }: { readonly path: string; readonly chosen: number }) {
  const search = useSearch()
  return (
    <nav className="tabs" aria-label={say('reports.range')}>
      {ranges.map(each => (
        <Link key={each} to={withSearch(path, search, { days: String(each) })} aria-current={each === chosen ? 'page' : undefined}>
          {say('reports.days', { count: each })}
        </Link>
      ))}
    </nav>
  )
}
