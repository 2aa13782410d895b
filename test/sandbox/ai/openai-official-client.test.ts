import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { aiStage, sound } from './stage.ts'

// Runs OpenAI's official client against the twin.

async function world() {
  const stage = await aiStage()
  const client = new OpenAI({ baseURL: `${stage.origin}/openai/v1`, apiKey: 'sk-sandbox-a-key-1234', maxRetries: 0, timeout: 5_000 })
  return { ...stage, client, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
}

const asks = (content: string) => [
  { role: 'system' as const, content: 'Be brief.' },
  { role: 'user' as const, content },
]

test('chat echoes, with a token for each word, under the snapshot’s name', async () => {
  await using stage = await world()
  const answer = await stage.client.chat.completions.create({ model: 'gpt-5-mini', messages: asks('one two  three') })
  expect(answer.choices).toEqual([
    { index: 0, message: { role: 'assistant', content: 'Echo: one two  three', refusal: null, annotations: [] }, logprobs: null, finish_reason: 'stop' },
  ])
  expect(answer).toMatchObject({
    object: 'chat.completion',
    model: 'gpt-5-mini-2025-08-07',
    usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
  })
  expect(await stage.taken('openai')).toEqual([
    {
      receivedAt: stage.clock.now().toISOString(),
      id: answer.id,
      path: '/v1/chat/completions',
      model: 'gpt-5-mini',
      text: 'one two  three',
      stream: false,
      keyHint: '1234',
      via: 'direct',
    },
  ])
})

test('a stream has a chunk for each word, with the usage at its end only on request', async () => {
  await using stage = await world()
  const stream = async (options: object) =>
    Array.fromAsync(await stage.client.chat.completions.create({ model: 'gpt-5-mini', messages: asks('a b c'), stream: true, ...options }))
  const plain = await stream({})
  expect(plain.map(chunk => chunk.choices[0]?.delta.content)).toEqual(['', 'Echo:', ' a', ' b', ' c', undefined])
  expect(plain.at(-1)?.choices[0]?.finish_reason).toBe('stop')
  expect(plain.filter(chunk => chunk.usage)).toEqual([])
  const counted = await stream({ stream_options: { include_usage: true } })
  expect(counted.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 4 } })
})

test('the maximum cuts with "length", a stop sequence before itself; older models take the older name of the maximum, newer ones refuse it', async () => {
  await using stage = await world()
  const create = (more: object, model = 'gpt-5-mini') => stage.client.chat.completions.create({ model, messages: asks('a b c d'), ...more } as never)
  const cut = (await create({ max_completion_tokens: 2 })) as unknown as OpenAI.ChatCompletion
  expect([cut.choices[0]?.message.content, cut.choices[0]?.finish_reason, cut.usage?.completion_tokens]).toEqual(['Echo: a', 'length', 2])
  const stopped = (await create({ stop: [' c'] })) as unknown as OpenAI.ChatCompletion
  expect([stopped.choices[0]?.message.content, stopped.choices[0]?.finish_reason]).toEqual(['Echo: a b', 'stop'])
  expect(((await create({ max_tokens: 1 }, 'gpt-3.5-turbo')) as unknown as OpenAI.ChatCompletion).choices[0]?.finish_reason).toBe('length')
  await expect(create({ max_tokens: 1 })).rejects.toMatchObject({ status: 400, param: 'max_tokens', code: 'unsupported_parameter' })
})

test('structured output is a smallest instance of the schema with the message in its strings; json_object echoes; a required tool is called', async () => {
  await using stage = await world()
  const create = (more: object) =>
    stage.client.chat.completions.create({ model: 'gpt-5-mini', messages: asks('a plan'), ...more } as OpenAI.ChatCompletionCreateParamsNonStreaming)
  const schema = {
    type: 'object',
    required: ['title', 'steps', 'kind', 'count', 'when', 'parent'],
    properties: {
      title: { type: 'string' },
      steps: { type: 'array', minItems: 2, items: { $ref: '#/$defs/step' } },
      kind: { enum: ['short', 'long'] },
      count: { type: 'integer', minimum: 3 },
      when: { type: 'string', format: 'date-time' },
      parent: { anyOf: [{ type: 'null' }, { type: 'object' }] },
      notes: { type: 'string' },
    },
    $defs: { step: { type: 'object', required: ['done', 'text'], properties: { done: { type: 'boolean' }, text: { type: ['string', 'null'] } } } },
  }
  const planned = await create({ response_format: { type: 'json_schema', json_schema: { name: 'plan', schema } } })
  const step = { done: false, text: 'a plan' }
  expect(JSON.parse(planned.choices[0]!.message.content!)).toEqual({
    title: 'a plan',
    steps: [step, step],
    kind: 'short',
    count: 3,
    when: '2030-01-01T00:00:00Z',
    parent: null,
  })
  expect((await create({ response_format: { type: 'json_object' } })).choices[0]?.message.content).toBe('{"echo":"a plan"}')
  const tools = ['first', 'second'].map(name => ({
    type: 'function',
    function: { name, parameters: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } } },
  }))
  const called = (await create({ tools, tool_choice: 'required' })).choices[0]!
  expect([called.finish_reason, called.message.content]).toEqual(['tool_calls', null])
  expect(called.message.tool_calls).toMatchObject([{ type: 'function', function: { name: 'first', arguments: '{"q":"a plan"}' } }])
  expect((await create({ tools, tool_choice: 'auto' })).choices[0]?.message.content).toBe('Echo: a plan')
  const streamed = stage.client.chat.completions.stream({ model: 'gpt-5-mini', messages: asks('a plan'), tools, tool_choice: 'required' } as never)
  expect((await streamed.finalChatCompletion()).choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'first', arguments: '{"q":"a plan"}' } }])
})

