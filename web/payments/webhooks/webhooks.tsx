import { Webhook } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { EventState, WebhookEventPanel } from './detail.tsx'
import { type WebhookEventRowFragment, type WebhookEventStatus, WebhookEventsDocument } from './webhooks.generated.ts'

const statuses: readonly WebhookEventStatus[] = ['RECEIVED', 'PROCESSED', 'IGNORED', 'FAILED', 'DEAD']

/** What the payment processor has said; the event that the path names is open beside the list. */
export default function Webhooks() {
  return (
    <Page title={say('webhooks.title')}>
      <Guard need="payments:audit.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/webhooks\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const type = search.get('type')?.trim()
  const variables = { ...pageOf(search), ...(status && { status: status as WebhookEventStatus }), ...(type && { type }) }
  const { data, state, problem, retry } = useRead(WebhookEventsDocument, variables, { isEmpty: ({ webhookEvents }) => webhookEvents?.nodes?.length === 0 })
  const rows = (data?.webhookEvents?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/webhooks" search={search} pills={offered} text={{ name: 'type', heading: say('webhooks.type') }} />
        <Listing
          label={say('webhooks.title')}
          path="/webhooks"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.webhookEvents?.pageInfo}
          total={data?.webhookEvents?.totalCount}
          attributes={each => ({ 'data-event': each.id })}
          empty={{ icon: Webhook, sentence: say(status || type ? 'webhooks.nothing' : 'webhooks.empty') }}
        />
      </div>
      {id && <WebhookEventPanel key={id} id={id} back={withSearch('/webhooks', search, {})} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('webhooks.status'), values: statuses, title: value => say(`webhook.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<WebhookEventRowFragment>[] => [
  {
    id: 'type',
    heading: say('webhooks.type'),
    isMain: true,
    cell: ({ id, type }) => <Link to={withSearch(`/webhooks/${id}`, search, {})}>{type}</Link>,
  },
  { id: 'status', isKept: true, heading: say('webhooks.status'), cell: ({ status }) => <EventState status={status} /> },
  {
    id: 'at',
    heading: say('webhooks.received'),
    cell: ({ receivedAt }) => (
      <time className="quiet" dateTime={receivedAt}>
        {moment(receivedAt)}
      </time>
    ),
  },
]
