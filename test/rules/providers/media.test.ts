import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AttemptFailure } from '../../../subgraphs/providers/ai/attempt/failure.ts'
import { embedTexts } from '../../../subgraphs/providers/ai/embedding/embed.ts'
import { bodyOfEmbeddings, mostTokens, readEmbeddingAnswer, readEmbeddingRequest } from '../../../subgraphs/providers/ai/embedding/request.ts'
import { bodyOfImages, readImageAnswer, readImageRequest } from '../../../subgraphs/providers/ai/image/request.ts'
import { longestSeconds } from '../../../subgraphs/providers/ai/transcription/duration.ts'
import { readForm, writeForm } from '../../../subgraphs/providers/ai/transcription/form.ts'
import { bodyOfTranscription, largestFile, readTranscriptionAnswer, readTranscriptionRequest } from '../../../subgraphs/providers/ai/transcription/request.ts'
import type { Engine } from '../../../subgraphs/providers/engines/models/engine.ts'
import { wav } from '../../kit/recording.ts'
import { refusalOf } from '../refusal.ts'

const refused = (field: string) => ({ code: 'BAD_USER_INPUT', extensions: { field } })
const now = new Date('2027-03-01T12:00:00Z')

/** A form as a client of the web writes it, which is none of ours. */
async function written(form: FormData): Promise<readonly [string, Uint8Array]> {
  const answer = new Response(form)
  return [answer.headers.get('content-type')!, await answer.bytes()]
}
function formWith(entries: Record<string, string | File>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(entries)) form.set(name, value)
  return form
}
const recording = (bytes: Uint8Array<ArrayBuffer> = wav({ seconds: 1 }), name = 'one.wav') => new File([bytes], name, { type: 'audio/wav' })
const readOf = async (entries: Record<string, string | File>) => readTranscriptionRequest(readForm(...(await written(formWith(entries)))))
const refusalFrom = async (run: () => Promise<unknown>) =>
  run()
    .then(() => undefined)
    .catch(error => error)

describe('G-02 a form', () => {
  test('is read as clients write it, whatever its file holds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary', maxLength: 50 }), async (bytes, text) => {
        const value = text.toWellFormed().replace(/\r\n|[\r\n]/g, '\r\n')
        const { fields, files } = readForm(...(await written(formWith({ file: recording(new Uint8Array(bytes)), prompt: value }))))
        expect([fields.prompt, Buffer.from(files.file!.bytes), files.file!.name, files.file!.type]).toEqual([value, Buffer.from(bytes), 'one.wav', 'audio/wav'])
      }),
      { numRuns: 50 },
    )
  })

  test('is written in standard format, and its file may contain text like a boundary', async () => {
    const bytes = Buffer.from('\r\n--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nother\r\n--b--')
    const form = await new Response(writeForm({ model: 'whisper-1' }, { name: 'a".wav', type: 'audio/wav', bytes }, 'another'), {
      headers: { 'content-type': 'multipart/form-data; boundary=another' },
    }).formData()
    const file = form.get('file') as File
    expect([form.get('model'), [...form.keys()], file.name, Buffer.from(await file.bytes())]).toEqual(['whisper-1', ['model', 'file'], 'a_.wav', bytes])
  })

  test.each([
    ['no boundary', 'multipart/form-data', '--b--'],
    ['another type', 'application/json', '{}'],
    ['nothing', 'multipart/form-data; boundary=b', ''],
    ['an end that never comes', 'multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx'],
    ['a part without a name', 'multipart/form-data; boundary=b', '--b\r\ncontent-type: text/plain\r\n\r\nx\r\n--b--'],
    ['a field twice', 'multipart/form-data; boundary=b', `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(2)}--b--`],
    ['a long head', 'multipart/form-data; boundary=b', `--b\r\nx: ${'y'.repeat(5000)}\r\n\r\nx\r\n--b--`],
    [
      'many parts',
      'multipart/form-data; boundary=b',
      `${Array.from({ length: 40 }, (_, at) => `--b\r\ncontent-disposition: form-data; name="a${at}"\r\n\r\nx\r\n`).join('')}--b--`,
    ],
  ])('with %s is refused', (_, type, body) => {
    expect(refusalOf(() => readForm(type, Buffer.from(body)))).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  test('of any bytes is read or rejected, without other effects', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('--b', '--b--', '\r\n', '\r\n\r\n', 'content-disposition: form-data; name="a"', 'x', '; filename="f"'), { maxLength: 12 }),
        parts => {
          try {
            readForm('multipart/form-data; boundary=b', Buffer.from(parts.join('')))
          } catch (error) {
            expect(error).toMatchObject({ code: 'BAD_USER_INPUT' })
          }
        },
      ),
    )
  })
})

