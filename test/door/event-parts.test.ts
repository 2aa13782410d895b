import { type IncomingMessage, request } from 'node:http'
import { createClient } from 'graphql-ws'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { deduplicated } from '../../router/engine/native/deduplicate.ts'
import { measureOperations } from '../../router/metrics/operations.ts'
import { itemsGraph } from '../engine/incremental/graph.ts'
import { dial } from '../kit/bare-socket.ts'
import { mergePayloads, type SentPayload } from '../kit/payloads.ts'
import { openRouter } from './platform.ts'

const changed = 'subscription { changed { name ... @defer(label: "later") { slow } } }'
const whole = { changed: { name: 'name 1', slow: 'slow 1' } }

let items: ReturnType<typeof itemsGraph>
let platform: Awaited<ReturnType<typeof openRouter>>
let metrics: Registry

beforeEach(async () => {
  items = itemsGraph()
  metrics = new Registry()
  platform = await openRouter(measureOperations(metrics).watchEngine(deduplicated(items.graph.engine, [])), { heartbeatMs: 150, metrics })
  platform.signIn('one')
})
afterEach(() => platform.close())

const listening = (count: number) => expect.poll(() => items.events.listenerCount(), { timeout: 5000 }).toBe(count)
const figure = async (name: RegExp) => name.exec(await metrics.metrics())?.[1]

function open(accept: string, query = changed, headers: Record<string, string> = {}) {
  return new Promise<{ answer: IncomingMessage; text(): string; ended: Promise<unknown>; payloads(): SentPayload[]; leave(): void }>((resolve, reject) => {
    const sent = request(
      { port: platform.port, host: '127.0.0.1', method: 'POST', path: '/graphql', headers: { accept, 'content-type': 'application/json', ...headers } },
      answer => {
        let text = ''
        answer.setEncoding('utf8').on('data', part => {
          text += part
        })
        const ended = new Promise(end => answer.once('end', end).once('error', end))
        const payloads = () => [...text.matchAll(/event: next\ndata: (.*)\n\n/g)].map(([, data]) => JSON.parse(data!) as SentPayload)
        resolve({ answer, text: () => text, ended, payloads, leave: () => sent.destroy() })
      },
    )
    onTestFinished(() => void sent.destroy())
    sent.on('error', reject)
    sent.end(JSON.stringify({ query }))
  })
}