test('tools are called that a message asks for, one round after another, streamed too, and what came of them is told', async () => {
  await using stage = await world()
  const tools = ['look_up', 'note'].map(name => ({
    type: 'function' as const,
    function: { name, parameters: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } } },
  }))
  const first = { role: 'user' as const, content: 'call look_up {"q":"{then}"} and call note {"q":"a"}, then call note, then say it. call unknown' }
  const messages: OpenAI.ChatCompletionMessageParam[] = [first]
  const body = () => ({ model: 'gpt-5-mini', messages, tools })
  const answer = (results: readonly string[], { message }: OpenAI.ChatCompletion.Choice) => {
    messages.push(message, ...results.map((content, at) => ({ role: 'tool' as const, tool_call_id: message.tool_calls![at]!.id, content })))
  }
  const called = (await stage.client.chat.completions.create(body())).choices[0]!
  expect([called.finish_reason, called.message.content]).toEqual(['tool_calls', 'Calling look_up, note. '])
  expect(called.message.tool_calls).toMatchObject([
    { type: 'function', function: { name: 'look_up', arguments: '{"q":"{then}"}' } },
    { type: 'function', function: { name: 'note', arguments: '{"q":"a"}' } },
  ])
  const streamed = (await stage.client.chat.completions.stream(body()).finalChatCompletion()).choices[0]!
  expect(streamed.message.tool_calls?.map(call => call.type === 'function' && call.function.arguments)).toEqual(['{"q":"{then}"}', '{"q":"a"}'])
  expect((await stage.client.chat.completions.create({ ...body(), tool_choice: 'none' })).choices[0]?.message.tool_calls).toBeUndefined()
  answer(['one', 'two'], called)
  const again = (await stage.client.chat.completions.create(body())).choices[0]!
  expect(again.message.tool_calls).toMatchObject([{ function: { name: 'note' } }])
  answer(['three'], again)
  const said = (await stage.client.chat.completions.create(body())).choices[0]!
  expect([said.finish_reason, said.message.content, said.message.tool_calls]).toEqual(['stop', 'Echo: three', undefined])
})

test('images are PNGs of the requested size, transcriptions as long as the header says, embeddings equal for equal texts', async () => {
  await using stage = await world()
  const { client } = stage
  const drawn = await client.images.generate({ model: 'gpt-image-1', prompt: 'a red house', n: 2, size: '1536x1024' })
  const pictures = drawn.data!.map(({ b64_json }) => Buffer.from(b64_json!, 'base64'))
  for (const picture of pictures) {
    expect([picture.toString('latin1', 1, 4), picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual(['PNG', 1536, 1024])
    expect(picture.toString('latin1', picture.length - 8, picture.length - 4)).toBe('IEND')
  }
  expect([drawn.size, drawn.usage?.input_tokens]).toEqual(['1536x1024', 3])
  const heard = await client.audio.transcriptions.create({ model: 'gpt-4o-mini-transcribe', file: sound(3) })
  expect(heard).toMatchObject({ text: 'Echo: a-sound.wav', usage: { type: 'duration', seconds: 3 } })
  const told = await client.audio.transcriptions.create({ model: 'whisper-1', file: sound(2), response_format: 'verbose_json' })
  expect(told).toMatchObject({ duration: 2, segments: [{ end: 2 }] })
  expect(await client.audio.transcriptions.create({ model: 'whisper-1', file: sound(1), response_format: 'text' })).toBe('Echo: a-sound.wav\n')
  const felt = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['one', 'two', 'one'] })
  const [one, two, same] = felt.data.map(({ embedding }) => embedding)
  expect([one!.length, Math.hypot(...one!)]).toEqual([1536, expect.closeTo(1, 5)])
  expect([same, two]).toEqual([one, expect.not.arrayContaining(one!.slice(0, 3))])
  const numbers = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'one', encoding_format: 'float', dimensions: 8 })
  expect([numbers.data[0]!.embedding.length, numbers.usage.prompt_tokens]).toEqual([8, 1])
  expect((await stage.taken('openai')).map(({ text }) => text)).toEqual(['a red house', ...Array(3).fill('a-sound.wav'), 'one\ntwo\none', 'one'])
})

