import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMemoryEvents, type Events } from '../../platform/events.ts'
import { smallGraph } from '../door/graph.ts'
import { openRouter, schemaEngine } from '../door/platform.ts'
import { type BareSocket, type Dialling, dial } from '../kit/bare-socket.ts'

// Rule by rule what https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md asks of a server.

let platform: Awaited<ReturnType<typeof openRouter>>
let events: Events
/** What of operations that never end by themselves was ended. */
let left: string[]
/** Lets streams of `late` begin. */
let gate: PromiseWithResolvers<void>
const open: BareSocket[] = []
beforeEach(async () => {
  events = createMemoryEvents()
  left = []
  gate = Promise.withResolvers()
  platform = await openRouter(schemaEngine(smallGraph(events, left, gate.promise)))
})
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.terminate()
  // Whatever a client did, nobody listens for it once it is gone.
  await listening(0)
  await expect.poll(() => [...platform.router.live.subscriptions().values()]).toEqual([])
  expect(
    platform.lines.filter(line => JSON.parse(line).level >= 50),
    'a client made the router complain of itself',
  ).toEqual([])
  await platform.close()
})

async function bare(options?: Dialling): Promise<BareSocket> {
  const wire = await dial(platform.url, options)
  open.push(wire)
  return wire
}
async function acknowledged(payload?: unknown): Promise<BareSocket> {
  const wire = await bare()
  await wire.init(payload)
  return wire
}
const listening = (count: number) => expect.poll(() => events.listenerCount()).toBe(count)
const announce = (n: string) => events.announce('tick', { n })
const tick = 'subscription { tick }'
const of = ({ messages }: BareSocket, id: string) => messages.filter(message => message.id === id).map(({ type }) => type)

describe('the socket’s sub-protocol', () => {
  test('has the sub-protocol graphql-transport-ws', async () => {
    expect((await bare()).socket.protocol).toBe('graphql-transport-ws')
  })

  test('is accepted also where a client names others beside it', async () => {
    expect((await bare({ protocols: ['graphql-ws', 'graphql-transport-ws'] })).socket.protocol).toBe('graphql-transport-ws')
  })

  test('without any sub-protocol is closed with 4406', async () => {
    expect((await (await bare({ protocols: [] })).closed).code).toBe(4406)
  })

  test('is required: another one gets no handshake', async () => {
    await expect(bare({ protocols: ['graphql-ws'] })).rejects.toThrow('400')
  })

  test('may be closed by the client with 1000, and its operations end', async () => {
    const wire = await acknowledged()
    // Requests begin in their order: once the stream has, the query has.
    wire.subscribe('a', '{ hang }')
    wire.subscribe('b', tick)
    await listening(1)
    wire.socket.close(1000, 'Normal Closure')
    expect((await wire.closed).code).toBe(1000)
    await listening(0)
    await expect.poll(() => left).toEqual(['hang'])
  })
})

