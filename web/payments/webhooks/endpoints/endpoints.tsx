import { Plus, RadioTower } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../design/parts/button.tsx'
import type { Column } from '../../../design/parts/table.tsx'
import { Link, usePath } from '../../../shell/address.tsx'
import { Guard } from '../../../shell/frame/guard.tsx'
import { useRights } from '../../../shell/frame/rights.ts'
import { Page } from '../../../shell/page.tsx'
import { Listing } from '../../../shell/parts/listing.tsx'
import { useRead } from '../../../shell/read.ts'
import { say } from '../../../shell/words.ts'
import { EndpointPanel } from './detail.tsx'
import { type EndpointRowFragment, EndpointsDocument } from './endpoints.generated.ts'
import { EndpointForm } from './form.tsx'
import { EndpointState } from './state.tsx'

/** Addresses to which events are sent; the one that the path names is open beside them, with its deliveries. */
export default function Endpoints() {
  const { may } = useRights()
  const [asks, setAsks] = useState(false)
  const create = may('payments:settings.write') && (
    <Button kind="primary" icon={Plus} onPress={() => setAsks(true)}>
      {say('endpoints.create')}
    </Button>
  )
  return (
    <Page title={say('endpoints.title')} actions={create}>
      <Guard need="payments:settings.read">
        <List asks={asks} onAsk={setAsks} />
      </Guard>
    </Page>
  )
}

function List({ asks, onAsk }: { readonly asks: boolean; onAsk(asks: boolean): void }) {
  const { may } = useRights()
  const id = /^\/webhook-endpoints\/([^/]+)$/.exec(usePath())?.[1]
  const { data, state, problem, retry } = useRead(EndpointsDocument, {}, { isEmpty: ({ paymentWebhooks }) => paymentWebhooks?.length === 0 })
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Listing
          label={say('endpoints.title')}
          path="/webhook-endpoints"
          columns={columns()}
          rows={data?.paymentWebhooks ?? []}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          attributes={each => ({ 'data-endpoint': each.id })}
          empty={{
            icon: RadioTower,
            sentence: say('endpoints.empty'),
            action: may('payments:settings.write') && <Button onPress={() => onAsk(true)}>{say('endpoints.create')}</Button>,
          }}
        />
      </div>
      {id && <EndpointPanel key={id} id={id} reload={retry} />}
      {asks && <EndpointForm endpoint={null} reload={retry} onClose={() => onAsk(false)} />}
    </div>
  )
}

const columns = (): readonly Column<EndpointRowFragment>[] => [
  { id: 'url', heading: say('endpoints.url'), isMain: true, cell: ({ id, url }) => <Link to={`/webhook-endpoints/${id}`}>{url}</Link> },
  { id: 'description', heading: say('endpoints.description'), cell: ({ description }) => <span className="clip">{description ?? '–'}</span> },
  { id: 'events', heading: say('endpoints.events'), isFigure: true, cell: ({ events }) => events.length },
  { id: 'state', isKept: true, heading: say('webhooks.status'), cell: endpoint => <EndpointState endpoint={endpoint} /> },
]
