import { Activity } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { dollars } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { families } from '../names.ts'
import { type CallRowFragment, type CallStatus, CallsDocument, type ProviderFamily } from './calls.generated.ts'
import { CallPanel, CallState } from './detail.tsx'

const statuses: readonly CallStatus[] = ['RUNNING', 'SUCCEEDED', 'FAILED', 'REFUSED', 'ABORTED']

/** Every call of a provider, the newest first; the one that the path names is open beside them. */
export default function Calls() {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/calls\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { family, status } = chosenOf(search, offered)
  const model = search.get('model')?.trim()
  const variables = {
    ...pageOf(search),
    ...(family && { family: family as ProviderFamily }),
    ...(status && { status: status as CallStatus }),
    ...(model && { model }),
  }
  const { data, state, problem, retry } = useRead(CallsDocument, variables, { isEmpty: ({ providerCalls }) => providerCalls?.nodes?.length === 0 })
  const rows = (data?.providerCalls?.nodes ?? []).filter(each => each !== null)
  const isFiltered = Boolean(family || status || model)
  return (
    <Page title={say('calls.title')}>
      <div className={id ? 'beside open' : 'beside'}>
        <div className="stack">
          <Filters path="/calls" search={search} pills={offered} text={{ name: 'model', heading: say('calls.model') }} />
          <Listing
            label={say('calls.title')}
            path="/calls"
            columns={columns(search)}
            rows={rows}
            current={id}
            state={state}
            problem={problem}
            retry={retry}
            page={data?.providerCalls?.pageInfo}
            total={data?.providerCalls?.totalCount}
            attributes={each => ({ 'data-call': each.id })}
            empty={{ icon: Activity, sentence: say(isFiltered ? 'list.nothing' : 'calls.empty') }}
          />
        </div>
        {id && <CallPanel key={id} id={id} back={withSearch('/calls', search, {})} />}
      </div>
    </Page>
  )
}

const pills = (): readonly (Pill & { readonly name: 'family' | 'status' })[] => [
  { name: 'status', heading: say('calls.status'), values: statuses, title: value => say(`call.${value}`) },
  { name: 'family', heading: say('family.heading'), values: families, title: value => say(`family.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<CallRowFragment>[] => [
  {
    id: 'operation',
    heading: say('calls.operation'),
    isMain: true,
    cell: ({ id, operation, model, requestedModel }) => (
      <Link to={withSearch(`/calls/${id}`, search, {})}>{[operation, model ?? requestedModel].filter(Boolean).join(' · ')}</Link>
    ),
  },
  { id: 'status', isKept: true, heading: say('calls.status'), cell: ({ status }) => <CallState status={status} /> },
  { id: 'app', heading: say('calls.app'), cell: ({ appId }) => appId },
  { id: 'cost', heading: say('calls.cost'), cell: ({ costMicros }) => dollars(costMicros) },
  {
    id: 'at',
    heading: say('calls.at'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {lately(createdAt)}
      </time>
    ),
  },
]
