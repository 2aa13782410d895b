import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { TaskForm } from './form.tsx'
import { TaskState } from './state.tsx'
import { TaskDetailDocument, type TaskDetailsFragment, type TaskStatus, UpdateTaskDocument } from './tasks.generated.ts'

/** Where a task may go next. */
const next: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  OPEN: ['IN_PROGRESS', 'DONE', 'CANCELLED'],
  IN_PROGRESS: ['DONE', 'OPEN', 'CANCELLED'],
  DONE: ['OPEN'],
  CANCELLED: ['OPEN'],
}

/** One task beside the list. */
export function TaskPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { may } = useRights()
  const { data, state, problem, retry } = useRead(TaskDetailDocument, { id })
  const task = data?.task
  return (
    <Panel label={say('tasks.one')} heading={task?.title} back={back} state={data && !task ? 'error' : state} problem={problem} retry={retry}>
      {task && (
        <>
          <div>
            <TaskState status={task.status} />
          </div>
          {task.body && (
            <p className="text" dir="auto">
              {task.body}
            </p>
          )}
          {may('agents:workspace.write') && <Actions task={task} />}
          <Facts
            of={[
              [say('tasks.assignee'), task.assignee?.name],
              [say('tasks.due'), task.dueAt && moment(task.dueAt)],
              [
                say('tasks.by-run'),
                task.run && (
                  <Link key="run" to={`/runs/${task.run.id}`}>
                    {task.run.workflow?.name ?? say('runs.single')}
                  </Link>
                ),
              ],
              [say('tasks.created'), moment(task.createdAt)],
              [say('workflows.changed-at'), task.updatedAt !== task.createdAt && moment(task.updatedAt)],
            ]}
          />
        </>
      )}
    </Panel>
  )
}

function Actions({ task }: { readonly task: TaskDetailsFragment }) {
  const [{ error, fetching }, update] = useMutation(UpdateTaskDocument)
  const [changes, setChanges] = useState(false)
  const problem = problemOf(error)
  return (
    <>
      <div className="actions">
        {next[task.status].map((status, at) => (
          <Button
            key={status}
            kind={at === 0 ? 'primary' : 'secondary'}
            isDisabled={fetching}
            onPress={() => void update({ input: { id: task.id, status, expectedVersion: task.version } })}
          >
            {say(`task-to.${status}`)}
          </Button>
        ))}
        <Button onPress={() => setChanges(true)}>{say('tasks.change')}</Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {changes && <TaskForm task={task} onClose={() => setChanges(false)} />}
    </>
  )
}
