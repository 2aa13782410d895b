import { describe, expect, it } from 'vitest'
import { AttemptFailure, failureOf } from '../../../../subgraphs/providers/ai/attempt/failure.ts'
import { droppedOf } from '../../../../subgraphs/providers/ai/chat/dropped.ts'
import { ignoredIn } from '../../../../subgraphs/providers/ai/chat/ignored.ts'
import { readChat } from '../../../../subgraphs/providers/ai/chat/request.ts'
import { reportedFailure } from '../../../../subgraphs/providers/ai/chat/stream/openai.ts'
import { shared } from '../../../kit/shared.ts'
import { aiWorld, chatModel, type Json, readStream, secondModel } from './world.ts'

const parameters = { type: 'object', required: ['q'], properties: { q: { type: 'string' } } }
const more = { seed: 11, reasoning_effort: 'low', frequency_penalty: 0.5 }
const named = (answer: Response) => answer.headers.get('x-gateway-dropped')?.split(', ') ?? []
const pinned = { 'x-gateway-fallback': 'off' }

const droppedBy = (wire: 'openai' | 'anthropic', body: object) =>
  droppedOf(readChat({ messages: [{ role: 'user', content: 'x' }], ...body }, 100), wire).toSorted()

describe('members that a vendor does not support', () => {
  it.each([
    ['seed', { seed: 0 }],
    ['presence_penalty', { presence_penalty: -1 }],
    ['logit_bias', { logit_bias: { 50256: -100 } }],
    ['verbosity', { verbosity: 'high' }],
    ['safety_identifier', { safety_identifier: 'a1' }],
    ['prompt_cache_key', { prompt_cache_key: 'k' }],
    ['temperature', { temperature: 1.2 }],
    ['top_p', { temperature: 0.5, top_p: 0.5 }],
    ['tools.function.strict', { tools: [{ type: 'function', function: { name: 'f', parameters, strict: true } }] }],
    ['response_format.json_schema.strict', { response_format: { type: 'json_schema', json_schema: { name: 'f', schema: { type: 'object' }, strict: true } } }],
    ['messages.name', { messages: [{ role: 'user', name: 'Ann', content: 'x' }] }],
    [
      'messages.content.image_url.detail',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'high' } }] }] },
    ],
  ])('is named for Anthropic as %s, and is sent on OpenAI’s wire', (name, body) => {
    expect([droppedBy('anthropic', body), droppedBy('openai', body)]).toEqual([[name], []])
  })

  it.each([
    ['zeros and empty members', { frequency_penalty: 0, presence_penalty: 0, logit_bias: {}, seed: null, metadata: {} }],
    ['what both wires have', { temperature: 1, stop: ['x'], user: 'me', max_completion_tokens: 5, stream: true, stream_options: { include_usage: true } }],
    ['strict that is false', { tools: [{ type: 'function', function: { name: 'f', parameters, strict: false } }] }],
    [
      'an answer that is handed back as it came',
      {
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: 'y', refusal: null, annotations: [], audio: null, function_call: null },
        ],
      },
    ],
  ])('is nothing of %s', (_what, body) => {
    expect([droppedBy('anthropic', body), droppedBy('openai', body)]).toEqual([[], []])
  })

  it('has the members that no vendor is sent, once each and without the places in lists', () => {
    const body = {
      metadata: { order: '1' },
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'x', mood: 'good' }] },
        { role: 'user', content: [{ type: 'text', text: 'y', mood: 'bad' }], weight: 1 },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', 'x-own': 1 }, examples: [1] } }],
      stream: true,
      stream_options: { include_obfuscation: true },
    }
    const all = ['messages.content.mood', 'messages.weight', 'metadata', 'stream_options.include_obfuscation', 'tools.function.examples']
    expect([droppedBy('openai', body), droppedBy('anthropic', body)]).toEqual([all, all])
  })

  it('become header values whatever their names, thirty at most', () => {
    const strange = { 'a,b\r\nx: y': 1, ['é'.repeat(200)]: 1 }
    const names = ignoredIn({ messages: [strange] })
    expect(names).toEqual(['messages.a?b??x??y', `messages.${'?'.repeat(64)}`])
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, 1]))
    expect(ignoredIn({ messages: [many] })).toHaveLength(30)
  })
})

