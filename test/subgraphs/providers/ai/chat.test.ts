import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shared } from '../../../kit/shared.ts'
import { type AiWorld, aiWorld, chatModel, type Json, readStream, secondModel } from './world.ts'

const format = {
  type: 'json_schema',
  json_schema: {
    name: 'plan',
    strict: true,
    schema: { type: 'object', additionalProperties: false, required: ['title'], properties: { title: { type: 'string' } } },
  },
}
const tools = [
  {
    type: 'function',
    function: { name: 'look_up', description: 'Looks up', parameters: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } } },
  },
]
const shapeOf = (json: Json) => [json, json.choices[0], json.choices[0].message, json.usage].map(part => Object.keys(part).sort())

describe('G-02 a chat', () => {
  test('has the same form of answer and its price from every vendor, and is logged without its content', async () => {
    await using world = await aiWorld()
    const answers = [await world.chat('Private words'), await world.chat('Private words', { model: secondModel })]
    const [first, second] = await Promise.all(answers.map(answer => answer.json() as Promise<Json>))
    expect(
      answers.map(({ status, headers }) => [status, headers.get('x-gateway-attempts'), headers.get('x-gateway-provider'), headers.get('x-gateway-model')]),
    ).toEqual([
      [200, '1', 'openai', chatModel],
      [200, '1', 'anthropic', secondModel],
    ])
    expect(first).toMatchObject({
      object: 'chat.completion',
      model: chatModel,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Echo: Private words' }, finish_reason: 'stop' }],
    })
    expect(second).toMatchObject({ model: secondModel, choices: [{ message: { content: 'Echo: Private words' }, finish_reason: 'stop' }] })
    expect(shapeOf(first)).toEqual(shapeOf(second))
    const { prompt_tokens: read, completion_tokens: written } = first.usage
    expect(answers[0]!.headers.get('x-gateway-cost-micros')).toBe(String(Math.ceil((read * 250_000 + written * 2_000_000) / 1e6)))
    // Both were made at one moment of the clock: nothing but their ids tells them apart.
    const rows = await world.graph.rows('select * from providers.calls')
    const calls = answers.map(answer => rows.find(({ id }) => id === answer.headers.get('x-gateway-call-id')))
    expect([rows.length, calls.includes(undefined)]).toEqual([2, false])
    expect(calls[0]).toMatchObject({
      status: 'SUCCEEDED',
      requested_model: chatModel,
      model: chatModel,
      input_tokens: read,
      output_tokens: written,
      attempts: [{ provider: 'openai', model: chatModel, status: 200, failure: null }],
      prompt: null,
    })
    expect(JSON.stringify(calls)).not.toContain('Private')
  })

  test('uses the preferred model where none is named, and finds any model by its last part', async () => {
    await using world = await aiWorld()
    for (const model of [undefined, null, 'default', 'gpt-5-mini']) expect(((await (await world.chat('hi', { model })).json()) as Json).model).toBe(chatModel)
    expect(((await (await world.chat('hi', { model: 'claude-haiku-4-5' })).json()) as Json).model).toBe(secondModel)
  })

  const well = shared(() => aiWorld())
  test.each([chatModel, secondModel])('of %s calls tools, and answers in the requested form, in one piece and streamed', async model => {
    const world = well()
    const planned = ((await (await world.chat('A plan', { model, response_format: format })).json()) as Json).choices[0]
    expect([planned.finish_reason, JSON.parse(planned.message.content)]).toEqual(['stop', { title: expect.stringContaining('A plan') }])
    const free = ((await (await world.chat('A plan', { model, response_format: { type: 'json_object' } })).json()) as Json).choices[0]
    expect(typeof JSON.parse(free.message.content)).toBe('object')
    const called = ((await (await world.chat('A thing', { model, tools, tool_choice: 'required' })).json()) as Json).choices[0]
    expect(called).toMatchObject({ finish_reason: 'tool_calls', message: { content: null, tool_calls: [{ type: 'function', function: { name: 'look_up' } }] } })
    expect(JSON.parse(called.message.tool_calls[0].function.arguments)).toEqual({ q: expect.stringContaining('A thing') })
    const streamedPlan = await readStream(await world.chat('A plan', { model, response_format: format, stream: true }))
    expect([JSON.parse(streamedPlan.content), streamedPlan.done]).toEqual([{ title: expect.stringContaining('A plan') }, true])
    const streamedCall = await readStream(
      await world.chat('A thing', { model, tools, tool_choice: { type: 'function', function: { name: 'look_up' } }, stream: true }),
    )
    const deltas = streamedCall.events.flatMap(event => event.choices[0]?.delta.tool_calls ?? [])
    expect(deltas[0]).toMatchObject({ index: 0, id: expect.any(String), type: 'function', function: { name: 'look_up' } })
    expect(JSON.parse(deltas.map(delta => delta.function.arguments).join(''))).toEqual({ q: expect.stringContaining('A thing') })
    expect(streamedCall.events.at(-1)!.choices[0].finish_reason).toBe('tool_calls')
  })

  test.each([chatModel, secondModel])('of %s streams word by word, reports the usage only on request, and ends with [DONE]', async model => {
    const world = well()
    const text = 'One two thrée “four” five \\ six'
    const plain = await world.chat(text, { model, stream: true })
    expect([plain.status, plain.headers.get('content-type'), plain.headers.get('x-gateway-model'), plain.headers.get('x-gateway-cost-micros')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      model,
      null,
    ])
    const read = await readStream(plain)
    expect([read.content, read.done, read.events.filter(event => 'usage' in event)]).toEqual([`Echo: ${text}`, true, []])
    expect(read.events.every(event => event.object === 'chat.completion.chunk' && event.model === model && event.id === read.events[0]!.id)).toBe(true)
    expect(read.events[0]!.choices[0].delta.role).toBe('assistant')
    expect(read.events.length).toBeGreaterThan(5)
    expect(read.events.at(-1)!.choices[0].finish_reason).toBe('stop')
    const answer = await world.chat(text, { model, stream: true, stream_options: { include_usage: true } })
    const counted = await readStream(answer)
    const told = counted.events.filter(event => event.usage)
    expect([counted.done, told.length, told[0]!.choices, told[0] === counted.events.at(-1)]).toEqual([true, 1, [], true])
    expect(await world.callOf(answer)).toMatchObject({
      status: 'SUCCEEDED',
      input_tokens: told[0]!.usage.prompt_tokens,
      output_tokens: told[0]!.usage.completion_tokens,
    })
  })

  test.each([chatModel, secondModel])('of %s ends at its maximum, and at a stop sequence', async model => {
    const world = well()
    const short = (await (await world.chat('a b c d e f g', { model, max_completion_tokens: undefined, max_tokens: 3 })).json()) as Json
    expect([short.choices[0].finish_reason, short.usage.completion_tokens]).toEqual(['length', 3])
    const stopped = ((await (await world.chat('a b STOP d', { model, stop: 'STOP' })).json()) as Json).choices[0]
    expect([stopped.finish_reason, stopped.message.content.includes('d')]).toEqual(['stop', false])
  })

  test('continues with tools’ results, and sends pictures', async () => {
    await using world = await aiWorld()
    const messages = [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"q":"x"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'It is a thing.' },
      { role: 'user', content: 'Thanks' },
    ]
    for (const model of [chatModel, secondModel]) {
      const answer = await world.ask('completions', { model, messages, tools })
      expect([answer.status, ((await answer.json()) as Json).choices[0].message.content]).toEqual([200, 'Echo: Thanks'])
    }
  })

  test('under a hard limit produces at most 4,096 tokens without a caller’s maximum, and without a limit as many as the model likes', async () => {
    await using world = await aiWorld()
    const long = 'word '.repeat(5_000).trim()
    const ask = (model: string) => world.chat(long, { model, max_completion_tokens: undefined })
    const finish = async (answer: Response) => ((await answer.json()) as Json).choices[0].finish_reason
    expect(await finish(await ask(chatModel))).toBe('stop')
    await world.limit(1_000_000)
    for (const answer of [await ask(chatModel), await ask(secondModel)]) {
      expect(await finish(answer)).toBe('length')
      expect(await world.callOf(answer)).toMatchObject({ output_tokens: 4_096 })
    }
    expect((await world.spent()).reserved).toBe(0)
  })

  test('past a hard limit is refused without an attempt, and the chain is not entered', async () => {
    await using world = await aiWorld()
    await world.limit(10)
    const answer = await world.chat('hi')
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('x-gateway-attempts')]).toEqual([402, null, '0'])
    expect(await answer.json()).toMatchObject({
      ...{ title: 'Payment required', code: 'BUDGET_EXCEEDED', scopeType: 'organization', resetsAt: null },
      error: { type: 'budget_exceeded' },
    })
    expect([await world.received('openai'), await world.received('anthropic')]).toEqual([[], []])
    expect(await world.callOf(answer)).toMatchObject({ status: 'REFUSED' })
  })
})

