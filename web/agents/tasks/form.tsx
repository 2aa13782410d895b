import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { momentAtWall, ownZone, wallTime } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { CreateTaskDocument, type TaskDetailsFragment, TaskPeopleDocument, UpdateTaskDocument } from './tasks.generated.ts'

/** Writes a task, or changes one. @param task null writes a new one */
export function TaskForm({ task, reload, onClose }: { readonly task: TaskDetailsFragment | null; reload?(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const { data: people } = useRead(TaskPeopleDocument, {})
  const [created, create] = useMutation(CreateTaskDocument)
  const [updated, update] = useMutation(UpdateTaskDocument)
  const [title, setTitle] = useState(task?.title ?? '')
  const [body, setBody] = useState(task?.body ?? '')
  const [assigneeId, setAssignee] = useState(task?.assignee?.id ?? '')
  const [due, setDue] = useState(task?.dueAt ? wallTime(task.dueAt, ownZone) : '')
  const [isTried, setTried] = useState(false)
  const problem = problemOf(created.error ?? updated.error)
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  const at = due ? momentAtWall(due, ownZone) : null
  const members = (people?.organizationMembers?.nodes ?? []).flatMap(each => (each?.user ? [{ id: each.user.id, name: each.user.name }] : []))
  const known = task?.assignee && !members.some(({ id }) => id === task.assignee?.id) ? [...members, task.assignee] : members
  async function save() {
    setTried(true)
    if (title.trim() === '' || (due && !at)) return
    const fields = { title: title.trim(), body: body.trim() || null, assigneeId: assigneeId || null, dueAt: at?.toISOString() ?? null }
    if (task) {
      const { data } = await update({ input: { ...fields, id: task.id, expectedVersion: task.version } })
      if (data?.updateTask) onClose()
      return
    }
    const { data } = await create({ input: { ...fields, idempotencyKey } })
    if (!data?.createTask) return
    toast({ sentence: say('tasks.made') })
    reload?.()
    goTo(`/tasks/${data.createTask.id}`)
  }
  return (
    <FormDialog
      title={say(task ? 'tasks.change' : 'tasks.create')}
      verb={say(task ? 'action.save' : 'tasks.create')}
      isBusy={created.fetching || updated.fetching}
      problem={problem}
      fields={['title', 'body', 'assigneeId', 'dueAt']}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field label={say('tasks.name')} value={title} onChange={setTitle} wrong={isTried && title.trim() === '' ? say('form.required') : wrong('title')} />
      <Field label={say('tasks.body')} rows={4} value={body} onChange={setBody} wrong={wrong('body')} />
      <Select label={say('tasks.assignee')} choices={[{ id: '', name: say('tasks.nobody') }, ...known]} value={assigneeId} onChange={setAssignee} />
      <Field
        label={say('tasks.due')}
        type="datetime-local"
        value={due}
        onChange={setDue}
        hint={ownZone}
        wrong={isTried && due && !at ? say('tasks.skipped') : wrong('dueAt')}
      />
    </FormDialog>
  )
}
