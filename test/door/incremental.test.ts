import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { createClient } from 'graphql-ws'
import { meros } from 'meros/node'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { deduplicated } from '../../router/engine/native/deduplicate.ts'
import { measureOperations } from '../../router/metrics/operations.ts'
import { itemsGraph } from '../engine/incremental/graph.ts'
import { dial as dialBare } from '../kit/bare-socket.ts'
import { mergePayloads, type SentPayload } from '../kit/payloads.ts'
import { openRouter } from './platform.ts'

const v02 = 'multipart/mixed;incrementalSpec=v0.2,application/graphql-response+json,application/json;q=0.9'
const old = 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9'
const deferred = '{ items { id ... @defer(label: "late") { slow } } }'
const whole = { items: ['1', '2', '3'].map(id => ({ id, slow: `slow ${id}` })) }

let items: ReturnType<typeof itemsGraph>
let platform: Awaited<ReturnType<typeof openRouter>>
let metrics: Registry

beforeEach(async () => {
  items = itemsGraph()
  metrics = new Registry()
  platform = await openRouter(measureOperations(metrics).watchEngine(deduplicated(items.graph.engine, [])), {
    heartbeatMs: 150,
    metrics,
    live: { perCaller: 2 },
  })
  platform.signIn('one')
})
afterEach(() => platform.close())

interface Sending {
  readonly accept?: string | undefined
  readonly method?: 'GET' | 'POST'
  readonly variables?: unknown
  readonly headers?: Record<string, string>
}

function ask(
  query: string,
  { accept, method = 'POST', variables, headers = {} }: Sending = {},
): Promise<{ answer: IncomingMessage; text(): string; ended: Promise<unknown>; leave(): void }> {
  const search = new URLSearchParams({ query, ...(variables !== undefined && { variables: JSON.stringify(variables) }) })
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: platform.port,
        host: '127.0.0.1',
        method,
        path: method === 'GET' ? `/graphql?${search}` : '/graphql',
        headers: { ...(accept && { accept }), ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
      },
      answer => {
        let text = ''
        answer.setEncoding('utf8').on('data', part => {
          text += part
        })
        const ended = new Promise(end => answer.once('end', end).once('error', end))
        resolve({ answer, text: () => text, ended, leave: () => sent.destroy() })
      },
    )
    onTestFinished(() => void sent.destroy())
    sent.on('error', reject)
    sent.end(method === 'POST' ? JSON.stringify({ query, variables }) : undefined)
  })
}

/** Sends an operation and reads its whole answer: what came, and its payloads as an independent parser reads them. */
async function answerTo(query: string, options: Sending = {}) {
  const { answer, text, ended } = await ask(query, options)
  await ended
  const type = answer.headers['content-type'] ?? ''
  return { status: answer.statusCode, headers: answer.headers, type, text: text(), payloads: await payloadsIn(text(), type) }
}

async function payloadsIn(text: string, type: string): Promise<SentPayload[]> {
  if (type.startsWith('text/event-stream')) return [...text.matchAll(/event: next\ndata: (.*)\n\n/g)].map(([, data]) => JSON.parse(data!))
  if (!type.startsWith('multipart/mixed')) return [JSON.parse(text)]
  const parts = await meros<SentPayload>(Object.assign(Readable.from([Buffer.from(text)]), { headers: { 'content-type': type } }) as unknown as IncomingMessage)
  if (!(Symbol.asyncIterator in parts)) return [JSON.parse(text)]
  const payloads: SentPayload[] = []
  for await (const part of parts) {
    expect([part.json, part.headers['content-type']]).toEqual([true, 'application/json; charset=utf-8'])
    payloads.push(part.body as SentPayload)
  }
  return payloads
}

const figure = async (name: RegExp) => name.exec(await metrics.metrics())?.[1]

