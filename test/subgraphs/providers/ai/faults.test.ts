import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AiWorld, aiWorld, readStream, secondModel } from './world.ts'

/** What a client sees of a fault of the first vendor. */
interface Seen {
  /** When another candidate may be asked. */
  readonly first: 'moves' | number
  /** When it is pinned. */
  readonly last: number
  readonly type: string
}

const outage: Seen = { first: 'moves', last: 502, type: 'upstream_error' }
const faults: Readonly<Record<string, { readonly fault: object; readonly whole: Seen; readonly streamed: Seen | 'breaks' | 'goes on' }>> = {
  'status 400': {
    fault: { fault: 'status', status: 400 },
    whole: { first: 400, last: 400, type: 'invalid_request_error' },
    streamed: { first: 400, last: 400, type: 'invalid_request_error' },
  },
  'status 422': {
    fault: { fault: 'status', status: 422 },
    whole: { first: 400, last: 400, type: 'invalid_request_error' },
    streamed: { first: 400, last: 400, type: 'invalid_request_error' },
  },
  'status 401': { fault: { fault: 'status', status: 401 }, whole: outage, streamed: outage },
  'status 403': { fault: { fault: 'status', status: 403 }, whole: outage, streamed: outage },
  'status 404': { fault: { fault: 'status', status: 404 }, whole: outage, streamed: outage },
  'status 429': {
    fault: { fault: 'status', status: 429, resetSeconds: 3 },
    whole: { ...outage, last: 429, type: 'rate_limit_error' },
    streamed: { ...outage, last: 429, type: 'rate_limit_error' },
  },
  'no quota': {
    fault: { fault: 'status', status: 429, code: 'insufficient_quota' },
    whole: { ...outage, last: 429, type: 'rate_limit_error' },
    streamed: { ...outage, last: 429, type: 'rate_limit_error' },
  },
  'status 500': { fault: { fault: 'status', status: 500 }, whole: outage, streamed: outage },
  'status 503': { fault: { fault: 'status', status: 503 }, whole: outage, streamed: outage },
  'status after accepting': { fault: { fault: 'status-after-accept', status: 502 }, whole: outage, streamed: outage },
  'no JSON': { fault: { fault: 'malformed' }, whole: outage, streamed: outage },
  'another type': { fault: { fault: 'wrong-type' }, whole: outage, streamed: outage },
  'a cut connection': { fault: { fault: 'accept-then-reset' }, whole: outage, streamed: outage },
  'a slow first byte': { fault: { fault: 'slow', delayMs: 1_500 }, whole: outage, streamed: outage },
  'no answer': { fault: { fault: 'timeout-after-accept' }, whole: outage, streamed: outage },
  'a cut in the middle': { fault: { fault: 'reset-mid-stream' }, whole: outage, streamed: 'breaks' },
  'no end': { fault: { fault: 'endless' }, whole: outage, streamed: 'goes on' },
}

/** Counts who listens to a signal. */
function watched() {
  const leaving = new AbortController()
  let listeners = 0
  const { addEventListener, removeEventListener } = leaving.signal
  leaving.signal.addEventListener = (...given: Parameters<AbortSignal['addEventListener']>) => {
    listeners++
    addEventListener.apply(leaving.signal, given)
  }
  leaving.signal.removeEventListener = (...given: Parameters<AbortSignal['removeEventListener']>) => {
    listeners--
    removeEventListener.apply(leaving.signal, given)
  }
  return { leaving, listeners: () => listeners }
}

let world: AiWorld
beforeAll(async () => {
  world = await aiWorld()
  await world.limit(1_000_000_000)
})
afterAll(() => world[Symbol.asyncDispose]())

/** Past every rest, with no fault armed. */
beforeEach(async () => {
  for (const network of ['openai', 'anthropic']) await world.arm(network)
  await world.graph.clock.advance(660_000)
})

const openStreams = async () => (await world.graph.metrics.getSingleMetric('providers_ai_streams_open')!.get()).values[0]!.value

/** What the providers of all calls so far may still charge, in micro-dollars: it stays held for a while. */
async function mayStillCost(): Promise<number> {
  const calls = await world.graph.rows<{ pending: readonly { micros: string }[] }>('select pending from providers.calls')
  return calls.flatMap(({ pending }) => pending).reduce((sum, { micros }) => sum + Number(micros), 0)
}

