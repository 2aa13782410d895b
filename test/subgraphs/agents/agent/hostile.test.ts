import { describe, expect, it } from 'vitest'
import { shared } from '../../../kit/shared.ts'
import { seedMembership } from '../../identity/membership/seed.ts'
import { seedPerson } from '../../identity/user/seed.ts'
import { aiWorld, chatModel } from '../../providers/ai/world.ts'
import { toolServer } from './tool-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: what the graph answers is looked at part by part
type Answered = any

const mutation = (name: string, selection = 'id') =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`
const conversation = `query($id: ID!) { conversation(id: $id) { messages(first: 100) { nodes { id role text status failure { code } run { id } } } } }`
const run = `query($id: ID!) { run(id: $id) { id status startedBy { id } steps { key status input output childRuns(first: 9) { nodes { id status } } } } }`
const secret = 'sk-0123456789abcdef'

/** A platform with a server of tools that is no friend, and a member beside the owner. */
async function openWorld() {
  await using opening = new AsyncDisposableStack()
  const server = opening.use(await toolServer())
  const world = opening.use(await aiWorld({ trusts: [server.origin] }))
  const { graph, owner } = world
  const ask = async (document: string, variables: object, as = owner): Promise<Answered> => (await graph.execute(document, { ...variables }, { as })).data()
  const does = async (name: string, input: object, as = owner) => (await ask(mutation(name), { input }, as))[name]
  const headers = [{ name: 'authorization', value: `Bearer ${secret}` }]
  const evil: string = (await does('createConnector', { name: 'Evil', kind: 'MCP', baseUrl: `${server.origin}/mcp`, headers })).id
  const letters: string = (await does('createConnector', { name: 'Letters', kind: 'MCP', baseUrl: `${graph.x.origin}/mcp` })).id
  for (const id of [evil, letters]) await does('checkConnector', { id })
  await does('updateConnector', { id: evil, tools: ['echo_headers', 'hang', 'count'].map(name => ({ name, permission: 'AUTO' })) })
  await does('updateConnector', { id: letters, tools: [{ name: 'send_letter', permission: 'AUTO' }] })
  const tools = [...['echo_headers', 'hang', 'count'].map(name => [evil, name] as const), [letters, 'send_letter'] as const]
  const connectorTools = tools.map(([connectorId, name]) => ({ connectorId, name, permission: 'AUTO' }))
  const stack = opening.move()
  return {
    ...{ server, world, ask, does, owner },
    /** A conversation with an agent that has all tools. */
    async talk() {
      const { id: agentId } = await does('createAgent', { name: 'Ada', instructions: 'Help.', model: chatModel, connectorTools })
      const { id } = await does('createConversation', { agentId })
      const replies = async (): Promise<Answered[]> =>
        (await ask(conversation, { id })).conversation.messages.nodes.filter(({ role }: { role: string }) => role === 'AGENT')
      return {
        ...{ id, agentId, replies },
        say: (text: string, as = owner) => does('sendMessage', { conversationId: id, text }, as),
        async ended(status = 'COMPLETE') {
          await world.until(async () => (await replies())[0].status, status)
          return (await replies())[0]
        },
        /** Waits until its tool is at work. @returns the run of the reply, and that of the call */
        async hangs() {
          await world.until(async () => server.waiting(), 1)
          const found = (await ask(run, { id: (await replies())[0].run.id })).run
          return { runId: found.id as string, callId: found.steps[0].childRuns.nodes[0].id as string }
        },
      }
    },
    letters: async (text: string) => (await world.received('mcp')).filter(call => String(call.text ?? '').startsWith(text)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const opened = shared(openWorld)

describe('a conversation whose tools and people mean no good', () => {
  it('shows nobody the secrets of a connector that its server repeats', async () => {
    const { talk, ask } = opened()
    const { say, ended } = await talk()
    await say('call echo_headers {}')
    const reply = await ended()
    const { id } = (await ask(run, { id: reply.run.id })).run.steps[0].childRuns.nodes[0]
    const seen = JSON.stringify([reply, await ask(run, { id })])
    expect([seen.includes('Bearer'), seen.includes(secret), seen.includes('[hidden]')]).toEqual([false, false, true])
  })

  it('answers each of many messages that are sent at the same moment, in the name of who sent it', async () => {
    const { talk, ask, letters, world, owner } = opened()
    const { id: userId } = await seedPerson(world.graph, 'Bo')
    await seedMembership(world.graph, { organizationId: owner.organizationId!, userId, role: 'owner' })
    const another = { ...owner, userId }
    const { say, replies } = await talk()
    const people = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? owner : another))
    await Promise.all(people.map((as, at) => say(`call send_letter {"to":"Bo","text":"at once ${at}"}`, as)))
    await world.until(async () => (await replies()).map(({ status }) => status), Array(8).fill('COMPLETE'))
    const runs = await Promise.all((await replies()).map(async reply => (await ask(run, { id: reply.run.id })).run))
    const inName = await Promise.all(
      runs.map(async ({ startedBy, steps }) => {
        const call = (await ask(run, { id: steps[0].childRuns.nodes[0].id })).run
        return [call.steps[0].input.text, startedBy.id, call.startedBy.id]
      }),
    )
    expect(inName.toSorted()).toEqual(people.map(({ userId }, at) => [`at once ${at}`, userId, userId]))
    expect((await letters('at once')).map(({ text }) => text).toSorted()).toEqual(people.map((_, at) => `at once ${at}`))
  })

  it('waits for a call whose own run was cancelled while the tool is at work, and has the model told what came of it', async () => {
    const { talk, does, server, world } = opened()
    const { say, hangs, ended, replies } = await talk()
    await say('call hang {}')
    const { callId } = await hangs()
    await does('cancelRun', { id: callId })
    await world.graph.clock.run(5_000)
    expect((await replies())[0].status).toBe('STREAMING')
    server.release()
    expect((await ended()).text).toContain('Done late.')
  })

  it.each([
    ['is cancelled', 'CANCELLED'],
    ['has spent what its agent may', 'BUDGET_EXCEEDED'],
    ['belongs to an agent that was archived', 'NOT_PERMITTED'],
  ])('calls nothing more once it %s in the middle of a round', async (_, code) => {
    const { talk, does, server, letters } = opened()
    const { say, hangs, ended, agentId } = await talk()
    await say(`call hang {}, then call send_letter {"to":"Bo","text":"after ${code}"}`)
    const { runId } = await hangs()
    if (code === 'CANCELLED') await does('cancelRun', { id: runId })
    if (code === 'BUDGET_EXCEEDED') await does('updateAgent', { id: agentId, monthlyLimitMicros: 1 })
    if (code === 'NOT_PERMITTED') await does('archiveAgent', { id: agentId })
    server.release()
    expect(await ended('FAILED')).toMatchObject({ failure: { code }, text: 'Calling hang. ' })
    expect(await letters(`after ${code}`)).toEqual([])
  })

  it('begins nothing while its agent is held, and goes on once with what came meanwhile', async () => {
    const { talk, does, server, letters, world } = opened()
    const { say, hangs, ended, agentId } = await talk()
    await say('call hang {}, then call send_letter {"to":"Bo","text":"after the hold"}')
    await hangs()
    await does('setKillSwitch', { engaged: true, agentId, reason: 'Look first' })
    server.release()
    await world.graph.clock.run(30_000)
    expect(await letters('after the hold')).toEqual([])
    await does('setKillSwitch', { engaged: false, agentId })
    await ended()
    expect(await letters('after the hold')).toHaveLength(1)
  })
})
