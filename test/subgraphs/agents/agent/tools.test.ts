import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hashOfAction } from '../../../../subgraphs/agents/engines/run/canonical.ts'
import { limits } from '../../../../subgraphs/agents/engines/run/plan.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { planStep } from '../../../rules/agents/plans.ts'
import { type AiWorld, aiWorld, chatModel, secondModel } from '../../providers/ai/world.ts'
import { seedWorkflow } from '../workflow/seed.ts'

const mutation = (name: string, selection = 'id') =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
const run = `query($id: ID!) { run(id: $id) { id status output costMicros failure { code stepKey } steps {
  key status output childRuns(first: 9) { totalCount nodes { id status itemIndex trigger output failure { code } parent { id } } } } } }`
const child = `query($id: ID!) { run(id: $id) { steps {
  id status input output approval { id status title risk arguments argumentsHash } } } }`

let world: AiWorld
let owner: Viewer
let organizationId: string
let connectorId: string
beforeAll(async () => {
  world = await aiWorld()
  ;({ owner } = world)
  organizationId = owner.organizationId!
  connectorId = (await does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${world.graph.x.origin}/mcp` })).id
  await does('checkConnector', { id: connectorId })
  const automatic = ['create_note', 'send_letter', 'refuse'].map(name => ({ name, permission: 'AUTO' }))
  await does('updateConnector', { id: connectorId, tools: [...automatic, { name: 'purge', permission: 'DENY' }] })
})
beforeEach(async () => {
  for (const network of ['openai', 'anthropic', 'mcp']) await world.arm(network)
})
afterAll(() => world[Symbol.asyncDispose]())

const does = async (name: string, input: object, selection?: string) =>
  (await world.graph.execute(mutation(name, selection), { input }, { as: owner })).data()[name]
// biome-ignore lint/suspicious/noExplicitAny: what the graph answers is looked at part by part
type Answered = any

/** A run with the runs in which its one step called tools. */
async function read(id: string): Promise<Answered> {
  const ask = async (document: string, of: string) => (await world.graph.execute(document, { id: of }, { as: owner })).data().run
  const found = await ask(run, id)
  for (const each of found.steps[0].childRuns?.nodes ?? []) each.steps = (await ask(child, each.id)).steps
  return found
}

const received = async (text: string) =>
  (await world.received('mcp')).filter(call => String(call.text ?? '').includes(text) || JSON.stringify(call.arguments ?? '').includes(text))

/** A run of one question to an agent with tools of the sandbox's server. */
async function asked(prompt: string, permissions: Readonly<Record<string, string>> = { create_note: 'AUTO' }, agent: object = {}, step: object = {}) {
  const connectorTools = Object.entries(permissions).map(([name, permission]) => ({ connectorId, name, permission }))
  const { id: agentId } = await does('createAgent', { name: 'Ada', instructions: 'Help.', model: chatModel, connectorTools, ...agent })
  const { id: workflowId } = await seedWorkflow(world.graph, { organizationId, steps: [planStep('MODEL', 'think', { agentId, prompt, ...step })] })
  const { id } = await does('startRun', { workflowId, input: {} })
  const statusOf = async () => (await read(id)).status
  return {
    ...{ id, agentId },
    async ended(status = 'SUCCEEDED') {
      await world.until(statusOf, status)
      return read(id)
    },
    /** The approval that its call waits for. */
    async approval(at = 0) {
      await world.until(async () => (await read(id)).steps[0].childRuns?.nodes[at]?.status, 'WAITING_APPROVAL')
      return (await read(id)).steps[0].childRuns.nodes[at].steps[0].approval
    },
  }
}

const decide = (approval: { id: string; argumentsHash: string }, decision: string) =>
  does('decideApproval', { id: approval.id, argumentsHash: approval.argumentsHash, decision })

describe('a MODEL step whose agent has tools', () => {
  it.each([chatModel, secondModel])('calls those that %s wants, each in a run of its own, and has the model told what came of them', async model => {
    const word = `word of ${model.split('/')[0]}`
    const { ended } = await asked(
      `call create_note {"text":"${word}"}, then call read_notes {"query":"${word}"}`,
      { create_note: 'AUTO', read_notes: 'AUTO' },
      { model },
    )
    const done = await ended()
    const [first, second] = done.steps[0].childRuns.nodes
    expect(done.output.text).toContain('Echo: ')
    expect(done.output.text).toContain(word)
    expect(first).toMatchObject({
      ...{ status: 'SUCCEEDED', trigger: 'PARENT', itemIndex: 0, output: { text: word }, parent: { id: done.id } },
      steps: [{ status: 'SUCCEEDED', input: { text: word }, approval: null }],
    })
    expect(second).toMatchObject({ status: 'SUCCEEDED', itemIndex: 1, output: { notes: [{ text: word }] } })
    expect(await received(word)).toMatchObject([{ tool: 'create_note', idempotencyKey: `${first.id}:action:1` }])
    const [counted] = await world.graph.rows<{ cost: string; calls: number }>(
      'select sum(c.cost_micros) as cost, count(*)::int as calls from providers.calls c join agents.model_calls m on m.call_id = c.id where $1 = any(m.run_ids)',
      [done.id],
    )
    expect([Number(counted!.cost), counted!.calls]).toEqual([Number(done.costMicros), 3])
  })

  it('waits for a person where a tool asks, and executes exactly the arguments that were approved', async () => {
    const { approval, ended } = await asked('call create_note {"text":"asked first"}', { create_note: 'ASK' })
    const waits = await approval()
    const given = { text: 'asked first' }
    const action = { connectorId, tool: 'create_note', counterparty: null, arguments: given }
    expect(waits).toMatchObject({ status: 'PENDING', arguments: given, argumentsHash: hashOfAction(action), title: 'May create_note be called?' })
    expect(await received('asked first')).toEqual([])
    await decide(waits, 'APPROVE')
    expect((await ended()).output.text).toContain('asked first')
    expect(await received('asked first')).toHaveLength(1)
  })

  it('tells the model that a person has refused, and executes nothing', async () => {
    const { approval, ended } = await asked('call create_note {"text":"refused"}', { create_note: 'ASK' })
    await decide(await approval(), 'REJECT')
    expect((await ended()).output.text).toContain('APPROVAL_REJECTED')
    expect(await received('refused')).toEqual([])
  })

  it('calls no tool that its connector denies, or that its agent does not have', async () => {
    const { ended } = await asked('call purge {} and call send_letter {"to":"x","text":"never sent"}', { purge: 'AUTO', create_note: 'AUTO' })
    const done = await ended()
    expect(done.steps[0].childRuns).toBeNull()
    expect(done.output.text).toContain('Echo: call purge')
    expect(await received('never sent')).toEqual([])
  })

  it('does not execute an approved call once the agent has lost the tool', async () => {
    const { approval, ended, agentId } = await asked('call create_note {"text":"lost"}', { create_note: 'ASK' })
    const waits = await approval()
    await does('updateAgent', { id: agentId, connectorTools: [] })
    await decide(waits, 'APPROVE')
    expect((await ended()).output.text).toContain('NOT_PERMITTED')
    expect(await received('lost')).toEqual([])
  })

  it('begins no call while its agent is held, and goes on once it is released', async () => {
    const { approval, ended, agentId, id } = await asked('call create_note {"text":"held"}', { create_note: 'ASK' })
    const waits = await approval()
    await does('setKillSwitch', { engaged: true, agentId, reason: 'Look first' })
    await decide(waits, 'APPROVE')
    await world.graph.clock.run(30_000)
    expect([(await read(id)).status, await received('held')]).toEqual(['RUNNING', []])
    await does('setKillSwitch', { engaged: false, agentId })
    expect((await ended()).output.text).toContain('held')
    expect(await received('held')).toHaveLength(1)
  })

  it('asks the model no further while its agent is held', async () => {
    const { approval, ended, agentId, id } = await asked('call create_note {"text":"never made"}', { create_note: 'ASK' })
    const waits = await approval()
    await does('setKillSwitch', { engaged: true, agentId, reason: 'Look first' })
    const before = (await world.received('openai')).length
    await decide(waits, 'REJECT')
    await world.until(async () => (await read(id)).steps[0].childRuns.nodes[0].status, 'FAILED')
    await world.graph.clock.run(30_000)
    expect([(await read(id)).status, (await world.received('openai')).length]).toEqual(['RUNNING', before])
    await does('setKillSwitch', { engaged: false, agentId })
    expect((await ended()).output.text).toContain('APPROVAL_REJECTED')
  })

  it('ends after so many rounds with what the model says without tools', async () => {
    const times = limits.tools.rounds + 3
    const prompt = Array.from({ length: times }, (_, at) => `call read_notes {"query":"round ${at}"}`).join(', then ')
    const done = await (await asked(prompt, { read_notes: 'AUTO' })).ended()
    expect(done.steps[0].childRuns.totalCount).toBe(limits.tools.rounds)
    expect(done.output.text).toContain('Echo: ')
  })

  it('fails while nobody knows whether a call has happened, never sends it again, and goes on once that is resolved', async () => {
    await world.arm('mcp', { fault: 'accept-then-reset' })
    const { ended, id } = await asked('call send_letter {"to":"Bo","text":"sent once"}', { send_letter: 'AUTO' }, {}, { retries: 0 })
    const failed = await ended('FAILED')
    expect(failed.failure).toMatchObject({ code: 'CHILD_FAILED', stepKey: 'think' })
    const [child] = failed.steps[0].childRuns.nodes
    expect(child).toMatchObject({ status: 'FAILED', failure: { code: 'OUTCOME_UNKNOWN' } })
    const early = await world.graph.execute(mutation('retryRun'), { input: { id } }, { as: owner })
    expect(early.refused('CONFLICT').extensions).toMatchObject({ reason: 'OUTCOME_UNKNOWN', stepId: child.steps[0].id })
    await does('resolveStep', { stepId: child.steps[0].id, happened: true, output: { id: 'letter' } }, 'id status')
    await does('retryRun', { id })
    const done = await ended()
    expect([done.output.text, done.steps[0].childRuns.totalCount]).toEqual(['Echo: {"id":"letter"}', 1])
    expect(await received('sent once')).toHaveLength(1)
  })

  it('goes on with what was called before when its run is retried', async () => {
    const { approval, ended, id } = await asked('call create_note {"text":"kept"}', { create_note: 'ASK' }, {}, { retries: 0 })
    const waits = await approval()
    for (const network of ['openai', 'anthropic']) await world.arm(network, { fault: 'status', status: 503, times: 20 })
    await decide(waits, 'APPROVE')
    expect((await ended('FAILED')).failure.code).toBe('UPSTREAM_FAILED')
    for (const network of ['openai', 'anthropic']) await world.arm(network)
    await does('retryRun', { id })
    const done = await ended()
    expect([done.output.text.includes('kept'), done.steps[0].childRuns.totalCount]).toEqual([true, 1])
    expect(await received('kept')).toHaveLength(1)
  })

  it('asks anew, and calls anew, once its run is retried from an earlier step', async () => {
    const connectorTools = [{ connectorId, name: 'create_note', permission: 'AUTO' }]
    const { id: agentId } = await does('createAgent', { name: 'Ada', instructions: 'Help.', model: chatModel, connectorTools })
    const steps = [
      planStep('REPORT', 'first', { text: 'First.' }),
      planStep('MODEL', 'think', { agentId, prompt: 'call create_note {"text":"anew"}' }),
      planStep('REPORT', 'last', { text: '{{input.missing}}' }),
    ]
    const { id: workflowId } = await seedWorkflow(world.graph, { organizationId, steps })
    const { id } = await does('startRun', { workflowId, input: {} })
    for (const times of [1, 2]) {
      await world.until(async () => [(await read(id)).status, (await received('anew')).length], ['FAILED', times])
      if (times === 1) await does('retryRun', { id, fromStep: 'first' })
    }
  })

  it('takes no place among the runs that are under way while its tools wait', async () => {
    const { approval, id } = await asked('call create_note {"text":"no place"}', { create_note: 'ASK' })
    await approval()
    expect(await world.graph.rows('select status, waits_for_child as waits from agents.runs where id = $1', [id])).toEqual([{ status: 'RUNNING', waits: true }])
    await does('cancelRun', { id })
  })

  it('is stopped with its calls', async () => {
    const { approval, id } = await asked('call create_note {"text":"stopped"}', { create_note: 'ASK' })
    const waits = await approval()
    await does('cancelRun', { id })
    await world.until(async () => (await read(id)).steps[0].childRuns.nodes[0].steps[0].approval.status, 'CANCELLED')
    const input = { id: waits.id, argumentsHash: waits.argumentsHash, decision: 'APPROVE' }
    const late = await world.graph.execute(mutation('decideApproval'), { input }, { as: owner })
    expect(late.refused('CONFLICT').extensions).toMatchObject({ reason: 'DECIDED', status: 'CANCELLED' })
    expect(await received('stopped')).toEqual([])
  })
})