/** What attempts without an answer cost, in micro-dollars: at least their input where the provider took them. */
const costOfAttempts = ({ attempts }: Record<string, unknown>): number =>
  (attempts as readonly { costMicros?: string | null }[]).reduce((sum, { costMicros }) => sum + Number(costMicros ?? 0), 0)

/** What must hold after every call: its books are closed, and nothing is left of it but what its providers may still charge. */
async function nothingIsLeft(answer: Response, spentBefore: number, cost: (call: Record<string, unknown>) => unknown): Promise<void> {
  await expect.poll(async () => (await world.callOf(answer)).status).not.toBe('RUNNING')
  const call = await world.callOf(answer)
  cost(call)
  const { spent, reserved } = await world.spent()
  expect([reserved, spent - spentBefore]).toEqual([await mayStillCost(), Number(call.cost_micros)])
  expect(await openStreams()).toBe(0)
}

describe.each(Object.entries(faults))('%s of a vendor', (_name, { fault, whole, streamed }) => {
  describe.each([
    ['in one piece', false, whole],
    ['as a stream', true, streamed],
  ] as const)('%s', (_way, stream, seen) => {
    test.each([
      ['with others to ask', 'on'],
      ['pinned', 'off'],
    ] as const)('%s', async (_who, fallback) => {
      const received = (await world.received('anthropic')).length
      const { spent: spentBefore } = await world.spent()
      await world.arm('openai', fault)
      const { leaving, listeners } = watched()
      const attemptMs = 500
      const answer = await world.chat(
        'a b c d e f g h',
        { stream },
        { headers: { 'x-gateway-fallback': fallback, 'x-gateway-timeout-ms': String(attemptMs) }, signal: leaving.signal },
      )
      const listening = listeners()
      if (typeof seen === 'string') {
        expect(answer.status).toBe(200)
        if (seen === 'breaks') {
          const read = await readStream(answer)
          expect([read.done, read.content.length > 0, read.events.at(-1)]).toEqual([
            false,
            true,
            { error: expect.objectContaining({ type: 'upstream_error', code: 'cut' }) },
          ])
          await nothingIsLeft(answer, spentBefore, call => expect(call).toMatchObject({ status: 'FAILED', cost_micros: expect.anything() }))
          expect(await world.received('anthropic')).toHaveLength(received)
        } else {
          const reader = answer.body!.getReader()
          let text = ''
          while (!text.includes(' more')) text += Buffer.from((await reader.read()).value!).toString()
          leaving.abort()
          while (!(await reader.read()).done);
          await nothingIsLeft(answer, spentBefore, call => {
            expect(call.status).toBe('ABORTED')
            expect(Number(call.cost_micros)).toBeGreaterThan(0)
          })
        }
        return
      }
      const expected = fallback === 'off' ? seen.last : seen.first
      if (expected === 'moves') {
        expect([answer.status, answer.headers.get('x-gateway-attempts'), answer.headers.get('x-gateway-model')]).toEqual([200, '2', secondModel])
        if (stream) expect(await readStream(answer)).toMatchObject({ done: true, content: 'Echo: a b c d e f g h' })
        else expect(await answer.json()).toMatchObject({ model: secondModel, choices: [{ message: { content: 'Echo: a b c d e f g h' } }] })
        await nothingIsLeft(answer, spentBefore, call =>
          expect(call).toMatchObject({ status: 'SUCCEEDED', model: secondModel, attempts: [expect.anything(), expect.anything()] }),
        )
      } else {
        expect([answer.status, answer.headers.get('x-gateway-attempts'), answer.headers.get('x-gateway-call-id')]).toEqual([expected, '1', expect.any(String)])
        expect(await answer.json()).toMatchObject({ error: { type: seen.type } })
        expect(Number(answer.headers.get('retry-after'))).toSatisfy((seconds: number) => (expected === 429 ? seconds >= 1 : seconds === 0))
        await nothingIsLeft(answer, spentBefore, call => expect(call).toMatchObject({ status: 'FAILED', cost_micros: expect.anything() }))
        const call = await world.callOf(answer)
        expect(Number(call.cost_micros)).toBe(costOfAttempts(call))
      }
      expect(listeners()).toBeLessThanOrEqual(listening)
    })
  })
})
