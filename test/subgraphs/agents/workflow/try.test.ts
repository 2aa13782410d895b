import { describe, expect, it } from 'vitest'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const createWorkflow = 'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }'
const updateWorkflow = 'mutation($input: UpdateWorkflowInput!) { updateWorkflow(input: $input) { id } }'
const publishWorkflow = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id } }'
const startRun = 'mutation($input: StartRunInput!) { startRun(input: $input) { id } }'
const testRun = 'mutation($input: TestRunInput!) { testRun(input: $input) { id trigger } }'
const replayRun = 'mutation($input: ReplayRunInput!) { replayRun(input: $input) { runId planNumber steps { key same before after } } }'
const runQuery = 'query($id: ID!) { run(id: $id) { status output plan { number } steps { key status output childRun { trigger status } } } }'
const runsQuery =
  'query($id: ID!) { runs(workflowId: $id) { totalCount } tests: runs(workflowId: $id, trigger: TEST) { nodes { id } } workflow(id: $id) { runs { totalCount } } }'

async function shop(graph: Supergraph) {
  const { owner } = await graph.seed.owner()
  const execute = (document: string, input: object) => graph.execute(document, { input }, { as: owner })
  const ask = async (document: string, variables: object) => (await graph.execute(document, { ...variables }, { as: owner })).data()
  return {
    ...{ execute, ask },
    draft: async (steps: readonly object[]): Promise<string> =>
      (await execute(createWorkflow, { name: 'A plan', trigger: { kind: 'MANUAL' }, steps })).data().createWorkflow.id,
    publish: (id: string) => execute(publishWorkflow, { id }),
    async until(id: string, status: string) {
      await graph.clock.run(1)
      await expect.poll(async () => (await ask(runQuery, { id })).run.status, { timeout: 10_000 }).toBe(status)
      return (await ask(runQuery, { id })).run
    },
  }
}

const report = (key: string, text: string, more: object = {}) => ({ key, kind: 'REPORT', title: key, text, ...more })
const asking = { key: 'ask', kind: 'APPROVAL', gate: { title: 'May it?' } }

describe('a trial of a draft', () => {
  it('goes on with pinned outputs, skips what has effects, waits for nothing, and is told to nobody', async () => {
    await using graph = await supergraph()
    const { draft, publish, execute, ask, until } = await shop(graph)
    const child = await draft([report('inner', 'Inner.')])
    await publish(child)
    const id = await draft([
      ...[report('note', 'Never.'), asking, { key: 'wait', kind: 'DELAY', seconds: 86_400 }, { key: 'work', kind: 'TASK', text: 'Never.' }],
      { key: 'big', kind: 'BRANCH', condition: { left: '{{steps.note.output.size}}', operator: 'GREATER', right: 3 }, otherwise: 'end' },
      { key: 'sub', kind: 'RUN', workflowId: child },
    ])
    const begun = (await execute(testRun, { workflowId: id, pinned: [{ stepKey: 'note', output: { size: 7 } }] })).data().testRun
    expect(begun.trigger).toBe('TEST')
    const done = await until(begun.id, 'SUCCEEDED')
    expect(done.steps.map(({ key, status }: { key: string; status: string }) => `${key} ${status}`)).toEqual([
      ...['note SUCCEEDED', 'ask SKIPPED', 'wait SUCCEEDED', 'work SKIPPED', 'big SUCCEEDED', 'sub SUCCEEDED'],
    ])
    expect(done.steps[5].childRun).toEqual({ trigger: 'TEST', status: 'SUCCEEDED' })
    const { runs, tests, workflow } = await ask(runsQuery, { id })
    expect([runs.totalCount, tests.nodes, workflow.runs.totalCount]).toEqual([0, [{ id: begun.id }], 0])
    for (const table of ['reports', 'tasks', 'approvals', 'work_feed']) expect(await graph.rows(`select 1 from agents.${table}`), table).toEqual([])
    expect(await graph.rows(`select kind from agents.facts where kind in ('run.failed', 'task.created', 'attention.opened')`)).toEqual([])
    // The number that it was tried under is free.
    expect((await publish(id)).data().publishWorkflow.id).toBe(id)
  })

  it('is refused for a step that the draft has not, and without a step', async () => {
    await using graph = await supergraph()
    const { draft, execute } = await shop(graph)
    const id = await draft([report('note', 'Never.')])
    const unknown = await execute(testRun, { workflowId: id, pinned: [{ stepKey: 'nowhere', output: 1 }] })
    expect(unknown.refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'pinned[0].stepKey' })
    expect((await execute(testRun, { workflowId: await draft([]) })).refused('CONFLICT').extensions).toMatchObject({ reason: 'EMPTY_PLAN' })
    expect(await graph.rows('select 1 from agents.runs')).toEqual([])
  })
})

describe('a replay of a run', () => {
  it('compares it with the published plan, or with the one that is named, and keeps nothing', async () => {
    await using graph = await supergraph()
    const { draft, publish, execute, until } = await shop(graph)
    const branch = (right: number) => ({ key: 'big', kind: 'BRANCH', condition: { left: '{{input.size}}', operator: 'GREATER', right }, otherwise: 'end' })
    const id = await draft([report('note', 'Size {{input.size}}'), branch(5), report('gone', 'Gone.')])
    await publish(id)
    const { id: runId } = (await execute(startRun, { workflowId: id, input: { size: 7 } })).data().startRun
    await until(runId, 'SUCCEEDED')
    await execute(updateWorkflow, { id, steps: [report('note', 'Size {{input.size}}'), branch(9), report('fresh', 'Fresh.')] })
    await publish(id)
    const count = async () => await graph.rows('select (select count(*) from agents.runs) as runs, (select count(*) from agents.report_versions) as reports')
    const before = await count()
    const { planNumber, steps } = (await execute(replayRun, { runId })).data().replayRun
    expect(planNumber).toBe(2)
    expect(steps.map(({ key, same }: { key: string; same: boolean }) => `${key} ${same}`)).toEqual(['note true', 'big false', 'fresh false', 'gone false'])
    expect(steps[3]).toMatchObject({ before: { status: 'SUCCEEDED' }, after: null })
    const own = (await execute(replayRun, { runId, planNumber: 1 })).data().replayRun
    expect(own.steps.every(({ same }: { same: boolean }) => same)).toBe(true)
    expect(await count()).toEqual(before)
    expect((await execute(replayRun, { runId, planNumber: 3 })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'planNumber' })
  })

  it('is refused for a run that has not ended', async () => {
    await using graph = await supergraph()
    const { draft, publish, execute, until } = await shop(graph)
    const id = await draft([asking])
    await publish(id)
    const { id: runId } = (await execute(startRun, { workflowId: id })).data().startRun
    await until(runId, 'WAITING_APPROVAL')
    expect((await execute(replayRun, { runId })).refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE' })
  })
})
