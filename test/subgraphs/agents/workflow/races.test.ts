import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { look } from '../../../../subgraphs/agents/engines/run/look.ts'
import { limits } from '../../../../subgraphs/agents/engines/run/plan.ts'
import { newRun } from '../../../../subgraphs/agents/engines/run/start.ts'
import type { PlanStep } from '../../../../subgraphs/agents/stores/workflow.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { gate, planStep } from '../../../rules/agents/plans.ts'
import { seedWorkflow } from './seed.ts'

const cancelRun = 'mutation($input: CancelRunInput!) { cancelRun(input: $input) { id } }'
const killSwitch = 'mutation($input: SetKillSwitchInput!) { setKillSwitch(input: $input) { id } }'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph()
  // Each look is made by a test, so that two happen at the same moment.
  await graph.platform.agents.job('runs').runner.stop()
})
afterAll(() => graph[Symbol.asyncDispose]())

const job = () => graph.platform.agents.job('test')

/** An organization with a published plan, whose runs nothing looks at by itself. */
async function organization(steps: readonly PlanStep[]) {
  const { owner } = await graph.seed.owner()
  const organizationId = owner.organizationId!
  const { id: workflowId, planId } = await seedWorkflow(graph, { organizationId, steps })
  const begins = { organizationId, workflowId, planId, trigger: 'MANUAL', input: {}, startedById: owner.userId, createdBy: `user:${owner.userId}` } as const
  return {
    ...{ owner, organizationId },
    async begun(): Promise<string> {
      const id = newId(graph.clock.now())
      await inTransaction(job(), ({ transaction, now }) => job().runs.insert(newRun(id, begins, now), transaction))
      return id
    },
  }
}

