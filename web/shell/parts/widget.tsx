import { ArrowUpRight } from 'lucide-react'
import { Bars } from '../../design/parts/bars.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { Table } from '../../design/parts/table.tsx'
import { Link } from '../address.tsx'
import { app, locale } from '../place.ts'
import { Region, type RegionProps } from '../region.tsx'
import { lately, moment } from '../time.ts'
import { say } from '../words.ts'

/** What an app says of itself, as its widget shows it too. */
export interface Payload {
  readonly statistics: readonly { readonly key: string; readonly label: string; readonly value: number }[]
  readonly items: readonly { readonly id: string; readonly title: string; readonly at?: string | null | undefined; readonly url?: string | null | undefined }[]
  readonly nextAction?: { readonly label: string; readonly url: string } | null | undefined
  readonly chart?: { readonly title: string; readonly points: readonly { readonly label: string; readonly value: number }[] } | null | undefined
}

const number = new Intl.NumberFormat(locale)
const fraction = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })

/** The beginning of an app: what needs somebody first, its figures, and what comes next. */
export function Figures({
  payload,
  state,
  problem,
  retry,
}: Required<Pick<RegionProps, 'state' | 'problem' | 'retry'>> & { readonly payload: Payload | null | undefined }) {
  const items = payload?.items ?? []
  const chart = payload?.chart
  return (
    <>
      <Region title={say('widget.figures')} state={payload ? 'ready' : state} problem={problem} retry={retry} lines={2}>
        {payload && (
          <>
            {payload.statistics.length > 0 && (
              <Statistics>
                {payload.statistics.map(({ key, label, value }) => (
                  <Statistic key={key} label={label} value={number.format(value)} />
                ))}
              </Statistics>
            )}
            {payload.nextAction && (
              <div className="actions">
                <Link className="button secondary" to={pathWithin(payload.nextAction.url)}>
                  {payload.nextAction.label}
                  <Icon of={ArrowUpRight} />
                </Link>
              </div>
            )}
          </>
        )}
      </Region>
      {chart && chart.points.length > 0 && (
        <Region title={chart.title} state="ready">
          <Bars values={chart.points.map(({ value }) => value)} labels={chart.points.map(({ label }) => label)} />
          <details>
            <summary>{say('widget.as-table')}</summary>
            <Table
              label={chart.title}
              columns={[
                { id: 'label', heading: say('widget.when'), cell: ({ id }) => id },
                { id: 'value', heading: chart.title, cell: ({ value }) => fraction.format(value) },
              ]}
              rows={chart.points.map(({ label, value }) => ({ id: label, value }))}
            />
          </details>
        </Region>
      )}
      {items.length > 0 && (
        <Region title={say('widget.items')} isFlush state="ready">
          <ul className="list">
            {items.map(({ id, title, at, url }) => (
              <li key={id}>
                {url ? (
                  <Link className="grow clip" to={pathWithin(url)}>
                    {title}
                  </Link>
                ) : (
                  <span className="grow clip">{title}</span>
                )}
                {at && (
                  <time className="quiet figures" dateTime={at} title={moment(at)}>
                    {lately(at)}
                  </time>
                )}
              </li>
            ))}
          </ul>
        </Region>
      )}
    </>
  )
}

/** The path of an address of this app, without its prefix. */
function pathWithin(url: string): string {
  const { pathname, search } = new URL(url, location.origin)
  return `${pathname.startsWith(`/${app}/`) ? pathname.slice(app.length + 1) : pathname}${search}`
}
