import { describe, expect, it } from 'vitest'
import type { PlanStep } from '../../../../subgraphs/agents/stores/workflow.ts'
import { shared } from '../../../kit/shared.ts'
import { planStep } from '../../../rules/agents/plans.ts'
import { type AiWorld, aiWorld } from '../../providers/ai/world.ts'
import { seedWorkflow } from './seed.ts'

const mutation = (name: string) => `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { id } }`
const run = `query($id: ID!) { run(id: $id) { status output failure { code } steps { id key status attempt
  childRun { id } childRuns(first: 9) { nodes { id status itemIndex } } } } }`

/** Connectors of which the sandbox loses answers: nobody knows whether a letter was sent. */
async function post() {
  const world = await aiWorld()
  const { graph, owner } = world
  const tries = (name: string, input: object) => graph.execute(mutation(name), { input }, { as: owner })
  const does = async (name: string, input: object) => (await tries(name, input)).data()[name]
  const connectorId: string = (await does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${graph.x.origin}/mcp` })).id
  await does('checkConnector', { id: connectorId })
  await does('updateConnector', { id: connectorId, tools: [{ name: 'send_letter', permission: 'AUTO' }] })
  const read = async (id: string) => (await graph.execute(run, { id }, { as: owner })).data().run
  return {
    ...{ world, does, tries, read, connectorId, organizationId: owner.organizationId! },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    async until(id: string, status: string) {
      await world.until(async () => (await read(id)).status, status)
      return read(id)
    },
  }
}

const office = shared(post)

const letter = (connectorId: string, text: string, more: Partial<PlanStep> = {}) =>
  planStep('TOOL', 'letter', { connectorId, tool: 'send_letter', arguments: { to: 'Bo', text }, retries: 0, ...more })
const plan = async (world: AiWorld, organizationId: string, steps: readonly PlanStep[]) => (await seedWorkflow(world.graph, { organizationId, steps })).id
const lettersWith = async (world: AiWorld, text: string) => (await world.received('mcp')).filter(each => String(each.text).startsWith(text))

/** A run of a step that begins others, of which one has sent a letter without an answer. */
async function failed(kind: 'RUN' | 'MAP', text: string, before: readonly PlanStep[] = []) {
  const { world, does, read, until, connectorId, organizationId } = office()
  const sends = kind === 'MAP' ? `${text} {{input.item}}` : text
  const below = await plan(world, organizationId, [letter(connectorId, sends), planStep('REPORT', 'told', { text: 'Told.' })])
  const list = { list: '{{input.list}}', itemName: 'item', concurrency: 1, onItemFailure: 'STOP', arguments: { item: '{{item}}' } } as const
  const step = planStep(kind, 'below', { workflowId: below, ...(kind === 'MAP' && list) })
  const workflowId = await plan(world, organizationId, [...before, step])
  await world.arm('mcp', { fault: 'accept-then-reset' })
  const { id } = await does('startRun', { workflowId, input: { list: ['x', 'y'] } })
  const { failure, steps } = await until(id, 'FAILED')
  expect(failure.code).toBe('CHILD_FAILED')
  const { childRun, childRuns } = steps.at(-1)
  const childId: string = kind === 'RUN' ? childRun.id : childRuns.nodes[0].id
  return { id, childId, stepId: (await read(childId)).steps[0].id as string }
}

describe('a retry of a run that began another whose outcome is unknown', () => {
  it.each(['RUN', 'MAP'] as const)('is refused for a %s step until that is resolved, and goes on with what happened', async kind => {
    const { world, does, tries, until } = office()
    const text = `${kind} happened`
    const { id, childId, stepId } = await failed(kind, text)
    expect((await tries('retryRun', { id })).refused('CONFLICT').extensions).toMatchObject({ reason: 'OUTCOME_UNKNOWN', stepId })
    await does('resolveStep', { stepId, happened: true, output: { id: 'seen' } })
    await until(childId, 'SUCCEEDED')
    await does('retryRun', { id })
    const { steps } = await until(id, 'SUCCEEDED')
    expect(steps[0]).toMatchObject(kind === 'RUN' ? { attempt: 2, childRun: { id: childId } } : { attempt: 2 })
    expect(await lettersWith(world, text)).toHaveLength(kind === 'RUN' ? 1 : 2)
  })

  it.each(['RUN', 'MAP'] as const)('begins another for a %s step once a person has found that it did not happen', async kind => {
    const { world, does, until } = office()
    const text = `${kind} did not happen`
    const { id, stepId } = await failed(kind, text)
    await does('resolveStep', { stepId, happened: false })
    await does('retryRun', { id })
    await until(id, 'SUCCEEDED')
    expect(await lettersWith(world, text)).toHaveLength(kind === 'RUN' ? 2 : 3)
  })

  it('waits for the run below where that goes on after it was resolved', async () => {
    const { world, does, until, read, organizationId, connectorId } = office()
    const below = await plan(world, organizationId, [letter(connectorId, 'goes on'), planStep('DELAY', 'wait', { seconds: 60 })])
    const workflowId = await plan(world, organizationId, [planStep('RUN', 'below', { workflowId: below })])
    await world.arm('mcp', { fault: 'accept-then-reset' })
    const { id } = await does('startRun', { workflowId, input: {} })
    const { childRun } = (await until(id, 'FAILED')).steps[0]
    await does('resolveStep', { stepId: (await read(childRun.id)).steps[0].id, happened: true })
    await until(childRun.id, 'WAITING_TIMER')
    await does('retryRun', { id })
    await until(id, 'RUNNING')
    await world.graph.clock.run(60_000)
    expect((await until(id, 'SUCCEEDED')).steps[0].childRun.id).toBe(childRun.id)
    expect(await lettersWith(world, 'goes on')).toHaveLength(1)
  })

  it('is refused from an earlier step as well, and for runs further below', async () => {
    const { world, does, tries, until, read, organizationId, connectorId } = office()
    const deep = await plan(world, organizationId, [letter(connectorId, 'deep')])
    const middle = await plan(world, organizationId, [planStep('RUN', 'middle', { workflowId: deep })])
    const steps = [planStep('REPORT', 'first', { text: 'First.' }), planStep('RUN', 'below', { workflowId: middle })]
    const workflowId = await plan(world, organizationId, steps)
    await world.arm('mcp', { fault: 'accept-then-reset' })
    const { id } = await does('startRun', { workflowId, input: {} })
    const below = (await until(id, 'FAILED')).steps[1].childRun.id
    const [step] = (await read((await read(below)).steps[0].childRun.id)).steps
    for (const input of [{ id }, { id, fromStep: 'first' }, { id: below }])
      expect((await tries('retryRun', input)).refused('CONFLICT').extensions).toMatchObject({ reason: 'OUTCOME_UNKNOWN', stepId: step.id })
    await does('resolveStep', { stepId: step.id, happened: false })
    await does('retryRun', { id, fromStep: 'first' })
    await until(id, 'SUCCEEDED')
    expect(await lettersWith(world, 'deep')).toHaveLength(2)
  })
})
