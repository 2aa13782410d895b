import { MapPin, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../design/parts/button.tsx'
import type { Column } from '../../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../../shell/address.tsx'
import { Guard } from '../../../shell/frame/guard.tsx'
import { useRights } from '../../../shell/frame/rights.ts'
import { Page } from '../../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../../shell/parts/listing.tsx'
import { useRead } from '../../../shell/read.ts'
import { say } from '../../../shell/words.ts'
import { VenuePanel } from './detail.tsx'
import { AddVenue } from './new.tsx'
import { VenueState } from './state.tsx'
import { type VenueRowFragment, type VenueStatus, VenuesDocument } from './venues.generated.ts'

/** Places at which merchants sell; the one that the path names is open beside them. */
export default function Venues() {
  const { may } = useRights()
  const [asks, setAsks] = useState(false)
  const create = may('payments:venues.write') && (
    <Button kind="primary" icon={Plus} onPress={() => setAsks(true)}>
      {say('venues.create')}
    </Button>
  )
  return (
    <Page title={say('venues.title')} actions={create}>
      <Guard need="payments:venues.read">
        <List asks={asks} onAsk={setAsks} />
      </Guard>
    </Page>
  )
}

function List({ asks, onAsk }: { readonly asks: boolean; onAsk(asks: boolean): void }) {
  const { may } = useRights()
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/venues\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as VenueStatus }) }
  const { data, state, problem, retry } = useRead(VenuesDocument, variables, { isEmpty: ({ venues }) => venues?.nodes?.length === 0 })
  const rows = (data?.venues?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/venues" search={search} pills={offered} />
        <Listing
          label={say('venues.title')}
          path="/venues"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.venues?.pageInfo}
          total={data?.venues?.totalCount}
          attributes={each => ({ 'data-venue': each.id })}
          empty={{
            icon: MapPin,
            sentence: say(status ? 'venues.nothing' : 'venues.none'),
            action: !status && may('payments:venues.write') && <Button onPress={() => onAsk(true)}>{say('venues.create')}</Button>,
          }}
        />
      </div>
      {id && <VenuePanel key={id} id={id} back={withSearch('/venues', search, {})} />}
      {asks && <AddVenue reload={retry} onClose={() => onAsk(false)} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  {
    name: 'status',
    heading: say('merchants.status'),
    values: ['ACTIVE', 'ARCHIVED'],
    title: value => say(value === 'ACTIVE' ? 'venues.active' : 'venues.archived'),
  },
]

const columns = (search: URLSearchParams): readonly Column<VenueRowFragment>[] => [
  { id: 'name', heading: say('venues.name'), isMain: true, cell: ({ id, name }) => <Link to={withSearch(`/venues/${id}`, search, {})}>{name}</Link> },
  { id: 'merchant', heading: say('merchants.one'), cell: ({ merchant }) => merchant?.name ?? '–' },
  { id: 'city', heading: say('venues.city'), cell: ({ address }) => [address?.city, address?.country].filter(Boolean).join(', ') || '–' },
  { id: 'zone', heading: say('venues.zone'), cell: ({ timeZone }) => timeZone },
  { id: 'status', isKept: true, heading: say('merchants.status'), cell: ({ status }) => <VenueState status={status} /> },
]
