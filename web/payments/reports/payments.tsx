import { ChartColumn } from 'lucide-react'
import { Bars } from '../../design/parts/bars.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { addDays } from '../../shell/parts/day.ts'
import { decimalOf } from '../../shell/parts/money.ts'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { dayName } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { Range } from './range.tsx'
import { AnalyticsDocument } from './reports.generated.ts'

const number = new Intl.NumberFormat(locale)
const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })

/** How payments went: how many succeeded, why others did not, and what was taken by day in the currency that has most days. */
export function Payments({ range: { days, first, from, to } }: { readonly range: Range }) {
  const { data, state, problem, retry } = useRead(AnalyticsDocument, { from, to }, { isEmpty: ({ paymentAnalytics }) => paymentAnalytics?.attempts === 0 })
  const analytics = data?.paymentAnalytics
  const byDay = analytics?.byDay ?? []
  const currencies = Object.entries(Object.groupBy(byDay, ({ captured }) => captured.currency)).toSorted(([, a], [, b]) => (b?.length ?? 0) - (a?.length ?? 0))
  const [currency, own] = currencies[0] ?? ['EUR', []]
  const taken = new Map(own?.map(({ day, captured }) => [day, Number(decimalOf(captured))]))
  const everyDay = Array.from({ length: days }, (_, at) => addDays(first, at))
  return (
    <Region
      title={say('reports.payments')}
      state={state}
      problem={problem}
      retry={retry}
      lines={3}
      empty={{ icon: ChartColumn, sentence: say('reports.none') }}
    >
      {analytics && (
        <>
          <Statistics>
            <Statistic label={say('reports.attempts')} value={number.format(analytics.attempts)} />
            <Statistic label={say('reports.succeeded')} value={share.format(analytics.succeeded / Math.max(analytics.attempts, 1))} />
          </Statistics>
          <Bars values={everyDay.map(day => taken.get(day) ?? 0)} labels={everyDay.map(day => dayName(day, { day: 'numeric', month: 'short' }))} />
          <p className="quiet small">{say('reports.bars', { currency })}</p>
          {analytics.declines.length > 0 && (
            <>
              <h3>{say('reports.declines')}</h3>
              <ul className="list">
                {analytics.declines.map(({ code, count }) => (
                  <li key={code}>
                    <span className="grow">{say(`decline.${code}`)}</span>
                    <span className="figures">{number.format(count)}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </Region>
  )
}
