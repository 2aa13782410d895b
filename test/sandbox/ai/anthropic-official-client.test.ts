import Anthropic from '@anthropic-ai/sdk'
import { expect, test } from 'vitest'
import { aiStage } from './stage.ts'

// Runs Anthropic's official client against the twin.

// The API version that the twin implements; the client's default is newer.
const version = { 'anthropic-version': '2023-06-01' }

async function world() {
  const stage = await aiStage()
  const client = new Anthropic({
    baseURL: `${stage.origin}/anthropic`,
    apiKey: 'sk-sandbox-a-key-5678',
    maxRetries: 0,
    timeout: 5_000,
    defaultHeaders: version,
  })
  const create = (more: object = {}) =>
    client.messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'one two' }],
      ...more,
    } as Anthropic.MessageCreateParamsNonStreaming)
  return { ...stage, client, create, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

test('a message is echoed, with a token for each word; the maximum and stop sequences end it with their reasons', async () => {
  await using stage = await world()
  const answer = await stage.create({ system: 'Be brief.' })
  expect(answer).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5-20251001',
    content: [{ type: 'text', text: 'Echo: one two' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 4, output_tokens: 3 },
  })
  expect(await stage.create({ max_tokens: 2 })).toMatchObject({ content: [{ text: 'Echo: one' }], stop_reason: 'max_tokens', usage: { output_tokens: 2 } })
  expect(await stage.create({ stop_sequences: ['two'] })).toMatchObject({
    content: [{ text: 'Echo: one ' }],
    stop_reason: 'stop_sequence',
    stop_sequence: 'two',
  })
  expect((await stage.taken('anthropic'))[0]).toMatchObject({
    id: answer.id,
    path: '/v1/messages',
    model: 'claude-haiku-4-5',
    text: 'one two',
    keyHint: '5678',
    via: 'direct',
  })
})

test('a stream has the events of the protocol, with a word for each delta', async () => {
  await using stage = await world()
  const { client } = stage
  const asked = { model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user' as const, content: 'one two' }] }
  const events = await Array.fromAsync(await client.messages.create({ ...asked, stream: true }))
  expect(events.map(({ type }) => type)).toEqual([
    'message_start',
    'content_block_start',
    ...Array(3).fill('content_block_delta'),
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
  const whole = await client.messages.stream(asked).finalMessage()
  expect(whole).toMatchObject({ content: [{ text: 'Echo: one two' }], stop_reason: 'end_turn', usage: { input_tokens: 2, output_tokens: 3 } })
})

test('a tool that has to be called is called, streamed too; structured output is an instance of the schema', async () => {
  await using stage = await world()
  const tools = [{ name: 'look_up', input_schema: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } } }]
  const called = await stage.create({ tools, tool_choice: { type: 'any' } })
  expect(called).toMatchObject({ content: [{ type: 'tool_use', name: 'look_up', input: { q: 'one two' } }], stop_reason: 'tool_use' })
  const streamed = await stage.client.messages
    .stream({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'one two' }],
      tools,
      tool_choice: { type: 'tool', name: 'look_up' },
    } as never)
    .finalMessage()
  expect(streamed.content).toMatchObject([{ type: 'tool_use', name: 'look_up', input: { q: 'one two' } }])
  const schema = { type: 'object', additionalProperties: false, required: ['title'], properties: { title: { type: 'string' } } }
  const planned = await stage.create({ output_config: { format: { type: 'json_schema', schema } } })
  expect(planned.content).toMatchObject([{ type: 'text', text: '{"title":"one two"}' }])
  const [use] = called.content as [Anthropic.ToolUseBlock]
  const further = [
    { role: 'user', content: 'one two' },
    { role: 'assistant', content: called.content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'found' }] },
  ]
  expect(await stage.create({ tools, messages: further })).toMatchObject({ stop_reason: 'end_turn' })
})

test('tools are called that a message asks for, one round after another, streamed too, and what came of them is told', async () => {
  await using stage = await world()
  const tools = ['look_up', 'note'].map(name => ({
    name,
    input_schema: { type: 'object' as const, required: ['q'], properties: { q: { type: 'string' } } },
  }))
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'call look_up {"q":"x"} and call note {"q":"a b"}, then call note' }]
  const body = () => ({ model: 'claude-haiku-4-5', max_tokens: 100, messages, tools })
  const answer = (results: readonly string[], { content }: Anthropic.Message) => {
    const uses = content.filter(block => block.type === 'tool_use')
    const told = results.map((text, at) => ({ type: 'tool_result' as const, tool_use_id: uses[at]!.id, content: text }))
    messages.push({ role: 'assistant', content }, { role: 'user', content: told })
  }
  const uses = [
    { type: 'tool_use', name: 'look_up', input: { q: 'x' } },
    { type: 'tool_use', name: 'note', input: { q: 'a b' } },
  ]
  const called = await stage.client.messages.create(body())
  expect(called).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'text', text: 'Calling look_up, note. ' }, ...uses] })
  const streamed = await stage.client.messages.stream(body()).finalMessage()
  expect(streamed).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'text' }, ...uses] })
  expect(await stage.client.messages.create({ ...body(), tool_choice: { type: 'none' } })).toMatchObject({ stop_reason: 'end_turn' })
  answer(['one', 'two'], called)
  const again = await stage.client.messages.create(body())
  expect(again.content).toMatchObject([{ type: 'text' }, { type: 'tool_use', name: 'note' }])
  answer(['three'], again)
  expect(await stage.client.messages.create(body())).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Echo: three' }] })
})

