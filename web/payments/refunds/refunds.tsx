import { Undo2 } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { money } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { RefundPanel } from './detail.tsx'
import { type RefundRowFragment, type RefundStatus, RefundsDocument } from './refunds.generated.ts'
import { RefundState } from './state.tsx'

const statuses: readonly RefundStatus[] = ['AWAITING_APPROVAL', 'PENDING', 'UNKNOWN', 'SUCCEEDED', 'FAILED', 'REJECTED']

/** Money that goes back; the refund that the path names is open beside the list, where a second person decides it. */
export default function Refunds() {
  return (
    <Page title={say('refunds.title')}>
      <Guard need="payments:transactions.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/refunds\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as RefundStatus }) }
  const { data, state, problem, retry } = useRead(RefundsDocument, variables, { isEmpty: ({ refunds }) => refunds?.nodes?.length === 0 })
  const rows = (data?.refunds?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/refunds" search={search} pills={offered} />
        <Listing
          label={say('refunds.title')}
          path="/refunds"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.refunds?.pageInfo}
          total={data?.refunds?.totalCount}
          attributes={each => ({ 'data-refund': each.id })}
          empty={{ icon: Undo2, sentence: say(status ? 'refunds.nothing' : 'refunds.empty') }}
        />
      </div>
      {id && <RefundPanel key={id} id={id} back={withSearch('/refunds', search, {})} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('refunds.status'), values: statuses, title: value => say(`refund.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<RefundRowFragment>[] => [
  {
    id: 'amount',
    heading: say('refunds.amount'),
    isMain: true,
    cell: ({ id, amount }) => <Link to={withSearch(`/refunds/${id}`, search, {})}>{money(amount)}</Link>,
  },
  { id: 'reason', heading: say('refunds.reason'), cell: ({ reason }) => say(`refund-reason.${reason}`) },
  { id: 'status', isKept: true, heading: say('refunds.status'), cell: ({ status }) => <RefundState status={status} /> },
  {
    id: 'at',
    heading: say('refunds.created'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {moment(createdAt)}
      </time>
    ),
  },
]
