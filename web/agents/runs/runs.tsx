import { CirclePlay } from 'lucide-react'
import type { Column } from '../../design/parts/table.tsx'
import { Link, usePath, useSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { RunPage } from './detail.tsx'
import { type RunRowFragment, type RunStatus, RunsDocument, type RunTrigger } from './runs.generated.ts'
import { lasted, RunState } from './state.tsx'

const statuses: readonly RunStatus[] = ['QUEUED', 'RUNNING', 'WAITING_APPROVAL', 'WAITING_POLICY', 'WAITING_TIMER', 'SUCCEEDED', 'FAILED', 'CANCELLED']

const triggers: readonly RunTrigger[] = ['MANUAL', 'SCHEDULE', 'EVENT', 'WEBHOOK', 'OPERATOR', 'PARENT', 'TEST']

/** Runs of all workflows; one that the path names has a page of its own. */
export default function Runs() {
  const id = /^\/runs\/([^/]+)$/.exec(usePath())?.[1]
  if (id) return <RunPage key={id} id={id} />
  return (
    <Page title={say('runs.title')}>
      <Guard need="agents:workflows.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const search = useSearch()
  const offered = pills()
  const { status, trigger } = chosenOf(search, offered)
  const workflowId = search.get('workflow')
  const variables = {
    ...pageOf(search),
    ...(status && { status: status as RunStatus }),
    ...(trigger && { trigger: trigger as RunTrigger }),
    ...(workflowId && { workflowId }),
  }
  const isFiltered = Boolean(status || trigger || workflowId)
  const { data, state, problem, retry } = useRead(RunsDocument, variables, { isEmpty: ({ runs }) => runs?.nodes?.length === 0 })
  const rows = (data?.runs?.nodes ?? []).filter(each => each !== null)
  return (
    <div className="stack">
      <Filters path="/runs" search={search} pills={offered} />
      <Listing
        label={say('runs.title')}
        path="/runs"
        columns={columns()}
        rows={rows}
        state={state}
        problem={problem}
        retry={retry}
        page={data?.runs?.pageInfo}
        total={data?.runs?.totalCount}
        attributes={each => ({ 'data-run': each.id })}
        empty={{
          icon: CirclePlay,
          sentence: say(isFiltered ? 'runs.nothing' : 'runs.empty'),
          action: !isFiltered && (
            <Link className="button secondary" to="/workflows">
              {say('runs.to-workflows')}
            </Link>
          ),
        }}
      />
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' | 'trigger' })[] => [
  { name: 'status', heading: say('workflows.status'), values: statuses, title: value => say(`run.${value}`) },
  { name: 'trigger', heading: say('runs.begun-by'), values: triggers, title: value => say(`run-trigger.${value}`) },
]

const columns = (): readonly Column<RunRowFragment>[] => [
  {
    id: 'workflow',
    heading: say('workflows.one'),
    isMain: true,
    cell: ({ id, workflow }) => <Link to={`/runs/${id}`}>{workflow?.name ?? say('runs.single')}</Link>,
  },
  { id: 'trigger', heading: say('runs.begun-by'), cell: ({ trigger, startedBy }) => startedBy?.name ?? sayIfKnown(`run-trigger.${trigger}`, trigger) },
  { id: 'status', isKept: true, heading: say('workflows.status'), cell: ({ status }) => <RunState status={status} /> },
  { id: 'lasted', heading: say('runs.lasted'), isFigure: true, cell: ({ createdAt, finishedAt }) => (finishedAt ? lasted(createdAt, finishedAt) : '–') },
  {
    id: 'at',
    heading: say('runs.begun'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {moment(createdAt)}
      </time>
    ),
  },
]