const say = async (document: string, input: object, as: Viewer) => (await graph.execute(document, { input }, { as })).data()
const statusOf = async (id: string) => (await graph.rows<{ status: string }>('select status from agents.runs where id = $1', [id]))[0]!.status
const waitingLocks = async () => (await graph.rows(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).length

/** Looks at every run that is due, until none is. */
async function settle(): Promise<void> {
  for (;;) {
    const due = await graph.rows<{ id: string }>('select id from agents.runs where wake_at <= $1', [graph.clock.now()])
    if (due.length === 0) return
    for (const { id } of due) await look(job(), id, null)
  }
}

const thinking = planStep('MODEL', 'think', { agentId: newId(), prompt: 'Go on.' })

/** A run whose step has begun a run that waits for a person. */
async function parent() {
  const { organizationId, owner } = await organization([])
  const asking = [planStep('APPROVAL', 'ask', { gate: gate({ expiresInSeconds: 30 * 86_400 }) })]
  const { id: workflowId } = await seedWorkflow(graph, { organizationId, steps: asking })
  const { id: middleId } = await seedWorkflow(graph, { organizationId, steps: [planStep('RUN', 'sub', { workflowId })] })
  const { id: outerId, planId } = await seedWorkflow(graph, { organizationId, steps: [planStep('RUN', 'sub', { workflowId: middleId })] })
  const id = newId(graph.clock.now())
  const begins = { organizationId, workflowId: outerId, planId, trigger: 'MANUAL', input: {}, startedById: null, createdBy: 'workflow' } as const
  await inTransaction(job(), ({ transaction, now }) => job().runs.insert(newRun(id, begins, now), transaction))
  await settle()
  const below = async () =>
    (await graph.rows<{ status: string }>('select status from agents.runs where $1 = any(lineage) order by array_length(lineage, 1)', [id])).map(
      ({ status }) => status,
    )
  expect(await below()).toEqual(['RUNNING', 'WAITING_APPROVAL'])
  const approvals = () =>
    graph.rows(`select a.status, r.wake_at as at from agents.approvals a join agents.runs r on r.id = a.run_id where $1 = any(r.lineage)`, [id])
  return { id, owner, below, approvals }
}

describe('a run that is too old', () => {
  it('ends with all runs below it, and the approvals that they wait for', async () => {
    const { id, below, approvals } = await parent()
    await graph.rows(`update agents.runs set created_at = created_at - make_interval(days => $2), wake_at = $3 where id = $1`, [
      ...[id, limits.runDays, graph.clock.now()],
    ])
    await settle()
    expect([await statusOf(id), ...(await below())]).toEqual(['FAILED', 'CANCELLED', 'CANCELLED'])
    expect(await approvals()).toEqual([{ status: 'CANCELLED', at: null }])
  })

  it('sees to the runs below it again when one of them was being looked at meanwhile', async () => {
    const { id, below } = await parent()
    await graph.rows(`update agents.runs set created_at = created_at - make_interval(days => $2), wake_at = $3 where id = $1`, [
      ...[id, limits.runDays, graph.clock.now()],
    ])
    await graph.database.sequelize.transaction(async transaction => {
      await graph.database.sequelize.query('select 1 from agents.runs where $1 = any(lineage) for update', { bind: [id], transaction })
      await look(job(), id, null)
    })
    expect(await below()).toEqual(['RUNNING', 'WAITING_APPROVAL'])
    await graph.clock.run(1_000)
    await settle()
    expect(await below()).toEqual(['CANCELLED', 'CANCELLED'])
    await graph.clock.run(1_000)
    await settle()
    expect(await graph.rows('select wake_at as at from agents.runs where id = $1', [id])).toEqual([{ at: null }])
  })
})

describe('a cancelled run', () => {
  it('ends the runs below it also when the process that cancelled it has died before them', async () => {
    const { id, owner, below } = await parent()
    await say(cancelRun, { id }, owner)
    // As they stood before the process came to them.
    await graph.rows(
      `update agents.runs set finished_at = null, status = case when waits_for_child then 'RUNNING' else 'WAITING_APPROVAL' end, wake_at = null
        where $1 = any(lineage)`,
      [id],
    )
    await settle()
    expect(await below()).toEqual(['CANCELLED', 'CANCELLED'])
  })
})

describe('the limit of runs that are under way', () => {
  it('holds when two processes begin a run at the same moment', async () => {
    const { begun, organizationId } = await organization([thinking])
    const ids = await Promise.all(Array.from({ length: limits.runningOfOrganization + 1 }, begun))
    await graph.rows(`update agents.runs set status = 'RUNNING', wake_at = null where id = any($1)`, [ids.slice(2)])
    const hold = await graph.database.sequelize.transaction()
    await graph.database.sequelize.query('lock table agents.work_feed in exclusive mode', { transaction: hold })
    const looks = ids.slice(0, 2).map(id => look(job(), id, null))
    await expect.poll(waitingLocks).toBe(2)
    await hold.commit()
    const calls = (await Promise.all(looks)).filter(looked => looked?.calling)
    expect(calls).toHaveLength(1)
    const [counted] = await graph.rows<{ runs: number }>(`select count(*)::int as runs from agents.runs where organization_id = $1 and status = 'RUNNING'`, [
      organizationId,
    ])
    expect(counted!.runs).toBe(limits.runningOfOrganization)
  })
})

describe('a release of the kill switch', () => {
  it('wakes a run that is just being put off', async () => {
    const { begun, organizationId, owner } = await organization([planStep('REPORT', 'note', { text: 'Noted.' })])
    const id = await begun()
    await say(killSwitch, { engaged: true }, owner)
    const hold = await graph.database.sequelize.transaction()
    // The look has seen the kill switch, and waits here.
    await job().runs.hasRoom(organizationId, 1, hold)
    const looked = look(job(), id, null)
    await expect.poll(waitingLocks).toBe(1)
    let isReleased = false
    const released = say(killSwitch, { engaged: false }, owner).finally(() => {
      isReleased = true
    })
    await expect.poll(async () => isReleased || (await waitingLocks()) === 2).toBe(true)
    await hold.commit()
    await Promise.all([looked, released])
    await settle()
    expect(await statusOf(id)).toBe('SUCCEEDED')
  })
})