describe('ConnectionInit', () => {
  test.each([
    ['without a payload', undefined],
    ['with null', null],
    ['with an empty payload', {}],
    ['with a payload of the client’s own', { color: 'red', nested: [1] }],
  ])('%s is answered by ConnectionAck', async (_, payload) => {
    const wire = await bare()
    const { payload: told } = await wire.init(payload)
    expect(told === undefined || told === null || typeof told === 'object').toBe(true)
  })

  test('that is late closes with 4408', async () => {
    expect(await (await bare()).closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' })
  })

  test('is not replaced by pings', async () => {
    const wire = await bare()
    const pings = setInterval(() => wire.send({ type: 'ping' }), 500)
    expect((await wire.closed).code).toBe(4408)
    clearInterval(pings)
  })

  test.each([
    ['after it was acknowledged', true],
    ['before it was acknowledged', false],
  ])('that comes twice, %s, closes with 4429', async (_, waits) => {
    const wire = await bare()
    if (waits) await wire.init()
    else wire.send({ type: 'connection_init' })
    wire.send({ type: 'connection_init' })
    expect(await wire.closed).toEqual({ code: 4429, reason: 'Too many initialisation requests' })
  })

  test('that brings credentials which have ended closes with 4403', async () => {
    platform.signIn('one')
    const authorization = `Bearer ${await platform.token('one')}`
    platform.clock.set(new Date(platform.clock.now().getTime() + 24 * 3_600_000))
    const wire = await bare()
    wire.send({ type: 'connection_init', payload: { authorization } })
    expect((await wire.closed).code).toBe(4403)
  })

  test('that brings credentials which mean nothing closes with 4401, after which clients do not dial again', async () => {
    const wire = await bare()
    wire.send({ type: 'connection_init', payload: { authorization: 'Bearer nonsense' } })
    expect((await wire.closed).code).toBe(4401)
    expect(wire.messages).toEqual([])
  })
})

describe('Ping and Pong', () => {
  test('a Ping is answered by a Pong with its payload, before and after ConnectionInit', async () => {
    const wire = await bare()
    wire.send({ type: 'ping', payload: { at: 'first' } })
    expect((await wire.got('pong')).payload).toEqual({ at: 'first' })
    await wire.init()
    for (const payload of [{ deep: { list: [1, 'two', null] } }, {}]) {
      const before = wire.messages.length
      wire.send({ type: 'ping', payload })
      await expect.poll(() => wire.messages[before]).toEqual({ type: 'pong', payload })
    }
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
  ])('a Ping that carries %s is answered by a Pong without a payload', async (_, payload) => {
    const wire = await bare()
    wire.send({ type: 'ping', payload })
    expect(await wire.got('pong')).toEqual({ type: 'pong' })
  })

  test('an unsolicited Pong is accepted without an answer', async () => {
    const wire = await bare()
    for (const payload of [undefined, null, {}, { n: 1 }]) wire.send({ type: 'pong', payload })
    await wire.init()
    wire.send({ type: 'pong' })
    await wire.read()
    expect(wire.messages.map(({ type }) => type)).toEqual(['connection_ack', 'pong'])
  })
})

describe('Subscribe', () => {
  test('before ConnectionInit closes with 4401', async () => {
    const wire = await bare()
    wire.subscribe('a', '{ hello }')
    expect(await wire.closed).toEqual({ code: 4401, reason: 'Unauthorized' })
    expect(wire.messages).toEqual([])
  })

  test('before ConnectionAck closes with 4401, and nothing is run', async () => {
    platform.signIn('one')
    const wire = await bare()
    wire.send({ type: 'connection_init', payload: { authorization: `Bearer ${await platform.token('one')}` } })
    wire.subscribe('a', tick)
    expect((await wire.closed).code).toBe(4401)
    expect(of(wire, 'a')).toEqual([])
  })

  test.each([
    ['a stream', tick],
    ['a query', '{ hang }'],
    ['a stream that has not begun', 'subscription { late }'],
  ])('with the id of %s that is active closes with 4409, whatever it asks', async (_, active) => {
    for (const query of ['{ hello }', tick]) {
      const wire = await acknowledged()
      wire.subscribe('same', active)
      wire.subscribe('same', query)
      expect(await wire.closed).toEqual({ code: 4409, reason: 'Subscriber for same already exists' })
      expect(of(wire, 'same')).toEqual([])
    }
    gate.resolve()
  })

  test('closes with 4409 also where the id is longer than a reason may be', async () => {
    const wire = await acknowledged()
    for (const id of ['long'.repeat(100), 'long'.repeat(100)]) wire.subscribe(id, tick)
    const { code, reason } = await wire.closed
    expect([code, reason]).toEqual([4409, expect.stringMatching(/^Subscriber for longlong/)])
  })

  test('accepts all members of a payload, and null for each', async () => {
    const wire = await acknowledged()
    const query = 'query A($name: String) { hello(name: $name) } query B { hello }'
    wire.subscribe('a', query, { operationName: 'A', variables: { name: 'you' }, extensions: { any: 'thing' } })
    wire.subscribe('b', '{ hello }', { operationName: null, variables: null, extensions: null })
    expect((await wire.got('next', 'a')).payload).toEqual({ data: { hello: 'Hello you' } })
    expect((await wire.got('next', 'b')).payload).toEqual({ data: { hello: 'Hello world' } })
  })

  test.each(['__proto__', 'constructor', ' ', '0', '\u0000', '"\\'])('takes %j for an id', async id => {
    const wire = await acknowledged()
    wire.subscribe(id, tick)
    await listening(1)
    announce('x')
    expect((await wire.got('next', id)).payload).toEqual({ data: { tick: 'x' } })
    wire.send({ id, type: 'complete' })
    await listening(0)
  })
})

describe('Next, Error and Complete', () => {
  test.each([
    ['query', '{ hello }'],
    ['mutation', 'mutation { rename(name: "x") }'],
  ])('a %s is one Next and then Complete', async (_, query) => {
    const wire = await acknowledged()
    wire.subscribe('a', query)
    await wire.got('complete', 'a')
    expect(of(wire, 'a')).toEqual(['next', 'complete'])
    expect(wire.messages.at(-1)).toEqual({ id: 'a', type: 'complete' })
  })

  test('execution errors are in Next beside the data', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', '{ hello refuse }')
    expect((await wire.got('next', 'a')).payload).toMatchObject({ data: { hello: 'Hello world', refuse: null }, errors: [{ path: ['refuse'] }] })
    await wire.got('complete', 'a')
  })

  test.each([
    ['a mistake of grammar', '{'],
    ['an unknown field', '{ nothing }'],
    ['an unknown field of a stream', 'subscription { nothing }'],
    ['no operation', 'fragment F on Query { hello }'],
  ])('%s is one Error, which ends the operation without Complete', async (_, query) => {
    const wire = await acknowledged()
    wire.subscribe('a', query)
    const { payload } = await wire.got('error', 'a')
    expect(payload).toEqual([expect.objectContaining({ message: expect.any(String) })])
    await wire.read()
    expect(of(wire, 'a')).toEqual(['error'])
    // The socket lives, and the id is free.
    wire.subscribe('a', '{ hello }')
    await wire.got('complete', 'a')
  })

  test('events of a stream are a Next each, in their order', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', tick)
    await listening(1)
    for (const n of ['1', '2', '3']) {
      announce(n)
      await expect.poll(() => wire.messages.at(-1)?.payload?.data?.tick).toBe(n)
    }
    expect(of(wire, 'a')).toEqual(['next', 'next', 'next'])
  })

  test('operations with different ids run side by side on one socket, and each gets its own results', async () => {
    const wire = await acknowledged()
    wire.subscribe('stream', tick)
    wire.subscribe('slow', '{ wait }')
    wire.subscribe('other', tick)
    wire.subscribe('quick', '{ hello }')
    await wire.got('complete', 'quick')
    await listening(1)
    announce('x')
    await wire.got('next', 'stream')
    await wire.got('next', 'other')
    await wire.got('complete', 'slow')
    expect(['stream', 'other', 'slow', 'quick'].map(id => of(wire, id))).toEqual([['next'], ['next'], ['next', 'complete'], ['next', 'complete']])
  })

  test('Complete from the client ends a stream: nothing follows under its id, and others continue', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', 'subscription A { tick }')
    wire.subscribe('b', 'subscription B { tick }')
    await listening(2)
    wire.send({ id: 'a', type: 'complete' })
    await listening(1)
    announce('x')
    await wire.got('next', 'b')
    expect(of(wire, 'a')).toEqual([])
  })

  test('Complete from the client ends a query that is not answered yet: its answer is not sent, and its work ends', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', '{ wait }')
    wire.subscribe('b', '{ hang }')
    wire.send({ id: 'a', type: 'complete' })
    wire.send({ id: 'b', type: 'complete' })
    await expect.poll(() => left).toEqual(['hang'])
    wire.subscribe('c', '{ wait }')
    await wire.got('complete', 'c')
    expect([of(wire, 'a'), of(wire, 'b')]).toEqual([[], []])
  })

  test('Complete from the client ends a stream that has not begun yet', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', 'subscription { late }')
    wire.send({ id: 'a', type: 'complete' })
    await wire.read()
    gate.resolve()
    await wire.read()
    await listening(0)
    expect(of(wire, 'a')).toEqual([])
  })

  test.each([
    ['a stream', tick, ['next']],
    ['a query', '{ wait }', ['next', 'complete']],
  ])('an id is free again once %s has been completed', async (_, query, told) => {
    const wire = await acknowledged()
    for (let times = 1; times <= 3; times += 1) {
      wire.subscribe('a', query)
      if (query === tick) {
        await listening(1)
        announce(String(times))
      }
      await wire.got('next', 'a', times - 1)
      if (query === tick) wire.send({ id: 'a', type: 'complete' })
      else await wire.got('complete', 'a', times - 1)
      await listening(0)
    }
    expect(of(wire, 'a')).toEqual([told, told, told].flat())
  })

  test('an id that is used again while the query before was under way gets the second answer alone', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', '{ first: hello wait }')
    wire.send({ id: 'a', type: 'complete' })
    wire.subscribe('a', '{ second: wait }')
    await wire.got('complete', 'a')
    // The first would have been there by now: it was asked before.
    wire.subscribe('b', '{ wait }')
    await wire.got('complete', 'b')
    expect(wire.messages.filter(({ id }) => id === 'a')).toEqual([
      { id: 'a', type: 'next', payload: { data: { second: 'waited' } } },
      { id: 'a', type: 'complete' },
    ])
  })

  test('an id that is reused before its first stream had begun belongs to the second only', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', 'subscription { late }')
    wire.send({ id: 'a', type: 'complete' })
    wire.subscribe('a', tick)
    await listening(1)
    gate.resolve()
    await wire.read()
    events.announce('late', {})
    announce('x')
    await wire.got('next', 'a')
    expect(wire.messages.filter(({ id }) => id === 'a')).toEqual([{ id: 'a', type: 'next', payload: { data: { tick: 'x' } } }])
    wire.send({ id: 'a', type: 'complete' })
    await listening(0)
  })

  test('Complete of an operation that is unknown, over, or completed already is ignored', async () => {
    const wire = await acknowledged()
    wire.send({ id: 'never', type: 'complete' })
    wire.subscribe('a', '{ hello }')
    await wire.got('complete', 'a')
    wire.send({ id: 'a', type: 'complete' })
    wire.subscribe('b', tick)
    await listening(1)
    for (let times = 0; times < 3; times += 1) wire.send({ id: 'b', type: 'complete' })
    await listening(0)
    wire.subscribe('c', '{ hello }')
    await wire.got('complete', 'c')
  })

  test('messages of the client under an id that is over are ignored where they are not Subscribe', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', '{ hello }')
    await wire.got('complete', 'a')
    for (let times = 0; times < 100; times += 1) wire.send({ id: `unknown ${times}`, type: 'complete' })
    await wire.read()
    expect(wire.socket.readyState).toBe(wire.socket.OPEN)
  })
})

