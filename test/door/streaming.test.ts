import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createMemoryEvents, type Events } from '../../platform/events.ts'
import { streamFormOf } from '../../router/door/streaming/form.ts'
import { beginningShare } from '../../router/live/shares.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

let events: Events
let platform: Awaited<ReturnType<typeof openRouter>>

beforeEach(async () => {
  events = createMemoryEvents()
  platform = await openRouter(schemaEngine(smallGraph(events)), { heartbeatMs: 150 })
  platform.signIn('one')
})
afterEach(() => platform.close())

interface Streamed {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** What has come so far. */
  text(): string
  readonly answer: IncomingMessage
  readonly ended: Promise<'whole' | 'cut'>
  /** Goes away without a word. */
  leave(): void
}

const sse = 'text/event-stream'
const multipart = 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json'

function open(accept: string, query: string, more: { headers?: Record<string, string>; method?: 'GET' | 'POST'; variables?: unknown } = {}): Promise<Streamed> {
  const { headers = {}, method = 'POST', variables } = more
  const search = new URLSearchParams({ query, ...(variables !== undefined && { variables: JSON.stringify(variables) }) })
  const path = method === 'GET' ? `/graphql?${search}` : '/graphql'
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: platform.port,
        host: '127.0.0.1',
        method,
        path,
        headers: { accept, ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
      },
      answer => {
        let text = ''
        const ended = Promise.withResolvers<'whole' | 'cut'>()
        answer.setEncoding('utf8').on('data', part => {
          text += part
        })
        answer.on('end', () => ended.resolve('whole')).on('error', () => ended.resolve('cut'))
        resolve({ status: answer.statusCode!, headers: answer.headers, text: () => text, answer, ended: ended.promise, leave: () => sent.destroy() })
      },
    )
    onTestFinished(() => void sent.destroy())
    sent.on('error', reject)
    sent.end(method === 'POST' ? JSON.stringify({ query, variables }) : undefined)
  })
}

const tick = 'subscription { tick }'
const listening = (count: number) => expect.poll(() => events.listenerCount(), { timeout: 5000 }).toBe(count)
const bearer = async () => ({ authorization: `Bearer ${await platform.token('one')}` })

describe('S-04 server-sent events', () => {
  test('a subscription sends one next event for each result, and comments while nothing happens', async () => {
    const stream = await open(sse, tick)
    expect([stream.status, stream.headers['content-type'], stream.headers['cache-control']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no-cache, no-store',
    ])
    await listening(1)
    await expect.poll(stream.text).toMatch(/^:\n\n(?::\n\n){2}/)
    events.announce('tick', { n: 'one\ntwo' })
    await expect.poll(stream.text).toContain('event: next\ndata: {"data":{"tick":"one\\ntwo"}}\n\n')
    stream.leave()
    await listening(0)
  })

  test.each(['GET', 'POST'] as const)('a query by %s is one next and a complete', async method => {
    const stream = await open(sse, 'query ($n: String) { hello(name: $n) }', { method, variables: { n: 'Ada' } })
    expect(await stream.ended).toBe('whole')
    expect([stream.status, stream.text()]).toEqual([200, 'event: next\ndata: {"data":{"hello":"Hello Ada"}}\n\nevent: complete\ndata:\n\n'])
  })

  test('a mutation is accepted by POST, and rejected by GET', async () => {
    const [posted, got] = [await open(sse, 'mutation { rename(name: "x") }'), await open(sse, 'mutation { rename(name: "x") }', { method: 'GET' })]
    await Promise.all([posted.ended, got.ended])
    expect([posted.status, posted.text(), got.status]).toEqual([200, 'event: next\ndata: {"data":{"rename":"x"}}\n\nevent: complete\ndata:\n\n', 405])
    expect(JSON.parse(got.text()).errors).toHaveLength(1)
  })

  test('a subscription is accepted by GET, too', async () => {
    const stream = await open(sse, tick, { method: 'GET', headers: { 'apollo-require-preflight': 'yes' } })
    await listening(1)
    events.announce('tick', { n: '1' })
    await expect.poll(stream.text).toContain('{"tick":"1"}')
  })

  test.each([
    ['does not parse', 'subscription {', {}],
    ['does not validate', 'subscription { nothing }', {}],
    ['has variables that are no object', tick, { variables: [1] }],
    ['has two operations and names none', 'subscription A { tick } subscription B { tick }', {}],
  ])('what %s is refused like any request, as JSON', async (_what, query, more) => {
    const stream = await open(sse, query, more)
    await stream.ended
    expect([stream.status, stream.headers['content-type']?.includes('json')]).toEqual([400, true])
    expect(JSON.parse(stream.text()).errors[0].message).toBeTruthy()
  })

  test('invalid credentials are 401, and a foreign page is rejected', async () => {
    const stranger = await open(sse, tick, { headers: { authorization: 'Bearer nonsense' } })
    const page = await open(sse, tick, { method: 'GET', headers: { origin: 'https://evil.example' } })
    expect([stranger.status, page.status]).toEqual([401, 400])
  })
})

