import { History } from 'lucide-react'
import type { Column } from '../../../design/parts/table.tsx'
import { Link, useSearch } from '../../../shell/address.tsx'
import { Guard } from '../../../shell/frame/guard.tsx'
import { Page } from '../../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../../shell/parts/listing.tsx'
import { useRead } from '../../../shell/read.ts'
import { moment } from '../../../shell/time.ts'
import { say, sayIfKnown } from '../../../shell/words.ts'
import { actorName } from '../../runs/state.tsx'
import { WorkFeedDocument, type WorkFeedKind, type WorkFeedQuery } from './feed.generated.ts'

type Item = NonNullable<NonNullable<NonNullable<WorkFeedQuery['workFeed']>['nodes']>[number]>

const kinds: readonly WorkFeedKind[] = [
  'RUN_STARTED',
  'RUN_SUCCEEDED',
  'RUN_FAILED',
  'RUN_CANCELLED',
  'APPROVAL_REQUESTED',
  'APPROVAL_DECIDED',
  'REPORT_WRITTEN',
  'TASK_CLOSED',
  'KILL_SWITCH',
]

/** What happened in the work of the organization, the newest first. */
export default function Feed() {
  return (
    <Page title={say('feed.title')}>
      <Guard need="agents:reports.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const search = useSearch()
  const offered = pills()
  const { kind } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(kind && { kind: kind as WorkFeedKind }) }
  const { data, state, problem, retry } = useRead(WorkFeedDocument, variables, { isEmpty: ({ workFeed }) => workFeed?.nodes?.length === 0 })
  const rows = (data?.workFeed?.nodes ?? []).filter(each => each !== null)
  return (
    <div className="stack">
      <Filters path="/feed" search={search} pills={offered} />
      <Listing
        label={say('feed.title')}
        path="/feed"
        columns={columns()}
        rows={rows}
        state={state}
        problem={problem}
        retry={retry}
        page={data?.workFeed?.pageInfo}
        total={data?.workFeed?.totalCount}
        attributes={each => ({ 'data-kind': each.kind })}
        empty={{ icon: History, sentence: say(kind ? 'feed.nothing' : 'feed.empty') }}
      />
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'kind' })[] => [
  { name: 'kind', heading: say('feed.kind'), values: kinds, title: value => say(`feed.${value}`) },
]

/** Where an entry leads: to what was decided, else to the run. */
const leadOf = ({ approval, run }: Item) => (approval ? `/approvals/${approval.id}?view=all` : run ? `/runs/${run.id}` : null)

const columns = (): readonly Column<Item>[] => [
  { id: 'kind', heading: say('feed.kind'), cell: ({ kind }) => sayIfKnown(`feed.${kind}`, kind) },
  {
    id: 'title',
    heading: say('feed.what'),
    isMain: true,
    cell: item => {
      const lead = leadOf(item)
      return lead ? <Link to={lead}>{item.title}</Link> : item.title
    },
  },
  { id: 'actor', heading: say('feed.actor'), cell: ({ actor, user }) => actorName(actor, user) },
  {
    id: 'at',
    heading: say('feed.at'),
    cell: ({ at }) => (
      <time className="quiet" dateTime={at}>
        {moment(at)}
      </time>
    ),
  },
]
