import { randomBytes } from 'node:crypto'
import { APIError, OpenAI } from 'openai'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { rememberSeals } from '../../../../router/apart/ask.ts'
import { createRemoteTarget } from '../../../../router/apart/http.ts'
import { serveSubgraph } from '../../../../router/apart/server.ts'
import { createDraining } from '../../../../router/door/streaming/draining.ts'
import { createSeal, publicHalf } from '../../../../router/engine/transport/seal.ts'
import { createRouter } from '../../../../router/router.ts'
import { createSealReader } from '../../../../subgraphs/seal.ts'
import { freePort } from '../../../kit/launch.ts'
import { type AiWorld, aiWorld, chatModel, readStream, secondModel } from './world.ts'

const createKey = 'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }'

/** The platform behind a door with a socket; the gateway in its process, or apart. */
async function opened(isApart: boolean, { streamDrainMs }: { readonly streamDrainMs?: number } = {}) {
  const stack = new AsyncDisposableStack()
  const world = stack.use(await aiWorld())
  const { clock, platform, job, secrets } = world.graph
  const port = await freePort()
  const publicUrl = `http://localhost:${port}`
  const gateway = platform.subgraphs.find(({ registration }) => registration.slug === 'providers')!
  let stopGateway = async () => {}
  const remote = async () => {
    const key = { id: 'test', key: randomBytes(32) }
    const seals = rememberSeals(createSealReader({ audience: 'providers', keys: [publicHalf(key)], clock }))
    const server = await serveSubgraph({
      subgraph: gateway,
      seals,
      host: '127.0.0.1',
      port: 0,
      publicUrl,
      readiness: [],
      draining: createDraining(streamDrainMs),
      log: job.log,
    })
    stack.defer(() => server.close())
    stopGateway = () => server.close()
    const dispatcher = new Agent()
    stack.defer(() => dispatcher.destroy())
    return createRemoteTarget('providers', [`http://127.0.0.1:${server.port}`], createSeal(key, clock), dispatcher)
  }
  const router = await createRouter({
    engine: platform.engine,
    authority: platform.identity.authority,
    subgraphs: isApart ? [...platform.subgraphs.filter(each => each !== gateway), await remote()] : platform.subgraphs,
    host: 'localhost',
    port,
    publicUrl,
    environment: 'development',
    clock,
    log: job.log,
    readiness: [],
    draining: createDraining(streamDrainMs),
  })
  await router.listen()
  stack.defer(() => router.close())
  const input = { name: 'Wire', scopes: ['providers:ai.invoke'] }
  const { secret } = (await world.graph.execute(createKey, { input }, { as: world.owner })).data().createApiKey
  secrets.note({ secret })
  const client = new OpenAI({ baseURL: `${publicUrl}/providers/api/ai`, apiKey: secret, maxRetries: 0, timeout: 20_000 })
  return {
    world,
    client,
    publicUrl,
    secret,
    stopRouter: () => router.close(),
    stopGateway: () => stopGateway(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const messages = [{ role: 'user' as const, content: 'Hello there' }]

describe.each([
  ['in one process', false],
  ['apart', true],
])('G-02 the official client of OpenAI, with the gateway %s,', (_where, isApart) => {
  let open: Awaited<ReturnType<typeof opened>>
  let world: AiWorld
  let client: OpenAI
  beforeAll(async () => {
    open = await opened(isApart)
    world = open.world
    client = open.client
  })
  afterAll(() => open[Symbol.asyncDispose]())

  test.each([chatModel, secondModel])('gets a chat answered by %s, in one piece and as a stream', async model => {
    const { data: answer, response } = await client.chat.completions.create({ model, messages }).withResponse()
    expect([answer.choices[0]!.message.content, answer.model, (answer as { _request_id?: string })._request_id]).toEqual([
      'Echo: Hello there',
      model,
      response.headers.get('x-request-id'),
    ])
    let text = ''
    let used = 0
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? ''
      used = chunk.usage?.total_tokens ?? used
    }
    expect([text, used > 0]).toEqual(['Echo: Hello there', true])
  })

  test.each([chatModel, secondModel])('has its helpers work with %s: tools that are run, forms that are parsed, streams that are put together', async model => {
    const runner = client.chat.completions.stream({ model, messages })
    expect(await runner.finalContent()).toBe('Echo: Hello there')
    const parsed = await client.chat.completions.parse({
      model,
      messages,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'said', schema: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] } },
      },
    })
    expect(JSON.parse(parsed.choices[0]!.message.content!)).toEqual({ words: expect.stringContaining('Hello there') })
    const called = await client.chat.completions.create({
      model,
      messages,
      tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } } }],
      tool_choice: 'required',
    })
    expect(called.choices[0]!.message.tool_calls).toEqual([
      { id: expect.any(String), type: 'function', function: { name: 'look_up', arguments: expect.any(String) } },
    ])
  })

  test('gets errors with their types', async () => {
    const errorOf = (asked: Promise<unknown>) =>
      asked.then(
        () => expect.fail('it was answered'),
        (error: APIError) => error,
      )
    const unknown = await errorOf(client.chat.completions.create({ model: 'openai/none-such', messages }))
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError)
    expect([unknown.code, unknown.param, unknown.type, unknown.requestID]).toEqual(['model_not_found', 'model', 'invalid_request_error', expect.any(String)])
    expect(await errorOf(client.chat.completions.create({ model: chatModel, messages, n: 2 }))).toBeInstanceOf(OpenAI.BadRequestError)
    const stranger = new OpenAI({ baseURL: client.baseURL, apiKey: 'sgk_nobodys', maxRetries: 0 })
    expect(await errorOf(stranger.chat.completions.create({ model: chatModel, messages }))).toBeInstanceOf(OpenAI.AuthenticationError)
    await world.arm('openai', { fault: 'status', status: 429, resetSeconds: 7 })
    const limited = await errorOf(client.chat.completions.create({ model: chatModel, messages }, { headers: { 'x-gateway-fallback': 'off' } }))
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError)
    expect(limited.headers!.get('retry-after')).toBe('7')
    await world.graph.clock.advance(7_000)
    await world.arm('openai', { fault: 'reset-mid-stream' })
    const stream = await client.chat.completions.create({ model: chatModel, messages: [{ role: 'user', content: 'a b c d e f g h' }], stream: true })
    const broken = await errorOf(
      (async () => {
        for await (const _chunk of stream);
      })(),
    )
    expect([broken instanceof APIError, broken.type]).toEqual([true, 'upstream_error'])
  })

  test('that leaves a stream closes the vendor’s at once, and pays for what was produced', async () => {
    await world.arm('openai', { fault: 'endless' })
    const { data: stream, response } = await client.chat.completions.create({ model: chatModel, messages, stream: true }).withResponse()
    let chunks = 0
    for await (const _chunk of stream) if (++chunks === 5) break
    stream.controller.abort()
    await expect.poll(async () => (await world.callOf(response)).status).toBe('ABORTED')
    const call = await world.callOf(response)
    expect(Number(call.cost_micros)).toBeGreaterThan(0)
    const gauge = world.graph.metrics.getSingleMetric('providers_ai_streams_open')!
    expect((await gauge.get()).values[0]!.value).toBe(0)
  })

  test('reads slowly: nothing is lost, and no more than a little is held', async () => {
    const long = Array.from({ length: 3_000 }, (_, at) => `word${at}`).join(' ')
    const answer = await fetch(`${client.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${open.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: chatModel, messages: [{ role: 'user', content: long }], stream: true }),
    })
    const reader = answer.body!.getReader()
    let text = Buffer.from((await reader.read()).value!).toString()
    await new Promise(resolve => setTimeout(resolve, 300))
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      text += Buffer.from(value).toString()
    }
    const said = text.split('\n').flatMap(line => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)).choices[0]?.delta.content ?? ''] : []))
    expect([said.join(''), text.endsWith('data: [DONE]\n\n')]).toEqual([`Echo: ${long}`, true])
  })

  test('finds an answer’s details in its headers, on pages of other origins too', async () => {
    const answer = await fetch(`${client.baseURL}/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${open.secret}`, 'content-type': 'application/json', origin: open.publicUrl },
      body: JSON.stringify({ messages, metadata: { order: '1' } }),
    })
    const exposed = answer.headers.get('access-control-expose-headers')!.toLowerCase().split(/, */)
    const names = [
      'x-request-id',
      'x-gateway-call-id',
      'x-gateway-attempts',
      'x-gateway-provider',
      'x-gateway-model',
      'x-gateway-cost-micros',
      'x-gateway-dropped',
    ]
    for (const name of names) expect([name, answer.headers.has(name), exposed.includes(name)]).toEqual([name, true, true])
    await answer.body?.cancel()
  })
})

describe.each([
  ['in one process', false],
  ['apart', true],
])('a stream of a model, with the gateway %s,', (_where, isApart) => {
  /** An endless stream that a client reads, and what it has read in the end. */
  async function streaming({ world, client, secret }: Awaited<ReturnType<typeof opened>>) {
    await world.arm('openai', { fault: 'endless' })
    const answer = await fetch(`${client.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: chatModel, messages, stream: true }),
    })
    return { answer, read: readStream(answer) }
  }
  const farewell = (code: string) => ({ error: { message: expect.any(String), type: 'upstream_error', param: null, code } })

  it('ends with the error event and without [DONE] when a router stops and the time of streams is over', async () => {
    await using open = await opened(isApart, { streamDrainMs: 100 })
    const { answer, read } = await streaming(open)
    await open.stopRouter()
    const { events, content, done } = await read
    expect([done, events.at(-1), content.startsWith('Echo: Hello there')]).toEqual([false, farewell('stopping'), true])
    await expect.poll(async () => (await open.world.callOf(answer)).status).toBe('ABORTED')
    expect(Number((await open.world.callOf(answer)).cost_micros)).toBeGreaterThan(0)
  })

  it.runIf(isApart)('ends with the error event and without [DONE] when the gateway behind the router stops', async () => {
    await using open = await opened(isApart, { streamDrainMs: 100 })
    const { read } = await streaming(open)
    await open.stopGateway()
    const { events, done } = await read
    expect([done, events.at(-1)]).toEqual([false, farewell('broken')])
  })
})
