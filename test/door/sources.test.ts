import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createMemoryEvents } from '../../platform/events.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { type Manifest, readManifest } from '../../router/door/documents/manifest.ts'
import { createRegistered, type Registered } from '../../router/door/documents/registered.ts'
import { createSources, type Naming } from '../../router/door/documents/sources.ts'
import { limits } from '../../router/door/limits.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const named = (id: string) => ({ persistedQuery: { version: 1, sha256Hash: id } })
const trusted = 'query Trusted($name: String) { hello(name: $name) }'
const ticking = 'subscription Ticking { tick }'
const manifest: Manifest = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: sha256(trusted), name: 'Trusted', type: 'query', body: trusted },
    { id: 'ticking-1', name: 'Ticking', type: 'subscription', body: ticking },
    { id: 'old', name: 'Old', type: 'query', body: 'query Old { gone }' },
  ],
}

const events = createMemoryEvents()
const warmed: unknown[] = []
const engine: Engine = {
  ...schemaEngine(smallGraph(events)),
  async warm(operations) {
    warmed.push(...operations)
  },
}
type Door = Awaited<ReturnType<typeof openRouter>>
let open: Door
let logging: Door
let closed: Door
beforeAll(async () => {
  open = await openRouter(engine)
  logging = await openRouter(engine, { trust: 'log', manifest })
  closed = await openRouter(engine, { trust: 'only', manifest })
})
afterAll(() => Promise.all([open, logging, closed].map(door => door.close())))

type Told = { data?: Record<string, unknown> | null; errors?: { message: string; extensions: { code: string } }[] }
const told = ({ data, errors }: Told) => errors?.map(({ extensions }) => extensions.code) ?? data

const post = async ({ ask }: Door, asked: Naming | Record<string, unknown> | readonly Naming[], accept = 'application/json') =>
  ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json', accept }, body: JSON.stringify(asked) })

/** One word of each door: how it answers a request that calls its document by some name. */
const doors: Readonly<Record<string, (door: Door, asked: Naming) => Promise<unknown>>> = {
  POST: async (door, asked) => told((await post(door, asked)).json),
  GET: async ({ ask }, { query, documentId, extensions }) => {
    const parameters = Object.entries({ query, documentId, extensions: extensions && JSON.stringify(extensions) }).filter(([, value]) => value !== undefined)
    return told((await ask(`/graphql?${new URLSearchParams(parameters as [string, string][])}`)).json)
  },
  async SSE(door, asked) {
    const { text } = await post(door, asked, 'text/event-stream')
    const [, data] = /^data: ?(.+)$/m.exec(text) ?? []
    return told(JSON.parse(data ?? text) as Told)
  },
  'graphql-ws': ({ url }, asked) =>
    new Promise((resolve, reject) => {
      const client = createClient({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 })
      const over = (value: unknown) => {
        resolve(value)
        void client.dispose()
      }
      client.subscribe({ query: '', ...asked } as { query: string }, {
        next: result => over(told(result as Told)),
        error: cause => (Array.isArray(cause) ? over(told({ errors: cause as never })) : reject(cause)),
        complete() {},
      })
    }),
}

