import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { planStep } from '../../../rules/agents/plans.ts'
import { seedWorkflow } from '../workflow/seed.ts'

const fields = 'id title body status assignee { id } dueAt run { id } version'
const createTask = `mutation($input: CreateTaskInput!) { createTask(input: $input) { ${fields} } }`
const updateTask = `mutation($input: UpdateTaskInput!) { updateTask(input: $input) { ${fields} } }`
const tasks = `query($status: TaskStatus) { tasks(status: $status) { nodes { ${fields} } } }`
const widget = '{ agentsWidget { statistics { key value } nextAction { label } } }'
const queue = '{ actionItems(first: 20) { nodes { title subject { id } } } }'
const createWorkflow = 'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }'
const publishWorkflow = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id } }'

async function office(graph: Supergraph) {
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  const ask = async (document: string, variables: object = {}, as: Viewer = owner) => (await graph.execute(document, { ...variables }, { as })).data()
  const write = (document: string, input: object, as: Viewer = owner) => graph.execute(document, { input }, { as })
  return {
    ...{ owner, member, outsider, ask, write },
    /** Waits until the queue of somebody has these titles. */
    queued: (as: Viewer, titles: readonly string[]) =>
      expect
        .poll(async () => (await ask(queue, {}, as)).actionItems.nodes.map(({ title }: { title: string }) => title).sort(), { timeout: 10_000 })
        .toEqual(titles),
    pending: async () => (await ask(widget)).agentsWidget.statistics.find(({ key }: { key: string }) => key === 'pendingTasks').value as number,
  }
}

describe('a task', () => {
  it('stands in its assignee’s queue until it is done, and in nobody else’s', async () => {
    await using graph = await supergraph()
    const { owner, member, write, ask, queued, pending } = await office(graph)
    const dueAt = graph.clock.in(3_600_000).toISOString()
    const task = (await write(createTask, { title: 'Call back', body: 'Twice.', assigneeId: member.userId, dueAt })).data().createTask
    expect(task).toMatchObject({ status: 'OPEN', assignee: { id: member.userId }, dueAt, version: 1, run: null })
    await queued(member, ['Call back'])
    await queued(owner, [])
    expect(await pending()).toBe(1)
    expect((await ask(widget)).agentsWidget.nextAction.label).toBe('Do: Call back')
    const moved = (await write(updateTask, { id: task.id, assigneeId: owner.userId, status: 'IN_PROGRESS', expectedVersion: 1 })).data().updateTask
    expect(moved).toMatchObject({ status: 'IN_PROGRESS', version: 2 })
    await queued(member, [])
    await queued(owner, ['Call back'])
    expect((await write(updateTask, { id: task.id, status: 'DONE', expectedVersion: 1 })).refused('CONFLICT').extensions).toMatchObject({
      reason: 'STALE_VERSION',
    })
    await write(updateTask, { id: task.id, status: 'DONE' })
    await queued(owner, [])
    expect(await pending()).toBe(0)
    expect((await ask(tasks, { status: 'DONE' })).tasks.nodes).toHaveLength(1)
    expect(await graph.rows('select title, actor from agents.work_feed where kind = $1', ['TASK_CLOSED'])).toEqual([
      { title: 'Call back', actor: `user:${owner.userId}` },
    ])
  })

  it('is one for one idempotency key, and has members alone as assignees', async () => {
    await using graph = await supergraph()
    const { outsider, write, ask } = await office(graph)
    const input = { title: 'Once', idempotencyKey: 'task-1' }
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await write(createTask, input)).data().createTask.id))
    expect(new Set(ids).size).toBe(1)
    const stranger = await write(createTask, { title: 'Not theirs', assigneeId: outsider.userId })
    expect(stranger.refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'assigneeId' })
    expect((await write(updateTask, { id: ids[0], assigneeId: outsider.userId })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'assigneeId' })
    expect((await write(updateTask, { id: ids[0], status: 'DONE' }, outsider)).refused('NOT_FOUND')).toBeTruthy()
    expect((await ask(tasks)).tasks.nodes).toHaveLength(1)
  })

  it('begins workflows that wait for it once, and is written by steps', async () => {
    await using graph = await supergraph()
    const { owner, write, ask } = await office(graph)
    const steps = [{ key: 'todo', kind: 'TASK', title: 'Follow up', text: 'After {{input.title}}.' }]
    const { id } = (await write(createWorkflow, { name: 'Follow', trigger: { kind: 'EVENT', event: 'task.created' }, steps })).data().createWorkflow
    await write(publishWorkflow, { id })
    await write(createTask, { title: 'First' })
    await graph.clock.run(1)
    await expect.poll(async () => (await ask(tasks)).tasks.nodes.map(({ body }: { body: string }) => body), { timeout: 10_000 }).toContain('After First.')
    const written = (await ask(tasks)).tasks.nodes.find(({ body }: { body: string }) => body === 'After First.')
    expect(written).toMatchObject({ title: 'Follow up', run: { id: expect.any(String) }, assignee: null })
    // The step's own task begins nothing.
    await graph.clock.run(20_000)
    expect((await graph.rows<{ n: number }>('select count(*)::int as n from agents.tasks where organization_id = $1', [owner.organizationId]))[0]!.n).toBe(2)
  })

  it('loses its assignee when that person leaves', async () => {
    await using graph = await supergraph()
    const { owner, member, write, ask } = await office(graph)
    await write(createTask, { title: 'Left behind', assigneeId: member.userId })
    const body = { organizationId: owner.organizationId, membershipId: newId(), userId: member.userId, userKind: 'HUMAN', roles: ['member'] }
    const subject = `member:${owner.organizationId}:${member.userId}`
    const fact = { id: newId(), from: 'identity', kind: 'membership.removed', subject, at: graph.clock.now(), body }
    expect(await graph.platform.agents.receive!(fact)).toBe('received')
    await expect.poll(async () => (await ask(tasks)).tasks.nodes[0], { timeout: 10_000 }).toMatchObject({ assignee: null, status: 'OPEN', version: 2 })
  })
})

describe('a plan', () => {
  it('needs a text for a task', async () => {
    await using graph = await supergraph()
    const { owner, write } = await office(graph)
    await seedWorkflow(graph, { organizationId: owner.organizationId!, steps: [planStep('TASK', 'todo', { text: 'Do it.' })] })
    const answer = await write(createWorkflow, { name: 'Wrong', trigger: { kind: 'MANUAL' }, steps: [{ key: 'todo', kind: 'TASK' }] })
    expect(answer.refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'steps[0].text' })
  })
})