test('embeddings are near to each other where texts share words, in any of their forms, and far otherwise', async () => {
  await using stage = await world()
  const input = ['How much is the harbour fee?', 'Fees of the harbours are paid on Mondays.', 'A tortoise won the race against a hare.', 'the of']
  const { data } = await stage.client.embeddings.create({ model: 'text-embedding-3-small', input })
  const { data: short } = await stage.client.embeddings.create({ model: 'text-embedding-3-small', input, dimensions: 256 })
  for (const vectors of [data, short].map(each => each.map(({ embedding }) => embedding))) {
    const cosine = (one: number, other: number) => vectors[one]!.reduce((sum, each, at) => sum + each * vectors[other]![at]!, 0)
    for (const at of input.keys()) expect(cosine(at, at)).toBeCloseTo(1, 4)
    expect(cosine(0, 1)).toBeGreaterThan(0.4)
    for (const [one, other] of [
      [0, 2],
      [1, 2],
      [0, 3],
    ] as const)
      expect(Math.abs(cosine(one, other))).toBeLessThan(0.2)
  }
})

test('a python program that knows nothing of us opens the picture', async () => {
  await using stage = await world()
  const { data } = await stage.client.images.generate({ model: 'gpt-image-1-mini', prompt: 'sea', size: '1024x1536' })
  const { execFileSync } = await import('node:child_process')
  const program = `
import sys, struct, zlib
data = sys.stdin.buffer.read(); at = 8; found = b''
while at < len(data):
    size, = struct.unpack('>I', data[at:at+4]); kind = data[at+4:at+8]; body = data[at+8:at+8+size]
    assert struct.unpack('>I', data[at+8+size:at+12+size])[0] == zlib.crc32(kind + body), kind
    if kind == b'IDAT': found += body
    at += 12 + size
print(len(zlib.decompress(found)))`
  expect(execFileSync('python3', ['-c', program], { input: Buffer.from(data![0]!.b64_json!, 'base64') }).toString()).toBe(`${(1 + 1024 / 8) * 1536}\n`)
})

test('models are listed and found; mistakes are the client’s typed errors', async () => {
  await using stage = await world()
  const { client } = stage
  const names = (await client.models.list()).data.map(({ id }) => id)
  expect(names).toEqual(expect.arrayContaining(['gpt-5-mini', 'gpt-5-nano', 'gpt-image-1', 'whisper-1', 'text-embedding-3-small']))
  expect(await client.models.retrieve('gpt-5-mini')).toMatchObject({ id: 'gpt-5-mini', object: 'model' })
  const messages = asks('hi')
  const create = (more: object) => client.chat.completions.create({ model: 'gpt-5-mini', messages, ...more } as never)
  await expect(create({ model: 'none-such' })).rejects.toThrow(OpenAI.NotFoundError)
  await expect(create({ model: 'none-such' })).rejects.toMatchObject({
    code: 'model_not_found',
    type: 'invalid_request_error',
    requestID: expect.stringMatching(/^req_/),
  })
  await expect(create({ messages: [] })).rejects.toMatchObject({ status: 400, param: 'messages' })
  await expect(create({ messages: [{ role: 'nobody', content: 'x' }] })).rejects.toMatchObject({ status: 400, param: 'messages[0].role' })
  await expect(client.images.generate({ model: 'gpt-image-1', prompt: 'x', size: '17x17' as never })).rejects.toMatchObject({ status: 400, param: 'size' })
  await expect(client.embeddings.create({ model: 'gpt-5-mini', input: 'x' })).rejects.toThrow(OpenAI.NotFoundError)
  const stranger = new OpenAI({ baseURL: `${stage.origin}/openai/v1`, apiKey: 'sk-somebody', maxRetries: 0 })
  await expect(stranger.chat.completions.create({ model: 'gpt-5-mini', messages })).rejects.toThrow(OpenAI.AuthenticationError)
  expect(await stage.taken('openai')).toEqual([])
})

test('limits have OpenAI’s format: with seconds where there are some, an exhausted quota by its code', async () => {
  await using stage = await world()
  const create = () => stage.client.chat.completions.create({ model: 'gpt-5-mini', messages: asks('hi') })
  const refused = async (fault: object) => {
    await stage.spoil('openai', { fault: 'status', ...fault })
    return create().then(
      () => null,
      (error: InstanceType<typeof OpenAI.APIError>) => [error.status, error.code, error.headers?.get('retry-after') ?? null],
    )
  }
  expect(await refused({ status: 429, resetSeconds: 7 })).toEqual([429, 'rate_limit_exceeded', '7'])
  expect(await refused({ status: 429 })).toEqual([429, 'rate_limit_exceeded', null])
  expect(await refused({ status: 429, code: 'insufficient_quota' })).toEqual([429, 'insufficient_quota', null])
  expect(await refused({ status: 500 })).toEqual([500, null, null])
  // Reading the fault does not use it up.
  await stage.spoil('openai', { fault: 'status', status: 401 })
  await stage.client.models.list()
  await expect(create()).rejects.toThrow(OpenAI.AuthenticationError)
  expect((await create()).choices).toHaveLength(1)
})
