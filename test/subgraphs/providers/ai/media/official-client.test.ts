import OpenAI, { type APIError, toFile } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wav } from '../../../../kit/recording.ts'
import { type AiWorld, aiWorld } from './world.ts'

let world: AiWorld
let client: OpenAI
beforeAll(async () => {
  world = await aiWorld()
  const { fetch, key: apiKey, graph } = world
  client = new OpenAI({ baseURL: `${graph.publicUrl}/providers/api/ai`, apiKey, maxRetries: 0, fetch: fetch as typeof globalThis.fetch })
})
afterAll(() => world[Symbol.asyncDispose]())

const failure = (run: Promise<unknown>): Promise<APIError> =>
  run.then(
    () => expect.fail('was to be refused'),
    error => error,
  )

test('G-02 OpenAI’s own client lists models, and finds one by its name', async () => {
  const models = await client.models.list()
  expect(models.data.map(({ id }) => id)).toContain('openai/gpt-5-mini')
  expect(await client.models.retrieve('openai/whisper-1')).toMatchObject({ id: 'openai/whisper-1', owned_by: 'openai' })
})

test('G-02 a caller with an OpenAI key in place of ours learns which credential to send', async () => {
  const { baseURL } = client
  const stranger = new OpenAI({ baseURL, apiKey: 'sk-proj-somebodys', maxRetries: 0, fetch: world.fetch as typeof globalThis.fetch })
  const { status, message } = await failure(stranger.models.list())
  expect([status, message]).toEqual([401, expect.stringContaining('sgk_')])
})

test('G-02 OpenAI’s own client gets embeddings, which it requests in base64', async () => {
  const { data, usage } = await client.embeddings.create({ model: 'openai/text-embedding-3-small', input: ['one', 'two'], dimensions: 16 })
  const plain = await client.embeddings.create({ model: 'openai/text-embedding-3-small', input: 'one', dimensions: 16, encoding_format: 'float' })
  expect([data.length, data[0]!.embedding.length, usage.prompt_tokens]).toEqual([2, 16, 2])
  expect(data[0]!.embedding).toEqual(plain.data[0]!.embedding.map(Math.fround))
})

test('G-02 frameworks that count tokens themselves get embeddings of tokens', async () => {
  const { data, usage } = await client.embeddings.create({ model: 'openai/text-embedding-3-small', input: [[9906, 1917], [9906]], dimensions: 8 })
  expect([data.length, data[0]!.embedding.length, usage.prompt_tokens]).toEqual([2, 8, 3])
  const [one] = (await client.embeddings.create({ model: 'openai/text-embedding-3-small', input: [9906], dimensions: 8 })).data
  expect(one!.embedding).toEqual(data[1]!.embedding)
})

test('G-02 a transcription request may contain clients’ usual members without effect', async () => {
  const ask = { model: 'openai/whisper-1', file: await toFile(wav({ seconds: 1 }), 'a.wav'), response_format: 'verbose_json' } as const
  expect(await client.audio.transcriptions.create({ ...ask, temperature: 0, timestamp_granularities: ['segment'] })).toMatchObject({ duration: 1 })
  expect(await failure(client.audio.transcriptions.create({ ...ask, temperature: 0.7 }))).toMatchObject({ status: 400, param: 'temperature' })
  expect(await failure(client.audio.transcriptions.create({ ...ask, timestamp_granularities: ['word'] }))).toMatchObject({ status: 400 })
})

test('G-02 OpenAI’s own client has a recording written down', async () => {
  const file = await toFile(wav({ seconds: 2 }), 'two seconds.wav')
  expect(await client.audio.transcriptions.create({ model: 'openai/whisper-1', file })).toMatchObject({ text: 'Echo: two seconds.wav' })
  const whole = await client.audio.transcriptions.create({ model: 'openai/whisper-1', file, response_format: 'verbose_json' })
  expect(whole).toMatchObject({ duration: 2, text: 'Echo: two seconds.wav' })
  expect(await client.audio.transcriptions.create({ model: 'openai/whisper-1', file, response_format: 'text' })).toBe('Echo: two seconds.wav')
})

test('P-16 OpenAI’s own client has images drawn', async () => {
  const { data, created } = await client.images.generate({ prompt: 'A house', n: 1, size: '1024x1024' })
  expect([data?.length, typeof created, Buffer.from(data![0]!.b64_json!, 'base64').toString('latin1', 1, 4)]).toEqual([1, 'number', 'PNG'])
})

test('G-02 OpenAI’s own client knows refusals by their type, their code and their request', async () => {
  const unknown = await failure(client.images.generate({ model: 'openai/none-such', prompt: 'a' }))
  expect(unknown).toBeInstanceOf(OpenAI.NotFoundError)
  expect([unknown.code, unknown.param, unknown.type, typeof unknown.requestID]).toEqual(['model_not_found', 'model', 'invalid_request_error', 'string'])
  expect(await failure(client.images.generate({ prompt: 'a', n: 7 }))).toMatchObject({ status: 400, param: 'n' })
  expect(await failure(client.images.generate({ prompt: 'a', model: 'openai/gpt-image-1-mini' }))).toMatchObject({
    status: 403,
    code: 'override_not_permitted',
  })
  await world.arm('openai', { fault: 'status', status: 429, resetSeconds: 7, times: 5 })
  const limited = await failure(client.images.generate({ prompt: 'a' }))
  expect(limited).toBeInstanceOf(OpenAI.RateLimitError)
  expect([limited.type, limited.headers?.get('retry-after')]).toEqual(['rate_limit_error', '7'])
  const nobody = new OpenAI({ baseURL: client.baseURL, apiKey: 'sgk_nobody', maxRetries: 0, fetch: world.fetch as typeof globalThis.fetch })
  expect(await failure(nobody.models.list())).toBeInstanceOf(OpenAI.AuthenticationError)
})