describe('S-04 multipart', () => {
  test('a subscription sends one part for each event, and empty parts while nothing happens', async () => {
    const stream = await open(multipart, tick)
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"'])
    await listening(1)
    await expect.poll(stream.text).toMatch(/^\r\n--graphql\r\ncontent-type: application\/json\r\n\r\n\{\}\r\n--graphql/)
    events.announce('tick', { n: '1' })
    await expect.poll(stream.text).toContain('\r\ncontent-type: application/json\r\n\r\n{"payload":{"data":{"tick":"1"}}}\r\n--graphql')
    stream.leave()
    await listening(0)
  })

  test('a query with the multipart media type is answered as JSON', async () => {
    const stream = await open(multipart, '{ hello }')
    await stream.ended
    expect([stream.headers['content-type'], stream.text().trim()]).toEqual(['application/json; charset=utf-8', '{"data":{"hello":"Hello world"}}'])
  })
})

describe('a stream ends with its credential, and reports why', () => {
  test.each([
    ['the token expires', () => platform.clock.advance(601_000), 'token expired'],
    ['the session ends', () => platform.sessions.delete('one'), 'session ended'],
    ['rights change', () => platform.signIn('one', { roles: ['viewer'] }), 'rights changed'],
  ])('when %s', async (_what, change, reason) => {
    const [events_, parts] = [await open(sse, tick, { headers: await bearer() }), await open(multipart, tick, { headers: await bearer() })]
    // Both watched, before anything changes.
    await expect.poll(() => platform.router.openStreams()).toBe(2)
    change()
    expect(await Promise.all([events_.ended, parts.ended])).toEqual(['whole', 'whole'])
    const error = expect.objectContaining({ extensions: { code: 'TOKEN_EXPIRED', reason } })
    const last = /event: next\ndata: (.*)\n\n$/.exec(events_.text())![1]!
    expect(JSON.parse(last)).toEqual({ errors: [error] })
    expect(events_.text()).not.toContain('event: complete')
    const part = /\r\n\r\n(\{"payload":null.*\})\r\n--graphql--\r\n$/.exec(parts.text())![1]!
    expect(JSON.parse(part)).toEqual({ payload: null, errors: [error] })
    await listening(0)
    expect(platform.router.openStreams()).toBe(0)
  })
})

