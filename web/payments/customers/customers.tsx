import { Plus, Users } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Filters } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type CustomerRowFragment, CustomersDocument } from './customers.generated.ts'
import { CustomerPanel } from './detail.tsx'
import { CreateCustomer } from './new.tsx'

/** Who pays; the customer that the path names is open beside the list. */
export default function Customers() {
  const { may } = useRights()
  const [asks, setAsks] = useState(false)
  return (
    <Page
      title={say('customers.title')}
      actions={
        may('payments:customers.write') && (
          <Button kind="primary" icon={Plus} onPress={() => setAsks(true)}>
            {say('customers.create')}
          </Button>
        )
      }
    >
      <Guard need="payments:customers.read">
        <List asks={asks} onClose={() => setAsks(false)} />
      </Guard>
    </Page>
  )
}

function List({ asks, onClose }: { readonly asks: boolean; onClose(): void }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/customers\/([^/]+)$/.exec(path)?.[1]
  const text = search.get('search')?.trim()
  const variables = { ...pageOf(search), ...(text && { search: text }) }
  const { data, state, problem, retry } = useRead(CustomersDocument, variables, { isEmpty: ({ customers }) => customers?.nodes?.length === 0 })
  const rows = (data?.customers?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/customers" search={search} pills={[]} text={{ name: 'search', heading: say('customers.search') }} />
        <Listing
          label={say('customers.title')}
          path="/customers"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.customers?.pageInfo}
          total={data?.customers?.totalCount}
          attributes={each => ({ 'data-customer': each.id })}
          empty={{ icon: Users, sentence: say(text ? 'customers.nothing' : 'customers.empty') }}
        />
      </div>
      {id && <CustomerPanel key={id} id={id} back={withSearch('/customers', search, {})} />}
      {asks && <CreateCustomer reload={retry} onClose={onClose} />}
    </div>
  )
}

const columns = (search: URLSearchParams): readonly Column<CustomerRowFragment>[] => [
  {
    id: 'name',
    heading: say('customers.name'),
    isMain: true,
    cell: ({ id, name }) => <Link to={withSearch(`/customers/${id}`, search, {})}>{name ?? say('customers.erased')}</Link>,
  },
  { id: 'email', heading: say('customers.email'), cell: ({ email }) => <span className="clip">{email ?? '–'}</span> },
  { id: 'reference', heading: say('customers.reference'), cell: ({ reference }) => reference ?? '–' },
  {
    id: 'at',
    heading: say('customers.created'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {moment(createdAt)}
      </time>
    ),
  },
]
