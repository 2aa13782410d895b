import { Scale } from 'lucide-react'
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
import { DisputePanel } from './detail.tsx'
import { type DisputeRowFragment, type DisputeStatus, DisputesDocument } from './disputes.generated.ts'
import { DisputeState, reasonOf } from './state.tsx'

const statuses: readonly DisputeStatus[] = ['OPEN', 'UNDER_REVIEW', 'WON', 'LOST']
/** Payments that payers dispute at their bank; the one that the path names is open beside the list. */
export default function Disputes() {
  return (
    <Page title={say('disputes.title')}>
      <Guard need="payments:transactions.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/disputes\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as DisputeStatus }) }
  const { data, state, problem, retry } = useRead(DisputesDocument, variables, { isEmpty: ({ disputes }) => disputes?.nodes?.length === 0 })
  const rows = (data?.disputes?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/disputes" search={search} pills={offered} />
        <Listing
          label={say('disputes.title')}
          path="/disputes"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.disputes?.pageInfo}
          total={data?.disputes?.totalCount}
          attributes={each => ({ 'data-dispute': each.id })}
          empty={{ icon: Scale, sentence: say(status ? 'disputes.nothing' : 'disputes.empty') }}
        />
      </div>
      {id && <DisputePanel key={id} id={id} back={withSearch('/disputes', search, {})} reload={retry} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('refunds.status'), values: statuses, title: value => say(`dispute.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<DisputeRowFragment>[] => [
  {
    id: 'amount',
    heading: say('refunds.amount'),
    isMain: true,
    cell: ({ id, amount }) => <Link to={withSearch(`/disputes/${id}`, search, {})}>{money(amount)}</Link>,
  },
  { id: 'reason', heading: say('disputes.reason'), cell: ({ reason }) => reasonOf(reason) },
  { id: 'status', isKept: true, heading: say('refunds.status'), cell: ({ status }) => <DisputeState status={status} /> },
  {
    id: 'due',
    heading: say('disputes.due'),
    cell: ({ evidenceDueBy }) =>
      evidenceDueBy ? (
        <time className="quiet" dateTime={evidenceDueBy}>
          {moment(evidenceDueBy)}
        </time>
      ) : (
        '–'
      ),
  },
]
