import { describe, expect, it } from 'vitest'
import { anthropicBody } from '../../../../subgraphs/providers/ai/chat/anthropic/request.ts'
import { readChat } from '../../../../subgraphs/providers/ai/chat/request.ts'
import { type AiWorld, aiWorld, chatModel, type Json, readStream, secondModel } from './world.ts'

const words = (count: number, word = 'word') => Array.from({ length: count }, (_, at) => `${word}${at}`).join(' ')
const control = (ttl?: '5m' | '1h') => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } })

/** Asks with messages, and hands back what the client is told of usage and what is on record. */
async function ask(world: AiWorld, body: object) {
  const answer = await world.ask('chat/completions', { max_completion_tokens: 20, ...body })
  const { usage } = (await answer.clone().json()) as Json
  return { answer, usage, call: await world.callOf(answer) }
}

describe('tokens that a vendor had cached', () => {
  it('are booked at their own price, and shown to the client, in the log and in the usage', async () => {
    await using world = await aiWorld()
    const messages = [{ role: 'user', content: words(1_300) }]
    const first = await ask(world, { model: chatModel, messages })
    expect(first.usage.prompt_tokens_details).toEqual({ cached_tokens: 0 })
    await world.graph.clock.advance(1_000)
    const second = await ask(world, { model: chatModel, messages })
    expect(second.usage).toMatchObject({ prompt_tokens: 1_300, prompt_tokens_details: { cached_tokens: 1_280 } })
    expect(second.call).toMatchObject({ input_tokens: 1_300, cached_tokens: 1_280, cache_write_tokens: 0 })
    const written = Number(second.call.output_tokens) * 2
    expect(Number(second.call.cost_micros)).toBe(Math.ceil(20 * 0.25 + 1_280 * 0.025 + written))
    expect(Number(first.call.cost_micros)).toBe(Math.ceil(1_300 * 0.25 + written))
    const document =
      '{ usage(groupBy: [MODEL]) { inputTokens cachedTokens cacheWriteTokens } providerCalls(first: 1) { nodes { cachedTokens cacheWriteTokens } } }'
    const { usage, providerCalls } = (await world.graph.execute(document, {}, { as: world.owner })).data()
    expect(JSON.stringify(usage)).toMatch(/2600.*1280/)
    expect(providerCalls.nodes).toEqual([{ cachedTokens: 1_280, cacheWriteTokens: 0 }])
  })

  it('are reported in a stream too', async () => {
    await using world = await aiWorld()
    const body = { model: chatModel, messages: [{ role: 'user', content: words(1_300) }], max_completion_tokens: 5 }
    await ask(world, body)
    const { events } = await readStream(await world.ask('chat/completions', { ...body, stream: true, stream_options: { include_usage: true } }))
    expect(events.at(-1)!.usage.prompt_tokens_details).toEqual({ cached_tokens: 1_280 })
  })
})

describe('cache_control', () => {
  const messages = (ttl?: '5m' | '1h') => [
    { role: 'system', content: [{ type: 'text', text: words(2_000), ...control(ttl) }] },
    { role: 'user', content: 'Hello there' },
  ]

  it.each([
    [undefined, 1.25],
    ['1h', 2],
  ] as const)('of messages reaches Anthropic: what it keeps (%s) costs its price once, and little from then on', async (ttl, times) => {
    await using world = await aiWorld()
    const first = await ask(world, { model: secondModel, messages: messages(ttl) })
    const written = Number(first.call.output_tokens) * 5
    expect(first.call).toMatchObject({ input_tokens: 2_002, cached_tokens: 0, cache_write_tokens: 2_000 })
    expect(first.usage.prompt_tokens_details).toEqual({ cached_tokens: 0, cache_write_tokens: 2_000 })
    expect(Number(first.call.cost_micros)).toBe(2 + 2_000 * times + written)
    const second = await ask(world, { model: secondModel, messages: messages(ttl) })
    expect(second.call).toMatchObject({ input_tokens: 2_002, cached_tokens: 2_000, cache_write_tokens: 0 })
    expect(Number(second.call.cost_micros)).toBe(2 + 200 + written)
    await world.graph.clock.advance(6 * 60_000)
    const third = await ask(world, { model: secondModel, messages: messages(ttl) })
    expect(Number(third.call.cached_tokens)).toBe(ttl === '1h' ? 2_000 : 0)
  })

  it.each([
    [
      'beside a message',
      [
        { role: 'system', content: words(1_500), ...control() },
        { role: 'user', content: 'Hi' },
      ],
      {},
    ],
    [
      'of a user',
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: words(1_500), ...control('5m') },
            { type: 'text', text: 'Hi' },
          ],
        },
      ],
      {},
    ],
    [
      'of the last message',
      [
        { role: 'user', content: words(1_500) },
        { role: 'assistant', content: 'Yes?' },
        { role: 'user', content: 'Hi', ...control() },
      ],
      {},
    ],
  ])('%s is passed on', async (_where, given, more) => {
    await using world = await aiWorld()
    const { call } = await ask(world, { model: secondModel, messages: given, ...more })
    expect(Number(call.cache_write_tokens)).toBeGreaterThanOrEqual(1_500)
  })

  it('on a tool, a tool’s result and a picture is passed on unchanged', () => {
    const tools = [{ type: 'function', ...control('1h'), function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const picture = { type: 'image_url', image_url: { url: 'https://example.com/a.png' }, ...control('5m') }
    const given = [
      { role: 'user', content: [picture] },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'seen', ...control() },
    ]
    const body = JSON.parse(anthropicBody(readChat({ messages: given, tools }, 500), { provider: 'anthropic', upstream: 'claude', maxTokens: 5 })) as Json
    expect(body.tools[0].cache_control).toEqual({ type: 'ephemeral', ttl: '1h' })
    expect(body.messages[0].content[0]).toMatchObject({ type: 'image', cache_control: { type: 'ephemeral', ttl: '5m' } })
    expect(body.messages[2].content[0]).toEqual({ type: 'tool_result', tool_use_id: 'c1', content: 'seen', cache_control: { type: 'ephemeral' } })
  })

  it('is removed for OpenAI, which does not support it, and reported', async () => {
    await using world = await aiWorld()
    const { answer, usage } = await ask(world, { model: chatModel, messages: messages() })
    expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'cache_control'])
    expect(usage.prompt_tokens).toBe(2_002)
  })

  it('of another form is rejected with its field', async () => {
    await using world = await aiWorld()
    const given = [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'for ever' } }] }]
    const answer = await world.ask('chat/completions', { model: secondModel, messages: given })
    expect([answer.status, ((await answer.json()) as Json).field]).toEqual([400, 'messages[0].content[0].cache_control'])
  })

  it('reserves the price of caching, so no hard limit is exceeded', async () => {
    await using world = await aiWorld()
    const text = words(2_000)
    // A token a byte at twice the price of input is more than this; at its plain price it would be less.
    const limit = Math.floor(text.length * 1.5)
    await world.limit(limit)
    const given = [{ role: 'user', content: [{ type: 'text', text, ...control('1h') }] }]
    expect((await world.ask('chat/completions', { model: secondModel, messages: given, max_completion_tokens: 1 })).status).toBe(402)
    expect((await world.ask('chat/completions', { model: secondModel, messages: [{ role: 'user', content: text }], max_completion_tokens: 1 })).status).toBe(
      200,
    )
    expect((await world.spent()).spent).toBeLessThanOrEqual(limit)
  })
})
