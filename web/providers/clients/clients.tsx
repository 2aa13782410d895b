import { Plus, Server } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type ClientRowFragment, ClientsDocument } from './clients.generated.ts'
import { ClientPanel, ClientState } from './detail.tsx'
import { CreateClient } from './new.tsx'

/** Services that may call the gateway; the one that the path names is open beside them. For admins of the platform. */
export default function Clients() {
  const { isPlatformAdmin } = useRights()
  const [asks, setAsks] = useState(false)
  const add = () => setAsks(true)
  return (
    <Page
      title={say('clients.title')}
      actions={
        isPlatformAdmin && (
          <Button kind="primary" icon={Plus} onPress={add}>
            {say('clients.add')}
          </Button>
        )
      }
    >
      <Guard need="platform">
        <List add={add} />
      </Guard>
      {asks && <CreateClient onClose={() => setAsks(false)} />}
    </Page>
  )
}

function List({ add }: { add(): void }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/clients\/([^/]+)$/.exec(path)?.[1]
  const { data, state, problem, retry } = useRead(ClientsDocument, pageOf(search), { isEmpty: ({ serviceClients }) => serviceClients?.nodes?.length === 0 })
  const rows = (data?.serviceClients?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <Listing
        label={say('clients.title')}
        path="/clients"
        columns={columns(search)}
        rows={rows}
        current={id}
        state={state}
        problem={problem}
        retry={retry}
        page={data?.serviceClients?.pageInfo}
        total={data?.serviceClients?.totalCount}
        attributes={each => ({ 'data-client': each.id })}
        empty={{ icon: Server, sentence: say('clients.empty'), action: <Button onPress={add}>{say('clients.add')}</Button> }}
      />
      {id && <ClientPanel key={id} id={id} back={withSearch('/clients', search, {})} />}
    </div>
  )
}

const columns = (search: URLSearchParams): readonly Column<ClientRowFragment>[] => [
  { id: 'name', heading: say('clients.name'), isMain: true, cell: ({ id, name }) => <Link to={withSearch(`/clients/${id}`, search, {})}>{name}</Link> },
  { id: 'app', heading: say('clients.app'), cell: ({ appId }) => <code>{appId}</code> },
  { id: 'state', isKept: true, heading: say('clients.state'), cell: ({ active }) => <ClientState isActive={active} /> },
  {
    id: 'used',
    heading: say('clients.last-used'),
    cell: ({ lastUsedAt }) => <span className="quiet">{lastUsedAt ? lately(lastUsedAt) : say('clients.never')}</span>,
  },
]