describe('S-04 deferred fragments over HTTP', () => {
  test.each([
    ['v0.2', v02, 'multipart/mixed;boundary="-";incrementalSpec=v0.2'],
    ['2022', old, 'multipart/mixed;boundary="-";deferSpec=20220824'],
    ['2022 without a parameter', 'application/json, multipart/mixed', 'multipart/mixed;boundary="-"'],
  ])('arrive in multipart answers of the form %s', async (_form, accept, type) => {
    const answer = await answerTo(deferred, { accept })
    expect([answer.status, answer.type, answer.headers['cache-control'], answer.headers['x-accel-buffering']]).toEqual([200, type, 'no-store', 'no'])
    expect(answer.headers.vary).toMatch(/accept/i)
    expect(answer.text).toMatch(/^\r\n---\r\ncontent-type: application\/json; charset=utf-8\r\n\r\n\{[\s\S]*\}\r\n---\r\n[\s\S]*\}\r\n-----\r\n$/)
    expect(answer.payloads).toHaveLength(2)
    expect(answer.payloads[0]).toMatchObject({ data: { items: [{ id: '1' }, { id: '2' }, { id: '3' }] }, hasNext: true })
    expect(mergePayloads(answer.payloads).data).toEqual(whole)
  })

  test('arrive as events, then complete', async () => {
    const [next, former] = [
      await answerTo(deferred, { accept: 'text/event-stream' }),
      await answerTo(deferred, { accept: 'text/event-stream;deferSpec=20220824' }),
    ]
    expect([next.status, next.type, next.payloads[0]?.pending?.length, former.payloads[0]?.pending]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      3,
      undefined,
    ])
    for (const { text, payloads } of [next, former]) {
      expect(text.endsWith('\n\nevent: complete\ndata:\n\n')).toBe(true)
      expect(mergePayloads(payloads).data).toEqual(whole)
    }
  })

  test.each([
    ['JSON', 'application/json'],
    ['JSON before multipart', 'multipart/mixed;deferSpec=20220824;q=0.5, application/json'],
    ['nothing', undefined],
    ['another type', 'text/plain'],
    ['subscriptions over multipart', 'multipart/mixed;subscriptionSpec="1.0", application/json'],
  ])('are answered at once to a client that accepts %s', async (_what, accept) => {
    const answer = await answerTo(deferred, { accept })
    expect([answer.status, answer.type, answer.payloads]).toEqual([200, expect.stringContaining('json'), [{ data: whole }]])
  })

  test('are sent by GET too, and by a mutation by POST alone', async () => {
    expect(mergePayloads((await answerTo(deferred, { accept: v02, method: 'GET' })).payloads).data).toEqual(whole)
    const mutation = 'mutation { rename(id: 1) { id ... @defer { slow } } }'
    expect((await answerTo(mutation, { accept: v02, method: 'GET' })).status).toBe(405)
    expect(mergePayloads((await answerTo(mutation, { accept: v02 })).payloads).data).toEqual({ rename: { id: '1', slow: 'slow 1' } })
  })

  test('that do not count leave an ordinary answer, whatever is accepted', async () => {
    for (const accept of [v02, old, 'multipart/mixed'])
      for (const query of ['{ now }', '{ now ... @defer(if: false) { far } }', '{ now ... @defer { now } }']) {
        const answer = await answerTo(query, { accept })
        expect([answer.status, answer.type, answer.payloads[0]], `${accept} ${query}`).toEqual([
          200,
          expect.stringContaining('json'),
          { data: expect.objectContaining({ now: 'now' }) },
        ])
      }
    const sse = await answerTo('{ now ... @defer { now } }', { accept: 'text/event-stream' })
    expect(sse.text).toBe('event: next\ndata: {"data":{"now":"now"}}\n\nevent: complete\ndata:\n\n')
  })

  test('of a wrong request are answered with its errors', async () => {
    const answer = await answerTo('query($v: Int!) { items { id ... @defer { slow @include(if: true) } } item(id: $v) { id } }', { accept: v02 })
    expect([answer.type, answer.payloads[0]?.errors?.[0]?.extensions?.code]).toEqual([expect.stringContaining('json'), 'GRAPHQL_VALIDATION_FAILED'])
    const wrong = await answerTo('query($id: ID!) { item(id: $id) { id ... @defer { slow } } }', { accept: v02 })
    expect([wrong.status, wrong.type, wrong.payloads[0]?.errors?.[0]?.extensions?.code]).toEqual([400, expect.stringContaining('json'), 'BAD_USER_INPUT'])
  })

  test('come when they are ready, with heartbeats meanwhile', async () => {
    const release = items.hold()
    const { text, ended } = await ask(deferred, { accept: v02 })
    await expect.poll(text).toMatch(/"hasNext":true\}\r\n---\r\ncontent-type: [\s\S]*\{"hasNext":true\}\r\n---\r\n/)
    expect(text()).not.toContain('slow 1')
    release()
    await ended
    expect(text()).toContain('slow 1')
  })

  test('of a client that leaves are no longer fetched, and nothing stays open', async () => {
    items.hold()
    const { text, leave } = await ask(deferred, { accept: v02 })
    await expect.poll(text).toContain('"hasNext":true')
    expect(await figure(/^supergraph_incremental_answers (\d+)$/m)).toBe('1')
    leave()
    await expect.poll(() => items.gate.aborted, { timeout: 500 }).toBe(1)
    await expect.poll(() => figure(/^supergraph_incremental_answers (\d+)$/m)).toBe('0')
  })

  test('are counted among the subscriptions of their caller while they are open', async () => {
    const release = items.hold()
    const open = [await ask(deferred, { accept: v02 }), await ask(deferred, { accept: v02 })]
    const refused = await answerTo(deferred, { accept: v02 })
    expect([refused.status, refused.payloads[0]?.errors?.[0]?.extensions?.code]).toEqual([429, 'RATE_LIMITED'])
    release()
    await Promise.all(open.map(({ ended }) => ended))
    expect(mergePayloads((await answerTo(deferred, { accept: v02 })).payloads).data).toEqual(whole)
  })

  test('fail in all open parts when the token is revoked', async () => {
    items.hold()
    const { text, answer, ended } = await ask(deferred, { accept: v02, headers: { authorization: `Bearer ${await platform.token('one')}` } })
    await expect.poll(text).toContain('"hasNext":true')
    platform.sessions.delete('one')
    await ended
    const payloads = await payloadsIn(text(), answer.headers['content-type']!)
    const { failed, errors } = mergePayloads(payloads.filter(({ data, completed }) => data ?? completed))
    expect([failed.length, new Set(errors.map(({ extensions }) => extensions?.code))]).toEqual([3, new Set(['TOKEN_EXPIRED'])])
  })

  test('are measured', async () => {
    await answerTo(deferred, { accept: v02 })
    await answerTo(deferred, { accept: old })
    expect(await figure(/^supergraph_incremental_payloads_total\{form="v0\.2"\} (\d+)$/m)).toBe('2')
    expect(await figure(/^supergraph_incremental_payloads_total\{form="20220824"\} (\d+)$/m)).toBe('2')
    expect(await figure(/^supergraph_first_payload_seconds_count\{operation="[^"]*"\} (\d+)$/m)).toBe('2')
    expect(await figure(/^supergraph_incremental_answers (\d+)$/m)).toBe('0')
  })
})

