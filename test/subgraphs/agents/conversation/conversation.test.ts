import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type AiWorld, aiWorld } from '../../providers/ai/world.ts'
import { seedAgent } from '../agent/seed.ts'
import { seedKnowledge } from '../knowledge/seed.ts'

const createConversation = 'mutation($input: CreateConversationInput!) { createConversation(input: $input) { id title agent { id } createdBy { id } } }'
const sendMessage = 'mutation($input: SendMessageInput!) { sendMessage(input: $input) { id role text status } }'
const conversation = `query($id: ID!) { conversation(id: $id) { messages { nodes {
  id role text mode notice status failure { code } sources { quote document { source { id } } } } } } }`
const updated = 'subscription($id: ID!) { conversationMessageUpdated(conversationId: $id) { id role text status } }'
const setKillSwitch = 'mutation($input: SetKillSwitchInput!) { setKillSwitch(input: $input) { id } }'

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

const ask = async (document: string, input: object) => (await world.graph.execute(document, { input }, { as: owner })).data()

/** A conversation with an agent that knows one text. */
async function talk(agent: object = {}) {
  const { graph } = world
  const { id: sourceId } = await seedKnowledge(graph, { organizationId, text: 'The harbour meeting is on Thursday at nine. Bring a chair.' })
  const agentId = await seedAgent(graph, { organizationId, knowledgeSourceIds: [sourceId], ...agent })
  const { id } = (await ask(createConversation, { agentId, title: 'A talk' })).createConversation
  const messages = async () => (await graph.execute(conversation, { id }, { as: owner })).data().conversation.messages.nodes
  return {
    ...{ id, agentId, sourceId, messages },
    say: async (text: string) => (await ask(sendMessage, { conversationId: id, text })).sendMessage,
    /** The reply, once it has ended. */
    async reply() {
      await graph.clock.run(1)
      await expect.poll(async () => (await messages()).at(-1)?.status, { timeout: 15_000 }).toMatch(/COMPLETE|FAILED/)
      return (await messages()).at(-1)
    },
  }
}

describe('a conversation', () => {
  it('is answered from the sources of an agent without a model, which says so', async () => {
    const { say, reply, sourceId } = await talk()
    expect(await say('When is the harbour meeting?')).toMatchObject({ role: 'USER', status: 'COMPLETE' })
    const answered = await reply()
    expect(answered).toMatchObject({
      role: 'AGENT',
      mode: 'EXTRACTIVE',
      status: 'COMPLETE',
      failure: null,
      sources: [{ document: { source: { id: sourceId } } }],
    })
    expect(answered.text).toBe('The harbour meeting is on Thursday at nine.')
    expect(answered.notice).not.toBeNull()
    await say('moonshot')
    expect(await reply()).toMatchObject({ mode: 'EXTRACTIVE', sources: [], text: expect.stringContaining('Nothing') })
  })

  it('is answered by the model, whose text grows before everybody who watches', async () => {
    const { say, reply, id, agentId } = await talk({ model: 'default' })
    const live = await world.graph.subscribe(updated, { id }, { as: owner })
    await say('Tell a long story about a small ship, in many words, please, and take your time with it.')
    const answered = await reply()
    expect(answered).toMatchObject({ mode: 'MODEL', notice: null, status: 'COMPLETE' })
    expect(answered.text).toContain('small ship')
    await live.next(({ conversationMessageUpdated: seen }) => seen.role === 'AGENT' && seen.status === 'COMPLETE')
    await live.end()
    const texts = live.events.flatMap(({ data }) => (data!.conversationMessageUpdated as { role: string; text: string }) ?? [])
    const grown = texts.filter(({ role, text }) => role === 'AGENT' && text !== '').map(({ text }) => text)
    expect(new Set(grown).size).toBeGreaterThan(2)
    expect(grown.every((text, at) => at === 0 || text.startsWith(grown[at - 1]!))).toBe(true)
    const [spent] = await world.graph.rows<{ spent: string }>('select sum(cost_micros) as spent from agents.model_calls where agent_id = $1', [agentId])
    const [cost] = await world.graph.rows<{ cost: string }>(
      'select sum(c.cost_micros) as cost from providers.calls c join agents.model_calls m on m.call_id = c.id where m.agent_id = $1',
      [agentId],
    )
    expect(Number(spent!.spent)).toBe(Number(cost!.cost))
    expect(Number(cost!.cost)).toBeGreaterThan(0)
  })

  it('is answered from the sources, which is said, while no model answers, and when the budget is spent', async () => {
    const { say, reply, agentId } = await talk({ model: 'default' })
    for (const network of ['openai', 'anthropic']) await world.arm(network, { fault: 'status', status: 503, times: 20 })
    await say('When is the harbour meeting?')
    expect(await reply()).toMatchObject({ mode: 'EXTRACTIVE', text: expect.stringContaining('Thursday'), notice: expect.stringContaining('available') })
    for (const network of ['openai', 'anthropic']) await world.arm(network)
    await world.graph.rows('update agents.agents set monthly_limit_micros = 0 where id = $1', [agentId])
    await say('When is the harbour meeting?')
    expect(await reply()).toMatchObject({ mode: 'EXTRACTIVE', text: expect.stringContaining('Thursday'), notice: expect.stringContaining('budget') })
  })

  it('takes no message while its agent is held, and writes a reply that waited once it is released', async () => {
    const { say, reply, id, agentId } = await talk()
    await ask(setKillSwitch, { agentId, engaged: true, reason: 'test' })
    const refused = await world.graph.execute(sendMessage, { input: { conversationId: id, text: 'Now?' } }, { as: owner })
    expect(refused.refused('CONFLICT').extensions).toMatchObject({ reason: 'KILL_SWITCH' })
    await ask(setKillSwitch, { agentId, engaged: false })
    await say('When is the harbour meeting?')
    expect((await reply()).status).toBe('COMPLETE')
  })

  it('has one message and one reply for one idempotency key when ten send it at once', async () => {
    const { id, messages, reply } = await talk()
    const input = { conversationId: id, text: 'When is the harbour meeting?', idempotencyKey: 'message-1' }
    const sent = await Promise.all(Array.from({ length: 10 }, async () => (await ask(sendMessage, input)).sendMessage.id))
    expect(new Set(sent).size).toBe(1)
    await reply()
    expect((await messages()).map(({ role }: { role: string }) => role)).toEqual(['USER', 'AGENT'])
  })

  it('leaves a reply as it stands whose writer has died in the middle of it', async () => {
    const { say, reply, id } = await talk()
    await say('When is the harbour meeting?')
    await reply()
    const until = world.graph.clock.now()
    await world.graph.rows(
      `update agents.conversation_messages set status = 'STREAMING', text = 'The', wake_at = $2 where conversation_id = $1 and role = 'AGENT'`,
      [id, until],
    )
    await world.graph.clock.run(11_000)
    expect(await reply()).toMatchObject({ status: 'FAILED', text: 'The', failure: { code: 'UPSTREAM_FAILED' } })
  })

  it.each(['PAUSED', 'ARCHIVED'])('is not begun with an agent that is %s', async status => {
    const agentId = await seedAgent(world.graph, { organizationId, status: status as 'PAUSED' })
    const refused = await world.graph.execute(createConversation, { input: { agentId } }, { as: owner })
    expect(refused.refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: status })
  })
})
