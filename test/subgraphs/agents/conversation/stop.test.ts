import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type AiWorld, aiWorld, chatModel } from '../../providers/ai/world.ts'
import { seedAgent } from '../agent/seed.ts'
import { seedKnowledge } from '../knowledge/seed.ts'

const mutation = (name: string, selection = 'id') =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
const message = 'id role text mode notice status failure { code } run { id status }'
const conversation = `query($id: ID!) { conversation(id: $id) { messages(first: 6) { nodes { ${message} } } } }`
const approvals = '{ approvals(status: PENDING, first: 5) { nodes { id } } }'

let world: AiWorld
let owner: Viewer
beforeAll(async () => {
  world = await aiWorld()
  ;({ owner } = world)
})
beforeEach(async () => {
  for (const network of ['openai', 'anthropic', 'mcp']) await world.arm(network)
})
afterAll(() => world[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: what the graph answers is looked at part by part
type Answered = any

const ask = async (document: string, variables: object = {}): Promise<Answered> => (await world.graph.execute(document, { ...variables }, { as: owner })).data()
const does = async (name: string, input: object, selection?: string) => (await ask(mutation(name, selection), { input }))[name]
const stop = (id: string) => does('stopReply', { id }, message)

/** The calls of models for an agent that are under way, as providers keep them. */
const underWay = async () => (await world.graph.rows(`select id from providers.calls where status = 'RUNNING'`)).length

/** A conversation with an agent, in which one thing was said. */
async function talk(agentId: string, text: string) {
  const { id } = await does('createConversation', { agentId })
  await does('sendMessage', { conversationId: id, text })
  return { id, reply: async (): Promise<Answered> => (await ask(conversation, { id })).conversation.messages.nodes.at(-1) }
}

const organizationId = () => owner.organizationId!

describe('a reply that a person stops', () => {
  it('keeps the text that was there, says that it was stopped, and has its call at the provider ended', async () => {
    await world.arm('openai', { fault: 'endless' })
    const { reply } = await talk(await seedAgent(world.graph, { organizationId: organizationId(), model: chatModel }), 'Tell me everything.')
    // Long enough that what looks for stopped replies has looked several times.
    await world.until(async () => (await reply()).text.length > 1_000, true)
    expect(await underWay()).toBe(1)
    const stopped = await stop((await reply()).id)
    expect(stopped).toMatchObject({ status: 'COMPLETE', mode: 'MODEL', notice: 'A person stopped this reply.', failure: null })
    expect(stopped.text.length).toBeGreaterThan(1_000)
    await world.until(underWay, 0)
    expect(await reply()).toEqual(stopped)
  })

  it('ends its call within a second while the model has not said anything yet', async () => {
    await world.arm('openai', { fault: 'slow', delayMs: 60_000 })
    const { reply } = await talk(await seedAgent(world.graph, { organizationId: organizationId(), model: chatModel }), 'Hello?')
    await world.until(underWay, 1)
    const { id } = await reply()
    const since = performance.now()
    expect(await stop(id)).toMatchObject({ status: 'COMPLETE', text: '', mode: null, notice: 'A person stopped this reply.' })
    await expect.poll(underWay, { interval: 20 }).toBe(0)
    expect(performance.now() - since).toBeLessThan(1_500)
    expect(await reply()).toMatchObject({ status: 'COMPLETE', text: '', mode: null })
  })

  it('is stopped once, however often that is asked for, and stays as it ended by itself', async () => {
    await world.arm('openai', { fault: 'slow', delayMs: 60_000 })
    const { id, reply } = await talk(await seedAgent(world.graph, { organizationId: organizationId(), model: chatModel }), 'Hello?')
    const replyId = (await reply()).id
    const answers = await Promise.all(Array.from({ length: 5 }, () => stop(replyId)))
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
    const entries = await world.graph.rows(`select actor from agents.audit_entries where subject_id = $1 and action = 'message.stopped'`, [replyId])
    expect(entries).toEqual([{ actor: `user:${owner.userId}` }])
    const { id: sourceId } = await seedKnowledge(world.graph, { organizationId: organizationId(), text: 'The harbour meeting is on Thursday at nine.' })
    const quoting = await talk(
      await seedAgent(world.graph, { organizationId: organizationId(), knowledgeSourceIds: [sourceId] }),
      'When is the harbour meeting?',
    )
    await world.until(async () => (await quoting.reply()).status, 'COMPLETE')
    const ended = await quoting.reply()
    expect(await stop(ended.id)).toEqual(ended)
    const [said] = (await ask(conversation, { id })).conversation.messages.nodes
    expect(await stop(said.id)).toMatchObject({ role: 'USER', notice: null })
  })

  it('takes the run that writes it with it, and the approval for which that waits: nothing is called', async () => {
    const { id: connectorId } = await does('createConnector', { name: 'Tools', kind: 'MCP', baseUrl: `${world.graph.x.origin}/mcp` })
    await does('checkConnector', { id: connectorId })
    const connectorTools = [{ connectorId, name: 'create_note', permission: 'ASK' }]
    const { id: agentId } = await does('createAgent', { name: 'Ada', instructions: 'Help.', model: chatModel, connectorTools })
    const { reply } = await talk(agentId, 'call create_note {"text":"stopped talk"}')
    await world.until(async () => (await ask(approvals)).approvals.nodes.length, 1)
    const { id } = await reply()
    expect(await stop(id)).toMatchObject({ status: 'COMPLETE', text: 'Calling create_note. ', failure: null, run: { status: 'CANCELLED' } })
    await world.until(async () => (await ask(approvals)).approvals.nodes, [])
    expect((await world.received('mcp')).filter(({ arguments: given }) => JSON.stringify(given).includes('stopped talk'))).toEqual([])
    expect(await reply()).toMatchObject({ status: 'COMPLETE', notice: 'A person stopped this reply.' })
  })
})
