import { ListChecks, Plus } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { TaskPanel } from './detail.tsx'
import { TaskForm } from './form.tsx'
import { TaskState } from './state.tsx'
import { type TaskRowFragment, type TaskStatus, TasksDocument } from './tasks.generated.ts'

/** What people are to do, written by people and by workflows; the one that the path names is open beside them. */
export default function Tasks() {
  const search = useSearch()
  const mayWrite = useRights().may('agents:workspace.write')
  const create = mayWrite && (
    <Button kind="primary" icon={Plus} onPress={() => goTo(withSearch('/tasks', search, { new: 'task' }))}>
      {say('tasks.create')}
    </Button>
  )
  return (
    <Page title={say('tasks.title')} actions={create}>
      <Guard need="agents:workspace.read">
        <List mayWrite={mayWrite} />
      </Guard>
    </Page>
  )
}

function List({ mayWrite }: { readonly mayWrite: boolean }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/tasks\/([^/]+)$/.exec(path)?.[1]
  const offered = pills()
  const { status } = chosenOf(search, offered)
  const variables = { ...pageOf(search), ...(status && { status: status as TaskStatus }) }
  const { data, state, problem, retry } = useRead(TasksDocument, variables, { isEmpty: ({ tasks }) => tasks?.nodes?.length === 0 })
  const rows = (data?.tasks?.nodes ?? []).filter(each => each !== null)
  const ask = (isOpen: boolean) => goTo(withSearch('/tasks', search, { new: isOpen ? 'task' : null }))
  return (
    <div className={id ? 'beside open' : 'beside'}>
      <div className="stack">
        <Filters path="/tasks" search={search} pills={offered} />
        <Listing
          label={say('tasks.title')}
          path="/tasks"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.tasks?.pageInfo}
          total={data?.tasks?.totalCount}
          attributes={each => ({ 'data-task': each.id })}
          empty={{
            icon: ListChecks,
            sentence: say(status ? 'tasks.nothing' : 'tasks.empty'),
            action: !status && mayWrite && <Button onPress={() => ask(true)}>{say('tasks.create')}</Button>,
          }}
        />
      </div>
      {id && <TaskPanel key={id} id={id} back={withSearch('/tasks', search, {})} />}
      {search.get('new') === 'task' && mayWrite && <TaskForm task={null} reload={retry} onClose={() => ask(false)} />}
    </div>
  )
}

const pills = (): readonly (Pill & { readonly name: 'status' })[] => [
  { name: 'status', heading: say('workflows.status'), values: ['OPEN', 'IN_PROGRESS', 'DONE', 'CANCELLED'], title: value => say(`task.${value}`) },
]

const columns = (search: URLSearchParams): readonly Column<TaskRowFragment>[] => [
  {
    id: 'title',
    heading: say('tasks.one'),
    isMain: true,
    cell: ({ id, title }) => <Link to={withSearch(`/tasks/${id}`, search, { new: null })}>{title}</Link>,
  },
  { id: 'assignee', heading: say('tasks.assignee'), cell: ({ assignee }) => assignee?.name ?? '–' },
  { id: 'status', isKept: true, heading: say('workflows.status'), cell: ({ status }) => <TaskState status={status} /> },
  {
    id: 'due',
    heading: say('tasks.due'),
    cell: ({ dueAt }) =>
      dueAt ? (
        <time className="quiet" dateTime={dueAt}>
          {moment(dueAt)}
        </time>
      ) : (
        '–'
      ),
  },
]
