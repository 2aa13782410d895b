import { BookOpen, CircleAlert, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Note } from '../../design/parts/status.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { Link, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { money } from '../../shell/parts/money.ts'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type EntryRowFragment, LedgerDocument, LedgerStateDocument } from './ledger.generated.ts'

const number = new Intl.NumberFormat(locale)

/** Every movement of money in order, each chained to the one before it, and what the accounts come to. */
export default function Ledger() {
  const search = useSearch()
  const [proves, setProves] = useState(false)
  return (
    <Page
      title={say('ledger.title')}
      actions={
        <Button icon={ShieldCheck} isDisabled={proves} onPress={() => setProves(true)}>
          {say('ledger.verify')}
        </Button>
      }
    >
      <Guard need="payments:reports.read">
        {proves && <Proof />}
        <Entries search={search} />
      </Guard>
    </Page>
  )
}

/** Whether the chain holds: read on demand, for it goes through every entry. */
function Proof() {
  const { data, state, problem, retry } = useRead(LedgerStateDocument, {})
  const proof = data?.ledgerVerification
  return (
    <Region title={say('ledger.proof')} state={data && !proof ? 'error' : state} problem={problem} retry={retry} lines={2}>
      {proof && (
        <Note meaning={proof.ok ? 'positive' : 'danger'} icon={proof.ok ? ShieldCheck : CircleAlert}>
          {proof.ok
            ? say('ledger.holds', { count: number.format(Number(proof.entries)), hash: proof.headHash.slice(0, 12) })
            : say('ledger.broken', { number: String(proof.brokenAt ?? proof.unbalancedMovements[0] ?? '') })}
        </Note>
      )}
    </Region>
  )
}

function Entries({ search }: { readonly search: URLSearchParams }) {
  const [account, orderId] = [search.get('account'), search.get('order')]
  const variables = { ...pageOf(search), ...(account && { account }), ...(orderId && { orderId }) }
  const { data, state, problem, retry } = useRead(LedgerDocument, variables, { isEmpty: ({ ledgerEntries }) => ledgerEntries?.nodes?.length === 0 })
  const rows = (data?.ledgerEntries?.nodes ?? []).filter(each => each !== null)
  const accounts = (data?.ledgerAccounts?.nodes ?? []).flatMap(each =>
    each ? [{ ...each, id: `${each.code} ${each.merchantId} ${each.balance.currency}` }] : [],
  )
  const codes = [...new Set(accounts.map(({ code }) => code))]
  const pills: readonly Pill[] = codes.length > 0 ? [{ name: 'account', heading: say('ledger.account'), values: codes, title: code => code }] : []
  return (
    <>
      {accounts.length > 0 && (
        <Region title={say('ledger.accounts')} isFlush state={state === 'empty' ? 'ready' : state} problem={problem} retry={retry}>
          <Table
            label={say('ledger.accounts')}
            columns={[
              {
                id: 'code',
                heading: say('ledger.account'),
                isMain: true,
                cell: ({ code }) => <Link to={withSearch('/ledger', search, { account: code, after: null })}>{code}</Link>,
              },
              { id: 'balance', heading: say('ledger.balance'), cell: ({ balance }) => money(balance) },
            ]}
            rows={accounts}
          />
        </Region>
      )}
      <Filters path="/ledger" search={search} pills={pills} />
      <Listing
        label={say('ledger.title')}
        path="/ledger"
        columns={columns(search)}
        rows={rows}
        state={state}
        problem={problem}
        retry={retry}
        page={data?.ledgerEntries?.pageInfo}
        total={data?.ledgerEntries?.totalCount}
        attributes={each => ({ 'data-entry': each.id })}
        empty={{ icon: BookOpen, sentence: say(account || orderId ? 'ledger.nothing' : 'ledger.empty') }}
      />
    </>
  )
}

const columns = (search: URLSearchParams): readonly Column<EntryRowFragment>[] => [
  { id: 'sequence', heading: say('ledger.number'), cell: ({ sequence }) => number.format(Number(sequence)) },
  { id: 'kind', heading: say('ledger.kind'), cell: ({ kind }) => say(`entry.${kind}`) },
  { id: 'account', heading: say('ledger.account'), isMain: true, cell: ({ account }) => <span className="clip">{account}</span> },
  { id: 'amount', heading: say('ledger.amount'), cell: ({ amount }) => money(amount) },
  {
    id: 'order',
    heading: say('orders.order'),
    cell: ({ orderId }) =>
      orderId ? <Link to={withSearch(`/orders/${orderId}`, search, { account: null, after: null })}>{say('ledger.open-order')}</Link> : '–',
  },
  {
    id: 'at',
    heading: say('ledger.posted'),
    cell: ({ postedAt }) => (
      <time className="quiet" dateTime={postedAt}>
        {moment(postedAt)}
      </time>
    ),
  },
  { id: 'hash', heading: say('ledger.hash'), cell: ({ hash }) => <code title={hash}>{hash.slice(0, 8)}</code> },
]
