import { expect, it } from 'vitest'
import { openOffice } from '../../../chaos/workers.ts'

const count = 6

it('stops replies that another process of agents writes, and ends their calls', async () => {
  await using office = await openOffice(2)
  const { owner, control, rows } = office
  await control('faults', { network: 'openai', fault: 'endless', times: count })
  const does = async (name: string, input: object, selection = 'id') => {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`
    return (await owner.query<Record<string, { id: string }>>(`mutation($input: ${type}!) { ${name}(input: $input) { ${selection} } }`, { input }))[name]!
  }
  const { id: agentId } = await does('createAgent', { name: 'Ada', instructions: 'Help.', model: 'openai/gpt-5-mini' })
  for (let at = 0; at < count; at++) {
    const { id: conversationId } = await does('createConversation', { agentId })
    await does('sendMessage', { conversationId, text: 'Tell me everything.' })
  }
  const growing = () =>
    rows<{ id: string }>(
      `select id from agents.conversation_messages where role = 'AGENT' and status = 'STREAMING' and length(text) > 1000 and created_by = $1`,
      [`agent:${agentId}`],
    )
  await expect.poll(async () => (await growing()).length, { timeout: 60_000 }).toBe(count)
  const replies = await growing()
  const underWay = async () => (await rows(`select id from providers.calls where status = 'RUNNING'`)).length
  expect(await underWay()).toBe(count)
  // Each by whichever process the router chooses: most of them are written by the other one, or else all by chance by one.
  const stopped = await Promise.all(replies.map(({ id }) => does('stopReply', { id }, 'id status notice text')))
  for (const each of stopped) expect(each).toMatchObject({ status: 'COMPLETE', notice: 'A person stopped this reply.' })
  await expect.poll(underWay, { timeout: 5_000, interval: 50 }).toBe(0)
  const kept = await rows<{ id: string; text: string }>('select id, text from agents.conversation_messages where id = any($1::uuid[])', [
    replies.map(({ id }) => id),
  ])
  expect(new Map(kept.map(({ id, text }) => [id, text]))).toEqual(new Map(stopped.map(each => [each.id, (each as unknown as { text: string }).text])))
}, 180_000)
