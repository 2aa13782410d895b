import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { wav } from '../../../../kit/recording.ts'
import { key } from '../../../../kit/viewers.ts'
import { type AiWorld, aiWorld } from './world.ts'

let world: AiWorld
let files: Server
let origin: string
/** A place inside that the operator has chosen for the platform's own calls, such as a gateway to models. */
let gateway: string
let metInside = 0
beforeAll(async () => {
  files = createServer((request, response) => {
    const at = new URL(request.url!, origin).pathname
    if (at === '/moved') return response.writeHead(302, { location: '/a%20talk.wav' }).end()
    if (at === '/inside') return response.writeHead(302, { location: 'http://169.254.169.254/a.wav' }).end()
    if (at === '/to-the-gateway') return response.writeHead(302, { location: `${gateway}/a.wav` }).end()
    if (at === '/round') return response.writeHead(302, { location: '/round' }).end()
    if (at === '/large') return response.writeHead(200).end(Buffer.alloc(26 * 1024 * 1024))
    if (!at.endsWith('.wav')) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav({ seconds: 90 }))
  })
  await new Promise<void>(resolve => files.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
  const own = createServer((_, response) => {
    metInside += 1
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav({ seconds: 90 }))
  })
  await new Promise<void>(resolve => own.listen(0, '127.0.0.1', resolve))
  own.unref()
  gateway = `http://127.0.0.1:${(own.address() as AddressInfo).port}`
  world = await aiWorld({ trusts: [origin], inside: [gateway] })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  files.close()
})
beforeEach(() => world.graph.clock.advance(60_000))

const told = 'callId provider model costMicros attempts'
const mutation = (name: string, more: string) =>
  `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${told} ${more} } }`
const execute = (document: string, input: object, as: Viewer = world.member) => world.graph.execute(document, { input }, { as })

const images = mutation('createImages', 'images { base64 }')
const embeddings = mutation('createEmbeddings', 'vectors inputTokens')
const transcription = mutation('createTranscription', 'text seconds')
const completion = mutation('createCompletion', 'content finishReason toolCalls { id name arguments } inputTokens outputTokens dropped')