test('answers a JSON object only where the system prompt requests it, and an empty input for a tool whose schema names no member', async () => {
  await using stage = await world()
  const told = await stage.create({ system: 'Answer with one JSON object and nothing else.' })
  expect(told.content).toMatchObject([{ type: 'text', text: '{"echo":"one two"}' }])
  expect((await stage.create({ system: 'You know what a JSON object is.' })).content).toMatchObject([{ text: 'Echo: one two' }])
  const free = { name: 'answer', input_schema: { type: 'object', additionalProperties: true } }
  const forced = await stage.create({ tools: [free], tool_choice: { type: 'tool', name: 'answer' } })
  expect(forced.content).toMatchObject([{ type: 'tool_use', input: {} }])
})

test('rejects what Anthropic rejects, with the client’s typed errors', async () => {
  await using stage = await world()
  const said = (more: object) =>
    stage.create(more).then(
      () => null,
      (error: InstanceType<typeof Anthropic.APIError>) => [error.status, error.type, (error.error as { error?: { message?: string } })?.error?.message],
    )
  const wrong = (message: string) => [400, 'invalid_request_error', message]
  expect(await said({ max_tokens: undefined })).toEqual(wrong('max_tokens: Field required'))
  expect(await said({ max_tokens: 100_000 })).toEqual(wrong(expect.stringContaining('64000')))
  expect(await said({ messages: [] })).toEqual(wrong('messages: at least one message is required'))
  expect(await said({ messages: [{ role: 'system', content: 'x' }] })).toEqual(wrong(expect.stringContaining('Unexpected role "system"')))
  expect(await said({ response_format: { type: 'json_object' } })).toEqual(wrong('response_format: Extra inputs are not permitted'))
  expect(await said({ temperature: 1.5 })).toEqual(wrong('temperature: range: 0..1'))
  expect(await said({ temperature: 0.5, top_p: 0.5 })).toEqual(wrong(expect.stringContaining('cannot both be specified')))
  expect(await said({ metadata: { order: '1' } })).toEqual(wrong('metadata.order: Extra inputs are not permitted'))
  expect(await said({ messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] })).toEqual(
    wrong(expect.stringContaining('tool_use_id')),
  )
  expect(await said({ model: 'none-such' })).toEqual([404, 'not_found_error', 'model: none-such'])
  await expect(new Anthropic({ baseURL: `${stage.origin}/anthropic`, apiKey: 'sk-ant-x', maxRetries: 0 }).models.list()).rejects.toThrow(
    Anthropic.AuthenticationError,
  )
  const bare = await fetch(`${stage.origin}/anthropic/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'sk-sandbox-x' }, body: '{}' })
  expect([bare.status, await bare.json()]).toMatchObject([400, { type: 'error', error: { message: 'anthropic-version: header is required' } }])
  expect(await stage.taken('anthropic')).toEqual([])
})

test('models are paged; limits and outages have Anthropic’s format', async () => {
  await using stage = await world()
  const listed = []
  for await (const model of stage.client.models.list()) listed.push(model.id)
  expect(listed).toEqual(['claude-haiku-4-5-20251001'])
  expect(await stage.client.models.retrieve('claude-haiku-4-5')).toMatchObject({ display_name: 'Claude Haiku 4.5' })
  const refused = async (fault: object) => {
    await stage.spoil('anthropic', { fault: 'status', ...fault })
    return stage.create().then(
      () => null,
      (error: InstanceType<typeof Anthropic.APIError>) => [error.status, error.type, error.headers?.get('retry-after') ?? null, Boolean(error.requestID)],
    )
  }
  expect(await refused({ status: 429, resetSeconds: 4 })).toEqual([429, 'rate_limit_error', '4', true])
  expect(await refused({ status: 429 })).toEqual([429, 'rate_limit_error', null, true])
  expect(await refused({ status: 529 })).toEqual([529, 'overloaded_error', null, true])
  expect(await refused({ status: 500 })).toEqual([500, 'api_error', null, true])
})
