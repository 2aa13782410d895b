import { Plus, Workflow } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { WorkflowPage } from './detail.tsx'
import { WorkflowForm } from './new.tsx'
import { WorkflowState } from './state.tsx'
import { triggerText } from './trigger.tsx'
import { type WorkflowRowFragment, type WorkflowStatus, WorkflowsDocument } from './workflows.generated.ts'

/** Plans that run durably; one that the path names has a page of its own. */
export default function Workflows() {
  const [path, search] = [usePath(), useSearch()]
  const { may } = useRights()
  const id = /^\/workflows\/([^/]+)$/.exec(path)?.[1]
  if (id) return <WorkflowPage key={id} id={id} />
  const create = may('agents:workflows.write') && (
    <Button kind="primary" icon={Plus} onPress={() => goTo(withSearch('/workflows', search, { new: 'workflow' }))}>
      {say('workflows.create')}
    </Button>
  )
  return (
    <Page title={say('workflows.title')} actions={create}>
      <Guard need="agents:workflows.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const search = useSearch()
  const mayWrite = useRights().may('agents:workflows.write')
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as WorkflowStatus }) }
  const { data, state, problem, retry } = useRead(WorkflowsDocument, variables, { isEmpty: ({ workflows }) => workflows?.nodes?.length === 0 })
  const rows = (data?.workflows?.nodes ?? []).filter(each => each !== null)
  const ask = (isOpen: boolean) => goTo(withSearch('/workflows', search, { new: isOpen ? 'workflow' : null }))
  return (
    <div className="stack">
      <Filters path="/workflows" search={search} pills={offered} />
      <Listing
        label={say('workflows.title')}
        path="/workflows"
        columns={columns()}
        rows={rows}
        state={state}
        problem={problem}
        retry={retry}
        page={data?.workflows?.pageInfo}
        total={data?.workflows?.totalCount}
        attributes={each => ({ 'data-workflow': each.id })}
        empty={{
          icon: Workflow,
          sentence: say(status ? 'workflows.nothing' : 'workflows.empty'),
          action: !status && mayWrite && <Button onPress={() => ask(true)}>{say('workflows.create')}</Button>,
        }}
      />
      {search.get('new') === 'workflow' && mayWrite && <WorkflowForm workflow={null} onClose={() => ask(false)} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('workflows.status'), values: ['DRAFT', 'PUBLISHED', 'ARCHIVED'], title: value => say(`workflow.${value}`) },
]

const columns = (): readonly Column<WorkflowRowFragment>[] => [
  { id: 'name', heading: say('workflows.name'), isMain: true, cell: ({ id, name }) => <Link to={`/workflows/${id}`}>{name}</Link> },
  { id: 'trigger', heading: say('workflows.begins'), cell: ({ trigger }) => triggerText(trigger) },
  { id: 'status', isKept: true, heading: say('workflows.status'), cell: ({ status }) => <WorkflowState status={status} /> },
  {
    id: 'at',
    heading: say('workflows.changed-at'),
    cell: ({ updatedAt }) => (
      <time className="quiet" dateTime={updatedAt}>
        {lately(updatedAt)}
      </time>
    ),
  },
]
