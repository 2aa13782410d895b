import { ChevronLeft, ChevronRight, PenLine } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { goTo, Link, useSearch, withSearch } from '../../shell/address.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { addDays } from '../../shell/parts/day.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { dayName, dayOf, momentAtWall } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type Brand, useBrand } from '../brand/brand.ts'
import { networks, platforms } from '../brand/networks.ts'
import { CalendarChangesDocument } from './calendar.generated.ts'
import { Day } from './day.tsx'
import { useEntries } from './entries.ts'
import { FeedButton } from './feed.tsx'
import { useMoving } from './move.ts'
import { daysOf, turned, type View, views } from './views.ts'

/** What stands in a month, a week or a list of the brand, in its zone. What is seen stands in the address. */
export default function Calendar() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const mayWrite = useRights().may('publishing:posts.write')
  const zone = brand?.timeZone ?? 'UTC'
  const today = dayOf(new Date(), zone)
  const asked = search.get('at')
  const at = asked && /^\d{4}-\d\d-\d\d$/.test(asked) && !Number.isNaN(Date.parse(asked)) ? asked : today
  const view = views.find(each => each === search.get('view')) ?? 'month'
  const to = (changes: Readonly<Record<string, string | null>>) => withSearch('/calendar', search, changes)
  return (
    <Page
      title={say('calendar.title')}
      actions={
        <div className="actions">
          {brand && <FeedButton brandId={brand.id} />}
          {mayWrite && (
            <Link className="button primary" to="/compose">
              <Icon of={PenLine} />
              {say('posts.compose')}
            </Link>
          )}
        </div>
      }
    >
      <div className="filters">
        <Button kind="quiet" icon={ChevronLeft} name={say(`calendar.before-${view}`)} onPress={() => goTo(to({ at: turned(view, at, -1) }))} />
        <h2 aria-live="polite">{heading(view, at)}</h2>
        <Button kind="quiet" icon={ChevronRight} name={say(`calendar.after-${view}`)} onPress={() => goTo(to({ at: turned(view, at, 1) }))} />
        <Button onPress={() => goTo(to({ at: null }))}>{say('calendar.today')}</Button>
        <nav className="views" aria-label={say('calendar.views')}>
          {views.map(each => (
            <Link
              key={each}
              className={each === view ? 'button quiet chosen' : 'button quiet'}
              aria-current={each === view ? 'page' : undefined}
              to={to({ view: each === 'month' ? null : each, at })}
            >
              {say(`calendar.${each}`)}
            </Link>
          ))}
        </nav>
      </div>
      {isKnown && !brand ? (
        <Region state="empty" empty={{ icon: PenLine, sentence: say('brand.none') }} />
      ) : (
        <Days key={view} brand={brand} view={view} at={at} today={today} platform={search.get('platform')} mayMove={mayWrite} to={to} />
      )}
    </Page>
  )
}

function heading(view: View, at: string): string {
  if (view === 'month') return dayName(`${at.slice(0, 7)}-01`, { month: 'long', year: 'numeric' })
  const days = daysOf(view, at)
  const options = { day: 'numeric', month: 'short', year: 'numeric' } as const
  return say('calendar.range', { from: dayName(days[0]!, options), to: dayName(days.at(-1)!, options) })
}

interface DaysProps {
  readonly brand: Brand | null
  readonly view: View
  readonly at: string
  readonly today: string
  /** The network whose posts alone are shown, as the address names it. */
  readonly platform: string | null
  readonly mayMove: boolean
  to(changes: Readonly<Record<string, string | null>>): string
}

function Days({ brand, view, at, today, platform, mayMove, to }: DaysProps) {
  const zone = brand?.timeZone ?? 'UTC'
  const days = daysOf(view, at)
  const midnight = (day: string) => (momentAtWall(`${day}T00:00`, zone) ?? momentAtWall(`${day}T01:00`, zone) ?? new Date(`${day}T00:00:00Z`)).toISOString()
  const range = { brandId: brand?.id ?? '', from: midnight(days[0]!), to: midnight(addDays(days.at(-1)!, 1)) }
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
  const moving = useMoving(view, zone, entries, retry)
  const network = platforms.find(each => each.toLowerCase() === platform?.toLowerCase())
  const used = platforms.filter(each => each === network || entries.some(entry => entry.platform === each))
  const seen = network ? entries.filter(entry => entry.platform === network) : entries
  const byDay = Map.groupBy(seen, entry => moving.wallOf(entry).slice(0, 10))
  const shown = view === 'list' ? days.filter(day => byDay.has(day) || day === at) : days
  return (
    <Region isFlush state={state} problem={problem} retry={retry} lines={12}>
      {used.length > 1 && (
        <nav className="pager" aria-label={say('filter.platform')}>
          <span className="actions">
            {used.map(each => (
              <Link
                key={each}
                className={each === network ? 'status info' : 'status'}
                aria-current={each === network ? 'true' : undefined}
                to={to({ platform: each === network ? null : each.toLowerCase() })}
              >
                {networks[each]}
              </Link>
            ))}
          </span>
        </nav>
      )}
      {moving.problem && <Failure sentence={moving.problem.sentence} requestId={moving.problem.requestId} />}
      <p className="unseen" role="status">
        {moving.told}
      </p>
      <div className={view === 'list' ? 'agenda' : view === 'week' ? 'month week' : 'month'}>
        {view === 'month' &&
          days.slice(0, 7).map(day => (
            <div key={day} className="weekday" aria-hidden>
              {dayName(day, { weekday: 'short' })}
            </div>
          ))}
        {shown.map(day => (
          <Day
            key={day}
            day={day}
            view={view}
            today={today}
            month={at.slice(0, 7)}
            zone={zone}
            entries={byDay.get(day) ?? []}
            moving={moving}
            mayMove={mayMove}
            find={id => entries.find(entry => entry.id === id)}
          />
        ))}
      </div>
      {seen.length === 0 && <p className={view === 'list' ? 'pager' : 'pager narrow-alone'}>{say('calendar.list-empty')}</p>}
      {count > entries.length && <p className="pager">{say('calendar.more', { shown: entries.length, count })}</p>}
    </Region>
  )
}
