import { ChevronLeft, ChevronRight, PenLine } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { goTo, Link, useSearch, withSearch } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { Region } from '../../shell/region.tsx'
import { addDays, dayName, dayOf, momentAtWall } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type Brand, useBrand } from '../brand/brand.ts'
import { CalendarChangesDocument } from './calendar.generated.ts'
import { useEntries } from './entries.ts'
import { Month } from './month.tsx'

const weeks = 6

/** What stands in a month of the brand, in its zone. The month that is seen stands in the address. */
export default function Calendar() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const zone = brand?.timeZone ?? 'UTC'
  const today = dayOf(new Date(), zone)
  const asked = search.get('at')
  const at = asked && /^\d{4}-\d\d-\d\d$/.test(asked) && !Number.isNaN(Date.parse(asked)) ? asked : today
  const first = `${at.slice(0, 7)}-01`
  const move = (months: number) => {
    const there = new Date(`${first}T12:00:00Z`)
    there.setUTCMonth(there.getUTCMonth() + months)
    goTo(withSearch('/calendar', search, { at: there.toISOString().slice(0, 10) }))
  }
  return (
    <Page
      title={say('calendar.title')}
      actions={
        <>
          <div className="actions">
            <Button kind="quiet" icon={ChevronLeft} name={say('calendar.before')} onPress={() => move(-1)} />
            <h2 aria-live="polite">{dayName(first, { month: 'long', year: 'numeric' })}</h2>
            <Button kind="quiet" icon={ChevronRight} name={say('calendar.after')} onPress={() => move(1)} />
            <Button onPress={() => goTo(withSearch('/calendar', search, { at: null }))}>{say('calendar.today')}</Button>
          </div>
          <Link className="button primary" to="/compose">
            <Icon of={PenLine} />
            {say('posts.compose')}
          </Link>
        </>
      }
    >
      {isKnown && !brand ? (
        <Region state="empty" empty={{ icon: PenLine, sentence: say('brand.none') }} />
      ) : (
        <MonthOf brand={brand} first={first} today={today} />
      )}
    </Page>
  )
}

/** The Monday on which the weeks of a month begin. */
const firstMonday = (first: string): string => addDays(first, -((new Date(`${first}T12:00:00Z`).getUTCDay() + 6) % 7))

function MonthOf({ brand, first, today }: { readonly brand: Brand | null; readonly first: string; readonly today: string }) {
  const zone = brand?.timeZone ?? 'UTC'
  const begin = firstMonday(first)
  const days = Array.from({ length: weeks * 7 }, (_, at) => addDays(begin, at))
  const midnight = (day: string) => (momentAtWall(`${day}T00:00`, zone) ?? momentAtWall(`${day}T01:00`, zone) ?? new Date(`${day}T00:00:00Z`)).toISOString()
  const range = { brandId: brand?.id ?? '', from: midnight(begin), to: midnight(addDays(begin, days.length)) }
  const { state, problem, retry, entries, count } = useEntries(range, !brand)
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null)
  useSubscription({ query: CalendarChangesDocument, variables: { brandId: brand?.id ?? '' }, pause: !brand }, (_, told) => {
    // Days and conflicts are the graph's to say: they are read again, once for a burst.
    waiting.current ??= setTimeout(() => {
      waiting.current = null
      retry()
    }, 500)
    return told
  })
  useEffect(() => () => void (waiting.current && clearTimeout(waiting.current)), [])
  return (
    <Region isFlush state={state} problem={problem} retry={retry} lines={12}>
      <Month days={days} month={first.slice(0, 7)} today={today} zone={zone} entries={entries} reload={retry} />
      {count > entries.length && <p className="pager">{say('calendar.more', { shown: entries.length, count })}</p>}
    </Region>
  )
}
