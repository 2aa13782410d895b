import { ChartColumn, Download } from 'lucide-react'
import { Bars } from '../../design/parts/bars.tsx'
import { Button } from '../../design/parts/button.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link, useSearch, withSearch } from '../../shell/address.tsx'
import { saveFile } from '../../shell/data/file.ts'
import { Page } from '../../shell/page.tsx'
import { csvOf } from '../../shell/parts/csv.ts'
import { addDays } from '../../shell/parts/day.ts'
import { dollars } from '../../shell/parts/money.ts'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { dayName, dayOf } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { providerTitle } from '../names.ts'
import { UsageDocument, type UsageGroup, type UsageQuery } from './usage.generated.ts'

const ranges = [7, 30, 90] as const
const groups = ['APP', 'MODEL', 'USER', 'PROVIDER', 'FAMILY', 'DAY'] as const satisfies readonly UsageGroup[]
const number = new Intl.NumberFormat(locale)

type Row = NonNullable<UsageQuery['rows']>[number]

/** What was used and what it cost, by whom or by what, in the last days. Days are those of UTC, as the gateway counts them. */
export default function Usage() {
  const search = useSearch()
  const days = ranges.find(each => String(each) === search.get('days')) ?? 30
  const group = groups.find(each => each.toLowerCase() === search.get('by')) ?? 'APP'
  const tomorrow = addDays(dayOf(new Date(), 'UTC'), 1)
  const first = addDays(tomorrow, -days)
  const app = search.get('app')
  const variables = { ...(app && { appId: app }), groupBy: [group], since: `${first}T00:00:00.000Z`, until: `${tomorrow}T00:00:00.000Z` }
  const { data, state, problem, retry } = useRead(UsageDocument, variables, { isEmpty: ({ rows }) => rows?.length === 0 })
  const rows = (data?.rows ?? []).map((row, at) => ({ ...row, id: String(at), name: nameOf(row, group) }))
  const everyDay = Array.from({ length: days }, (_, at) => addDays(first, at))
  const byDay = new Map((data?.days ?? []).map(each => [each.day, each]))
  const costs = everyDay.map(day => Number(byDay.get(day)?.costMicros ?? 0) / 1_000_000)
  const sum = (of: 'calls' | 'failedCalls' | 'costMicros') => (data?.days ?? []).reduce((total, each) => total + Number(each[of]), 0)
  const save = () =>
    saveFile(
      `usage-${group.toLowerCase()}-${first}.csv`,
      'text/csv',
      csvOf([
        [group.toLowerCase(), 'calls', 'failed_calls', 'input_tokens', 'output_tokens', 'units', 'cost_micros'],
        ...rows.map(row => [
          row.name,
          row.calls,
          row.failedCalls,
          Number(row.inputTokens),
          Number(row.outputTokens),
          Number(row.units),
          Number(row.costMicros),
        ]),
      ]),
    )
  return (
    <Page
      title={say('usage.title')}
      actions={
        <nav className="tabs" aria-label={say('usage.range')}>
          {ranges.map(each => (
            <Link key={each} to={withSearch('/usage', search, { days: String(each) })} aria-current={each === days ? 'page' : undefined}>
              {say('usage.days', { count: each })}
            </Link>
          ))}
        </nav>
      }
    >
      <Region state={state} problem={problem} retry={retry} lines={3} empty={{ icon: ChartColumn, sentence: say('usage.empty') }}>
        <Statistics>
          <Statistic label={say('usage.cost')} value={dollars(sum('costMicros'))} />
          <Statistic label={say('usage.calls')} value={number.format(sum('calls'))} />
          <Statistic label={say('usage.failed')} value={number.format(sum('failedCalls'))} />
        </Statistics>
        <Bars values={costs} labels={everyDay.map(day => dayName(day, { day: 'numeric', month: 'short' }))} />
        <p className="quiet small">{say('usage.bars')}</p>
      </Region>
      {rows.length > 0 && (
        <Region
          isFlush
          state={state}
          problem={problem}
          retry={retry}
          title={
            <nav className="tabs" aria-label={say('usage.by')}>
              {groups.map(each => (
                <Link key={each} to={withSearch('/usage', search, { by: each.toLowerCase() })} aria-current={each === group ? 'page' : undefined}>
                  {say(`usage.by-${each}`)}
                </Link>
              ))}
            </nav>
          }
          tools={<Button kind="quiet" icon={Download} name={say('action.download')} onPress={save} />}
        >
          <Table label={say('usage.title')} columns={columns(group)} rows={rows} />
        </Region>
      )}
    </Page>
  )
}

/** What a row is about, in the group that was chosen. */
function nameOf(row: Row, group: UsageGroup): string {
  if (group === 'APP') return row.appId ?? say('usage.none')
  if (group === 'MODEL') return row.model ?? say('usage.none')
  if (group === 'USER') return row.user?.name ?? say('usage.nobody')
  if (group === 'PROVIDER') return row.provider ? providerTitle(row.provider) : say('usage.none')
  if (group === 'FAMILY') return row.family ? say(`family.${row.family}`) : say('usage.none')
  return row.day ? dayName(row.day, { weekday: 'short', day: 'numeric', month: 'short' }) : say('usage.none')
}

const columns = (group: UsageGroup): readonly Column<Row & { readonly id: string; readonly name: string }>[] => [
  { id: 'name', heading: say(`usage.by-${group}`), isMain: true, cell: ({ name }) => <span className="clip">{name}</span> },
  { id: 'calls', heading: say('usage.calls'), isFigure: true, cell: ({ calls }) => number.format(calls) },
  { id: 'failed', heading: say('usage.failed'), isFigure: true, cell: ({ failedCalls }) => number.format(failedCalls) },
  { id: 'in', heading: say('usage.input'), isFigure: true, cell: ({ inputTokens }) => number.format(Number(inputTokens)) },
  { id: 'out', heading: say('usage.output'), isFigure: true, cell: ({ outputTokens }) => number.format(Number(outputTokens)) },
  { id: 'cost', heading: say('usage.cost'), isFigure: true, cell: ({ costMicros }) => dollars(costMicros) },
]
