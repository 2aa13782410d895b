import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { isHeldBy } from '../../../../subgraphs/agents/engines/run/kill-switch.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { planStep } from '../../../rules/agents/plans.ts'
import { seedWorkflow } from '../workflow/seed.ts'

const workspace =
  '{ operatingWorkspace { id state version memory { nodes { id key text version updatedBy { id } } } killSwitch { engaged reason user { id } } } }'
const update = 'mutation($input: UpdateOperatingWorkspaceInput!) { updateOperatingWorkspace(input: $input) { state version } }'
const save = 'mutation($input: SaveMemoryInput!) { saveMemory(input: $input) { id key text version } }'
const forget = 'mutation($input: DeleteMemoryInput!) { deleteMemory(input: $input) { id } }'
const killSwitch = 'mutation($input: SetKillSwitchInput!) { setKillSwitch(input: $input) { id killSwitch { engaged reason user { id } } } }'
const startRun = 'mutation($input: StartRunInput!) { startRun(input: $input) { id status } }'
const runQuery = 'query($id: ID!) { run(id: $id) { id status steps { key status } } }'

async function office(graph: Supergraph) {
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  const tell = (document: string, input: object, as: Viewer = owner) => graph.execute(document, { input }, { as })
  const read = async (as: Viewer = owner) => (await graph.execute(workspace, {}, { as })).data().operatingWorkspace
  return { owner, member, outsider, tell, read }
}

describe('the operating workspace', () => {
  it('begins empty, and every replacement of its state is a version', async () => {
    await using graph = await supergraph()
    const { tell, read, member, outsider } = await office(graph)
    const empty = await read(member)
    expect(empty).toMatchObject({ state: {}, version: 1, memory: { nodes: [] }, killSwitch: { engaged: false } })
    const state = { phase: 'launch', open: [1, 2] }
    expect((await tell(update, { state, expectedVersion: 1 })).data().updateOperatingWorkspace).toEqual({ state, version: 2 })
    expect((await tell(update, { state, expectedVersion: 2 })).data().updateOperatingWorkspace).toEqual({ state, version: 3 })
    expect((await tell(update, { state: {}, expectedVersion: 1 })).refused('CONFLICT').extensions).toMatchObject({ reason: 'STALE_VERSION', version: 3 })
    expect(await read()).toMatchObject({ id: empty.id, state, version: 3 })
    expect(await read(outsider)).toMatchObject({ state: {}, version: 1 })
    expect((await tell(update, { state: 'x'.repeat(70_000) })).refused('BAD_USER_INPUT').extensions).toMatchObject({ field: 'state' })
  })

  it('keeps one memory a key, whoever saves it at once, with its versions', async () => {
    await using graph = await supergraph()
    const { owner, tell, read, outsider } = await office(graph)
    const saved = await Promise.all(Array.from({ length: 10 }, (_, at) => tell(save, { key: 'greeting', text: `Hello ${at}` })))
    expect(saved.filter(({ code }) => code !== undefined)).toEqual([])
    const [memory, ...others] = (await read()).memory.nodes
    expect(others).toEqual([])
    expect(memory).toMatchObject({ key: 'greeting', version: 10, updatedBy: { id: owner.userId } })
    expect((await tell(save, { key: 'greeting', text: 'Late.', expectedVersion: 3 })).refused('CONFLICT').extensions).toMatchObject({ reason: 'STALE_VERSION' })
    expect((await tell(forget, { id: memory.id }, outsider)).refused('NOT_FOUND')).toBeTruthy()
    expect((await tell(forget, { id: memory.id })).data().deleteMemory.id).toBe(memory.id)
    expect((await read()).memory.nodes).toEqual([])
  })
})

describe('the kill switch', () => {
  it('leaves runs where they are and begins none until it is released', async () => {
    await using graph = await supergraph()
    const { owner, tell, read } = await office(graph)
    const steps = [planStep('DELAY', 'wait', { seconds: 20 }), planStep('REPORT', 'note', { text: 'Noted.' })]
    const { id: workflowId } = await seedWorkflow(graph, { organizationId: owner.organizationId!, steps })
    const { id } = (await tell(startRun, { workflowId })).data().startRun
    const until = (status: string) =>
      expect.poll(async () => (await graph.execute(runQuery, { id }, { as: owner })).data().run.status, { timeout: 10_000 }).toBe(status)
    await until('WAITING_TIMER')
    const engaged = (await tell(killSwitch, { engaged: true, reason: 'Look first' })).data().setKillSwitch
    expect(engaged.killSwitch).toEqual({ engaged: true, reason: 'Look first', user: { id: owner.userId } })
    expect((await tell(startRun, { workflowId })).refused('CONFLICT').extensions).toMatchObject({ reason: 'KILL_SWITCH' })
    await graph.clock.run(60_000)
    await until('RUNNING')
    await graph.clock.run(60_000)
    const { run } = (await graph.execute(runQuery, { id }, { as: owner })).data()
    expect(run).toMatchObject({ status: 'RUNNING', steps: [{ status: 'SUCCEEDED' }, { status: 'PENDING' }] })
    await tell(killSwitch, { engaged: false })
    expect((await read()).killSwitch).toEqual({ engaged: false, reason: null, user: null })
    await graph.clock.run(1)
    await until('SUCCEEDED')
    expect(await graph.rows('select actor from agents.work_feed where kind = $1', ['KILL_SWITCH'])).toHaveLength(2)
  })

  it('is engaged once however often it is asked for, and holds no other organization', async () => {
    await using graph = await supergraph()
    const { owner, outsider, tell } = await office(graph)
    await Promise.all(Array.from({ length: 5 }, () => tell(killSwitch, { engaged: true })))
    expect(await graph.rows('select 1 from agents.work_feed where kind = $1', ['KILL_SWITCH'])).toHaveLength(1)
    const { id: workflowId } = await seedWorkflow(graph, { organizationId: outsider.organizationId! })
    expect((await tell(startRun, { workflowId }, outsider)).data().startRun.status).toBe('QUEUED')
    expect((await tell(killSwitch, { engaged: false }, outsider)).data()).toBeTruthy()
    expect((await graph.execute(workspace, {}, { as: owner })).data().operatingWorkspace.killSwitch.engaged).toBe(true)
  })

  it('of one agent holds what that agent would begin, and nothing else', () => {
    const [held, free] = [newId(), newId()]
    const switches = { all: false, agents: new Set([held]) }
    expect([isHeldBy(switches, held), isHeldBy(switches, free), isHeldBy(switches)]).toEqual([true, false, false])
    expect(isHeldBy({ all: true, agents: new Set() }, free)).toBe(true)
  })
})