describe('S-04 documents with @defer are refused before they run', () => {
  test.each([
    ['one label twice', '{ items { ... @defer(label: "x") { id } ... @defer(label: "x") { slow } } }', /label/],
    ['a label that is a variable', 'query($l: String) { items { ... @defer(label: $l) { id } } }', /label/],
    ['the root of a mutation', 'mutation { ... @defer { __typename } }', /root of a mutation/],
    ['the root of a mutation within a fragment', 'mutation { ...F } fragment F on Mutation { ... @defer { __typename } }', /root of a mutation/],
    ['51 directives', `{ items { ${Array.from({ length: 51 }, (_, index) => `... @defer { f${index}: id }`).join(' ')} } }`, /MAX_INCREMENTAL_DIRECTIVES/],
    [
      '51 directives in fragments',
      `{ ${Array.from({ length: 17 }, (_, index) => `a${index}: item(id: 1) { ...F }`).join(' ')} } fragment F on Item { ${'... @defer { id } '.repeat(3)} }`,
      /MAX_INCREMENTAL_DIRECTIVES/,
    ],
    ['nine levels', `{ items { ${'... @defer { id '.repeat(9)}${'}'.repeat(9)} } }`, /MAX_DEFER_DEPTH/],
    ['a field', '{ items @defer { id } }', /may not be used on FIELD/],
    ['@stream on a field that is no list', '{ item(id: 1) @stream { id } }', /@stream is for fields that answer a list/],
    ['a negative initialCount', '{ items @stream(initialCount: -1) { id } }', /initialCount of @stream is negative/],
    ['different @stream at one field', '{ items @stream(initialCount: 1) { id } items @stream(initialCount: 2) { name } }', /different @stream arguments/],
    ['@stream at one of two selections of a field', '{ items { id } ... { items @stream { name } } }', /different @stream arguments/],
    ['one label at both directives', '{ items @stream(label: "x") { ... @defer(label: "x") { id } } }', /label/],
  ])('because of %s', async (_what, query, message) => {
    const answer = await answerTo(query, { accept: v02 })
    const error = answer.payloads[0]?.errors?.[0]
    expect([answer.type, error?.extensions?.code, error?.message]).toEqual([
      expect.stringContaining('json'),
      'GRAPHQL_VALIDATION_FAILED',
      expect.stringMatching(message),
    ])
  })

  test.each([
    ['one label in a fragment that is spread twice', '{ a: items { ...F } b: items { ...F } } fragment F on Item { id ... @defer(label: "x") { slow } }'],
    ['if: false at the root of a mutation', 'mutation { ... @defer(if: false) { rename(id: 1) { id } } }'],
    ['50 directives', `{ items { ${Array.from({ length: 50 }, (_, index) => `... @defer { f${index}: id }`).join(' ')} } }`],
    ['eight levels', `{ items { ${'... @defer { id '.repeat(8)}${'}'.repeat(8)} } }`],
  ])('but not because of %s', async (_what, query) => {
    expect((await answerTo(query, { accept: v02 })).payloads[0]).toHaveProperty('data')
  })
})

