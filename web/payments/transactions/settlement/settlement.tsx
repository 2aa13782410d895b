import { Landmark } from 'lucide-react'
import type { Column } from '../../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../../shell/address.tsx'
import { Guard } from '../../../shell/frame/guard.tsx'
import { Page } from '../../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../../shell/parts/listing.tsx'
import { money } from '../../../shell/parts/money.ts'
import { useRead } from '../../../shell/read.ts'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { BatchPanel } from './detail.tsx'
import { type BatchRowFragment, SettlementBatchesDocument, type SettlementBatchStatus } from './settlement.generated.ts'
import { BatchState } from './state.tsx'

const statuses: readonly SettlementBatchStatus[] = [
  'RECEIVED',
  'PROCESSING',
  'SETTLED',
  'PARTIALLY_SETTLED',
  'FAILED',
  'REVERSING',
  'REVERSED',
  'PARTIALLY_REVERSED',
]

/** Batches of transfers that the settlement service has paid out; the one that the path names is open beside the list. */
export default function Settlement() {
  return (
    <Page title={say('settlement.title')}>
      <Guard need="payments:transactions.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/settlement\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as SettlementBatchStatus }) }
  const { data, state, problem, retry } = useRead(SettlementBatchesDocument, variables, {
    isEmpty: ({ settlementBatches }) => settlementBatches?.nodes?.length === 0,
  })
  const rows = (data?.settlementBatches?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/settlement" search={search} pills={offered} />
        <Listing
          label={say('settlement.title')}
          path="/settlement"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.settlementBatches?.pageInfo}
          total={data?.settlementBatches?.totalCount}
          attributes={each => ({ 'data-batch': each.id })}
          empty={{ icon: Landmark, sentence: say(status ? 'settlement.nothing' : 'settlement.empty') }}
        />
      </div>
      {id && <BatchPanel key={id} id={id} back={withSearch('/settlement', search, {})} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('settlement.status'), values: statuses, title: value => say(`batch.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<BatchRowFragment>[] => [
  {
    id: 'batch',
    heading: say('settlement.one'),
    isMain: true,
    cell: ({ id, externalBatchId }) => <Link to={withSearch(`/settlement/${id}`, search, {})}>{externalBatchId}</Link>,
  },
  { id: 'total', heading: say('orders.total'), cell: ({ controlTotal }) => money(controlTotal) },
  { id: 'lines', heading: say('settlement.lines'), isFigure: true, cell: ({ lineCount }) => lineCount },
  { id: 'status', isKept: true, heading: say('settlement.status'), cell: ({ status }) => <BatchState status={status} /> },
  {
    id: 'at',
    heading: say('settlement.submitted'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {moment(createdAt)}
      </time>
    ),
  },
]