describe('an invalid message closes with 4400', () => {
  const subscribe = (payload: unknown, id: unknown = 'a') => ({ id, type: 'subscribe', payload })
  test.each<[string, unknown]>([
    ['no JSON', 'hello'],
    ['an empty text', ''],
    ['half of one', '{"type":"pi'],
    ['a number', '1'],
    ['null', 'null'],
    ['a list', '[{"type":"ping"}]'],
    ['no type', {}],
    ['a type that is no text', { type: 1 }],
    ['an unknown type', { type: 'start', id: 'a', payload: { query: '{ hello }' } }],
    ['a type in other letters', { type: 'PING' }],
    ['a type that every object has', { type: 'constructor' }],
    ['a payload of connection_init that is no object', { type: 'connection_init', payload: 'x' }],
    ['a payload of ping that is no object', { type: 'ping', payload: 'x' }],
    ['a payload of ping that is a list', { type: 'ping', payload: [1] }],
    ['a payload of pong that is no object', { type: 'pong', payload: 1 }],
    ['subscribe without an id', { type: 'subscribe', payload: { query: '{ hello }' } }],
    ['subscribe with an id that is no text', subscribe({ query: '{ hello }' }, 1)],
    ['subscribe with an empty id', subscribe({ query: '{ hello }' }, '')],
    ['complete without an id', { type: 'complete' }],
    ['complete with an id that is no text', { type: 'complete', id: {} }],
    ['what only servers send: connection_ack', { type: 'connection_ack' }],
    ['what only servers send: next', { id: 'a', type: 'next', payload: { data: {} } }],
    ['what only servers send: error', { id: 'a', type: 'error', payload: [{ message: 'x' }] }],
    ['bytes that are no text', Buffer.from([0x00, 0xff, 0xfe, 0x80])],
  ])('%s', async (_, message) => {
    for (const wire of [await bare(), await acknowledged()]) {
      wire.send(message)
      const { code, reason } = await wire.closed
      expect(code).toBe(4400)
      expect(reason).not.toBe('')
    }
  })

  test.each<[string, unknown]>([
    ['subscribe without a payload', subscribe(undefined)],
    ['subscribe without a query', subscribe({})],
    ['a query that is no text', subscribe({ query: 1 })],
    ['variables that are no object', subscribe({ query: '{ hello }', variables: 'x' })],
    ['variables that are a list', subscribe({ query: '{ hello }', variables: [] })],
    ['an operationName that is no text', subscribe({ query: '{ hello }', operationName: 1 })],
    ['extensions that are no object', subscribe({ query: '{ hello }', extensions: 'x' })],
  ])('but %s concerns that operation alone: its error, and the socket stays', async (_, message) => {
    const wire = await acknowledged()
    wire.send(message)
    expect((await wire.got('error', 'a')).payload).toEqual([expect.objectContaining({ message: expect.any(String) })])
    await wire.read()
    expect(wire.socket.readyState).toBe(wire.socket.OPEN)
  })

  test('and ends the socket’s operations', async () => {
    const wire = await acknowledged()
    wire.subscribe('a', tick)
    await listening(1)
    wire.send('nonsense')
    expect((await wire.closed).code).toBe(4400)
    await listening(0)
  })

  test('but a binary frame with a message is accepted, because some clients send nothing else', async () => {
    const wire = await bare()
    wire.send(Buffer.from('{"type":"connection_init"}'))
    await wire.got('connection_ack')
    wire.send(Buffer.from(JSON.stringify({ id: 'a', type: 'subscribe', payload: { query: '{ hello }' } })))
    await wire.got('complete', 'a')
  })
})

describe('closing takes effect at once', () => {
  test('for messages behind the one that closed the socket', async () => {
    const wire = await acknowledged()
    wire.send('nonsense')
    wire.subscribe('a', tick)
    wire.subscribe('b', 'mutation { rename(name: "x") }')
    wire.send({ type: 'ping' })
    expect((await wire.closed).code).toBe(4400)
    await listening(0)
    expect(wire.messages.map(({ type }) => type)).toEqual(['connection_ack'])
    expect(platform.lines.filter(line => line.includes('"door":"websocket"'))).toEqual([])
  })

  test('also for a ConnectionInit behind it', async () => {
    const wire = await bare()
    wire.subscribe('a', '{ hello }')
    wire.send({ type: 'connection_init' })
    expect((await wire.closed).code).toBe(4401)
    expect(wire.messages).toEqual([])
  })
})
