import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type AiWorld, aiWorld, chatModel } from '../../providers/ai/world.ts'
import { seedKnowledge } from '../knowledge/seed.ts'

const mutation = (name: string, selection = 'id') =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
const conversation = `query($id: ID!) { conversation(id: $id) { messages(first: 6) { nodes {
  id role text mode notice status failure { code } run { id status trigger costMicros } } } } }`
const run = `query($id: ID!) { run(id: $id) { status steps { key status
  childRuns(first: 5) { nodes { id status output } } } } }`
const approvals = '{ approvals(status: PENDING, first: 5) { nodes { id argumentsHash tool run { id } } } }'
const updated = 'subscription($id: ID!) { conversationMessageUpdated(conversationId: $id) { id role text status } }'

let world: AiWorld
let owner: Viewer
let connectorId: string
beforeAll(async () => {
  world = await aiWorld()
  ;({ owner } = world)
  connectorId = (await does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${world.graph.x.origin}/mcp` })).id
  await does('checkConnector', { id: connectorId })
  await does('updateConnector', { id: connectorId, tools: [{ name: 'create_note', permission: 'AUTO' }] })
})
beforeEach(async () => {
  for (const network of ['openai', 'anthropic', 'mcp']) await world.arm(network)
})
afterAll(() => world[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: what the graph answers is looked at part by part
type Answered = any

const ask = async (document: string, variables: object = {}): Promise<Answered> => (await world.graph.execute(document, { ...variables }, { as: owner })).data()
const does = async (name: string, input: object, selection?: string) => (await ask(mutation(name, selection), { input }))[name]

const notes = async (text: string) => (await world.received('mcp')).filter(({ arguments: given }) => JSON.stringify(given).includes(text))

/** A conversation with an agent that has a tool. */
async function talk(permission = 'AUTO', agent: object = {}) {
  const connectorTools = [{ connectorId, name: 'create_note', permission }]
  const { id: agentId } = await does('createAgent', { name: 'Ada', instructions: 'Help.', model: chatModel, connectorTools, ...agent })
  const { id } = await does('createConversation', { agentId })
  const reply = async (): Promise<Answered> => (await ask(conversation, { id })).conversation.messages.nodes.at(-1)
  return {
    ...{ id, agentId, reply },
    say: (text: string) => does('sendMessage', { conversationId: id, text }),
    async ended(status = 'COMPLETE') {
      await world.until(async () => (await reply()).status, status)
      return reply()
    },
    /** The approval that the reply waits for. */
    async approval() {
      await world.until(async () => (await ask(approvals)).approvals.nodes.length, 1)
      return (await ask(approvals)).approvals.nodes[0]
    },
  }
}

describe('a reply of an agent that has tools', () => {
  it('says what it says between calls, has them made in its run, and ends with what came of them', async () => {
    const { id, say, ended, agentId } = await talk()
    const live = await world.graph.subscribe(updated, { id }, { as: owner })
    await say('call create_note {"text":"from a talk"}')
    const reply = await ended()
    expect(reply).toMatchObject({ role: 'AGENT', mode: 'MODEL', notice: null, failure: null, run: { status: 'SUCCEEDED', trigger: 'MANUAL' } })
    expect(reply.text).toMatch(/^Calling create_note\. \n\nEcho: .*from a talk/)
    const { steps } = (await ask(run, { id: reply.run.id })).run
    expect(steps).toMatchObject([{ key: 'reply', status: 'SUCCEEDED', childRuns: { nodes: [{ status: 'SUCCEEDED', output: { text: 'from a talk' } }] } }])
    expect(await notes('from a talk')).toMatchObject([{ tool: 'create_note', idempotencyKey: `${steps[0].childRuns.nodes[0].id}:action:1` }])
    await live.next(({ conversationMessageUpdated: seen }) => seen.role === 'AGENT' && seen.status === 'COMPLETE')
    await live.end()
    const seen = live.events.flatMap(({ data }) => (data!.conversationMessageUpdated as { role: string; text: string }) ?? [])
    const grown = seen.filter(({ role, text }) => role === 'AGENT' && text !== '').map(({ text }) => text)
    expect(grown.every((text, at) => at === 0 || text.startsWith(grown[at - 1]!))).toBe(true)
    expect(grown.some(text => !text.includes('Echo'))).toBe(true)
    const spent = await does('updateAgent', { id: agentId, name: 'Ada' }, 'spentMicros')
    expect([spent.spentMicros > 0, spent.spentMicros]).toEqual([true, reply.run.costMicros])
  })

  it('waits for a person where the tool asks, and goes on from where it stood', async () => {
    const { say, approval, reply, ended } = await talk('ASK')
    await say('call create_note {"text":"asked in a talk"}')
    const waits = await approval()
    expect(await reply()).toMatchObject({ status: 'STREAMING', text: 'Calling create_note. ', run: { status: 'RUNNING' } })
    expect(await notes('asked in a talk')).toEqual([])
    await does('decideApproval', { id: waits.id, argumentsHash: waits.argumentsHash, decision: 'APPROVE' })
    expect((await ended()).text).toContain('asked in a talk')
    expect(await notes('asked in a talk')).toHaveLength(1)
  })

  it('fails with its run when that is cancelled, and nothing is called', async () => {
    const { say, approval, reply, ended } = await talk('ASK')
    await say('call create_note {"text":"cancelled talk"}')
    await approval()
    await does('cancelRun', { id: (await reply()).run.id })
    expect(await ended('FAILED')).toMatchObject({ text: 'Calling create_note. ', failure: { code: 'CANCELLED' }, run: { status: 'CANCELLED' } })
    expect(await notes('cancelled talk')).toEqual([])
    await world.until(async () => (await ask(approvals)).approvals.nodes, [])
  })

  it('quotes its sources, which is said, while no model answers', async () => {
    const { id } = await seedKnowledge(world.graph, { organizationId: owner.organizationId!, text: 'The harbour meeting is on Thursday at nine.' })
    const { say, ended } = await talk('AUTO', { knowledgeSourceIds: [id] })
    for (const network of ['openai', 'anthropic']) await world.arm(network, { fault: 'status', status: 503, times: 20 })
    await say('When is the harbour meeting?')
    const reply = await ended()
    expect(reply).toMatchObject({ mode: 'EXTRACTIVE', text: expect.stringContaining('Thursday'), notice: expect.stringContaining('available') })
    expect(reply.run.status).toBe('SUCCEEDED')
  })

  it('fails with what it has said when the model does not go on after a call', async () => {
    const { say, approval, ended } = await talk('ASK')
    await say('call create_note {"text":"before the end"}')
    const waits = await approval()
    for (const network of ['openai', 'anthropic']) await world.arm(network, { fault: 'status', status: 503, times: 20 })
    await does('decideApproval', { id: waits.id, argumentsHash: waits.argumentsHash, decision: 'APPROVE' })
    await world.until(async () => (await notes('before the end')).length, 1)
    await world.graph.clock.run(60_000)
    expect(await ended('FAILED')).toMatchObject({ text: 'Calling create_note. ', failure: { code: 'UPSTREAM_FAILED' }, run: { status: 'FAILED' } })
  })

  it('stays as it is when its writer died in the middle of a round', async () => {
    const { say, approval, reply, ended } = await talk('ASK')
    await say('call create_note {"text":"broken off"}')
    const waits = await approval()
    const { id } = await reply()
    await world.graph.rows(`update agents.conversation_messages set text = text || 'Half a sen' where id = $1`, [id])
    await does('decideApproval', { id: waits.id, argumentsHash: waits.argumentsHash, decision: 'APPROVE' })
    expect(await ended('FAILED')).toMatchObject({ text: 'Calling create_note. Half a sen', failure: { code: 'UPSTREAM_FAILED' } })
  })
})
