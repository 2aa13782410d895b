import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { planStep } from '../../../rules/agents/plans.ts'
import { type AiWorld, aiWorld } from '../../providers/ai/world.ts'
import { seedKnowledge } from '../knowledge/seed.ts'
import { seedProfile } from '../person-profile/seed.ts'
import { seedWorkflow } from '../workflow/seed.ts'
import { seedAgent } from './seed.ts'

const startRun = 'mutation($input: StartRunInput!) { startRun(input: $input) { id } }'
const run = `query($id: ID!) { run(id: $id) { status output costMicros tokens { input output } failure { code stepKey } steps { key callId attempt } } }`
const updateAgent = 'mutation($input: UpdateAgentInput!) { updateAgent(input: $input) { id spentMicros } }'

let world: AiWorld
let owner: Viewer
let organizationId: string
beforeAll(async () => {
  world = await aiWorld()
  ;({ owner } = world)
  organizationId = owner.organizationId!
})
beforeEach(async () => {
  for (const network of ['openai', 'anthropic']) await world.arm(network)
})
afterAll(() => world[Symbol.asyncDispose]())

/** Runs one question to an agent to its end. */
async function asked(agent: object, prompt = 'Say something', more: object = {}, as: Viewer = owner) {
  const { graph } = world
  const agentId = await seedAgent(graph, { organizationId, model: 'default', ...agent })
  const { id: workflowId } = await seedWorkflow(graph, { organizationId, steps: [planStep('MODEL', 'think', { agentId, prompt, ...more })] })
  const begin = async () => {
    const { id } = (await graph.execute(startRun, { input: { workflowId, input: { word: 'ship' } } }, { as })).data().startRun
    const read = async () => (await graph.execute(run, { id }, { as: owner })).data().run
    await graph.clock.run(1)
    await expect.poll(async () => (await read()).status, { timeout: 15_000 }).toMatch(/SUCCEEDED|FAILED/)
    return read()
  }
  return { agentId, begin, ended: await begin() }
}

const callOf = async (id: string) =>
  (
    await world.graph.rows<{ app: string; user: string | null; cost: string; input: number; output: number }>(
      'select app_id as app, user_id as user, cost_micros as cost, input_tokens as input, output_tokens as output from providers.calls where id = $1',
      [id],
    )
  )[0]!

describe('a MODEL step', () => {
  it('is a call of the person who began the run, at the cost that providers count', async () => {
    const { ended, agentId } = await asked({ instructions: 'Be short.' }, 'Name a {{input.word}}')
    expect(ended).toMatchObject({ status: 'SUCCEEDED', output: { text: expect.stringContaining('Name a ship') } })
    const call = await callOf(ended.steps[0].callId)
    expect(call).toMatchObject({ app: 'app_agents', user: owner.userId })
    expect([Number(ended.costMicros), ended.tokens]).toEqual([Number(call.cost), { input: call.input, output: call.output }])
    expect(ended.costMicros).toBeGreaterThan(0)
    const { spentMicros } = (await world.graph.execute(updateAgent, { input: { id: agentId, name: 'Ada' } }, { as: owner })).data().updateAgent
    expect(spentMicros).toBe(ended.costMicros)
  })

  it('has passages of its agent’s sources, and of no others', async () => {
    const { id } = await seedKnowledge(world.graph, { organizationId, text: 'The lighthouse of Sund has nine lamps, and each of them is green.' })
    const read = async (knowledgeSourceIds: readonly string[]): Promise<number> => {
      const { ended } = await asked({ knowledgeSourceIds }, 'How many lamps has the lighthouse of Sund?')
      expect(ended.status).toBe('SUCCEEDED')
      return ended.tokens.input
    }
    const [alone, told] = [await read([]), await read([id])]
    // The sentence, and what is said of quotations.
    expect(told).toBeGreaterThan(alone + 12)
  })

  it.each([
    ['NO_MODEL', 'the agent has none', { model: null }],
    ['NO_MODEL', 'the catalogue has no model of that name', { model: 'openai/no-such-model' }],
    ['NOT_PERMITTED', 'the agent is paused', { status: 'PAUSED' }],
  ])('fails with %s when %s', async (code, _, agent) => {
    const { ended } = await asked(agent)
    expect(ended).toMatchObject({ status: 'FAILED', failure: { code, stepKey: 'think' }, costMicros: 0, steps: [{ callId: null }] })
  })

  it('fails with UPSTREAM_FAILED when no provider answers', async () => {
    for (const network of ['openai', 'anthropic']) await world.arm(network, { fault: 'status', status: 503, times: 20 })
    const { ended } = await asked({}, 'Say it', { retries: 0 })
    expect(ended).toMatchObject({ status: 'FAILED', failure: { code: 'UPSTREAM_FAILED' } })
  })

  it('fails with PROFILE_NOT_ALLOWED when the profile of its agent may not be used by agents', async () => {
    const { id } = await seedProfile(world.graph, { organizationId, subjectId: owner.userId! })
    const { ended, begin } = await asked({ personProfileId: id })
    expect(ended).toMatchObject({ status: 'FAILED', failure: { code: 'PROFILE_NOT_ALLOWED' } })
    await world.graph.rows(
      `update agents.person_profiles set usage_policies = '[{"product":"agents","purpose":null,"allowed":true,"expiresAt":null}]' where id = $1`,
      [id],
    )
    expect((await begin()).status).toBe('SUCCEEDED')
  })

  it('fails with BUDGET_EXCEEDED at the limit of its agent, of which managers are told once a month until it is raised', async () => {
    const { begin, agentId } = await asked({ monthlyLimitMicros: 1n })
    const facts = () => world.graph.rows<{ kind: string }>(`select kind from agents.facts where body->>'key' = $1 order by seq`, [`agent_budget:${agentId}`])
    for (const _ of [1, 2]) expect(await begin()).toMatchObject({ status: 'FAILED', failure: { code: 'BUDGET_EXCEEDED' } })
    expect(await facts()).toEqual([{ kind: 'attention.opened' }])
    await world.graph.execute(updateAgent, { input: { id: agentId, monthlyLimitMicros: '50000000' } }, { as: owner })
    expect(await facts()).toEqual([{ kind: 'attention.opened' }, { kind: 'attention.closed' }])
    expect((await begin()).status).toBe('SUCCEEDED')
  })
})