describe('S-04 parts of events over server-sent events', () => {
  test.each([
    ['v0.2', 'text/event-stream', 1],
    ['v0.2 with JSON behind it', 'text/event-stream, application/json;q=0.5', 1],
    ['2022', 'text/event-stream;deferSpec=20220824', undefined],
    ['2022, quoted and spaced', 'text/event-stream ; deferSpec = "20220824"', undefined],
  ])('come in the form %s', async (_form, accept, pending) => {
    const stream = await open(accept)
    await listening(1)
    for (const count of [2, 4]) {
      items.events.announce('item', { id: '1' })
      await expect.poll(() => stream.payloads().length).toBe(count)
      const event = stream.payloads().slice(-2)
      expect([event.map(({ hasNext }) => hasNext), event[0]!.pending?.length]).toEqual([[true, false], pending])
      expect(mergePayloads(event).data).toEqual(whole)
    }
    stream.leave()
    await listening(0)
  })

  test.each([
    [
      'over multipart',
      'multipart/mixed;subscriptionSpec="1.0", application/json',
      changed,
      '{"payload":{"data":{"changed":{"name":"name 1","slow":"slow 1"}}}}',
    ],
    [
      'where no directive is active',
      'text/event-stream',
      'subscription { changed { name ... @defer(if: false) { slow } } }',
      'data: {"data":{"changed":{"name":"name 1","slow":"slow 1"}}}\n',
    ],
  ])('are none %s: events come in one piece', async (_what, accept, query, expected) => {
    const stream = await open(accept, query)
    await listening(1)
    items.events.announce('item', { id: '1' })
    await expect.poll(stream.text).toContain(expected)
    expect(stream.text()).not.toContain('hasNext')
  })

  test('fail with TOKEN_EXPIRED when the session ends meanwhile, and the stream ends without a complete', async () => {
    items.hold()
    const stream = await open('text/event-stream', changed, { authorization: `Bearer ${await platform.token('one')}` })
    await listening(1)
    items.events.announce('item', { id: '1' })
    await expect.poll(() => stream.payloads().length).toBe(1)
    platform.sessions.delete('one')
    await stream.ended
    const [first, last, ending] = stream.payloads()
    const { failed, errors } = mergePayloads([first!, last!])
    expect([failed, errors.map(({ extensions }) => extensions?.code)]).toEqual([[['changed']], ['TOKEN_EXPIRED']])
    expect(ending?.errors?.map(({ extensions }) => extensions?.code)).toEqual(['TOKEN_EXPIRED'])
    expect(stream.text()).not.toContain('event: complete')
  })

  test('are no longer fetched when the client leaves, and nothing stays open', async () => {
    items.hold()
    const stream = await open('text/event-stream')
    await listening(1)
    items.events.announce('item', { id: '1' })
    await expect.poll(() => stream.payloads().length).toBe(1)
    expect(await figure(/^supergraph_incremental_answers (\d+)$/m)).toBe('1')
    stream.leave()
    await expect.poll(() => items.gate.aborted, { timeout: 500 }).toBe(1)
    await listening(0)
    await expect.poll(() => figure(/^supergraph_incremental_answers (\d+)$/m)).toBe('0')
  })

  test('have their errors in the words of the door, and are counted', async () => {
    const stream = await open('text/event-stream', 'subscription { changed { name ... @defer { fails } } }')
    await listening(1)
    items.events.announce('item', { id: '1' })
    await expect.poll(() => stream.payloads().length).toBe(2)
    expect(stream.payloads()[1]!.incremental?.[0]?.errors).toEqual([
      { message: 'It fails on purpose.', path: ['changed', 'fails'], extensions: { code: 'CONFLICT', service: 'b' } },
    ])
    expect(await figure(/^supergraph_incremental_payloads_total\{form="v0\.2"\} (\d+)$/m)).toBe('2')
    expect(await figure(/^supergraph_errors_total\{code="CONFLICT"\} (\d+)$/m)).toBe('1')
    expect(await figure(/^supergraph_incremental_answers (\d+)$/m)).toBe('0')
  })

  test.each([
    ['a fragment at the root', 'subscription { ... @defer { changed { id } } }'],
    ['a list at the root', 'subscription { changed @stream { id } }'],
  ])('are refused at %s', async (_what, query) => {
    const stream = await open('text/event-stream', query)
    await stream.ended
    expect([stream.answer.statusCode, JSON.parse(stream.text()).errors[0].extensions.code]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED'])
  })
})

describe('S-04 parts of events over WebSocket', () => {
  test.each([
    ['v0.2', undefined, 1, [true, false]],
    ['2022', { incrementalSpec: '20220824' }, undefined, [true, false]],
    ['none', { incrementalSpec: 'none' }, undefined, [undefined]],
  ])('come in the form %s with the parameters %j', async (_form, connectionParams, pending, hasNext) => {
    const client = createClient({
      url: `ws://127.0.0.1:${platform.port}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { ...connectionParams },
      retryAttempts: 0,
    })
    onTestFinished(() => void client.dispose())
    const payloads: SentPayload[] = []
    client.subscribe({ query: changed }, { next: payload => void payloads.push(payload as SentPayload), error() {}, complete() {} })
    await listening(1)
    items.events.announce('item', { id: '1' })
    await expect.poll(() => payloads.length).toBe(hasNext.length)
    expect([payloads.map(each => each.hasNext), payloads[0]!.pending?.length]).toEqual([hasNext, pending])
    expect(mergePayloads(payloads).data).toEqual(whole)
  })

  test('fail with TOKEN_EXPIRED before the socket of an ended session closes', async () => {
    items.hold()
    const wire = await dial(platform.url, { headers: { host: `localhost:${platform.port}` } })
    await wire.init({ authorization: `Bearer ${await platform.token('one')}` })
    wire.subscribe('1', changed)
    await listening(1)
    items.events.announce('item', { id: '1' })
    await wire.got('next', '1')
    platform.sessions.delete('one')
    expect((await wire.closed).code).toBe(4403)
    const payloads = wire.messages.filter(({ type }) => type === 'next').map(({ payload }) => payload)
    const { failed, errors } = mergePayloads(payloads)
    expect([failed, errors.map(({ extensions }) => extensions?.code)]).toEqual([[['changed']], ['TOKEN_EXPIRED']])
    await listening(0)
  })

  test('are no longer fetched when the client completes the subscription', async () => {
    items.hold()
    const wire = await dial(platform.url, { headers: { host: `localhost:${platform.port}` } })
    await wire.init()
    wire.subscribe('1', changed)
    await listening(1)
    items.events.announce('item', { id: '1' })
    await wire.got('next', '1')
    wire.send({ id: '1', type: 'complete' })
    await expect.poll(() => items.gate.aborted, { timeout: 500 }).toBe(1)
    await listening(0)
    expect(wire.messages.filter(({ type }) => type === 'next')).toHaveLength(1)
  })
})
