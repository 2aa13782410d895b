import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createBoundClock } from '../../../platform/clock.ts'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { createSeal } from '../../../router/engine/transport/seal.ts'
import { sealHeader } from '../../../subgraphs/seal.ts'
import { until } from '../supergraph-fixture.ts'
import { serveRaw, transportTo } from './raw-server.ts'

/** What a server does with one connection: `says` tells what the client sends, message by message. */
type Behaviour = (socket: WebSocket, says: (type: string) => Promise<Record<string, unknown>>, request: IncomingMessage) => void | Promise<void>

/** A server that speaks frames: every message is the test's own. */
async function serveFrames(behave: Behaviour, handleProtocols: () => string | false = () => 'graphql-transport-ws') {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols })
  await once(sockets, 'listening')
  const received: string[] = []
  const closed: number[] = []
  sockets.on('connection', (socket, request) => {
    const heard: Record<string, unknown>[] = []
    socket.on('error', () => {})
    socket.on('close', code => closed.push(code))
    socket.on('message', data => {
      const message = JSON.parse(String(data))
      received.push(message.type)
      heard.push(message)
    })
    const says = async (type: string) => {
      await until(() => heard.some(message => message.type === type))
      return heard.find(message => message.type === type)!
    }
    void behave(socket, says, request)
  })
  return {
    url: `http://127.0.0.1:${(sockets.address() as AddressInfo).port}/graphql`,
    received,
    closed,
    count: () => sockets.clients.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate()
      await new Promise(resolve => sockets.close(resolve))
    },
  }
}

const send = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message))

/** Accepts, and then does as it is told. */
const accepting =
  (then: (socket: WebSocket, id: unknown) => void): Behaviour =>
  async (socket, says) => {
    await says('connection_init')
    send(socket, { type: 'connection_ack' })
    then(socket, (await says('subscribe')).id)
  }

const next = (socket: WebSocket, id: unknown, payload: unknown = { data: { name: 'x' } }) => send(socket, { id, type: 'next', payload })

/** All results of a stream, to its end. */
async function drained(stream: unknown) {
  const results: { data?: unknown; errors?: readonly { message: string; extensions?: unknown }[] }[] = []
  for await (const result of stream as ResultStream) results.push(JSON.parse(JSON.stringify(result)))
  return results
}
const broke = { errors: [{ message: expect.stringContaining('connection broke'), extensions: { code: 'UPSTREAM_FAILED' } }] }

