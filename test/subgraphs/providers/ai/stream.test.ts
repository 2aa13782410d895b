import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../../platform/clock.ts'
import type { StreamedAnswer, StreamOutbound } from '../../../../platform/outbound/stream.ts'
import { createUpstream } from '../../../../subgraphs/providers/ai/attempt/upstream.ts'
import { tokensUsed } from '../../../../subgraphs/providers/ai/chat/counted.ts'
import { openaiReader } from '../../../../subgraphs/providers/ai/chat/stream/openai.ts'
import type { Used } from '../../../../subgraphs/providers/ai/chat/stream/reader.ts'
import { openStream } from '../../../../subgraphs/providers/ai/chat/stream/stream.ts'
import { openCounter } from '../../../../subgraphs/providers/ai/counting/counter.ts'
import { sampleOf } from '../../../../subgraphs/providers/ai/counting/sample.ts'
import type { CredentialInUse } from '../../../../subgraphs/providers/engines/third-party/credentials.ts'

const answerOf = (pieces: readonly Uint8Array[], type = 'text/event-stream') => {
  let isCancelled = false
  const body = {
    async *[Symbol.asyncIterator]() {
      yield* pieces
    },
  }
  const cancel = () => {
    isCancelled = true
  }
  const answer: StreamedAnswer = { status: 200, headers: new Headers({ 'content-type': type }), body, cancel }
  return { answer, isCancelled: () => isCancelled }
}
const reading = { model: 'mine/"é"', includeUsage: false, wantsJson: false, now: new Date(0) }
const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream', choices: [{ index: 0, delta, finish_reason: finish }], usage: null, ...more })}\n\n`
const text = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'é "model":"other" \\" ' }), chunk({ content: '“x”' }), chunk({}, 'stop')].join('')

const counter = openCounter()
afterAll(() => counter.stop())
const asked = { sample: sampleOf(['What is it?']), pictures: [], frame: 6 }
const meter = { count: counter.count, organizationId: 'o', model: { provider: 'openai', upstream: 'gpt-5-mini' } }
const counted = ({ reported: told, written }: Used) => tokensUsed(told, asked, written, 100, meter)

async function all(pieces: readonly Uint8Array[]) {
  const stream = await openStream(answerOf(pieces).answer, openaiReader(reading), counted)
  let read = ''
  for (let piece = await stream.next(); piece !== null; piece = await stream.next()) read += Buffer.from(piece).toString('utf8')
  stream.requireEnd()
  const tokens = await stream.tokens()
  return { read: read + Buffer.from(stream.last(tokens, null)).toString('utf8'), tokens }
}

describe('a stream of chunks', () => {
  test('is the same however it is cut, also byte by byte, under our name and without unrequested usage', async () => {
    const bytes = Buffer.from(`${text}data: [DONE]\n\n`)
    const whole = await all([bytes])
    for (const size of [1, 2, 7, 100]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
      expect(await all(pieces)).toEqual(whole)
    }
    const data = whole.read.split('\n\n').flatMap(event => (event.startsWith('data: {') ? [JSON.parse(event.slice(6))] : []))
    expect(data.map(({ model }) => model)).toEqual(data.map(() => 'mine/"é"'))
    expect(data.map(event => event.choices[0].delta.content ?? '').join('')).toBe('é "model":"other" \\" “x”')
    expect([data.some(event => 'usage' in event), whole.read.endsWith('data: [DONE]\n\n')]).toEqual([false, true])
  })

  test('that ends early broke off; a finished one needs no end mark', async () => {
    const unfinished = Buffer.from(text.slice(0, text.indexOf(chunk({}, 'stop'))))
    await expect(all([unfinished])).rejects.toMatchObject({ name: 'AttemptFailure', failure: 'cut' })
    expect((await all([Buffer.from(text)])).read.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('without a vendor’s count is counted here: at least a token a piece, and never more than was reserved', async () => {
    expect((await all([Buffer.from(text)])).tokens).toMatchObject({ input: 10, output: 10 })
    const much = text.replace('“x”', 'x'.repeat(2_000))
    expect((await all([Buffer.from(much)])).tokens.output).toBe(100)
  })

  test('with an endless line is rejected', async () => {
    const piece = Buffer.alloc(300_000, 'x')
    await expect(openStream(answerOf([piece, piece, piece, piece]).answer, openaiReader(reading), counted)).rejects.toMatchObject({ failure: 'malformed' })
  })
})

test('rejects an answer of another type, whatever its content, and closes it', async () => {
  const { answer, isCancelled } = answerOf([Buffer.from(text)], 'text/html')
  const addresses = { openai: 'https://a.test', anthropic: 'https://a.test', google: 'https://a.test', aiGateway: null }
  const stream = (async () => answer) as unknown as StreamOutbound
  const upstream = createUpstream({ stream, addresses, times: { firstByteMs: 1, idleMs: 1, totalMs: 1 }, clock: systemClock })
  const hurry = { endsAt: performance.now() + 1_000, attemptMs: null, signal: new AbortController().signal }
  const question = { path: '/x', body: '{}', headers: {}, type: 'text/event-stream' }
  const asked = upstream.ask({ name: 'openai/x', provider: 'openai' }, { baseUrl: null } as CredentialInUse, 'key', question, hurry)
  await expect(asked).rejects.toMatchObject({ failure: 'wrong_type' })
  expect(isCancelled()).toBe(true)
})
