import { newId } from '../../../../platform/ids.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import {
  type AccessRows,
  all,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  row,
  type Stage,
  widgets,
  workingFigures,
} from '../../../access/row.ts'

const write: readonly Scope[] = ['agents:workspace.write']
const managersOwn = 'refused yes refused refused refused yes yes'

const freshMemory: Fresh = async stage => (await seedMemory(stage)).id

/** A memory of the owner's organization. */
async function seedMemory({ graph, owner }: Pick<Stage, 'graph' | 'owner'>): Promise<{ readonly id: string }> {
  const now = graph.clock.now()
  const job = graph.platform.agents.job('user:seed')
  const id = newId(now)
  const of = { organizationId: owner.organizationId!, key: id, text: 'Kept.', updatedById: owner.userId }
  await inTransaction(job, ({ transaction }) => job.memories.insert({ id, ...of, createdAt: now, updatedAt: now, createdBy: 'user:seed' }, transaction))
  return { id }
}

const freshTask: Fresh = async stage => (await seedTask(stage)).id

/** An open task of the owner's organization, which the owner is to do. */
async function seedTask({ graph, owner }: Pick<Stage, 'graph' | 'owner'>, runId: string | null = null): Promise<{ readonly id: string }> {
  const now = graph.clock.now()
  const job = graph.platform.agents.job('user:seed')
  const id = newId(now)
  const of = { organizationId: owner.organizationId!, title: 'Look at it', assigneeId: owner.userId, runId }
  await inTransaction(job, ({ transaction }) => job.tasks.insert({ id, ...of, createdAt: now, updatedAt: now, createdBy: 'user:seed' }, transaction))
  return { id }
}

const task = (selection: string) => (ids: Ids) => `{ task(id: "${ids.task}") { ${selection} } }`
const workspace = (selection: string) => constant(`{ operatingWorkspace { ${selection} } }`)

export const access: AccessRows = {
  async made(stage) {
    return { memory: (await seedMemory(stage)).id, task: (await seedTask(stage, stage.ids.run ?? null)).id }
  },
  fields: [
    row('Query.operatingWorkspace', workingFigures, widgets, byScopeEachTheirOwn, workspace('id'), 'operatingWorkspace'),
    row('OperatingWorkspace.memory', workingFigures, widgets, byScopeEachTheirOwn, workspace('memory { totalCount }'), 'operatingWorkspace.memory'),
    row('KillSwitch.user', workingFigures, widgets, byScopeEachTheirOwn, workspace('killSwitch { user { id } }'), 'operatingWorkspace.killSwitch'),
    row('Memory.updatedBy', workingFigures, widgets, byScopeEachTheirOwn, workspace('memory { nodes { updatedBy { id } } }'), 'operatingWorkspace.memory'),
    row('Query.task', workingFigures, widgets, byScope, task('id'), 'task'),
    row('Query.tasks', workingFigures, widgets, byScopeEachTheirOwn, constant('{ tasks { nodes { id } } }'), 'tasks'),
    row('Task.assignee', workingFigures, widgets, byScope, task('assignee { id }'), 'task.assignee'),
    row('Task.run', [...workingFigures, 'agents:workflows.read'], workingFigures, byScope, task('run { id }'), 'task.run'),
    row(
      'Mutation.createTask',
      write,
      workingFigures,
      managersOwn,
      change('createTask', () => 'title: "New"', 'id'),
      'createTask',
    ),
    row(
      'Mutation.updateTask',
      write,
      workingFigures,
      'refused yes refused refused refused yes hidden',
      change('updateTask', ({ fresh }) => `id: "${fresh}", status: DONE`, 'id'),
      'updateTask',
      freshTask,
    ),
    row(
      'Mutation.updateOperatingWorkspace',
      write,
      workingFigures,
      managersOwn,
      change('updateOperatingWorkspace', () => 'state: {}', 'id'),
      'updateOperatingWorkspace',
    ),
    row(
      'Mutation.saveMemory',
      write,
      workingFigures,
      managersOwn,
      change('saveMemory', () => 'key: "greeting", text: "Hello."', 'id'),
      'saveMemory',
    ),
    row(
      'Mutation.deleteMemory',
      write,
      workingFigures,
      'refused yes refused refused refused yes hidden',
      change('deleteMemory', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'deleteMemory',
      freshMemory,
    ),
    row(
      'Mutation.setKillSwitch',
      all,
      workingFigures,
      'refused refused refused refused refused yes yes',
      change('setKillSwitch', () => 'engaged: false', 'id'),
      'setKillSwitch',
    ),
  ],
  routes: [
    { at: 'GET /agents/api/tasks', scopes: workingFigures, less: widgets, cells: byScopeEachTheirOwn, path: () => '/agents/api/tasks' },
    {
      ...{ at: 'POST /agents/api/tasks', scopes: write, less: workingFigures, cells: managersOwn, path: () => '/agents/api/tasks' },
      body: () => ({ title: 'New' }),
    },
    { at: 'GET /agents/api/tasks/:id', scopes: workingFigures, less: widgets, cells: byScope, path: ids => `/agents/api/tasks/${ids.task}` },
    {
      ...{ at: 'PUT /agents/api/tasks/:id', scopes: write, less: workingFigures, cells: 'refused yes refused refused refused yes hidden' },
      ...{ path: ids => `/agents/api/tasks/${ids.fresh}`, body: () => ({ status: 'done' }), fresh: freshTask },
    },
    { at: 'GET /agents/api/workspace', scopes: workingFigures, less: widgets, cells: byScopeEachTheirOwn, path: () => '/agents/api/workspace' },
    {
      ...{ at: 'PUT /agents/api/workspace', scopes: write, less: workingFigures, cells: managersOwn, path: () => '/agents/api/workspace' },
      body: () => ({ state: {} }),
    },
  ],
}