describe('G-02 in the graph', () => {
  test('images are drawn, and the call is the caller’s', async () => {
    const { createImages } = (await execute(images, { prompt: 'A house', n: 2, outputFormat: 'png' })).data()
    expect(createImages).toMatchObject({ provider: 'openai', model: 'openai/gpt-image-1', costMicros: 80_000, attempts: 1 })
    expect(createImages.images.map(({ base64 }: { base64: string }) => Buffer.from(base64, 'base64').toString('latin1', 1, 4))).toEqual(['PNG', 'PNG'])
    expect(await world.lastCall()).toMatchObject({ id: createImages.callId, app_id: 'app_providers', user_id: world.member.userId, status: 'SUCCEEDED' })
  })

  test('computes embeddings of texts', async () => {
    const { createEmbeddings } = (await execute(embeddings, { texts: ['one', 'two words'], dimensions: 4 })).data()
    expect(createEmbeddings).toMatchObject({ model: 'openai/text-embedding-3-small', inputTokens: 3, costMicros: 1 })
    expect(createEmbeddings.vectors.map((vector: number[]) => vector.length)).toEqual([4, 4])
  })

  test('a conversation is answered, in a form or by a call of a function', async () => {
    const messages = [{ role: 'USER', content: 'Say this' }]
    expect((await execute(completion, { messages })).data().createCompletion).toMatchObject({
      ...{ content: 'Echo: Say this', finishReason: 'stop', toolCalls: [], provider: 'openai', model: 'openai/gpt-5-mini', attempts: 1 },
      costMicros: expect.any(Number),
    })
    const json = await execute(completion, { messages, responseFormat: { type: 'json_object' } })
    expect(JSON.parse(json.data().createCompletion.content)).toEqual({ echo: 'Say this' })
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } } }]
    expect((await execute(completion, { messages, tools, toolChoice: 'required' })).data().createCompletion).toMatchObject({
      ...{ content: null, finishReason: 'tool_calls' },
      toolCalls: [{ id: expect.any(String), name: 'look_up', arguments: expect.stringMatching(/^\{/) }],
    })
    const strict = [{ type: 'function', function: { ...tools[0]!.function, strict: true } }]
    const dropped = async (model: string) => (await execute(completion, { messages, tools: strict, model })).data().createCompletion.dropped
    expect([await dropped('openai/gpt-5-mini'), await dropped('anthropic/claude-haiku-4-5')]).toEqual([[], ['tools.function.strict']])
    expect((await execute(completion, { messages, maxOutputTokens: 0 })).refused('BAD_USER_INPUT').extensions.field).toBe('maxOutputTokens')
    expect((await execute(completion, { messages: [] })).refused('BAD_USER_INPUT').extensions.field).toBe('messages')
  })

  test.each(['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5'])('%s is told what came of the functions that it wanted to have called', async model => {
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] } } }]
    const said = { role: 'USER', content: 'call look_up {"q":"one"} and call look_up {"q":"two"}' }
    const { toolCalls, content } = (await execute(completion, { messages: [said], tools, model })).data().createCompletion
    const wanted = { role: 'ASSISTANT', content, toolCalls }
    const [one, two] = toolCalls.map(({ id }: { id: string }, at: number) => ({ role: 'TOOL', content: `found ${at}`, toolCallId: id }))
    const told = (await execute(completion, { messages: [said, wanted, one, two], tools, model })).data().createCompletion
    expect(told).toMatchObject({ content: 'Echo: found 0\nfound 1', finishReason: 'stop', toolCalls: [] })
    const wrongly = async (messages: readonly object[]) => (await execute(completion, { messages, tools, model })).refused('BAD_USER_INPUT').extensions.field
    expect(await wrongly([said, wanted, { ...one, toolCallId: null }])).toBe('messages[2].toolCallId')
    expect(await wrongly([{ ...said, toolCallId: 'x' }])).toBe('messages[0].toolCallId')
    expect(await wrongly([{ ...said, toolCalls }])).toBe('messages[0].toolCalls')
  })

  test.each(['/a%20talk.wav', '/moved'])('a recording is fetched at its address: %s', async path => {
    const { createTranscription } = (await execute(transcription, { audioUrl: origin + path })).data()
    expect(createTranscription).toMatchObject({ text: 'Echo: a talk.wav', seconds: 90, costMicros: 4_500, model: 'openai/gpt-4o-mini-transcribe' })
  })

  test.each([
    'http://169.254.169.254/a.wav',
    'http://127.0.0.1:1/a.wav',
    'http://localhost:1/a.wav',
    'http://[::ffff:10.0.0.1]/a.wav',
    'ftp://example.com/a.wav',
    'http://user:word@93.184.216.34/a.wav',
    '/inside',
    '/round',
    '/large',
    '/none',
  ])('a recording is not fetched at %s', async address => {
    const before = await world.taken('openai')
    const { extensions } = (await execute(transcription, { audioUrl: address.startsWith('/') ? origin + address : address })).refused('BAD_USER_INPUT')
    expect(extensions.field).toBe('audioUrl')
    expect(await world.taken('openai')).toEqual(before)
  })

  test('a recording is not fetched where the operator lets the platform alone go, by no redirect either', async () => {
    for (const address of [`${gateway}/a.wav`, `${origin}/to-the-gateway`])
      expect((await execute(transcription, { audioUrl: address })).refused('BAD_USER_INPUT').extensions.field).toBe('audioUrl')
    expect(metInside).toBe(0)
  })

  test('names mistakes in the graph’s terms', async () => {
    const field = async (document: string, input: object) => (await execute(document, input)).refused('BAD_USER_INPUT').extensions.field
    expect(await field(images, { prompt: 'a', outputFormat: 'gif' })).toBe('outputFormat')
    expect(await field(images, { prompt: 'a', n: 9 })).toBe('n')
    expect(await field(embeddings, { texts: [] })).toBe('texts')
    expect(await field(embeddings, { texts: Array.from({ length: 101 }, () => 'a') })).toBe('texts')
    expect(await field(transcription, { audioUrl: `${origin}/a.wav`, language: '?' })).toBe('language')
    expect((await execute(images, { prompt: 'a', model: 'none/such' })).refused('NOT_FOUND').extensions.reason).toBe('model_not_found')
  })

  test('requires the right to call models, in an organization', async () => {
    const stranger = key(world.owner.organizationId!, ['providers:usage.read'])
    for (const [document, input] of [
      [images, { prompt: 'a' }],
      [embeddings, { texts: ['a'] }],
      [transcription, { audioUrl: `${origin}/a.wav` }],
      [completion, { messages: [{ role: 'USER', content: 'a' }] }],
    ] as const)
      (await execute(document, input, stranger)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
  })

  test('makes one call for an idempotency key: a repetition is rejected, and after a failure it makes another', async () => {
    const input = { prompt: 'Once', idempotencyKey: 'one' }
    const before = (await world.taken('openai')).length
    const answers = await Promise.all(Array.from({ length: 5 }, () => execute(images, input)))
    expect(answers.map(({ code }) => code ?? 'made').sort()).toEqual(['CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', 'made'])
    expect((await execute(images, input)).refused('CONFLICT').extensions.reason).toBe('ALREADY_MADE')
    expect((await execute(images, { ...input, prompt: 'Other' })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    expect((await world.taken('openai')).length).toBe(before + 1)
    await world.arm('openai', { fault: 'status', status: 400 })
    const again = { prompt: 'Again', idempotencyKey: 'two' }
    ;(await execute(images, again)).refused('BAD_USER_INPUT')
    expect((await execute(images, again)).data().createImages.attempts).toBe(1)
  })
})
