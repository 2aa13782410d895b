import { Plus, Store } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { MerchantPanel, MerchantState } from './detail.tsx'
import { type MerchantRowFragment, type MerchantStatus, MerchantsDocument } from './merchants.generated.ts'
import { MerchantForm } from './new.tsx'

/** Merchants in whose name orders are made; the one that the path names is open beside them, with its venues. */
export default function Merchants() {
  const { may } = useRights()
  const [asks, setAsks] = useState(false)
  return (
    <Page
      title={say('merchants.title')}
      actions={
        may('payments:merchants.write') && (
          <Button kind="primary" icon={Plus} onPress={() => setAsks(true)}>
            {say('merchants.create')}
          </Button>
        )
      }
    >
      <Guard need="payments:merchants.read">
        <List asks={asks} onClose={() => setAsks(false)} />
      </Guard>
    </Page>
  )
}

function List({ asks, onClose }: { readonly asks: boolean; onClose(): void }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/merchants\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as MerchantStatus }) }
  const { data, state, problem, retry } = useRead(MerchantsDocument, variables, { isEmpty: ({ merchants }) => merchants?.nodes?.length === 0 })
  const rows = (data?.merchants?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/merchants" search={search} pills={offered} />
        <Listing
          label={say('merchants.title')}
          path="/merchants"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.merchants?.pageInfo}
          total={data?.merchants?.totalCount}
          attributes={each => ({ 'data-merchant': each.id })}
          empty={{ icon: Store, sentence: say(status ? 'merchants.nothing' : 'merchants.empty') }}
        />
      </div>
      {id && <MerchantPanel key={id} id={id} back={withSearch('/merchants', search, {})} />}
      {asks && <MerchantForm merchant={null} reload={retry} onClose={onClose} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('merchants.status'), values: ['ACTIVE', 'SUSPENDED'], title: value => say(`merchant.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<MerchantRowFragment>[] => [
  { id: 'name', heading: say('merchants.name'), isMain: true, cell: ({ id, name }) => <Link to={withSearch(`/merchants/${id}`, search, {})}>{name}</Link> },
  { id: 'currency', heading: say('merchants.currency'), cell: ({ defaultCurrency }) => defaultCurrency },
  { id: 'country', heading: say('merchants.country'), cell: ({ country }) => country ?? '–' },
  { id: 'status', isKept: true, heading: say('merchants.status'), cell: merchant => <MerchantState merchant={merchant} /> },
]