describe('a chat request', () => {
  let world: AiWorld
  beforeAll(async () => {
    world = await aiWorld()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test.each([
    ['no messages', { messages: undefined }, 'messages'],
    ['an empty conversation', { messages: [] }, 'messages'],
    ['a prompt', { prompt: 'x' }, 'prompt'],
    ['several answers', { n: 2 }, 'n'],
    ['no role', { messages: [{ content: 'x' }] }, 'messages[0].role'],
    ['another role', { messages: [{ role: 'function', content: 'x' }] }, 'messages[0].role'],
    ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['content of another type', { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0]'],
    [
      'a picture that is no address',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] }] },
      'messages[0].content[0].image_url',
    ],
    [
      'a picture of the system',
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a.test/x.png' } }] }] },
      'messages[0].content[0]',
    ],
    ['an assistant that says nothing', { messages: [{ role: 'assistant' }] }, 'messages[0].content'],
    ['a tool without its call', { messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    ['too warm', { temperature: 2.1 }, 'temperature'],
    ['a text for a number', { top_p: '1' }, 'top_p'],
    ['no room', { max_completion_tokens: 0 }, 'max_completion_tokens'],
    ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['a stream that is none', { stream: 'yes' }, 'stream'],
    ['options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
    ['a tool that is none', { tools: [{ type: 'web_search' }] }, 'tools[0]'],
    ['two tools of one name', { tools: [...tools, ...tools] }, 'tools[1].function.name'],
    ['a choice of no tool', { tools, tool_choice: { type: 'function', function: { name: 'other' } } }, 'tool_choice'],
    ['a form without a schema', { response_format: { type: 'json_schema' } }, 'response_format'],
    ['what is not had here', { logprobs: true }, 'logprobs'],
    ['what nobody knows', { no_such_member: 1 }, 'no_such_member'],
    ['metadata that is none', { metadata: { a: 1 } }, 'metadata'],
  ])('with %s is refused by its name, and reaches no model', async (_what, body, param) => {
    const answer = await world.chat('Nobody hears this', body)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    expect(await answer.json()).toMatchObject({ code: 'BAD_USER_INPUT', field: param, requestId: 'of-a-test', error: { type: 'invalid_request_error', param } })
    expect(await world.received('openai')).toEqual([])
  })

  test('may contain members without effect, and members that only some vendors support', async () => {
    const habits = {
      n: 1,
      logprobs: false,
      store: false,
      service_tier: 'auto',
      modalities: ['text'],
      logit_bias: {},
      presence_penalty: 0,
      frequency_penalty: 0.5,
      reasoning_effort: 'low',
      seed: 7,
      user: 'me',
      safety_identifier: 'a1b2',
      prompt_cache_key: 'the same beginning',
      metadata: { a: 'b' },
      top_logprobs: null,
    }
    for (const model of [chatModel, secondModel]) expect((await world.chat('hi', { model, ...habits })).status).toBe(200)
  })

  test('continues after a refusal that the client sends back', async () => {
    const refused = { role: 'assistant', content: null, refusal: 'That I will not do.' }
    const messages = [{ role: 'user', content: 'Do it' }, refused, { role: 'user', content: 'Then something else' }]
    for (const model of [chatModel, secondModel]) {
      const answer = await world.chat('', { model, messages })
      expect([model, answer.status, ((await answer.json()) as Json).choices?.[0].message.content]).toEqual([model, 200, 'Echo: Then something else'])
    }
  })

  test.each([
    ['no JSON', '{"model":', {}],
    ['a list', '[]', {}],
    ['another type', '{}', { 'content-type': 'text/plain' }],
    ['a time-out that is too short', { messages: [] }, { 'x-gateway-timeout-ms': '499' }],
    ['a fallback that is none', { messages: [] }, { 'x-gateway-fallback': 'maybe' }],
  ])('of %s is 400', async (_what, body, headers) => {
    const answer = await world.ask('completions', body, { headers: headers as Record<string, string> })
    expect([answer.status, ((await answer.json()) as Json).error.type]).toEqual([400, 'invalid_request_error'])
  })

  test('reports an unknown model, or one of another capability, by name', async () => {
    for (const [model, status, code] of [
      ['openai/none-such', 404, 'model_not_found'],
      ['openai/gpt-image-1', 404, 'model_not_found'],
    ] as const) {
      const answer = await world.chat('hi', { model })
      expect([model, answer.status, ((await answer.json()) as Json).error]).toEqual([model, status, expect.objectContaining({ code, param: 'model' })])
    }
  })
})
