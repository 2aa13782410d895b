import { ArrowUpRight } from 'lucide-react'
import { type MouseEvent, memo, useMemo } from 'react'
import { Icon } from '../../design/parts/icon.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { locale } from '../../shell/place.ts'
import { Region } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { WidgetCardFragment } from './dashboard.generated.ts'

const number = new Intl.NumberFormat(locale)

export interface WidgetProps {
  readonly widget: WidgetCardFragment
  retry(): void
  launch(service: string, returnTo?: string): void
}

/** What one app shows of itself. It is drawn again only when its own data change. */
export const WidgetCard = memo(function WidgetCard({ widget: { app, title, payload }, retry, launch }: WidgetProps) {
  const open = useMemo(
    () => (url: string) => (event: MouseEvent) => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
      event.preventDefault()
      launch(app, pathWithin(app, url))
    },
    [app, launch],
  )
  const heading = (
    <>
      <span className="letter" data-letter={title.slice(0, 1)} aria-hidden />
      <h2>{title}</h2>
    </>
  )
  const failure = { sentence: say('dashboard.broken'), code: null, reason: null, field: null, requestId: null }
  return (
    <Region className="widget" title={heading} state={payload ? 'ready' : 'error'} problem={failure} retry={retry} data-widget={app} aria-label={title}>
      {payload && (
        <>
          {payload.statistics.length > 0 && (
            <Statistics>
              {payload.statistics.map(({ key, label, value }) => (
                <Statistic key={key} label={label} value={number.format(value)} />
              ))}
            </Statistics>
          )}
          {payload.items.length > 0 && (
            <ul className="items">
              {payload.items.map(({ id, title: what, at, url }) => (
                <li key={id}>
                  {url ? (
                    <a className="clip" href={url} onClick={open(url)}>
                      {what}
                    </a>
                  ) : (
                    <span className="clip">{what}</span>
                  )}
                  {at && <time dateTime={at}>{lately(at)}</time>}
                </li>
              ))}
            </ul>
          )}
          {payload.items.length === 0 && payload.statistics.length === 0 && <p className="quiet">{say('dashboard.quiet')}</p>}
          {payload.nextAction && (
            <footer>
              <a className="button secondary" href={payload.nextAction.url} onClick={open(payload.nextAction.url)}>
                {payload.nextAction.label}
                <Icon of={ArrowUpRight} />
              </a>
            </footer>
          )}
        </>
      )}
    </Region>
  )
})

/** The path of an address within the app that it belongs to. */
function pathWithin(app: string, url: string): string {
  const { pathname, search } = new URL(url, location.origin)
  return `${pathname.startsWith(`/${app}/`) ? pathname.slice(app.length + 1) : pathname}${search}`
}