test.each([
  ['its key is revoked', { 'x-api-key': 'k' }, () => platform.keys.delete('hash of k'), 'key revoked'],
  ['the session of its cookie ends', { cookie: 'session=one' }, () => platform.sessions.delete('one'), 'session ended'],
])('so does one with another credential when %s', async (_what, headers, change, reason) => {
  platform.keys.set('hash of k', { keyId: 'k', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
  const stream = await open(sse, tick, { headers: { origin: platform.origin, ...headers } })
  await expect.poll(() => platform.router.openStreams()).toBe(1)
  change()
  expect(await stream.ended).toBe('whole')
  expect(stream.text()).toContain(`"code":"TOKEN_EXPIRED","reason":"${reason}"`)
  await listening(0)
})

test('a client that does not read is cut, and others continue to receive events', async () => {
  // Long before the next heartbeat.
  await platform.close()
  platform = await openRouter(schemaEngine(smallGraph(events)), { heartbeatMs: 600_000 })
  const [slow, fast] = [await open(sse, 'subscription { flood }'), await open(multipart, 'subscription { flood }')]
  await expect.poll(() => [...platform.router.live.subscriptions().values()]).toEqual([2])
  slow.answer.pause()
  const dropped = () => platform.lines.some(line => line.includes('reads too slowly'))
  for (let n = 0; !dropped() && n < 200; n += 1) {
    events.announce('flood', { n: String(n) })
    await expect.poll(() => fast.text().includes(`"flood":"${n} `), { interval: 1 }).toBe(true)
  }
  expect(dropped()).toBe(true)
  await expect.poll(() => [...platform.router.live.subscriptions().values()]).toEqual([1])
  slow.answer.resume()
  expect(await slow.ended).toBe('cut')
})

/** What a connection brings when it is sent these very words. */
function raw(words: string): () => string {
  let text = ''
  const socket = connect(platform.port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.setEncoding('utf8').on('data', part => {
    text += part
  })
  socket.write(words)
  return () => text
}

const asked = (version: string, accept: string, query = tick) => {
  const body = JSON.stringify({ query })
  const head = `POST /graphql HTTP/${version}\r\nhost: localhost:${platform.port}\r\naccept: ${accept}\r\ncontent-type: application/json`
  return `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

describe('an event is written directly to its connection', () => {
  const event = 'event: next\ndata: {"data":{"tick":"ä€😀"}}\n\n'
  const told = async () => {
    await listening(1)
    events.announce('tick', { n: 'ä€😀' })
  }

  test('in one chunk with its size, for HTTP/1.1', async () => {
    const text = raw(asked('1.1', sse))
    await told()
    await expect.poll(text).toContain(`\r\n${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
    expect(text()).toContain('\r\nTransfer-Encoding: chunked\r\n')
  })

  test('without chunks to HTTP/1.0, which has none', async () => {
    const text = raw(asked('1.0', sse))
    await told()
    await expect.poll(text).toMatch(/\r\n\r\n:\n\n(?::\n\n)*event: next/)
    expect(text().slice(text().indexOf('event: next'))).toBe(event)
  })

  test('after the answers that are still due on the connection', async () => {
    const text = raw(asked('1.1', 'application/json', '{ wait }') + asked('1.1', multipart))
    await told()
    await expect.poll(text).toContain('"tick":"ä€😀"')
    expect(text().indexOf('"wait":"waited"')).toBeGreaterThan(0)
    expect(text().indexOf('"wait":"waited"')).toBeLessThan(text().indexOf('multipart/mixed'))
    events.announce('tick', { n: '2' })
    await expect.poll(text).toContain('{"payload":{"data":{"tick":"2"}}}')
    // The answer's own way and the connection's keep one order.
    expect(text().indexOf('ä€😀')).toBeLessThan(text().indexOf('"tick":"2"'))
  })
})

test('a stream has the usual headers of an answer, each once, and trusted origins can read it', async () => {
  const [trusted, foreign] = await Promise.all([platform.origin, 'https://evil.example'].map(origin => open(sse, tick, { headers: { origin } })))
  expect(trusted!.headers).toMatchObject({
    'x-request-id': expect.any(String),
    'x-content-type-options': 'nosniff',
    'access-control-allow-origin': platform.origin,
    vary: 'Origin',
    'cache-control': 'no-cache, no-store',
    'x-accel-buffering': 'no',
  })
  expect(foreign!.headers).toMatchObject({ vary: 'Origin' })
  expect(foreign!.headers).not.toHaveProperty('access-control-allow-origin')
  const names = trusted!.answer.rawHeaders.filter((_, index) => index % 2 === 0).map(name => name.toLowerCase())
  expect(new Set(names).size).toBe(names.length)
})

test('all protocols share one stream', async () => {
  const streams = [await open(sse, tick), await open(multipart, tick), await open(sse, tick, { method: 'GET', headers: { 'apollo-require-preflight': 'yes' } })]
  await expect.poll(() => [...platform.router.live.subscriptions().values()]).toEqual([3])
  await listening(1)
  events.announce('tick', { n: '7' })
  await expect.poll(() => streams.every(stream => stream.text().includes('"tick":"7"'))).toBe(true)
  expect([platform.router.live.events(), platform.router.live.deliveries(), platform.router.live.upstreams()]).toEqual([1, 3, 1])
})

test('one caller has at most 200 streams: another is 429', async () => {
  for (let n = 0; n < 200; n += 1) await open(sse, `subscription Own${n} { tick }`)
  const more = await open(sse, tick)
  await more.ended
  expect([more.status, JSON.parse(more.text())]).toMatchObject([429, { errors: [{ extensions: { code: 'RATE_LIMITED' } }] }])
  expect(platform.router.live.upstreams()).toBe(200)
})

test('computes nothing for a client that leaves while its stream waits to start', async () => {
  const [gate, prepared] = [Promise.withResolvers<void>(), [] as (string | undefined)[]]
  const engine = schemaEngine(smallGraph(events, [], gate.promise))
  await platform.close()
  platform = await openRouter({
    ...engine,
    prepareStream(request) {
      prepared.push(request.operationName)
      return engine.prepareStream(request)
    },
  })
  const name = (number: number) => `Own${number}`
  const begin = (number: number) => open(sse, `subscription ${name(number)} { late }`)
  const first = Array.from({ length: beginningShare.each }, (_, number) => number)
  const begun = first.map(begin)
  await expect.poll(() => prepared).toEqual(first.map(name))
  const left = request({
    port: platform.port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/graphql',
    headers: { accept: sse, 'content-type': 'application/json' },
  }).on('error', () => {})
  await new Promise<void>(resolve => left.end(JSON.stringify({ query: 'subscription Left { late }' }), resolve))
  const connections = () => new Promise(resolve => platform.router.app.server.getConnections((_error, count) => resolve(count)))
  const places = () => [...platform.router.live.subscriptions().values()]
  await expect.poll(connections).toBe(first.length + 1)
  await platform.ask('/health/live')
  left.destroy()
  await expect.poll(connections).toBe(first.length)
  gate.resolve()
  await Promise.all(begun)
  await begin(first.length)
  await listening(first.length + 1)
  expect(prepared).toEqual([...first, first.length].map(name))
  expect(places()).toHaveLength(first.length + 1)
})

test('when the server closes, streams end with an event after which clients reconnect', async () => {
  const [one, other] = [await open(sse, tick), await open(multipart, tick)]
  await listening(1)
  await platform.close()
  expect(await Promise.all([one.ended, other.ended])).toEqual(['whole', 'whole'])
  expect(one.text()).toMatch(/"code":"UPSTREAM_FAILED"\}\}\]\}\n\n$/)
  expect(other.text()).toMatch(/\{"payload":null,"errors":\[.*UPSTREAM_FAILED.*\]\}\r\n--graphql--\r\n$/)
  await listening(0)
})

test.each([
  ['text/event-stream', true, 'sse'],
  ['text/event-stream', false, 'sse'],
  ['text/event-stream, application/json;q=0.5', false, 'sse'],
  ['application/json, text/event-stream;q=0.5', true, undefined],
  ['*/*', true, undefined],
  [undefined, true, undefined],
  ['multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json', true, 'multipart'],
  ['multipart/mixed;subscriptionSpec="1.0", application/json', true, 'multipart'],
  ['multipart/mixed; boundary="graphql"; subscriptionSpec = "1.0"', true, 'multipart'],
  ['multipart/mixed;subscriptionSpec=1.0,application/json', false, undefined],
  ['multipart/mixed;deferSpec=20220824,application/json', true, undefined],
  ['multipart/mixed;subscriptionSpec=2.0,application/json', true, undefined],
])('Accept %s of a subscription (%s) is %s', (accept, isSubscription, form) => {
  expect(streamFormOf(accept, isSubscription)?.name).toBe(form)
})
