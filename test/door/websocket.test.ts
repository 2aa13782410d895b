import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { createClient } from 'graphql-ws'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import { neighbourhoodOf } from '../../platform/caller/address.ts'
import { createMemoryEvents, type Events } from '../../platform/events.ts'
import { socketLimits } from '../../router/door/streaming/socket.ts'
import { hostsOf } from '../../router/hosts.ts'
import { operationShare } from '../../router/live/shares.ts'
import { dial as dialBare } from '../kit/bare-socket.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

type Platform = Awaited<ReturnType<typeof openRouter>>
let platform: Platform
let events: Events
beforeEach(async () => {
  events = createMemoryEvents()
  platform = await openRouter(schemaEngine(smallGraph(events)))
  platform.signIn('one')
})
afterEach(() => platform.close())

/** A bare socket to the platform, by its own name. */
const dial = (headers: Record<string, string> = {}, url = platform.url, options: ClientOptions = {}) =>
  dialBare(url, { ...options, headers: { host: `localhost:${platform.port}`, ...headers } })

/** Asks for a socket by hand, and never answers what comes through it. */
function knock() {
  return new Promise<{ readonly status: number; leave(): void }>((resolve, reject) => {
    const wire = connect(platform.port, '127.0.0.1', () =>
      wire.write(
        'GET /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n',
      ),
    )
    wire.on('error', reject)
    wire.once('data', part => {
      wire
        .pause()
        .off('error', reject)
        .on('error', () => undefined)
      resolve({ status: Number(String(part).slice(9, 12)), leave: () => wire.destroy() })
    })
  })
}
const token = async () => `Bearer ${await platform.token('one')}`
const listening = (count: number) => expect.poll(() => events.listenerCount(), { timeout: 5000 }).toBe(count)

describe('S-04 GraphQL over WebSocket', () => {
  test('streams events to the official client, and runs queries and mutations too', async () => {
    const client = createClient({
      url: `ws://127.0.0.1:${platform.port}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: await token() },
    })
    const ticks: unknown[] = []
    const done = new Promise(resolve =>
      client.subscribe({ query: 'subscription { now: tick }' }, { next: ({ data }) => ticks.push(data), error: resolve, complete: () => resolve('done') }),
    )
    await listening(1)
    events.announce('tick', { n: '1' })
    events.announce('tick', { n: '2' })
    await expect.poll(() => ticks).toEqual([{ now: '1' }, { now: '2' }])
    for await (const result of client.iterate({ query: '{ viewer { kind userId } }' }))
      expect(result.data).toEqual({ viewer: { kind: 'user', userId: 'user of one' } })
    for await (const result of client.iterate({ query: 'mutation { rename(name: "n") }' })) expect(result.data).toEqual({ rename: 'n' })
    await client.dispose()
    await done
    await listening(0)
  })

  test('answers on both families of the loopback interface', async () => {
    expect(platform.urls).toEqual([`http://127.0.0.1:${platform.port}`, `http://[::1]:${platform.port}`])
    const wire = await dial({}, platform.urls[1])
    await wire.init()
    expect((await fetch(`${platform.urls[1]}/health/live`)).status).toBe(200)
    wire.socket.terminate()
  })

  test('keeps no listener after an unsubscribe, nor after the connection broke', async () => {
    const wire = await dial()
    await wire.init()
    for (const id of ['a', 'b', 'c']) wire.subscribe(id, `subscription Own${id} { tick }`)
    await listening(3)
    wire.send({ id: 'a', type: 'complete' })
    await listening(2)
    wire.socket.terminate()
    await listening(0)
  })

  test('gives each operation an id derived from its socket’s, which the client may set', async () => {
    const lines = () => platform.lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'operation failed')
    const before = lines().length
    for (const headers of [{ 'x-request-id': 'my-socket', 'user-agent': 'phone/3' }, { 'x-request-id': 'not "plain"' }]) {
      const wire = await dial(headers)
      await wire.init()
      for (const id of ['a', 'b']) {
        wire.subscribe(id, '{ crash }')
        await wire.got('next', id)
      }
      wire.socket.terminate()
    }
    const told = lines().slice(before)
    expect(told.map(({ requestId }) => requestId)).toEqual([
      'my-socket.1',
      'my-socket.2',
      expect.stringMatching(/^[\da-f-]{36}\.1$/),
      expect.stringMatching(/\.2$/),
    ])
    expect(told[0]).toMatchObject({ client: 'phone/3' })
  })

  test('sends errors as over HTTP: domain errors with their message, internal errors masked', async () => {
    await using staging = await openRouter(schemaEngine(smallGraph(events)), { environment: 'staging' })
    const wire = await dial({}, staging.url)
    await wire.init()
    wire.subscribe('a', '{ hello refuse crash }')
    const { payload } = await wire.got('next', 'a')
    expect(payload).toMatchObject({
      data: { hello: 'Hello world' },
      errors: [{ extensions: { code: 'CONFLICT' } }, { extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
    })
    expect(JSON.stringify(payload)).not.toContain('ECONNREFUSED')
    const own = await dial()
    await own.init()
    own.subscribe('a', '{ crash }')
    const { errors } = (await own.got('next', 'a')).payload as { errors: unknown[] }
    expect(errors).toMatchObject([{ message: expect.stringContaining('connect ECONNREFUSED'), extensions: { code: 'INTERNAL_SERVER_ERROR' } }])
    expect(JSON.stringify(errors)).not.toMatch(/stack|\.ts/)
    own.socket.terminate()
    wire.subscribe('b', '{ nope }')
    expect((await wire.got('error', 'b')).payload).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }])
    for (const [id, payload] of [
      ['none of that name', { query: '{ hello }', operationName: 'nope' }],
      ['an empty name', { query: 'query A { hello }', operationName: '' }],
      ['no name for two', { query: 'query A { hello } query B { hello }' }],
    ] as const) {
      wire.send({ id, type: 'subscribe', payload })
      expect((await wire.got('error', id)).payload).toMatchObject([
        { message: expect.stringMatching(/operation/), extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } },
      ])
    }
    wire.subscribe('c', `{ ${'hello '.repeat(1001)} }`)
    expect((await wire.got('error', 'c')).payload).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', limit: 'fields' } }])
    wire.socket.terminate()
  })
})