describe('S-04 deferred fragments over WebSocket', () => {
  const clientOf = (params: Record<string, unknown> = {}) =>
    createClient({ url: `ws://127.0.0.1:${platform.port}/graphql`, webSocketImpl: WebSocket, connectionParams: params, retryAttempts: 0 })

  async function messagesOf(query: string, params?: Record<string, unknown>): Promise<SentPayload[]> {
    const client = clientOf(params)
    const payloads: SentPayload[] = []
    await new Promise<void>((complete, error) => client.subscribe({ query }, { next: payload => void payloads.push(payload as SentPayload), error, complete }))
    await client.dispose()
    return payloads
  }

  test.each([
    ['v0.2', undefined, 3],
    ['v0.2', { incrementalSpec: 'v0.2' }, 3],
    ['2022', { incrementalSpec: '20220824' }, undefined],
  ])('arrive in the form %s with the parameters %j', async (_form, params, pending) => {
    const payloads = await messagesOf(deferred, params)
    expect([payloads.length, payloads[0]?.pending?.length]).toEqual([2, pending])
    expect(mergePayloads(payloads).data).toEqual(whole)
  })

  test('are answered at once to a client that takes none', async () => {
    expect(await messagesOf(deferred, { incrementalSpec: 'none' })).toEqual([{ data: whole }])
  })

  test('have their errors in the words of the door', async () => {
    const [, later] = await messagesOf('{ item(id: 1) { id ... @defer { fails } } }')
    expect(later?.incremental?.[0]?.errors).toEqual([
      { message: 'It fails on purpose.', path: ['item', 'fails'], extensions: { code: 'CONFLICT', service: 'b' } },
    ])
  })

  test('close the socket for a form that does not exist', async () => {
    const socket = await dialBare(platform.url, { headers: { host: `localhost:${platform.port}` } })
    socket.send({ type: 'connection_init', payload: { incrementalSpec: 'v9' } })
    expect(await socket.closed).toMatchObject({ code: 4400 })
  })

  test('are no longer fetched for a client that completes the operation', async () => {
    items.hold()
    const client = clientOf()
    const first = Promise.withResolvers<void>()
    const leave = client.subscribe({ query: deferred }, { next: () => first.resolve(), error: first.reject, complete() {} })
    await first.promise
    leave()
    await expect.poll(() => items.gate.aborted, { timeout: 500 }).toBe(1)
    await expect.poll(() => figure(/^supergraph_incremental_answers (\d+)$/m)).toBe('0')
    await client.dispose()
  })
})