describe('rejects a subscription in time, and keeps no socket, when a server', () => {
  test.for<[string, Behaviour]>([
    ['never accepts', () => {}],
    ['closes at once', socket => socket.close(4500, 'No')],
    ['refuses with 4403', (socket, says) => says('connection_init').then(() => socket.close(4403, 'Forbidden'))],
    ['speaks before it accepts', socket => send(socket, { id: '1', type: 'next', payload: { data: {} } })],
    ['speaks no JSON', socket => socket.send('hello')],
    ['sends a list', socket => socket.send('[]')],
    ['sends bytes', socket => socket.send(Buffer.from([0xff, 0xfe]))],
    ['sends too much', socket => socket.send('x'.repeat(17 * 1024 * 1024))],
    ['breaks the frames', socket => void (socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(Buffer.from([0xff, 0xff, 0xff]))],
    ['is cut', socket => socket.terminate()],
  ])('%s', async ([, behave]) => {
    await using server = await serveFrames(behave)
    await using remote = transportTo(server.url, { timeoutMs: 300 })
    await expect(remote.subscribe()).rejects.toMatchObject({ name: 'UpstreamFailure' })
    await until(() => server.count() === 0)
  })

  test('speaks another protocol', async () => {
    for (const protocol of ['graphql-ws', false] as const) {
      await using server = await serveFrames(
        () => {},
        () => protocol,
      )
      await using remote = transportTo(server.url, { timeoutMs: 300 })
      await expect(remote.subscribe()).rejects.toMatchObject({ stage: 'cut' })
      await until(() => server.count() === 0)
    }
  })

  test('answers the upgrade as a page, a redirect, or never', async () => {
    const answers = ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n', '']
    await using server = await serveRaw(({ socket, turn }) => socket.write(answers[turn - 1]!))
    await using remote = transportTo(server.url, { timeoutMs: 200 })
    for (const _answer of answers) await expect(remote.subscribe()).rejects.toMatchObject({ name: 'UpstreamFailure' })
    await until(() => server.connections.size === 0)
    expect(server.requests).toHaveLength(3)
  })
})

test('an address with a fragment, and an invalid header, do not crash the process', async () => {
  await using server = await serveFrames(accepting((socket, id) => next(socket, id)))
  await using remote = transportTo(`${server.url}#part`, { headers: [{ name: 'x-tenant' }] })
  await expect(remote.subscribe({ headers: new Headers([['x-tenant', 'a\u0001']]) })).rejects.toMatchObject({ stage: 'unsent' })
  const stream = (await remote.subscribe()) as ResultStream
  expect((await stream.next()).value).toEqual({ data: { name: 'x' } })
  await stream.return()
})

describe('a client that leaves while the server delays the start', () => {
  test('keeps no socket, and no failure is logged', async () => {
    await using server = await serveFrames(() => {})
    await using remote = transportTo(server.url, { timeoutMs: 5000 })
    const leaving = new AbortController()
    const starting = remote.subscribe({ signal: leaving.signal })
    await until(() => server.received.includes('connection_init'))
    leaving.abort()
    expect(await starting).toMatchObject({ errors: [{ message: expect.stringContaining('ended before it was answered') }] })
    await until(() => server.count() === 0)
    expect(await remote.subscribe({ signal: leaving.signal })).toMatchObject({ errors: [{}] })
  })

  test('ends the start at once, as does a router that stops', async () => {
    await using server = await serveFrames(() => {})
    const remote = transportTo(server.url, { timeoutMs: 5000 })
    const starting = remote.subscribe()
    await until(() => server.received.includes('connection_init'))
    const began = performance.now()
    await Promise.all([expect(starting).rejects.toMatchObject({ name: 'UpstreamFailure' }), remote.transport.close()])
    expect(performance.now() - began).toBeLessThan(1000)
    await expect(remote.subscribe()).rejects.toMatchObject({ stage: 'unsent' })
  })

  test('is handled when the time of its operation is over', async () => {
    await using server = await serveFrames(() => {})
    await using remote = transportTo(server.url)
    await expect(remote.subscribe({ deadline: performance.now() - 1 })).rejects.toMatchObject({ stage: 'unsent' })
    expect(server.count()).toBe(0)
  })
})

describe('a stream', () => {
  test.for([1000, 1001, 1006, 1011, 4000, 4400, 4401, 4403, 4409, 4499, 4500])('ends with an error when the server closes with %i', async code => {
    await using server = await serveFrames(
      accepting((socket, id) => {
        next(socket, id)
        if (code === 1006) socket.once('pong', () => socket.terminate()).ping()
        else socket.close(code, 'Enough')
      }),
    )
    await using remote = transportTo(server.url)
    expect(await drained(await remote.subscribe())).toEqual([{ data: { name: 'x' } }, broke])
    await until(() => server.count() === 0)
  })

  test('ends once, though the server completes it twice and continues', async () => {
    await using server = await serveFrames(
      accepting((socket, id) => {
        next(socket, id)
        for (let turn = 0; turn < 2; turn++) send(socket, { id, type: 'complete' })
        next(socket, id)
        send(socket, { id, type: 'error', payload: [{ message: 'late' }] })
      }),
    )
    await using remote = transportTo(server.url)
    expect(await drained(await remote.subscribe())).toEqual([{ data: { name: 'x' } }])
    await until(() => server.count() === 0)
    expect(server.received).toEqual(['connection_init', 'subscribe'])
    expect(server.closed).toEqual([1000])
  })

  test('ignores messages of another operation and a second acceptance, and answers pings', async () => {
    await using server = await serveFrames(
      accepting((socket, id) => {
        send(socket, { type: 'connection_ack' })
        send(socket, { id: 'other', type: 'next', payload: { data: { name: 'of another' } } })
        send(socket, { id: 'other', type: 'complete' })
        send(socket, { type: 'ping', payload: { a: 1 } })
        send(socket, { type: 'pong' })
        socket.once('pong', () => {
          next(socket, id)
          send(socket, { id, type: 'complete' })
        })
        socket.ping()
      }),
    )
    await using remote = transportTo(server.url)
    expect(await drained(await remote.subscribe())).toEqual([{ data: { name: 'x' } }])
    expect(server.received).toEqual(['connection_init', 'subscribe', 'pong'])
  })

  test('answers a server’s request for a seal in a ping with a fresh one for that server; without a key with nothing', async () => {
    const clock = createBoundClock(new Date())
    const seal = createSeal({ id: 'one', key: randomBytes(32) }, clock)
    const pongs: unknown[] = []
    await using server = await serveFrames(
      accepting((socket, id) => {
        socket.on('message', data => {
          const { type, payload } = JSON.parse(String(data))
          if (type !== 'pong') return
          pongs.push(payload)
          if (pongs.length % 2) return send(socket, { type: 'ping', payload: { [sealHeader]: null } })
          send(socket, { id, type: 'complete' })
        })
        clock.advance(3_600_000)
        send(socket, { type: 'ping', payload: { 'x-begun': true } })
        send(socket, { type: 'ping', payload: { other: null } })
      }),
    )
    for (const options of [{ seal }, {}]) {
      await using remote = transportTo(server.url, options)
      await drained(await remote.subscribe())
    }
    expect(pongs).toEqual([undefined, { [sealHeader]: expect.any(String) }, undefined, undefined])
    const { aud, for: purpose, iat } = decodeJwt((pongs[1] as Record<string, string>)[sealHeader]!)
    expect([aud, purpose, iat]).toEqual(['one', 'operation', Math.floor(clock.now().getTime() / 1000) - 3600])
  })

  test.for<[string, unknown, object]>([
    ['a list of errors', [{ message: 'No.', extensions: { code: 'CONFLICT' } }], { message: 'No.', extensions: { code: 'CONFLICT' } }],
    ['a word', 'no', { extensions: { code: 'UPSTREAM_FAILED' } }],
    ['nothing', undefined, { extensions: { code: 'UPSTREAM_FAILED' } }],
    ['an empty list', [], { extensions: { code: 'UPSTREAM_FAILED' } }],
    ['a list of numbers', [1, 2], { extensions: { code: 'UPSTREAM_FAILED' } }],
  ])('that is refused with %s says so and ends', async ([, payload, error]) => {
    await using server = await serveFrames(accepting((socket, id) => send(socket, { id, type: 'error', payload })))
    await using remote = transportTo(server.url)
    expect(await drained(await remote.subscribe())).toEqual([{ errors: [expect.objectContaining(error)] }])
    await until(() => server.count() === 0)
  })

  test('that an internal error rejects does not pass on the error’s message', async () => {
    const accident = [{ message: 'select * from secrets', extensions: { code: 'INTERNAL_SERVER_ERROR' } }]
    await using server = await serveFrames(accepting((socket, id) => send(socket, { id, type: 'error', payload: accident })))
    await using remote = transportTo(server.url)
    expect(await drained(await remote.subscribe())).toEqual([{ errors: accident }])
  })

  test.for<[string, unknown]>([
    ['nothing', undefined],
    ['a word', 'x'],
    ['a list', [{ data: {} }]],
    ['null', null],
    ['neither data nor errors', { a: 1 }],
    ['errors that are none', { errors: 'boom' }],
  ])('whose event is %s gets an event without data, and goes on', async ([, payload]) => {
    await using server = await serveFrames(
      accepting((socket, id) => {
        send(socket, { id, type: 'next', payload })
        next(socket, id)
        send(socket, { id, type: 'complete' })
      }),
    )
    await using remote = transportTo(server.url)
    expect(await drained(await remote.subscribe())).toEqual([{ errors: [] }, { data: { name: 'x' } }])
  })

  test('buffers unread events up to a number of bytes', async () => {
    await using server = await serveFrames(
      accepting((socket, id) => {
        const large = 'x'.repeat(4 * 1024 * 1024)
        for (let sent = 0; sent < 12; sent++) next(socket, id, { data: { name: large } })
      }),
    )
    await using remote = transportTo(server.url)
    const stream = await remote.subscribe()
    await until(() => server.received.includes('complete'))
    const results = await drained(stream)
    expect(results.length).toBeLessThan(10)
    expect(results.at(-1)!.errors![0]!.message).toMatch(/faster than the client received them/)
  })

  test('is cut when the server sends pings and reads none of the answers', async () => {
    await using server = await serveFrames(
      accepting(socket => {
        ;(socket as unknown as { _socket: { pause(): void } })._socket.pause()
        const flood = () => {
          if (socket.readyState !== socket.OPEN || socket.bufferedAmount > 10_000_000) return
          for (let turn = 0; turn < 5000; turn++) send(socket, { type: 'ping' })
          setImmediate(flood)
        }
        flood()
      }),
    )
    await using remote = transportTo(server.url)
    const stream = (await remote.subscribe()) as ResultStream
    expect(await stream.next()).toMatchObject({ value: broke, done: false })
  }, 60_000)

  test('ends when the server answers no pings any more, and continues for as long as it does', async () => {
    let silent = false
    await using server = await serveFrames((socket, says) => {
      socket.on('message', data => {
        if (!silent && JSON.parse(String(data)).type === 'ping') send(socket, { type: 'pong' })
      })
      return accepting((to, id) => next(to, id))(socket, says, undefined as never)
    })
    await using remote = transportTo(server.url, { pingMs: 40 })
    const stream = (await remote.subscribe()) as ResultStream
    await stream.next()
    const pending = stream.next()
    await until(() => server.received.filter(type => type === 'ping').length === 5)
    expect(server.count()).toBe(1)
    silent = true
    expect(await pending).toMatchObject({ value: broke, done: false })
    await until(() => server.count() === 0)
  })

  test('leaves no timer, listener or socket, however it ends', async () => {
    const timers = () => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length
    const before = timers()
    {
      await using server = await serveFrames(accepting((socket, id) => next(socket, id)))
      await using remote = transportTo(server.url)
      const streams = (await Promise.all(Array.from({ length: 30 }, () => remote.subscribe()))) as ResultStream[]
      for (const [index, stream] of streams.entries()) {
        await stream.next()
        const pending = stream.next()
        if (index % 2) await stream.return()
        else await stream.throw!(new Error('enough')).catch(() => {})
        expect(await pending).toEqual({ value: undefined, done: true })
      }
      await until(() => server.count() === 0)
      expect(server.received.filter(type => type === 'complete')).toHaveLength(30)
    }
    await until(() => timers() <= before)
  })

  test('that the router closes notifies the server and ends', async () => {
    await using server = await serveFrames(accepting((socket, id) => next(socket, id)))
    const remote = transportTo(server.url)
    const stream = await remote.subscribe()
    await remote.transport.close()
    expect((await drained(stream)).length).toBeLessThanOrEqual(1)
    await until(() => server.count() === 0)
    expect(server.received).toContain('complete')
  })
})
