import { Plus, Webhook } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../design/parts/button.tsx'
import { type Column, Table } from '../../../design/parts/table.tsx'
import { Link, useSearch, withSearch } from '../../../shell/address.tsx'
import { useRights } from '../../../shell/frame/rights.ts'
import { Page } from '../../../shell/page.tsx'
import { useRead } from '../../../shell/read.ts'
import { Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { useBrand } from '../../brand/brand.ts'
import { WebhookForm } from './form.tsx'
import { WebhookPanel } from './panel.tsx'
import { WebhookState } from './state.tsx'
import { type WebhookRowFragment, WebhooksDocument } from './webhooks.generated.ts'

/** Addresses that are told what happens in the brand; one beside the list with what was told there. */
export default function Webhooks() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const may = useRights().may('publishing:api_keys.write')
  const id = search.get('endpoint')
  const [isNew, setNew] = useState(false)
  const { data, state, problem, retry } = useRead(
    WebhooksDocument,
    { brandId: brand?.id ?? '' },
    { pause: !brand, isEmpty: ({ webhookEndpoints }) => webhookEndpoints?.length === 0 },
  )
  const create = may && brand && (
    <Button kind="primary" icon={Plus} onPress={() => setNew(true)}>
      {say('webhooks.create')}
    </Button>
  )
  return (
    <Page title={say('webhooks.title')} actions={create}>
      <div className={id ? 'beside open' : 'beside'}>
        <Region
          isFlush
          state={isKnown && !brand ? 'empty' : state}
          problem={problem}
          retry={retry}
          empty={{ icon: Webhook, sentence: say(brand ? 'webhooks.empty' : 'brand.none'), action: create }}
        >
          <Table
            label={say('webhooks.title')}
            columns={columnsFor(search)}
            rows={data?.webhookEndpoints ?? []}
            current={id ?? undefined}
            attributes={each => ({ 'data-webhook': each.id })}
          />
        </Region>
        {id && <WebhookPanel key={id} id={id} back={withSearch('/webhooks', search, { endpoint: null })} reload={retry} />}
      </div>
      {isNew && brand && <WebhookForm brandId={brand.id} endpoint={null} onClose={() => setNew(false)} onDone={retry} />}
    </Page>
  )
}

const columnsFor = (search: URLSearchParams): readonly Column<WebhookRowFragment>[] => [
  {
    id: 'url',
    heading: say('webhooks.url'),
    isMain: true,
    cell: ({ id, url }) => <Link to={withSearch('/webhooks', search, { endpoint: id })}>{url}</Link>,
  },
  { id: 'events', heading: say('webhooks.events'), cell: ({ events }) => <span className="quiet">{say('webhooks.count', { count: events.length })}</span> },
  { id: 'state', isKept: true, heading: say('posts.status'), cell: ({ state }) => <WebhookState state={state} /> },
]
