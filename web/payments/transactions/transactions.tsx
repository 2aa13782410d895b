import { ArrowLeftRight } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { hasRange, rangeIn } from '../../shell/parts/dates.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { money } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { TransactionPanel } from './detail.tsx'
import { TransactionState } from './state.tsx'
import { type TransactionRowFragment, type TransactionStatus, TransactionsDocument, type TransactionType } from './transactions.generated.ts'

const types: readonly TransactionType[] = [
  'AUTHORIZE',
  'CAPTURE',
  'PURCHASE',
  'VOID',
  'REFUND',
  'CHARGEBACK',
  'CHARGEBACK_REVERSAL',
  'TRANSFER',
  'TRANSFER_REVERSAL',
]
const statuses: readonly TransactionStatus[] = ['PENDING', 'SUCCEEDED', 'FAILED', 'UNKNOWN']

/** Calls to the payment processor; the one that the path names is open beside them. */
export default function Transactions() {
  return (
    <Page title={say('transactions.title')}>
      <Guard need="payments:transactions.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/transactions\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { type, status } = chosenOf(search, offered)
  const variables = {
    ...pageOf(search),
    ...rangeIn(search),
    ...(type && { type: type as TransactionType }),
    ...(status && { status: status as TransactionStatus }),
  }
  const { data, state, problem, retry } = useRead(TransactionsDocument, variables, { isEmpty: ({ transactions }) => transactions?.nodes?.length === 0 })
  const rows = (data?.transactions?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/transactions" search={search} pills={offered} hasDates />
        <Listing
          label={say('transactions.title')}
          path="/transactions"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.transactions?.pageInfo}
          total={data?.transactions?.totalCount}
          attributes={each => ({ 'data-transaction': each.id })}
          empty={{ icon: ArrowLeftRight, sentence: say(type || status || hasRange(search) ? 'transactions.nothing' : 'transactions.empty') }}
        />
      </div>
      {id && <TransactionPanel key={id} id={id} back={withSearch('/transactions', search, {})} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'type' | 'status' })[] => [
  { name: 'type', heading: say('transactions.type'), values: types, title: value => say(`transaction-type.${value}`) },
  { name: 'status', heading: say('transactions.status'), values: statuses, title: value => say(`transaction.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<TransactionRowFragment>[] => [
  {
    id: 'type',
    heading: say('transactions.type'),
    isMain: true,
    cell: ({ id, type }) => <Link to={withSearch(`/transactions/${id}`, search, {})}>{say(`transaction-type.${type}`)}</Link>,
  },
  { id: 'amount', heading: say('transactions.amount'), cell: ({ amount }) => money(amount) },
  { id: 'status', isKept: true, heading: say('transactions.status'), cell: ({ status }) => <TransactionState status={status} /> },
  {
    id: 'at',
    heading: say('transactions.created'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {moment(createdAt)}
      </time>
    ),
  },
]