describe('a chat with members that the answering vendor cannot take', () => {
  const well = shared(() => aiWorld())

  it('names them in X-Gateway-Dropped, pinned and by fallback, in one piece and streamed', async () => {
    const world = well()
    for (const stream of [false, true]) {
      const direct = await world.chat('hi', { model: secondModel, stream, ...more }, { headers: pinned })
      await world.arm('openai', { fault: 'status', status: 503 })
      const moved = await world.chat('hi', { stream, ...more })
      for (const answer of [direct, moved]) {
        expect([answer.status, answer.headers.get('x-gateway-provider'), named(answer).toSorted()]).toEqual([
          200,
          'anthropic',
          ['frequency_penalty', 'reasoning_effort', 'seed'],
        ])
        if (stream) expect((await readStream(answer)).done).toBe(true)
      }
    }
  })

  it('names nothing when the vendor supports them', async () => {
    const answer = await well().chat('hi', more)
    expect([answer.status, answer.headers.has('x-gateway-dropped')]).toEqual([200, false])
  })

  it('is answered by Anthropic with the temperature only when temperature and top_p are both given', async () => {
    const answer = await well().chat('hi', { model: secondModel, temperature: 0.5, top_p: 0.9 }, { headers: pinned })
    expect([answer.status, named(answer)]).toEqual([200, ['top_p']])
  })

  it.each([
    ['a header', '', { 'x-gateway-strict': 'true' }],
    ['the query', '?strict=true', {}],
  ])('is refused with 400 when %s says strict, and reaches no model', async (_where, query, headers) => {
    const world = well()
    const before = (await world.received('anthropic')).length
    const body = { model: secondModel, messages: [{ role: 'user', content: 'hi' }], ...more }
    for (const stream of [false, true]) {
      const answer = await world.ask(`chat/completions${query}`, { ...body, stream }, { headers: { ...pinned, ...headers } as Record<string, string> })
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: 'BAD_USER_INPUT', reason: 'unsupported_parameter', error: { type: 'invalid_request_error', code: 'unsupported_parameter', param: 'seed' } },
      ])
    }
    expect(await world.received('anthropic')).toHaveLength(before)
  })

  it('uses only vendors that support them when it is strict, and is 400 when those do not answer', async () => {
    const world = well()
    const strict = { headers: { 'x-gateway-strict': 'true' } }
    expect((await world.chat('hi', more, strict)).headers.get('x-gateway-model')).toBe(chatModel)
    expect((await world.chat('hi', { ...more, model: secondModel }, strict)).headers.get('x-gateway-model')).toBe(chatModel)
    const before = (await world.received('anthropic')).length
    await world.arm('openai', { fault: 'status', status: 503 })
    const refused = await world.chat('hi', more, strict)
    expect([refused.status, refused.headers.get('x-gateway-attempts'), await refused.json()]).toMatchObject([
      400,
      '1',
      { code: 'BAD_USER_INPUT', detail: expect.stringContaining(secondModel), error: { param: 'seed' } },
    ])
    expect(await world.received('anthropic')).toHaveLength(before)
    await world.arm('openai', { fault: 'status', status: 503 })
    expect((await world.chat('hi', {}, strict)).headers.get('x-gateway-model')).toBe(secondModel)
  })

  it('is refused with 400 when strict is neither true nor false', async () => {
    expect((await well().chat('hi', {}, { headers: { 'x-gateway-strict': 'perhaps' } })).status).toBe(400)
  })
})

describe('a vendor’s error code', () => {
  const well = shared(() => aiWorld())
  const refused = (error: object) => failureOf(400, new Headers(), JSON.stringify({ error }), 0, ['sk-secret'])

  it('is the code of the error beside ours', async () => {
    for (const stream of [false, true]) {
      await well().arm('openai', { fault: 'status', status: 400 })
      const answer = await well().chat('Refused', { stream }, { headers: pinned })
      const { code, reason, error } = (await answer.json()) as Json
      expect([answer.status, code, reason, error]).toEqual([
        400,
        'BAD_USER_INPUT',
        'refused_by_provider',
        expect.objectContaining({ type: 'invalid_request_error', code: 'invalid_value', param: 'messages' }),
      ])
    }
  })

  it('is ours when the vendor has none', async () => {
    await well().arm('anthropic', { fault: 'status', status: 400 })
    const answer = await well().chat('Refused', { model: secondModel }, { headers: pinned })
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([400, 'refused_by_provider'])
  })

  it('is context_length_exceeded for a conversation that is too long, for every vendor', () => {
    expect(refused({ message: 'Too long', code: 'context_length_exceeded' }).providerCode).toBe('context_length_exceeded')
    expect(refused({ type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' }).providerCode).toBe(
      'context_length_exceeded',
    )
  })

  it('is passed on only when it is a plain word, which no key is', () => {
    for (const code of ['sk-secret', 'Bad', '', 'a'.repeat(65), 400, { a: 1 }, null]) expect(refused({ message: 'No', code }).providerCode).toBe(null)
  })

  it('is kept for an error within a stream', () => {
    const failure = reportedFailure({ type: 'invalid_request_error', code: 'context_length_exceeded' })
    expect([failure instanceof AttemptFailure, failure.providerCode]).toEqual([true, 'context_length_exceeded'])
  })
})