describe('G-02 the maximum duration of a recording', () => {
  test.each([
    ['a second at 8 kHz', wav({ seconds: 1 }), 1],
    ['ninety seconds in stereo at 44.1 kHz', wav({ seconds: 90, samples: 44_100, channels: 2, bits: 16 }), 90],
    ['half a second', wav({ seconds: 0.5 }), 1],
    ['a header that says less than there is', wav({ seconds: 10, said: 8_000 }), 1],
    ['a header that says more than there is', wav({ seconds: 2, said: 4_000_000_000 }), 2],
    ['a header that says nothing of the length', wav({ seconds: 2, said: 0 }), 2],
    ['a header with a rate that nobody records at', wav({ seconds: 1, samples: 1 }), 1],
    ['bytes of another kind', new Uint8Array(50_000), 100],
  ])('%s', (_, file, seconds) => {
    expect(longestSeconds(file)).toBe(seconds)
  })
})

describe('G-02 a transcription request', () => {
  test('is read, and passed on as JSON even where a text is wanted', async () => {
    const request = await readOf({ file: recording(), model: 'openai/whisper-1', language: 'en', prompt: 'Names', response_format: 'text' })
    expect(request).toMatchObject({ model: 'openai/whisper-1', language: 'en', prompt: 'Names', format: 'text', longestSeconds: 1 })
    const { type, body } = bodyOfTranscription(request, 'whisper-1')
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    expect([...form].filter(([name]) => name !== 'file')).toEqual([
      ['model', 'whisper-1'],
      ['response_format', 'json'],
      ['language', 'en'],
      ['prompt', 'Names'],
    ])
    expect(await (form.get('file') as File).bytes()).toEqual(new Uint8Array(wav({ seconds: 1 })))
  })

  test.each([
    ['file', { model: 'x' }],
    ['file', { file: 'a text' }],
    ['file', { file: recording(new Uint8Array()) }],
    ['response_format', { file: recording(), response_format: 'srt' }],
    ['language', { file: recording(), language: 'English!' }],
    ['colour', { file: recording(), colour: 'red' }],
  ])('is refused for its %s', async (field, entries) => {
    expect(await refusalFrom(() => readOf(entries as Record<string, string | File>))).toMatchObject(refused(field))
  })

  test('accepts 25 MB and not one byte more', () => {
    const form = (size: number) => ({ fields: {}, files: { file: { name: 'a', type: 'audio/mpeg', bytes: new Uint8Array(size) } } })
    expect(readTranscriptionRequest(form(largestFile)).file.bytes.byteLength).toBe(largestFile)
    expect(refusalOf(() => readTranscriptionRequest(form(largestFile + 1)))).toMatchObject(refused('file'))
  })

  test('bills the reported duration, or the reported tokens, or the longest possible duration, and never more than that', async () => {
    const request = await readOf({ file: recording(wav({ seconds: 60 })) })
    const seconds = (answer: unknown) => readTranscriptionAnswer(answer, request)?.seconds
    expect(seconds({ text: 'a', usage: { type: 'duration', seconds: 12.5 } })).toBe(12.5)
    expect(seconds({ text: 'a', duration: 13 })).toBe(13)
    expect(seconds({ text: 'a', usage: { type: 'tokens', input_tokens: 200, input_token_details: { audio_tokens: 140 } } })).toBe(14)
    expect([seconds({ text: 'a' }), seconds({ text: 'a', duration: 1e9 }), seconds({ text: 'a', duration: -1 })]).toEqual([60, 60, 60])
    expect([null, 'a', [], {}, { text: 1 }].map(answer => readTranscriptionAnswer(answer, request))).toEqual([null, null, null, null, null])
  })
})

describe('P-16 an image request', () => {
  test('is read, and passed on unchanged', () => {
    const request = readImageRequest({
      prompt: 'A house',
      n: 2,
      size: '1024x1024',
      quality: 'high',
      background: 'opaque',
      output_format: 'png',
      model: 'default',
    })
    expect(request.model).toBeNull()
    expect(JSON.parse(bodyOfImages(request, { upstream: 'gpt-image-1', imagePrices: [] }))).toEqual({
      model: 'gpt-image-1',
      prompt: 'A house',
      n: 2,
      size: '1024x1024',
      quality: 'high',
      background: 'opaque',
      output_format: 'png',
    })
    expect(JSON.parse(bodyOfImages(readImageRequest({ prompt: 'A house' }), { upstream: 'm', imagePrices: [] }))).toEqual({
      model: 'm',
      prompt: 'A house',
      n: 1,
    })
  })

  test.each([
    ['prompt', {}],
    ['prompt', { prompt: 7 }],
    ['n', { prompt: 'a', n: 5 }],
    ['n', { prompt: 'a', n: 0 }],
    ['n', { prompt: 'a', n: '1' }],
    ['size', { prompt: 'a', size: 'large' }],
    ['quality', { prompt: 'a', quality: 'best' }],
    ['background', { prompt: 'a', background: 'blue' }],
    ['output_format', { prompt: 'a', output_format: 'gif' }],
    ['response_format', { prompt: 'a', response_format: 'url' }],
    ['model', { prompt: 'a', model: {} }],
    ['stream', { prompt: 'a', stream: true }],
  ])('is refused for its %s', (field, given) => {
    expect(refusalOf(() => readImageRequest(given))).toMatchObject(refused(field))
  })

  test('returns images in base64, and no more than requested', () => {
    const request = readImageRequest({ prompt: 'a', n: 2 })
    expect(readImageAnswer({ created: 5, data: [{ b64_json: 'aGVsbG8h' }], usage: { total_tokens: 3 } }, request, now)).toEqual({
      created: 5,
      images: ['aGVsbG8h'],
      usage: { total_tokens: 3 },
    })
    expect(readImageAnswer({ data: [{ b64_json: 'aGVsbG8h' }] }, request, now)).toMatchObject({ created: now.getTime() / 1000, usage: null })
    const image = { b64_json: 'aGVsbG8h' }
    for (const data of [[], [image, image, image], [{ url: 'https://example.test/a.png' }], [{ b64_json: '<html>' }], [null], 'no'])
      expect(readImageAnswer({ data }, request, now)).toBeNull()
    expect([null, [], 'text'].map(answer => readImageAnswer(answer, request, now))).toEqual([null, null, null])
  })
})

