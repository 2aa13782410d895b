import { ChartColumn, Download } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link, useSearch, withSearch } from '../../shell/address.tsx'
import { saveFile } from '../../shell/data/file.ts'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { csvOf } from '../../shell/parts/csv.ts'
import { decimalOf, money } from '../../shell/parts/money.ts'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { dayName } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { Payments } from './payments.tsx'
import { type Range, Ranges, rangeOf } from './range.tsx'
import { type PaymentReportGrouping, ReportDocument, ReportNamesDocument, type ReportRowFragment } from './reports.generated.ts'

const groups = ['DAY', 'MERCHANT', 'VENUE', 'CURRENCY'] as const satisfies readonly PaymentReportGrouping[]
const number = new Intl.NumberFormat(locale)

type Row = ReportRowFragment & { readonly id: string; readonly name: string }

/** What was taken, given back and disputed in the last days, and how payments went. */
export default function Reports() {
  const range = rangeOf(useSearch())
  return (
    <Page title={say('reports.title')} actions={<Ranges path="/reports" chosen={range.days} />}>
      <Guard need="payments:reports.read">
        <Payments range={range} />
        <Report range={range} />
      </Guard>
    </Page>
  )
}

function Report({ range: { first, from, to } }: { readonly range: Range }) {
  const search = useSearch()
  const groupBy = groups.find(each => each.toLowerCase() === search.get('by')) ?? 'DAY'
  const { data, state, problem, retry } = useRead(ReportDocument, { from, to, groupBy }, { isEmpty: ({ paymentReport }) => paymentReport?.rows.length === 0 })
  const names = useRead(ReportNamesDocument, {}, { pause: groupBy !== 'MERCHANT' && groupBy !== 'VENUE' })
  const known = new Map(
    [...(names.data?.merchants?.nodes ?? []), ...(names.data?.venues?.nodes ?? [])].flatMap(each => (each ? [[each.id, each.name] as const] : [])),
  )
  const nameOf = (key: string | null | undefined) => {
    if (!key) return say('reports.no-venue')
    return groupBy === 'DAY' ? dayName(key, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }) : (known.get(key) ?? key)
  }
  const rows = (data?.paymentReport?.rows ?? []).map((row, at): Row => ({ ...row, id: String(at), name: nameOf(row.key) }))
  const save = () =>
    saveFile(
      `payments-${groupBy.toLowerCase()}-${first}.csv`,
      'text/csv',
      csvOf([
        [groupBy.toLowerCase(), 'currency', 'orders', 'captured', 'refunded', 'disputed', 'net'],
        ...rows.map(row => [
          groupBy === 'DAY' ? row.key : row.name,
          row.currency,
          row.orders,
          decimalOf(row.captured),
          decimalOf(row.refunded),
          decimalOf(row.disputed),
          decimalOf(row.net),
        ]),
      ]),
    )
  return (
    <Region
      isFlush
      state={state}
      problem={problem}
      retry={retry}
      title={
        <nav className="tabs" aria-label={say('reports.by')}>
          {groups.map(each => (
            <Link key={each} to={withSearch('/reports', search, { by: each.toLowerCase() })} aria-current={each === groupBy ? 'page' : undefined}>
              {say(`reports.by-${each}`)}
            </Link>
          ))}
        </nav>
      }
      tools={rows.length > 0 && <Button kind="quiet" icon={Download} name={say('action.download')} onPress={save} />}
      empty={{ icon: ChartColumn, sentence: say('reports.empty') }}
    >
      <Table label={say('reports.title')} columns={columns(groupBy)} rows={rows} />
    </Region>
  )
}

const columns = (groupBy: PaymentReportGrouping): readonly Column<Row>[] => [
  { id: 'name', heading: say(`reports.by-${groupBy}`), isMain: true, cell: ({ name }) => <span className="clip">{name}</span> },
  { id: 'orders', heading: say('reports.orders'), isFigure: true, cell: ({ orders }) => number.format(orders) },
  { id: 'captured', heading: say('reports.captured'), isFigure: true, cell: ({ captured }) => money(captured) },
  { id: 'refunded', heading: say('reports.refunded'), isFigure: true, cell: ({ refunded }) => money(refunded) },
  { id: 'disputed', heading: say('reports.disputed'), isFigure: true, cell: ({ disputed }) => money(disputed) },
  { id: 'net', heading: say('reports.net'), isFigure: true, cell: ({ net }) => money(net) },
]