describe('credentials of a socket', () => {
  const kindOf = async (wire: Awaited<ReturnType<typeof dial>>) => {
    wire.subscribe('who', '{ viewer { kind } }')
    return ((await wire.got('next', 'who')).payload!.data as { viewer: { kind: string } }).viewer.kind
  }

  test.each(['authorization', 'Authorization', 'AUTHORIZATION'])('come in the payload under %s', async name => {
    const wire = await dial()
    await wire.init({ [name]: await token() })
    expect(await kindOf(wire)).toBe('user')
    wire.socket.terminate()
  })

  test('may be a key, or none at all', async () => {
    platform.keys.set('hash of k', { keyId: 'k', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    const [keyed, bare, empty] = [await dial(), await dial(), await dial()]
    await Promise.all([keyed.init({ 'X-API-Key': 'k' }), bare.init(), empty.init({ authorization: null })])
    expect([await kindOf(keyed), await kindOf(bare), await kindOf(empty)]).toEqual(['apiKey', 'anonymous', 'anonymous'])
    for (const wire of [keyed, bare, empty]) wire.socket.terminate()
  })

  test.each([
    { authorization: 'Bearer nonsense' },
    { authorization: 7 },
    { 'x-api-key': 'guess' },
    { 'x-api-key': 'ключ' },
  ])('%o closes with 4401', async payload => {
    const wire = await dial()
    wire.send({ type: 'connection_init', payload })
    expect((await wire.closed).code).toBe(4401)
  })

  test('come in an object of headers too, as many clients send them', async () => {
    platform.keys.set('hash of k', { keyId: 'k', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    const client = createClient({
      url: `ws://127.0.0.1:${platform.port}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { headers: { Authorization: await token(), 'content-type': 'application/json' } },
    })
    for await (const result of client.iterate({ query: '{ viewer { kind } }' })) expect(result.data).toEqual({ viewer: { kind: 'user' } })
    await client.dispose()
    const wires = await Promise.all([dial(), dial(), dial()])
    await wires[0]!.init({ headers: { 'X-API-KEY': 'k' } })
    await wires[1]!.init({ Headers: {}, 'apollographql-client-name': 'web', 'x-csrf-token': 'x', nested: [{ deep: 1 }] })
    await wires[2]!.init({ authorization: await token(), headers: { AUTHORIZATION: await token() } })
    expect(await Promise.all(wires.map(kindOf))).toEqual(['apiKey', 'anonymous', 'user'])
    for (const wire of wires) wire.socket.terminate()
  })

  test.each<[Record<string, unknown>, RegExp]>([
    [{ token: 'abc' }, /"token" is not understood/],
    [{ authToken: 'Bearer abc' }, /"authToken"/],
    [{ accessToken: 'abc' }, /"accessToken"/],
    [{ auth: { user: 'x' } }, /"auth"/],
    [{ apiKey: 'abc' }, /"apiKey"/],
    [{ api_key: 'abc' }, /"api_key"/],
    [{ Bearer: 'abc' }, /"Bearer"/],
    [{ cookie: 'session=one' }, /"cookie"/],
    [{ anything: 'bearer abc' }, /"anything"/],
    [{ http: { headers: { Authorization: 'Bearer abc' } } }, /"Authorization"/],
    [{ headers: { headers: { Authorization: 'Bearer abc' } } }, /"Authorization"/],
    [{ headers: { token: 'abc' } }, /"token"/],
    [{ headers: ['Authorization', 'Bearer abc'] }, /"headers"/],
    [{ headers: 'Authorization: Bearer abc' }, /"headers"/],
    [{ password: 'x' }, /"password"/],
    [{ a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } }, /is not understood/],
    [{ authorization: 'Bearer abc', headers: { Authorization: 'Bearer def' } }, /authorization twice/],
    [{ headers: { Authorization: 'Bearer nonsense' } }, /no access token of this platform.*as X-API-Key\.$/],
    [{ headers: { Authorization: 'Bearer a.b.c' } }, /not valid/],
    [{ headers: { 'x-api-key': 7 } }, /not valid/],
  ])('that are not understood are refused, never overlooked: %o', async (payload, reason) => {
    const wire = await dial()
    wire.send({ type: 'connection_init', payload })
    expect(await wire.closed).toEqual({ code: 4401, reason: expect.stringMatching(reason) })
  })

  test('are not read from the upgrade’s own headers, which no browser can set', async () => {
    const wire = await dial({ authorization: await token() })
    await wire.init()
    expect(await kindOf(wire)).toBe('anonymous')
    wire.socket.terminate()
  })

  test('close with a code for reconnecting when identity cannot verify them now', async () => {
    const payload = { authorization: await token() }
    platform.fail(true)
    const wire = await dial()
    wire.send({ type: 'connection_init', payload })
    expect(await wire.closed).toEqual({ code: 1013, reason: expect.stringContaining('"identity" did not answer') })
    const client = createClient({
      url: `ws://127.0.0.1:${platform.port}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: payload,
      retryWait: async retries => void (retries === 1 && platform.fail(false)),
    })
    for await (const result of client.iterate({ query: '{ viewer { kind } }' })) expect(result.data).toEqual({ viewer: { kind: 'user' } })
    await client.dispose()
  })

  test('that have expired close with 4403 and a reason', async () => {
    const old = await token()
    platform.clock.advance(601_000)
    const wire = await dial()
    wire.send({ type: 'connection_init', payload: { authorization: old } })
    expect(await wire.closed).toEqual({ code: 4403, reason: 'token expired' })
  })

  test('may be the cookie of the upgrade if its origin is trusted', async () => {
    const ours = await dial({ cookie: 'session=one', origin: platform.origin })
    await ours.init()
    expect(await kindOf(ours)).toBe('user')
    ours.socket.terminate()
    for (const origin of [{ origin: 'https://evil.example' }, {}] as Record<string, string>[]) {
      const foreign = await dial({ cookie: 'session=one', ...origin })
      foreign.send({ type: 'connection_init' })
      expect((await foreign.closed).code).toBe(4401)
    }
  })

  test('are accepted from pages that may read answers only, as over HTTP, of every kind', async () => {
    const settings = { publicUrl: platform.origin, environment: 'production', corsOrigins: ['https://app.example'], serviceOrigins: [] } as const
    await using configured = await openRouter(schemaEngine(smallGraph()), { environment: 'production', hosts: hostsOf(settings) })
    configured.signIn('one')
    const authorization = `Bearer ${await configured.token('one')}`
    const outcome = async (url: string, origin: string, payload?: Record<string, unknown>, cookie?: string) => {
      const wire = await dial({ host: 'localhost', origin, ...(cookie && { cookie }) }, url)
      const ended = await Promise.race([wire.closed.then(({ code }) => code), wire.init(payload).then(() => kindOf(wire))])
      wire.socket.terminate()
      return ended
    }
    const all = (url: string, origin: string, bearer: string) =>
      Promise.all([outcome(url, origin), outcome(url, origin, { authorization: bearer }), outcome(url, origin, undefined, 'session=one')])
    expect(await all(configured.url, 'https://app.example', authorization)).toEqual(['anonymous', 'user', 'user'])
    for (const origin of ['https://evil.example', 'http://localhost:5173', 'null'])
      expect(await all(configured.url, origin, authorization)).toEqual([4401, 4401, 4401])
    expect(await all(platform.url, 'http://localhost:5173', await token())).toEqual(['anonymous', 'user', 'user'])
  })
})

describe('a stream ends with its credential', () => {
  const open = async (payload?: Record<string, unknown>, headers?: Record<string, string>) => {
    const wire = await dial(headers)
    await wire.init(payload)
    wire.subscribe('a', 'subscription { tick }')
    await listening(1)
    return wire
  }

  test('I-01 when the token expires', async () => {
    const wire = await open({ authorization: await token() })
    const looks = platform.asked.sessions
    platform.clock.advance(601_000)
    expect(await wire.closed).toEqual({ code: 4403, reason: 'token expired' })
    expect(platform.asked.sessions - looks).toBeLessThanOrEqual(2)
    await listening(0)
  })

  test.each([
    ['token', async () => open({ authorization: await token() })],
    ['cookie', () => open(undefined, { cookie: 'session=one', origin: platform.origin })],
  ])('I-01 when the session of its %s ends', async (_what, begin) => {
    const wire = await begin()
    const looks = platform.asked.sessions
    platform.sessions.delete('one')
    expect((await wire.closed).code).toBe(4403)
    expect(platform.asked.sessions - looks).toBeLessThanOrEqual(2)
    await listening(0)
  })

  test('I-02 when the key is revoked', async () => {
    platform.keys.set('hash of k', { keyId: 'k', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    const wire = await open({ 'x-api-key': 'k' })
    platform.keys.clear()
    expect(await wire.closed).toEqual({ code: 4403, reason: 'key revoked' })
  })

  test('when its rights change, so that access is decided again', async () => {
    const wire = await open({ authorization: await token() })
    platform.signIn('one', { roles: ['viewer'] })
    expect(await wire.closed).toEqual({ code: 4403, reason: 'rights changed' })
  })

  test('and not before: a stream by a cookie survives ten minutes', async () => {
    const cookie = await open(undefined, { cookie: 'session=one', origin: platform.origin })
    platform.clock.advance(601_000)
    const asked = platform.asked.sessions
    await expect.poll(() => platform.asked.sessions, { timeout: 5000 }).toBeGreaterThan(asked + 1)
    expect(cookie.socket.readyState).toBe(WebSocket.OPEN)
    expect(platform.router.openStreams()).toBe(1)
    cookie.socket.terminate()
    await expect.poll(() => platform.router.openStreams()).toBe(0)
  })

  test('but not while identity is unavailable for a moment', async () => {
    const wire = await open({ authorization: await token() })
    platform.fail(true)
    await expect.poll(() => platform.lines.some(line => line.includes('could not be checked')), { timeout: 3000 }).toBe(true)
    expect(wire.socket.readyState).toBe(WebSocket.OPEN)
    wire.socket.terminate()
  })
})

describe('limits', () => {
  test('a client that does not read is dropped with 1013, and its listener with it', async () => {
    const [slow, fast] = [await dial(), await dial()]
    await Promise.all([slow.init(), fast.init()])
    slow.subscribe('a', 'subscription { flood }')
    fast.subscribe('a', 'subscription { flood }')
    // One stream serves both.
    await listening(1)
    await expect.poll(() => [...platform.router.live.subscriptions().values()]).toEqual([2])
    slow.socket.pause()
    let announced = 0
    const dropped = () => platform.lines.some(line => line.includes('reads too slowly'))
    while (!dropped() && announced < 200) {
      events.announce('flood', { n: String(announced++) })
      // Until the reader has it, so that it is not the one who is too slow.
      await expect.poll(() => fast.messages.filter(({ type }) => type === 'next').length, { interval: 1 }).toBe(announced)
    }
    // In time for the farewell.
    slow.socket.resume()
    expect(await slow.closed).toEqual({ code: 1013, reason: expect.stringContaining('connect again') })
    await listening(1)
    expect(fast.socket.readyState).toBe(WebSocket.OPEN)
    fast.socket.terminate()
  })

  test('a client that answers no ping is cut after the second, and its listener is removed; one that answers stays', async () => {
    await using brisk = await openRouter(schemaEngine(smallGraph(events)), { pingMs: 700 })
    const [deaf, alive] = await Promise.all([dial({}, brisk.url, { autoPong: false }), dial({}, brisk.url)])
    let [missed, answered] = [0, 0]
    deaf.socket.on('ping', () => {
      missed += 1
    })
    alive.socket.on('ping', () => {
      answered += 1
    })
    for (const wire of [deaf, alive]) {
      await wire.init()
      wire.subscribe('a', 'subscription { tick }')
    }
    expect((await deaf.closed).code).toBe(1006)
    expect(missed).toBe(1)
    await listening(1)
    const before = answered
    await expect.poll(() => answered, { timeout: 20_000 }).toBeGreaterThan(before + 3)
    expect(alive.socket.readyState).toBe(WebSocket.OPEN)
    alive.socket.terminate()
  })

  test('a client that sends pings and reads none of the answers is cut', async () => {
    const slow = await dial()
    await slow.init()
    slow.socket.pause()
    const carried = Buffer.alloc(125)
    slow.socket.on('error', () => undefined)
    const open = async () => Number(/^websockets_open (\d+)/m.exec((await platform.ask('/metrics')).text)?.[1])
    expect(await open()).toBe(1)
    for (let sent = 0; sent < 400_000 && (await open()) > 0; sent += 2000) {
      for (let n = 0; n < 2000; n += 1) slow.socket.ping(carried)
      // Or it is read no more.
      await expect.poll(async () => slow.socket.bufferedAmount === 0 || (await open()) === 0, { interval: 1 }).toBe(true)
    }
    expect(await open()).toBe(0)
    slow.socket.terminate()
  })

  test('closes the socket for a message in too many frames, or a frame in too many pieces, and accepts one at the limit', async () => {
    const text = JSON.stringify({ type: 'ping', payload: { x: 'x'.repeat(2 * socketLimits.messagePieces) } })
    const inFrames = async (frames: number) => {
      const wire = await dial()
      const each = Math.ceil(text.length / frames)
      const parts = Array.from({ length: frames }, (_, at) => text.slice(at * each, (at + 1) * each))
      for (const [at, part] of parts.entries()) wire.socket.send(part, { fin: at === frames - 1, binary: false })
      return Promise.race([wire.got('pong').then(() => 'read'), wire.closed.then(({ code }) => code)])
    }
    expect(await inFrames(socketLimits.messagePieces)).toBe('read')
    expect(await inFrames(socketLimits.messagePieces + 1)).toBe(1008)
    const wire = await dial()
    // A frame of 4096 bytes, masked with zeros, of which a byte comes at a time.
    const raw = (wire.socket as unknown as { _socket: import('node:net').Socket })._socket.setNoDelay(true)
    raw.write(Buffer.from([0x81, 0xfe, 0x10, 0, 0, 0, 0, 0]))
    let over = false
    void wire.closed.then(() => (over = true))
    for (let sent = 0; sent < 4000 && !over; sent += 1) {
      raw.write('x')
      await new Promise(resolve => setImmediate(resolve))
    }
    expect((await wire.closed).code).toBe(1008)
  })

  test(`one socket runs at most ${socketLimits.operations} operations at a time`, async () => {
    const wire = await dial()
    await wire.init()
    for (let n = 0; n <= socketLimits.operations; n += 1) wire.subscribe(`s${n}`, `subscription Own${n} { tick }`)
    expect((await wire.got('error', `s${socketLimits.operations}`)).payload).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    await listening(socketLimits.operations)
    wire.socket.terminate()
    await listening(0)
  })

  test(`one caller has at most 200 subscriptions on all sockets, and again after they have ended`, async () => {
    const wires = [await dial(), await dial(), await dial()] as const
    for (const wire of wires) await wire.init()
    const most = 200 / 2
    const own = (n: number) => `subscription Own${n} { tick }`
    for (const [at, wire] of wires.slice(0, 2).entries()) for (let n = 0; n < most; n += 1) wire.subscribe(`s${n}`, own(at * most + n))
    await listening(200)
    wires[2].subscribe('more', 'subscription { tick }')
    expect((await wires[2].got('error', 'more')).payload).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    wires[2].subscribe('query', '{ hello }')
    await wires[2].got('complete', 'query')
    wires[0].send({ id: 's0', type: 'complete' })
    wires[1].socket.terminate()
    await listening(most - 1)
    for (let n = 0; n < most; n += 1) wires[2].subscribe(`t${n}`, own(1000 + n))
    await listening(200 - 1)
    for (const { socket } of wires) socket.terminate()
    await listening(0)
  })

  test('all subscriptions of a caller may start in one moment, as after a reconnect: none is rejected, and the caller’s queries do not wait for them', async () => {
    const gate = Promise.withResolvers<void>()
    await platform.close()
    platform = await openRouter(schemaEngine(smallGraph(events, [], gate.promise)))
    platform.signIn('one')
    const authorization = await token()
    const wires = [await dial(), await dial()]
    for (const wire of wires) await wire.init({ authorization })
    for (const wire of wires) for (let n = 0; n < 200 / 2; n += 1) wire.subscribe(`s${n}`, `subscription Own${wires.indexOf(wire)}_${n} { late }`)
    // Each message of a socket has been taken by when the last one is answered.
    for (const wire of wires) {
      wire.send({ type: 'ping' })
      await wire.got('pong')
    }
    expect((await platform.gql('{ hello }', { authorization })).json).toEqual({ data: { hello: 'Hello world' } })
    gate.resolve()
    await listening(200)
    for (const { messages } of wires) expect(messages.filter(({ id }) => id !== undefined)).toEqual([])
    for (const { socket } of wires) socket.terminate()
  })

  test('limits the concurrent operations of one caller over HTTP and WebSocket without delaying others', async () => {
    platform.signIn('two')
    const own = await token()
    const leaving = new AbortController()
    const most = operationShare.each + operationShare.waiting
    const asked = Array.from({ length: most }, () =>
      fetch(`${platform.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: own },
        body: '{"query":"{ hang }"}',
        signal: leaving.signal,
      }).catch(() => null),
    )
    const wire = await dial()
    await wire.init({ authorization: own })
    const refused = async () => (await platform.gql('{ hello }', { authorization: own })).status
    await expect.poll(refused, { timeout: 5000 }).toBe(429)
    const answer = await platform.gql('{ hello }', { authorization: own })
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.json.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfter: 1 } }])
    wire.subscribe('q', '{ hello }')
    expect((await wire.got('next', 'q')).payload).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] })
    expect((await platform.gql('{ hello }', { authorization: `Bearer ${await platform.token('two')}` })).json).toEqual({ data: { hello: 'Hello world' } })
    leaving.abort()
    await Promise.all(asked)
    await expect.poll(refused, { timeout: 5000 }).toBe(200)
    wire.socket.terminate()
  })

  test(`one address has at most ${socketLimits.perAddress} sockets: further ones are closed with 4429, and many more get no handshake`, async () => {
    const open = await Promise.all(Array.from({ length: socketLimits.perAddress }, () => dial()))
    const refused = await dial()
    expect(await refused.closed).toEqual({ code: 4429, reason: 'too many connections' })
    // Clients that never answer the farewell hold their socket for a while: no handshake for many of them at once.
    const burst = await Promise.all(Array.from({ length: 6 * socketLimits.perAddress }, () => knock()))
    expect(burst.filter(({ status }) => status === 101).length).toBeGreaterThanOrEqual(socketLimits.perAddress)
    expect(burst.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
    for (const { leave } of burst) leave()
    open[0]!.socket.terminate()
    await expect
      .poll(
        async () => {
          const wire = await dial()
          const state = await Promise.race([wire.closed.then(({ code }) => code), wire.init().then(() => 'taken')])
          wire.socket.terminate()
          return state
        },
        { timeout: 5000 },
      )
      .toBe('taken')
    for (const wire of open) wire.socket.terminate()
  })

  test(`one person has at most ${socketLimits.perViewer} sockets, and so has one key, without affecting others`, async () => {
    platform.keys.set('hash of k', { keyId: 'k', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    platform.signIn('two')
    const authorization = await token()
    const own = await Promise.all(Array.from({ length: socketLimits.perViewer }, () => dial()))
    await Promise.all(own.map(wire => wire.init({ authorization })))
    const refused = await dial()
    refused.send({ type: 'connection_init', payload: { authorization } })
    expect(await refused.closed).toEqual({ code: 4429, reason: 'too many connections' })
    const [keyed, other, bare] = [await dial(), await dial(), await dial()]
    await Promise.all([keyed.init({ 'x-api-key': 'k' }), other.init({ authorization: `Bearer ${await platform.token('two')}` }), bare.init()])
    own[0]!.socket.terminate()
    await expect.poll(() => platform.router.openStreams()).toBe(socketLimits.perViewer + 1)
    await (await dial()).init({ authorization })
  })

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
  ])('the sockets of %s are counted under %s', (address, key) => expect(neighbourhoodOf(address)).toBe(key))

  test('closes with 1009 for a message that is too large', async () => {
    const wire = await dial()
    await wire.init()
    wire.subscribe('a', '{ hello }', { variables: { x: 'x'.repeat(socketLimits.messageBytes) } })
    expect((await wire.closed).code).toBe(1009)
  })

  test('rejects an operation id of more than a thousand characters, which every message would repeat', async () => {
    const wire = await dial()
    await wire.init()
    const [long, longest] = ['i'.repeat(socketLimits.idCharacters + 1), 'i'.repeat(socketLimits.idCharacters)]
    wire.subscribe(long, '{ hello }')
    wire.subscribe(longest, '{ hello }')
    expect((await wire.got('error', long)).payload).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    expect((await wire.got('next', longest)).payload).toMatchObject({ data: { hello: expect.anything() } })
  })

  test('rejects a large subscribe message, which is kept while the subscription is open', async () => {
    const wire = await dial()
    await wire.init()
    const subscribe = (id: string, query: string, bytes: number) =>
      wire.send({ id, type: 'subscribe', payload: { query, extensions: { told: 'x'.repeat(bytes) } } })
    subscribe('large', 'subscription { tick }', socketLimits.subscriptionBytes)
    expect((await wire.got('error', 'large')).payload).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    subscribe('small', 'subscription { tick }', socketLimits.subscriptionBytes / 2)
    await listening(1)
    // An answer that is sent once is not kept.
    subscribe('once', '{ hello }', socketLimits.subscriptionBytes)
    expect((await wire.got('next', 'once')).payload).toMatchObject({ data: { hello: expect.anything() } })
  })

  test('answers a malformed subscribe payload under its own id, and keeps the socket and its other streams', async () => {
    const wire = await dial()
    wire.send({ type: 'connection_init', payload: { authorization: await token() } })
    await wire.got('connection_ack')
    wire.send({ id: 'stream', type: 'subscribe', payload: { query: 'subscription { tick }' } })
    await listening(1)
    const query = '{ hello }'
    const sha256Hash = createHash('sha256').update(query).digest('hex')
    const persisted = { extensions: { persistedQuery: { version: 1, sha256Hash } } }
    const codeFor = async (id: string, payload: unknown) => {
      wire.send({ id, type: 'subscribe', payload })
      const { payload: errors } = await wire.got('error', id)
      return (errors as unknown as { extensions: { code: string } }[])[0]!.extensions.code
    }
    expect(await codeFor('unknown hash', persisted)).toBe('PERSISTED_QUERY_NOT_FOUND')
    expect(await codeFor('no query', {})).toBe('BAD_REQUEST')
    expect(await codeFor('a number for a query', { query: 1 })).toBe('BAD_REQUEST')
    expect(await codeFor('variables in a list', { query, variables: [] })).toBe('BAD_REQUEST')
    expect(await codeFor('a number for a name', { query, operationName: 1 })).toBe('BAD_REQUEST')
    expect(await codeFor('a text for extensions', { query, extensions: 'x' })).toBe('BAD_REQUEST')
    expect(await codeFor('no payload', null)).toBe('BAD_REQUEST')
    wire.send({ id: 'nulls', type: 'subscribe', payload: { query, operationName: null, variables: null, extensions: null } })
    expect((await wire.got('next', 'nulls')).payload).toMatchObject({ data: { hello: expect.anything() } })
    wire.send({ id: 'registers', type: 'subscribe', payload: { query, ...persisted } })
    await wire.got('next', 'registers')
    wire.send({ id: 'known hash', type: 'subscribe', payload: persisted })
    expect((await wire.got('next', 'known hash')).payload).toMatchObject({ data: { hello: expect.anything() } })
    expect([wire.socket.readyState, events.listenerCount()]).toEqual([WebSocket.OPEN, 1])
    wire.send({ id: '', type: 'subscribe', payload: persisted })
    expect((await wire.closed).code).toBe(4400)
  })

  test('closes a socket without connection_init with 4408, and one that sends no JSON or brackets alone with 4400', async () => {
    const [silent, babbling, deep] = [await dial(), await dial(), await dial()]
    babbling.socket.send('hello')
    expect((await babbling.closed).code).toBe(4400)
    deep.socket.send('['.repeat(200_000))
    expect((await deep.closed).code).toBe(4400)
    expect((await silent.closed).code).toBe(4408)
  })

  test.each([
    ['/elsewhere', 'graphql-transport-ws', 404],
    ['/graphql', 'graphql-ws', 400],
  ])('an upgrade at %s with subprotocol %s is answered %i', async (path, protocol, status) => {
    const socket = new WebSocket(`ws://127.0.0.1:${platform.port}${path}`, protocol ? [protocol] : [])
    const seen = await new Promise<number>(resolve =>
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!)).on('error', () => undefined),
    )
    expect(seen).toBe(status)
    socket.terminate()
  })
})

describe('closing', () => {
  // A kept-alive connection that nobody cut would hold it for longer than a test may take.
  test('closes an idle router with open sockets and kept-alive connections', async () => {
    const other = await openRouter(schemaEngine(smallGraph(events)))
    const sockets = other.urls.map(url => new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws'))
    await Promise.all(sockets.map(socket => new Promise(resolve => socket.on('open', resolve))))
    for (const url of other.urls) await (await fetch(`${url}/health/live`)).text()
    const codes = sockets.map(socket => new Promise(resolve => socket.on('close', resolve)))
    expect(other.router.app.server.keepAliveTimeout).toBeGreaterThan(60_000)
    await other.close()
    expect(await Promise.all(codes)).toEqual([1001, 1001])
    await other.close()
  })

  test('lets a running request finish first', async () => {
    const engine = schemaEngine(smallGraph(events))
    let running = false
    const other = await openRouter({
      ...engine,
      execute(request) {
        running = true
        return engine.execute(request)
      },
    })
    const slow = fetch(`${other.url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ wait }"}' })
    await expect.poll(() => running).toBe(true)
    await other.close()
    expect(((await (await slow).json()) as { data: unknown }).data).toEqual({ wait: 'waited' })
  })
})
