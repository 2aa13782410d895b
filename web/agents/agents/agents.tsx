import { Bot, Plus } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { type AgentRowFragment, type AgentStatus, AgentsDocument } from './agents.generated.ts'
import { AgentPanel } from './detail.tsx'
import { AgentForm } from './form.tsx'
import { AgentState, spentOf } from './state.tsx'

/** What answers and acts by instructions; the one that the path names is open beside them. */
export default function Agents() {
  const search = useSearch()
  const mayWrite = useRights().may('agents:agents.write')
  const create = mayWrite && (
    <Button kind="primary" icon={Plus} onPress={() => goTo(withSearch('/agents', search, { new: 'agent' }))}>
      {say('agents.create')}
    </Button>
  )
  return (
    <Page title={say('agents.title')} actions={create}>
      <Guard need="agents:agents.read">
        <List mayWrite={mayWrite} />
      </Guard>
    </Page>
  )
}

function List({ mayWrite }: { readonly mayWrite: boolean }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/agents\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as AgentStatus }) }
  const { data, state, problem, retry } = useRead(AgentsDocument, variables, { isEmpty: ({ agents }) => agents?.nodes?.length === 0 })
  const rows = (data?.agents?.nodes ?? []).filter(each => each !== null)
  const ask = (isOpen: boolean) => goTo(withSearch('/agents', search, { new: isOpen ? 'agent' : null }))
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/agents" search={search} pills={offered} />
        <Listing
          label={say('agents.title')}
          path="/agents"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.agents?.pageInfo}
          total={data?.agents?.totalCount}
          attributes={each => ({ 'data-agent': each.id })}
          empty={{
            icon: Bot,
            sentence: say(status ? 'agents.nothing' : 'agents.empty'),
            action: !status && mayWrite && <Button onPress={() => ask(true)}>{say('agents.create')}</Button>,
          }}
        />
      </div>
      {id && <AgentPanel key={id} id={id} back={withSearch('/agents', search, {})} />}
      {search.get('new') === 'agent' && mayWrite && <AgentForm agent={null} reload={retry} onClose={() => ask(false)} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('workflows.status'), values: ['ACTIVE', 'PAUSED', 'ARCHIVED'], title: value => say(`agent.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<AgentRowFragment>[] => [
  { id: 'name', heading: say('agents.one'), isMain: true, cell: ({ id, name }) => <Link to={withSearch(`/agents/${id}`, search, { new: null })}>{name}</Link> },
  { id: 'model', heading: say('agents.model'), cell: ({ model }) => model ?? say('agents.no-model') },
  { id: 'spent', heading: say('agents.spent'), cell: spentOf },
  { id: 'status', isKept: true, heading: say('workflows.status'), cell: ({ status }) => <AgentState status={status} /> },
]
