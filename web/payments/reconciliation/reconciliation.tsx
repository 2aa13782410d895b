import { CircleAlert, CircleCheck, RotateCw } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import { Note } from '../../design/parts/status.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link, useSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type Range, Ranges, rangeOf } from '../reports/range.tsx'
import { type DifferenceFragment, ReconciliationDocument } from './reconciliation.generated.ts'

const number = new Intl.NumberFormat(locale)

type Row = DifferenceFragment & { readonly id: string }

/** Whether the records here and those of the processor agree. */
export default function Reconciliation() {
  const range = rangeOf(useSearch())
  return (
    <Page title={say('reconciliation.title')} actions={<Ranges path="/reconciliation" chosen={range.days} />}>
      <Guard need="payments:reports.read">
        <Comparison range={range} />
      </Guard>
    </Page>
  )
}

function Comparison({ range: { from, to } }: { readonly range: Range }) {
  const { data, state, problem, retry } = useRead(ReconciliationDocument, { from, to })
  const found = data?.paymentReconciliation
  const rows = (found?.differences ?? []).map((each, at): Row => ({ ...each, id: String(at) }))
  return (
    <Region
      title={say('reconciliation.comparison')}
      tools={
        found && (
          <Button kind="quiet" icon={RotateCw} onPress={retry}>
            {say('reconciliation.again')}
          </Button>
        )
      }
      state={data && !found ? 'error' : state}
      problem={problem}
      retry={retry}
      lines={4}
    >
      {found && (
        <>
          <Note meaning={rows.length === 0 ? 'positive' : 'warning'} icon={rows.length === 0 ? CircleCheck : CircleAlert}>
            {say(rows.length === 0 ? 'reconciliation.agrees' : 'reconciliation.differs', {
              matched: number.format(found.matched),
              count: rows.length,
              when: moment(found.checkedAt),
            })}
          </Note>
          {rows.length > 0 && <Table label={say('reconciliation.differences')} columns={columns()} rows={rows} />}
        </>
      )}
    </Region>
  )
}

const columns = (): readonly Column<Row>[] => [
  { id: 'kind', heading: say('reconciliation.difference'), isMain: true, cell: ({ kind }) => <span className="clip">{say(`difference.${kind}`)}</span> },
  { id: 'ours', heading: say('reconciliation.ours'), isFigure: true, cell: ({ ours }) => ours ?? '–' },
  { id: 'theirs', heading: say('reconciliation.theirs'), isFigure: true, cell: ({ theirs }) => theirs ?? '–' },
  {
    id: 'transaction',
    heading: say('transactions.one'),
    isFigure: true,
    cell: ({ transactionId, processorId }) =>
      transactionId ? <Link to={`/transactions/${transactionId}`}>{processorId ?? say('transactions.one')}</Link> : (processorId ?? '–'),
  },
]
