import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { wav } from '../../../../kit/recording.ts'
import { type AiWorld, aiWorld, formOf } from './world.ts'

let world: AiWorld
beforeAll(async () => {
  world = await aiWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => world.graph.clock.advance(60_000))

const problem = (status: number, code: string, error: object) => ({
  status,
  headers: { 'content-type': expect.stringMatching(/^application\/problem\+json/) },
  json: { status, code, requestId: expect.any(String), error: expect.objectContaining({ message: expect.any(String), ...error }) },
})
const gateway = (told: Record<string, string>) => Object.fromEntries(Object.entries(told).map(([name, value]) => [`x-gateway-${name}`, value]))
const transcribe = async (entries: Record<string, string | File>, path = 'transcriptions') => {
  const { body, type } = await formOf({ file: new File([wav({ seconds: 1 })], 'one-second.wav', { type: 'audio/wav' }), ...entries })
  return world.ask(path, body, { 'content-type': type })
}

describe('P-16 images', () => {
  test.each(['images', 'images/generations'])('are drawn at POST %s, each at its price, and the call is on record', async path => {
    const answer = await world.ask(path, { prompt: 'A house', n: 2, size: '1024x1024', background: 'opaque', output_format: 'png' })
    expect(answer).toMatchObject({
      status: 200,
      json: {
        created: expect.any(Number),
        data: [{ b64_json: expect.any(String) }, { b64_json: expect.any(String) }],
        usage: { total_tokens: expect.any(Number) },
      },
      headers: gateway({ provider: 'openai', model: 'openai/gpt-image-1', attempts: '1', 'cost-micros': '80000' }),
    })
    expect(Object.keys(answer.json).sort()).toEqual(['created', 'data', 'usage'])
    expect(answer.headers).toMatchObject({ 'content-length': String(Buffer.byteLength(answer.text)), 'cache-control': 'no-store' })
    expect(Buffer.from(answer.json.data[1].b64_json, 'base64').subarray(1, 4).toString()).toBe('PNG')
    expect(await world.lastCall()).toMatchObject({
      ...{ id: answer.headers['x-gateway-call-id'], operation: 'images.generations', status: 'SUCCEEDED', model: 'openai/gpt-image-1', units: 2 },
      cost_micros: '80000',
      prompt: null,
    })
  })

  test.each([
    [{}, 40_000],
    [{ quality: 'auto', size: 'auto' }, 40_000],
    [{ quality: 'low' }, 11_000],
    [{ quality: 'low', size: '1536x1024', n: 3 }, 48_000],
    [{ quality: 'medium', size: '1024x1536' }, 63_000],
    [{ quality: 'high', size: '1024x1024' }, 167_000],
    [{ quality: 'high', size: '1024x1536' }, 250_000],
  ])('cost by their size and quality, and a hard limit holds just that: %j', async (form, cost) => {
    const change = async (name: string, input: object) =>
      (
        await world.graph.execute(
          `mutation ($input: ${name}Input!) { ${name[0]!.toLowerCase()}${name.slice(1)}(input: $input) { id } }`,
          { input },
          { as: world.owner },
        )
      ).data()
    const limits = { scopeType: 'ORGANIZATION', scopeValue: world.owner.organizationId, period: 'TOTAL' }
    const draw = () => world.ask('images', { prompt: 'A house', ...form })
    for (const [hardLimitMicros, statuses] of [
      [cost - 1, [402]],
      [cost, [200, 402]],
    ] as const) {
      const { createSpendLimit: limit } = await change('CreateSpendLimit', { ...limits, hardLimitMicros })
      for (const status of statuses) {
        const answer = await draw()
        expect(answer.status).toBe(status)
        if (status === 200) expect(answer.headers).toMatchObject(gateway({ 'cost-micros': String(cost) }))
      }
      await change('DeleteSpendLimit', { id: limit.id })
    }
  })

  test('go on through the chain after a 429; a vendor’s 400 ends them, and nothing is paid', async () => {
    await world.arm('openai', { fault: 'status', status: 429, resetSeconds: 1 })
    expect(await world.ask('images', { prompt: 'A tree' })).toMatchObject({
      status: 200,
      headers: gateway({ attempts: '2', model: 'openai/gpt-image-1-mini' }),
    })
    await world.graph.clock.advance(5_000)
    await world.arm('openai', { fault: 'status', status: 400 })
    expect(await world.ask('images', { prompt: 'A tree' })).toMatchObject({
      ...problem(400, 'BAD_USER_INPUT', { type: 'invalid_request_error' }),
      headers: gateway({ attempts: '1', 'call-id': expect.any(String) as unknown as string }),
    })
    expect(await world.lastCall()).toMatchObject({ status: 'FAILED', cost_micros: '0' })
  })

  test('are tried once where the model is pinned', async () => {
    await world.arm('openai', { fault: 'status', status: 503 })
    const answer = await world.ask('images', { prompt: 'A tree' }, { 'x-gateway-fallback': 'off' })
    expect(answer).toMatchObject({ ...problem(502, 'UPSTREAM_FAILED', { type: 'upstream_error' }), headers: gateway({ attempts: '1' }) })
  })

  test('of another model than the preferred one require the scope org.admin', async () => {
    const model = 'openai/gpt-image-1-mini'
    expect(await world.ask('images', { prompt: 'a', model })).toMatchObject(
      problem(403, 'FORBIDDEN', { type: 'permission_error', code: 'override_not_permitted' }),
    )
    expect(await world.ask('images', { prompt: 'a', model: 'openai/gpt-image-1' })).toMatchObject({ status: 200 })
    const owners = 'mutation { createImages(input: { prompt: "a", model: "openai/gpt-image-1-mini" }) { model costMicros } }'
    expect((await world.graph.execute(owners, {}, { as: world.owner })).data()).toEqual({ createImages: { model, costMicros: 10_000 } })
    expect((await world.graph.execute(owners, {}, { as: world.member })).refused('FORBIDDEN').extensions.reason).toBe('override_not_permitted')
  })

  test.each([
    [{ prompt: 'a', n: 5 }, 400, 'n'],
    [{}, 400, 'prompt'],
    [{ prompt: 'a', model: 'openai/none-such' }, 404, 'model'],
    [{ prompt: 'a', model: 'openai/gpt-5-mini' }, 404, 'model'],
    ['{"prompt":', 400, null],
    [[], 400, null],
  ])('that are asked for wrongly reach no model: %j', async (body, status, param) => {
    const before = await world.taken('openai')
    const sent = typeof body === 'string' ? Buffer.from(body) : body
    const answer = await world.ask('images', sent, { 'content-type': 'application/json' })
    expect(answer).toMatchObject(problem(status, status === 404 ? 'NOT_FOUND' : 'BAD_USER_INPUT', { type: 'invalid_request_error', param }))
    expect(await world.taken('openai')).toEqual(before)
  })

  test('answer headers that shorten an attempt are bounded', async () => {
    for (const wrong of ['499', '600001', 'soon', ''])
      expect(await world.ask('images', { prompt: 'a' }, { 'x-gateway-timeout-ms': wrong })).toMatchObject(
        problem(400, 'BAD_USER_INPUT', { param: 'X-Gateway-Timeout-Ms' }),
      )
  })
})

describe('G-02 transcriptions', () => {
  test.each(['transcriptions', 'audio/transcriptions'])('are made at POST %s, and paid by their seconds', async path => {
    const answer = await transcribe({}, path)
    expect(answer).toMatchObject({
      status: 200,
      json: { text: 'Echo: one-second.wav' },
      headers: gateway({ model: 'openai/gpt-4o-mini-transcribe', 'cost-micros': '50' }),
    })
    expect(await world.lastCall()).toMatchObject({ operation: 'audio.transcriptions', status: 'SUCCEEDED', units: 1, cost_micros: '50' })
  })

  test('cost the fraction of a second that the provider counts, and the log has whole ones', async () => {
    const answer = await transcribe({ file: new File([wav({ seconds: 1.2 })], 'more-than-one-second.wav', { type: 'audio/wav' }) })
    expect(answer).toMatchObject({ status: 200, headers: gateway({ 'cost-micros': '60' }) })
    expect(await world.lastCall()).toMatchObject({ status: 'SUCCEEDED', units: 2, cost_micros: '60' })
  })

  test('are returned as text, or with all details of the model', async () => {
    const text = await transcribe({ response_format: 'text', model: 'openai/whisper-1' })
    expect([text.status, text.headers['content-type'], text.text]).toEqual([200, 'text/plain; charset=utf-8', 'Echo: one-second.wav'])
    const { json } = await transcribe({ response_format: 'verbose_json', model: 'openai/whisper-1', language: 'en' })
    expect(json).toMatchObject({ task: 'transcribe', language: 'en', duration: 1, text: 'Echo: one-second.wav', segments: [{ end: 1 }] })
  })

  test('reject invalid requests with the mistake', async () => {
    expect(await transcribe({ response_format: 'srt' })).toMatchObject(problem(400, 'BAD_USER_INPUT', { param: 'response_format' }))
    expect(await transcribe({ file: 'no file' })).toMatchObject(problem(400, 'BAD_USER_INPUT', { param: 'file' }))
    expect(await world.ask('transcriptions', { file: 'a' })).toMatchObject(problem(400, 'BAD_USER_INPUT', {}))
  })
})

describe('G-02 embeddings', () => {
  test('are computed for each text, as numbers or in base64', async () => {
    const answer = await world.ask('embeddings', { model: 'openai/text-embedding-3-small', input: ['one', 'two words'], dimensions: 8 })
    expect(answer).toMatchObject({
      status: 200,
      json: { object: 'list', model: 'openai/text-embedding-3-small', usage: { prompt_tokens: 3, total_tokens: 3 } },
      headers: gateway({ 'cost-micros': '1' }),
    })
    const packed = await world.ask('embeddings', { input: ['one', 'two words'], dimensions: 8, encoding_format: 'base64' })
    const numbers = packed.json.data.map(({ embedding }: { embedding: string }) => [
      ...new Float32Array(new Uint8Array(Buffer.from(embedding, 'base64')).buffer),
    ])
    expect(answer.json.data.map(({ embedding }: { embedding: number[] }) => embedding.map(Math.fround))).toEqual(numbers)
  })
})

describe('G-02 models', () => {
  test('are those that callers may name; one is found by its name, or by a unique last part', async () => {
    const { json } = await world.ask('models')
    const names = json.data.map(({ id }: { id: string }) => id)
    expect(json.object).toBe('list')
    expect(names).toEqual(expect.arrayContaining(['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5', 'openai/gpt-image-1', 'openai/whisper-1']))
    expect(names).not.toContain('openai/gpt-5-nano')
    for (const name of ['openai%2Fwhisper-1', 'openai/whisper-1', 'whisper-1'])
      expect((await world.ask(`models/${name}`)).json, name).toEqual({
        id: 'openai/whisper-1',
        object: 'model',
        created: Date.parse('2026-11-22') / 1000,
        owned_by: 'openai',
      })
    expect(await world.ask('models/none-such')).toMatchObject(problem(404, 'NOT_FOUND', { code: 'model_not_found', param: 'model' }))
    expect(await world.ask('none-such', {})).toMatchObject(problem(404, 'NOT_FOUND', { type: 'invalid_request_error' }))
  })
})
