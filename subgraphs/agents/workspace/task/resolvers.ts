import { DomainError } from '../../../../platform/errors.ts'
import { readId, readText, requireName } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { change, create } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { announceWidget } from '../../engines/run/announce.ts'
import { attentionFacts, createdFacts, feedClosed, isToDo, taskTopic } from '../../engines/task/task.ts'
import type { CreateTaskInput, Resolvers, UpdateTaskInput } from '../../resolvers.generated.ts'
import type { TaskRow } from '../../stores/workspace/task.ts'

const most = { title: 300, body: 10_000, aDay: 5_000 } as const

/** Reads whose task it is. @throws BAD_USER_INPUT for somebody who is no member of the organization */
async function readAssignee({ viewer, isMember }: Context, given: string | null | undefined, organizationId: string): Promise<string | null> {
  const id = readId(given, 'assigneeId')
  if (id !== null && !(await isMember(id, organizationId, viewer)))
    throw new DomainError('BAD_USER_INPUT', 'assigneeId is no member of the active organization.', { field: 'assigneeId' })
  return id
}

const announceTask = ({ events }: Pick<Context, 'events'>, { id, organizationId, version }: TaskRow): void => {
  events.announce(taskTopic(organizationId), { taskId: id }, version)
  announceWidget(events, organizationId)
}

async function createTask(context: Context, input: CreateTaskInput): Promise<TaskRow> {
  const { viewer, tasks, publicUrl, clock } = context
  const organizationId = activeOrganization(viewer, 'Tasks')
  const [title, body] = [requireName(input.title, 'title', most.title), readText(input.body, 'body', most.body)]
  const assigneeId = await readAssignee(context, input.assigneeId, organizationId)
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: tasks,
    once: input,
    tenantId: organizationId,
    async run({ now, transaction }, id) {
      const written = await tasks.madeBy(createdBy, now, most.aDay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: most.aDay }, 'tasks that you wrote', 'wait', now)
      return { id, organizationId, title, body, assigneeId, dueAt: input.dueAt ?? null, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'task.created', subjectId: id }),
    facts: task => createdFacts(publicUrl, task, clock.now()),
    announce: task => announceTask(context, task),
  })
  return row
}

async function updateTask(context: Context, { id, expectedVersion, ...input }: UpdateTaskInput): Promise<TaskRow> {
  const { viewer, tasks, publicUrl, clock } = context
  const organizationId = activeOrganization(viewer, 'Tasks')
  const assigneeId = input.assigneeId === undefined ? undefined : await readAssignee(context, input.assigneeId, organizationId)
  const actor = actorOf(viewer)
  return change(context, {
    of: tasks,
    ...{ id, expectedVersion },
    async decide(task, unit) {
      const changes = {
        ...(typeof input.title === 'string' && { title: requireName(input.title, 'title', most.title) }),
        ...(input.body !== undefined && { body: readText(input.body, 'body', most.body) }),
        ...(input.status && { status: input.status }),
        ...(assigneeId !== undefined && { assigneeId }),
        ...(input.dueAt !== undefined && { dueAt: input.dueAt }),
      }
      if (isToDo(task.status) && input.status && !isToDo(input.status))
        await feedClosed(context, { ...task, ...changes }, { actor, userId: personOf(actor) }, unit)
      return changes
    },
    audit: ({ after }) => ({ tenantId: organizationId, action: 'task.updated', subjectId: after.id, details: { status: after.status } }),
    facts: ({ before, after }) => attentionFacts(publicUrl, before, after, clock.now()),
    announce: ({ after }) => announceTask(context, after),
  })
}

export const taskResolvers: Resolvers = {
  Query: {
    task: (_, { id }, { tasks }) => tasks.require(id),
    tasks(_, { status, ...page }, { viewer, tasks }) {
      activeOrganization(viewer, 'Tasks')
      return tasks.filtered({ status }, page)
    },
  },
  Mutation: {
    createTask: (_, { input }, context) => createTask(context, input),
    updateTask: (_, { input }, context) => updateTask(context, input),
  },
  Task: {
    __resolveReference: ({ id }, { tasks }) => tasks.byId.load(id),
    assignee: ({ assigneeId }) => (assigneeId ? { __typename: 'User', id: assigneeId } : null),
    run: ({ runId }, _, { runs }) => runs.find(runId),
  },
}