describe.each(Object.entries(doors))('S-09 over %s', (name, ask) => {
  const query = `query Registered { hello } # ${name}`
  test('a document is registered under its hash, and then requested by the hash alone', async () => {
    const extensions = named(sha256(query))
    expect(await ask(open, { extensions })).toEqual(['PERSISTED_QUERY_NOT_FOUND'])
    expect(await ask(open, { query, extensions })).toEqual({ hello: 'Hello world' })
    expect(await ask(open, { extensions })).toEqual({ hello: 'Hello world' })
  })
  test('rejects a document whose text does not match the hash', async () => {
    expect(await ask(open, { query, extensions: named(sha256('{ hello }')) })).toEqual(['BAD_REQUEST'])
    expect(await ask(closed, { query, extensions: named(sha256(trusted)) })).toEqual(['BAD_REQUEST'])
    expect(await ask(closed, { query, extensions: named('ticking-1') })).toEqual(['BAD_REQUEST'])
    expect(await ask(closed, { query, documentId: sha256(trusted) })).toEqual(['BAD_REQUEST'])
  })
  test('finds a trusted document by its id, as extension or as documentId, or by its text', async () => {
    const id = sha256(trusted)
    for (const asked of [
      { documentId: id },
      { documentId: `sha256:${id}` },
      { extensions: named(id) },
      { query: trusted },
      { query: trusted, extensions: named(id) },
    ])
      for (const door of [closed, logging]) expect(await ask(door, asked), JSON.stringify(asked)).toEqual({ hello: 'Hello world' })
  })
  test('in only-trusted mode every other document is rejected, however it is named', async () => {
    const others: Naming[] = [
      { query },
      { query, extensions: named(sha256(query)) },
      { extensions: named(sha256(query)) },
      { documentId: 'unknown' },
      { query: '{ __typename }' },
    ]
    for (const asked of others) expect(await ask(closed, asked), JSON.stringify(asked)).toEqual(['PERSISTED_QUERY_REQUIRED'])
  })
  test('rejects a trusted document that does not fit the graph, with its errors', async () => {
    expect(await ask(closed, { documentId: 'old' })).toEqual(['GRAPHQL_VALIDATION_FAILED'])
  })
  test('ignores a documentId where there are no trusted documents', async () => {
    expect(await ask(open, { documentId: 'ticking-1' })).toEqual(['PERSISTED_QUERY_NOT_SUPPORTED'])
    expect(await ask(logging, { documentId: 'unknown' })).toEqual(['PERSISTED_QUERY_NOT_FOUND'])
  })
})

