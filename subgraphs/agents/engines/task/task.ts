import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, type Writing, writeFacts } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import type { workFeedStore } from '../../stores/report.ts'
import type { TaskRow, TaskStatus, taskStore } from '../../stores/workspace/task.ts'

type Opened<S extends { open(...given: never[]): unknown }> = ReturnType<S['open']>

/** What tasks are written with. */
export interface TaskWork extends Writing {
  /** Origin under which people reach the platform. */
  readonly publicUrl: string
  readonly tasks: Opened<typeof taskStore>
  readonly workFeed: Opened<typeof workFeedStore>
}

/** The topic on which changes of an organization's tasks are announced. */
export const taskTopic = (organizationId: string): string => `agents.task.${organizationId}`

/** Whether a task is still to be done. */
export const isToDo = (status: TaskStatus): boolean => status === 'OPEN' || status === 'IN_PROGRESS'

/** Where a person sees a task. */
export const addressOfTask = (publicUrl: string, { id }: Pick<TaskRow, 'id'>): string => `${publicUrl}/agents/api/tasks/${id}`

type Watched = Pick<TaskRow, 'id' | 'assigneeId' | 'status' | 'title' | 'dueAt'>

const attentionKey = ({ id, assigneeId }: Watched): string => `task:${id}:${assigneeId}`

/** Whose attention a task has: its assignee's, while it is to be done. */
const watcherOf = (task: Watched | null): string | null => (task && isToDo(task.status) ? task.assigneeId : null)

/**
 * The facts for a task's assignee that follow from a change: the queue of whoever had it loses it, that of whoever has it now gains it, and
 * a new title or date is shown.
 * @param before null for a new task
 */
export function attentionFacts(publicUrl: string, before: Watched | null, after: TaskRow, now: Date): readonly NewFact[] {
  const [from, to] = [watcherOf(before), watcherOf(after)]
  const closed: NewFact[] = before && from !== null && from !== to ? [{ kind: 'attention.closed', body: { key: attentionKey(before) } }] : []
  if (to === null || (before && from === to && before.title === after.title && before.dueAt?.getTime() === after.dueAt?.getTime())) return closed
  const about = { kind: 'TASK_ASSIGNED', organizationId: after.organizationId, subjectId: after.id, audience: 'person', userId: to } as const
  const shown = { title: after.title, url: addressOfTask(publicUrl, after), at: now.toISOString(), ...(after.dueAt && { dueAt: after.dueAt.toISOString() }) }
  return [...closed, { kind: 'attention.opened', body: { key: attentionKey(after), ...about, ...shown } }]
}

/** The facts that follow from a new task: workflows that wait for one begin, and its assignee is shown it. */
export const createdFacts = (publicUrl: string, task: TaskRow, now: Date): readonly NewFact[] => [
  { kind: 'task.created', body: { taskId: task.id, title: task.title, organizationId: task.organizationId } },
  ...attentionFacts(publicUrl, null, task, now),
]

/** Writes the task of a run's step. */
export async function writeTask(
  job: TaskWork,
  run: { readonly id: string; readonly organizationId: string; readonly createdBy: string },
  { id, title, body }: { readonly id: string; readonly title: string; readonly body: string },
  unit: WriteTransaction,
): Promise<TaskRow> {
  const { now, transaction } = unit
  const of = { organizationId: run.organizationId, runId: run.id, createdBy: run.createdBy }
  const task = await job.tasks.insert({ id, title, body, ...of, createdAt: now, updatedAt: now }, transaction)
  await writeFacts(job, createdFacts(job.publicUrl, task, now), unit)
  return task
}

/** Writes into the work feed that a task was closed. */
export async function feedClosed(
  { workFeed }: Pick<TaskWork, 'workFeed'>,
  { title, organizationId, runId }: TaskRow,
  { actor, userId }: { readonly actor: string; readonly userId: string | null },
  { transaction, now }: WriteTransaction,
): Promise<void> {
  await workFeed.insert({ organizationId, id: newId(now), at: now, kind: 'TASK_CLOSED', title, actor, userId, runId }, transaction)
}