describe('G-02 an embedding request', () => {
  test.each([
    ['a text', 'one', ['one'], 3],
    ['texts', ['one', 'zwölf'], ['one', 'zwölf'], 9],
    ['tokens', [1, 2, 3], [[1, 2, 3]], 3],
    ['tokens of several', [[1, 2], [3]], [[1, 2], [3]], 3],
  ])('is read as %s', (_, input, read, tokens) => {
    const request = readEmbeddingRequest({ input, model: 'openai/text-embedding-3-small', dimensions: 8 })
    expect([request.input, mostTokens(request.input), request.encoding]).toEqual([read, tokens, 'float'])
    expect(JSON.parse(bodyOfEmbeddings(request, 'm'))).toEqual({ model: 'm', input: read, encoding_format: 'float', dimensions: 8 })
  })

  test.each([
    ['input', {}],
    ['input', { input: '' }],
    ['input', { input: [] }],
    ['input', { input: ['a', ''] }],
    ['input', { input: ['a', 1] }],
    ['input', { input: [[]] }],
    ['input', { input: [1.5] }],
    ['input', { input: Array.from({ length: 2049 }, () => 'a') }],
    ['encoding_format', { input: 'a', encoding_format: 'hex' }],
    ['dimensions', { input: 'a', dimensions: 0 }],
  ])('is refused for its %s', (field, given) => {
    expect(refusalOf(() => readEmbeddingRequest(given))).toMatchObject(refused(field))
  })

  const packed = Buffer.from(new Float32Array([0.5, -1, 2]).buffer).toString('base64')
  test.each([
    ['float', [0.5, -1, 2]],
    ['base64', packed],
  ])('an answer comes as %s, whichever of both the provider sends', (encoding, vector) => {
    const request = readEmbeddingRequest({ input: ['a', 'b'], encoding_format: encoding })
    const data = [
      { index: 1, embedding: packed },
      { index: 0, embedding: [0.5, -1, 2] },
    ]
    expect(readEmbeddingAnswer({ data, usage: { prompt_tokens: 4 } }, request)).toEqual({ vectors: [vector, vector], tokens: 4 })
  })

  test.each([
    ['too few', [{ index: 0, embedding: [1] }]],
    [
      'one twice',
      [
        { index: 0, embedding: [1] },
        { index: 0, embedding: [1] },
      ],
    ],
    [
      'one that was not asked for',
      [
        { index: 0, embedding: [1] },
        { index: 2, embedding: [1] },
      ],
    ],
    ['an empty one', [{ embedding: [1] }, { embedding: [] }]],
    ['no numbers', [{ embedding: [1] }, { embedding: ['1'] }]],
    ['half a number', [{ embedding: [1] }, { embedding: 'AAAAAAA=' }]],
    ['nothing', [null, null]],
  ])('an answer with %s is none', (_, data) => {
    expect(readEmbeddingAnswer({ data }, readEmbeddingRequest({ input: ['a', 'b'] }))).toBeNull()
  })

  test.each([
    ['too_large', 'bad_request', 'ask for encoding_format base64'],
    ['server_error', 'server_error', 'The provider is away.'],
  ] as const)('an answer that fails as %s is told as %s', async (failure, as, words) => {
    const engine = {
      makeCall: ({ attempt }: { attempt(...given: unknown[]): Promise<unknown> }) => attempt({ upstream: 'small' }, {}, 'secret', {}, false),
      upstream: { askJson: () => Promise.reject(new AttemptFailure(failure, null, 'The provider is away.')) },
    } as unknown as Engine
    const asking = { caller: { organizationId: 'o', userId: null, appId: 'a' }, fallback: true, mayOverride: false, isStrict: false, attemptMs: null }
    const told = embedTexts(engine, readEmbeddingRequest({ input: ['a'] }), { ...asking, signal: new AbortController().signal })
    await expect(told).rejects.toMatchObject({ failure: as, message: expect.stringContaining(words) })
  })
})