test('S-09 a subscription is requested by its id over every streaming protocol', async () => {
  const telling = setInterval(() => events.announce('tick', { n: '1' }), 20)
  try {
    const asked = { extensions: named('ticking-1') }
    const stream = async (accept: string) => {
      const answer = await fetch(`${closed.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify(asked),
      })
      let text = ''
      for await (const chunk of answer.body!) {
        text += Buffer.from(chunk).toString()
        if (text.includes('"tick"')) break
      }
      return text
    }
    expect(await stream('text/event-stream')).toContain('{"data":{"tick":"1"}}')
    expect(await stream('multipart/mixed;subscriptionSpec="1.0", application/json')).toContain('{"payload":{"data":{"tick":"1"}}}')
    expect(await doors['graphql-ws']!(closed, asked)).toEqual({ tick: '1' })
  } finally {
    clearInterval(telling)
  }
})

test('S-09 rejects a mutation by GET, however it is named', async () => {
  const rename = 'mutation Rename { rename(name: "x") }'
  await post(open, { query: rename, extensions: named(sha256(rename)) })
  const answer = await open.ask(`/graphql?extensions=${encodeURIComponent(JSON.stringify(named(sha256(rename))))}`)
  expect(answer.status).toBe(405)
})

test('S-09 variables, operation name and other extensions are accepted with a named document', async () => {
  for (const more of [{}, { extensions: { mine: 1 } }]) {
    const answer = await post(closed, { documentId: sha256(trusted), operationName: 'Trusted', variables: { name: 'Ada' }, ...more })
    expect(answer.json).toEqual({ data: { hello: 'Hello Ada' } })
  }
  const variables = encodeURIComponent('{"name":"Ada"}')
  expect((await closed.ask(`/graphql?documentId=${sha256(trusted)}&variables=${variables}`)).json).toEqual({ data: { hello: 'Hello Ada' } })
})

test('S-09 the errors that clients of automatic persisted queries expect are 200, in each media type', async () => {
  for (const accept of ['application/json', 'application/graphql-response+json']) {
    const answer = await post(open, { extensions: named('0'.repeat(64)) }, accept)
    expect([answer.status, answer.json.errors[0].message]).toEqual([200, 'PersistedQueryNotFound'])
  }
  expect([
    (await post(closed, { query: '{ hello }' })).status,
    (await post(closed, { query: '{ hello }' }, 'application/graphql-response+json')).status,
  ]).toEqual([200, 400])
})

test('S-09 logs an untrusted document once, with its hash and the names of its operations', async () => {
  const query = 'query Stray($name: String) { hello(name: $name) }'
  for (const name of ['a secret', 'another']) await post(logging, { query, variables: { name } })
  await post(logging, { query: trusted })
  const lines = logging.lines.map(line => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => String(msg).includes('untrusted document'))
  expect(lines.filter(({ sha256: hash }) => hash === sha256(query))).toEqual([expect.objectContaining({ operations: ['Stray'] })])
  expect(lines.some(({ sha256: hash }) => hash === sha256(trusted))).toBe(false)
  expect(logging.lines.join('')).not.toContain('a secret')
})

test('S-09 logs at most ten operation names of an untrusted document, and a hundred characters of each', async () => {
  const query = Array.from({ length: 30 }, (_, number) => `query ${`Stray${number}`.padEnd(300, 'x')} { hello }`).join(' ')
  await post(logging, { query, operationName: 'Stray0'.padEnd(300, 'x') })
  const line = logging.lines.map(each => JSON.parse(each) as Record<string, unknown>).find(({ sha256: hash }) => hash === sha256(query))
  expect(line!.operations).toEqual(Array.from({ length: 10 }, (_, number) => `Stray${number}`.padEnd(100, 'x')))
})

test.each(Object.keys(doors))('S-09 by %s too, that line names the request, and so the client that sent it', async name => {
  const query = `query By${name.replace('-', '')} { hello }`
  await doors[name]!(logging, { query })
  const line = logging.lines.map(each => JSON.parse(each) as Record<string, unknown>).find(({ sha256: hash }) => hash === sha256(query))
  expect(line).toMatchObject({ msg: 'untrusted document executed', requestId: expect.any(String) })
})

test('S-09 S-12 plans trusted documents at the start and after a change of the list; documents that do not fit are logged in one line', async () => {
  await using door = await openRouter(engine, { trust: 'only', manifest })
  expect(door.lines.filter(line => line.includes('invalid for this graph'))).toEqual([
    expect.stringMatching(/"wrong":1,"of":3,"first":\["Old: Cannot query field/),
  ])
  const before = warmed.length
  const body = 'query Later { viewer { kind } }'
  door.router.trust({ ...manifest, operations: [{ id: 'later', name: 'Later', type: 'query', body }] })
  expect(warmed).toHaveLength(before + 1)
  expect(told((await post(door, { documentId: 'later' })).json)).toEqual({ viewer: { kind: 'anonymous' } })
  expect(told((await post(door, { documentId: sha256(trusted) })).json)).toEqual(['PERSISTED_QUERY_REQUIRED'])
})

test('S-09 S-12 plans a trusted document with two ids once; of those that do not fit it logs the first five and the number', async () => {
  const operations = [
    ...['one', 'other'].map(id => ({ id, name: 'Both', type: 'query', body: 'query Both { hello }' }) as const),
    ...Array.from({ length: 7 }, (_, number) => ({ id: `old-${number}`, name: `Old${number}`, type: 'query', body: `query Old${number} { gone }` }) as const),
  ]
  const before = warmed.length
  await using door = await openRouter(engine, { trust: 'only', manifest: { ...manifest, operations } })
  expect(warmed).toHaveLength(before + 1)
  for (const documentId of ['one', 'other']) expect(told((await post(door, { documentId })).json)).toEqual({ hello: 'Hello world' })
  const [line, ...more] = door.lines.filter(each => each.includes('invalid for this graph')).map(each => JSON.parse(each) as { wrong: number; first: string[] })
  expect([line!.wrong, line!.first.map(each => each.split(':')[0]), more]).toEqual([7, ['Old0', 'Old1', 'Old2', 'Old3', 'Old4'], []])
})

test('S-09 finds a trusted document by the SHA-256 of its text even if its id is another, in every mode', async () => {
  const body = 'query Other { hello }'
  const listed = { ...manifest, operations: [{ id: 'other-1', name: 'Other', type: 'query', body }] } as const
  for (const trust of ['only', 'log'] as const) {
    await using door = await openRouter(engine, { trust, manifest: listed })
    for (const asked of [{ documentId: 'other-1' }, { extensions: named(sha256(body)) }, { query: body, extensions: named(sha256(body)) }])
      expect(told((await post(door, asked)).json), `${trust}: ${JSON.stringify(asked)}`).toEqual({ hello: 'Hello world' })
    expect(door.lines.filter(line => line.includes('untrusted document'))).toEqual([])
  }
})

test.each(['POST', 'graphql-ws'])('S-09 by %s, too, strangers register however much: what somebody known registered is found', async name => {
  await using door = await openRouter(engine)
  door.signIn('one')
  const authorization = `Bearer ${await door.token('one')}`
  const known = `query Known${name.length} { hello }`
  const ask = (asked: Naming) =>
    door.ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json', authorization }, body: JSON.stringify(asked) })
  await ask({ query: known, extensions: named(sha256(known)) })
  const large = (number: number) => `query Large${number} { hello } #${'x'.repeat(limits.characters - 100)}`
  // Those of one kind of callers have 16 MiB, two bytes a character.
  for (let number = 0; number * 2 * limits.characters < 20 * 1024 * 1024; number++)
    expect(await doors[name]!(door, { query: large(number), extensions: named(sha256(large(number))) })).toEqual({ hello: 'Hello world' })
  expect(told((await ask({ extensions: named(sha256(large(0))) })).json)).toEqual(['PERSISTED_QUERY_NOT_FOUND'])
  expect(told((await ask({ extensions: named(sha256(known)) })).json)).toEqual({ hello: 'Hello world' })
})

test('S-09 rejects an array of operations with 400', async () => {
  for (const door of [open, closed])
    for (const accept of ['application/json', 'text/event-stream', 'multipart/mixed;subscriptionSpec="1.0", application/json']) {
      const answer = await post(door, [{ query: '{ hello }' }, { query: '{ hello }' }], accept)
      expect(answer.status, accept).toBe(400)
      expect(answer.text, accept).not.toContain('Hello')
    }
})

/** A store that answers later, as one does that several processes share; `answer` lets it. */
function sharedStore() {
  const [store, waiting] = [createRegistered(), [] as (() => void)[]]
  const later = <Result>(result: () => Result) => new Promise<Result>(resolve => waiting.push(() => resolve(result())))
  const registered: Registered = {
    find: (hash, caller) => later(() => store.find(hash, caller)),
    keep: (hash, text, caller) => later(() => store.keep(hash, text, caller)),
  }
  return { registered, waiting, answer: () => waiting.splice(0).forEach(each => void each()) }
}

describe('S-09 a shared store of registered documents', () => {
  test.each(Object.keys(doors))('is awaited over %s: for a new document, a known one and an unknown one', async name => {
    const { registered, waiting, answer } = sharedStore()
    await using door = await openRouter(engine, { registered })
    const query = 'query Shared { hello }'
    const ask = async (asked: Naming) => {
      const answered = doors[name]!(door, asked)
      await expect.poll(() => waiting.length).toBe(1)
      answer()
      return answered
    }
    expect(await ask({ extensions: named(sha256(query)) })).toEqual(['PERSISTED_QUERY_NOT_FOUND'])
    expect(await ask({ query, extensions: named(sha256(query)) })).toEqual({ hello: 'Hello world' })
    expect(await ask({ extensions: named(sha256(query)) })).toEqual({ hello: 'Hello world' })
  })

  test('does not answer a socket operation that was completed meanwhile, even if a later one reuses its id', async () => {
    const { registered, waiting, answer } = sharedStore()
    await using door = await openRouter(engine, { registered })
    const socket = new WebSocket(`${door.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    const received: { id?: string; type: string; payload?: unknown }[] = []
    socket.on('message', data => received.push(JSON.parse(String(data)) as (typeof received)[number]))
    await once(socket, 'open')
    const send = (message: object) => socket.send(JSON.stringify(message))
    send({ type: 'connection_init' })
    await expect.poll(() => received.length).toBe(1)
    send({ id: '1', type: 'subscribe', payload: { query: '', extensions: named('0'.repeat(64)) } })
    await expect.poll(() => waiting.length).toBe(1)
    send({ id: '1', type: 'complete' })
    send({ id: '1', type: 'subscribe', payload: { query: '{ hello }' } })
    await expect.poll(() => received.at(-1)?.type).toBe('complete')
    answer()
    send({ id: '2', type: 'subscribe', payload: { query: '{ hello }' } })
    await expect.poll(() => received.at(-1)).toEqual({ id: '2', type: 'complete' })
    expect(received.slice(1).map(({ id, type }) => [id, type])).toEqual([
      ['1', 'next'],
      ['1', 'complete'],
      ['2', 'next'],
      ['2', 'complete'],
    ])
    socket.close()
    await once(socket, 'close')
  })
})

describe('S-09 registered documents', () => {
  const documents = createDocuments(smallGraph(), { introspection: true })
  const register = (sources: ReturnType<typeof createSources>, query: string, isKnown: boolean, name = isKnown ? 'Ada' : '192.0.2.1') =>
    sources.find({ query, extensions: named(sha256(query)) }, { name, isKnown })
  const isFound = (sources: ReturnType<typeof createSources>, query: string, isKnown: boolean, name = isKnown ? 'Ada' : '192.0.2.1') =>
    'document' in sources.find({ extensions: named(sha256(query)) }, { name, isKnown })!
  const open = (most: Parameters<typeof createRegistered>[0]) => createSources(documents, { registered: createRegistered(most), log: { warn() {} } })
  const numbered = (number: number) => `query N${number} { hello }`

  test('of anonymous callers never displace those that known callers registered or requested', () => {
    const sources = open({ entries: 3, bytes: 1e6 })
    register(sources, numbered(1), true)
    register(sources, numbered(2), false)
    expect(isFound(sources, numbered(2), true)).toBe(true)
    for (const number of [3, 4, 5, 1, 2]) register(sources, numbered(number), false)
    expect([3, 4, 5].map(number => isFound(sources, numbered(number), false))).toEqual([true, true, true])
    for (let number = 10; number < 30; number++) register(sources, numbered(number), false)
    expect([1, 2, 10, 26, 27, 29].map(number => isFound(sources, numbered(number), false))).toEqual([true, true, false, false, true, true])
  })
  test.each([
    ['documents', { entries: 20, bytes: 1e6 }],
    ['bytes', { entries: 1e6, bytes: 20 * (200 + 2 * numbered(10).length) }],
  ])('of one caller push out none of another caller, when a shelf is full by %s', (_measure, most) => {
    for (const isKnown of [true, false]) {
      const sources = open(most)
      for (let number = 0; number < 9; number++) register(sources, numbered(number), isKnown, 'Ada')
      for (let number = 100; number < 400; number++) register(sources, numbered(number), isKnown, 'Mallory')
      const found = (numbers: readonly number[]) => numbers.filter(number => isFound(sources, numbered(number), isKnown, 'Grace')).length
      expect(found([...Array(9).keys()])).toBe(9)
      expect(found(Array.from({ length: 300 }, (_, at) => at + 100))).toBeLessThanOrEqual(11)
      expect(found([399])).toBe(1)
    }
  })
  test('of anonymous callers stay after a known caller requested and dropped them', () => {
    const sources = open({ entries: 3, bytes: 1e6 })
    register(sources, numbered(1), false)
    expect(isFound(sources, numbered(1), true, 'Mallory')).toBe(true)
    for (let number = 10; number < 20; number++) register(sources, numbered(number), true, 'Mallory')
    expect(isFound(sources, numbered(1), false)).toBe(true)
  })
  test('are limited in their total bytes', () => {
    const sources = open({ entries: 1000, bytes: 2000 })
    for (let number = 0; number < 100; number++) register(sources, numbered(number), true)
    expect([...Array(100).keys()].filter(number => isFound(sources, numbered(number), true)).length).toBeLessThan(10)
    expect(isFound(sources, numbered(99), true)).toBe(true)
  })
  test('are the only ones that can run', () => {
    const sources = open({ entries: 3, bytes: 1e6 })
    expect(register(sources, '{ nothing }', true)).toHaveProperty('errors')
    expect(sources.find({ extensions: named(sha256('{ nothing }')) }, { name: 'Ada', isKnown: true })).toMatchObject({
      errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    })
  })
})

test('S-09 an invalid manifest is rejected with a message', () => {
  const given = (change: object) => JSON.stringify({ ...manifest, ...change })
  for (const [text, words] of [
    ['{', 'not JSON'],
    ['[]', 'no persisted query manifest'],
    [given({ format: 'relay' }), 'format'],
    [given({ version: 2 }), 'version 1 \\(version'],
    [given({ operations: [{ id: 'a' }] }), 'operations.0.name'],
    [given({ operations: [{ ...manifest.operations[0], body: '' }] }), 'operations.0.body'],
    [given({ operations: [{ ...manifest.operations[0], id: 'i'.repeat(501) }] }), 'operations.0.id'],
    [given({ operations: [manifest.operations[0], { ...manifest.operations[1], id: manifest.operations[0]!.id }] }), 'two operations of the id'],
  ] as const)
    expect(() => readManifest(text), text).toThrow(new RegExp(words))
  expect(readManifest(given({ clientName: 'web' })).operations).toHaveLength(3)
})
