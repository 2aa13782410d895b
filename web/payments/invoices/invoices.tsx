import { FileText, Plus } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { money } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { InvoicePanel } from './detail.tsx'
import { type InvoiceRowFragment, type InvoiceStatus, InvoicesDocument } from './invoices.generated.ts'
import { CreateInvoice } from './new.tsx'
import { InvoiceState } from './state.tsx'

const statuses: readonly InvoiceStatus[] = ['DRAFT', 'FINALIZED', 'PAID', 'VOID']

/** Invoices as the filters of the address say; the one that the path names is open beside them. */
export default function Invoices() {
  const { may } = useRights()
  const search = useSearch()
  return (
    <Page
      title={say('invoices.title')}
      actions={
        may('payments:invoices.write') && (
          <Button kind="primary" icon={Plus} onPress={() => goTo(withSearch('/invoices', search, { new: 'invoice' }))}>
            {say('invoices.create')}
          </Button>
        )
      }
    >
      <Guard need="payments:invoices.read">
        <List mayWrite={may('payments:invoices.write')} />
      </Guard>
    </Page>
  )
}

function List({ mayWrite }: { readonly mayWrite: boolean }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/invoices\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as InvoiceStatus }) }
  const { data, state, problem, retry } = useRead(InvoicesDocument, variables, { isEmpty: ({ invoices }) => invoices?.nodes?.length === 0 })
  const rows = (data?.invoices?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/invoices" search={search} pills={offered} />
        <Listing
          label={say('invoices.title')}
          path="/invoices"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.invoices?.pageInfo}
          total={data?.invoices?.totalCount}
          attributes={each => ({ 'data-invoice': each.id })}
          empty={{ icon: FileText, sentence: say(status ? 'invoices.nothing' : 'invoices.empty') }}
        />
      </div>
      {id && <InvoicePanel key={id} id={id} back={withSearch('/invoices', search, {})} reload={retry} />}
      {search.get('new') === 'invoice' && mayWrite && (
        <CreateInvoice reload={retry} onClose={() => goTo(withSearch(path, search, { new: null }), { replace: true })} />
      )}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('invoices.status'), values: statuses, title: value => say(`invoice.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<InvoiceRowFragment>[] => [
  {
    id: 'number',
    heading: say('invoices.number'),
    isMain: true,
    cell: ({ id, number, customer }) => (
      <Link to={withSearch(`/invoices/${id}`, search, { new: null })}>{[number ?? say('invoice.DRAFT'), customer?.name].filter(Boolean).join(' · ')}</Link>
    ),
  },
  { id: 'total', heading: say('invoices.total'), cell: ({ total }) => money(total) },
  { id: 'status', isKept: true, heading: say('invoices.status'), cell: ({ status }) => <InvoiceState status={status} /> },
  {
    id: 'due',
    heading: say('invoices.due'),
    cell: ({ dueAt }) =>
      dueAt ? (
        <time className="quiet" dateTime={dueAt}>
          {moment(dueAt)}
        </time>
      ) : (
        '–'
      ),
  },
]
