import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createDocuments } from '../../router/door/documents/documents.ts'
import { limits, refusedValues } from '../../router/door/limits.ts'
import { socketLimits } from '../../router/door/streaming/socket.ts'
import { operationShare } from '../../router/live/shares.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

type Platform = Awaited<ReturnType<typeof openRouter>>
let platform: Platform
beforeAll(async () => {
  platform = await openRouter(schemaEngine(smallGraph()))
})
afterAll(() => platform.close())

const times = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n)).join(' ')
const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`

async function dial() {
  const socket = new WebSocket(`${platform.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  const messages: { type: string; id?: string; payload: { message: string; extensions: Record<string, unknown> }[] }[] = []
  socket.on('message', data => messages.push(JSON.parse(String(data))))
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  socket.send('{"type":"connection_init"}')
  await expect.poll(() => messages.length).toBe(1)
  return { socket, messages }
}

describe('S-10 every limit is reported alike by POST, by GET and over WebSocket: the limit, its value, and what to do', () => {
  test.each([
    ['characters', `{ hello } # ${'x'.repeat(limits.characters)}`],
    ['tokens', `{ ${times(limits.tokens + 1, () => 'hello')} }`],
    ['depth', `{ viewer { ${'again { '.repeat(25)} kind ${'}'.repeat(25)} } }`],
    ['aliases', `{ ${times(limits.aliases + 1, n => `a${n}: hello`)} }`],
    ['fields', times(101, n => `query Q${n} { viewer { kind userId organizationId roles scopes again { kind userId organizationId roles scopes } } }`)],
    ['fragments', `{ viewer { ...F0 } } ${times(51, n => `fragment F${n} on Viewer { kind ...F${n + 1} }`)}`],
    ['repeats', `{ ${times(60, () => 'hello')} }`],
    ['values', `{ hello(name: ${nested(limits.values + 1)}) }`],
    ['values', `query ($name: String = ${nested(1500)}) { hello(name: $name) }`],
    ['values', `{ hello @include(if: ${'{a:'.repeat(1000)}1${'}'.repeat(1000)}) }`],
  ] as const)('%s', async (limit, query) => {
    const { socket, messages } = await dial()
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }))
    const posted = await platform.gql(query)
    await expect.poll(() => messages.length).toBe(2)
    socket.terminate()
    const [error] = posted.json.errors
    expect(posted.json.errors.length).toBe(1)
    expect(error.extensions).toEqual({ code: 'BAD_USER_INPUT', limit, most: limits[limit] })
    expect(error.message).toMatch(new RegExp(`${limits[limit]}.*: (?:ask for less|split it|send less|select it once)`))
    expect(messages[1]).toMatchObject({ type: 'error', payload: [error] })
    expect((await platform.gql(query, { accept: 'application/graphql-response+json' })).status).toBe(400)
    const path = `/graphql?query=${encodeURIComponent(query)}`
    if (path.length < 15_000) expect(await platform.ask(path)).toMatchObject({ status: 200, json: { errors: [error] } })
  })

  test('of variables', async () => {
    const query = 'query ($name: String) { hello(name: $name) }'
    const body = (levels: number) => `{"query":"${query}","variables":{"name":${nested(levels)}}}`
    const post = (levels: number) => platform.ask('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: body(levels) })
    const posted = await post(5000)
    const [error] = posted.json.errors
    expect([posted.status, error.extensions]).toEqual([200, { code: 'BAD_USER_INPUT', limit: 'variables', most: limits.variables }])
    expect(error.message).toMatch(/deeper than 100 levels: send less/)
    // What is too long to be parsed in passing is not read at all.
    expect(await post(500_000)).toMatchObject({ status: 400, json: { errors: [{ extensions: error.extensions }] } })
    expect((await post(limits.variables + 1)).json.errors).toEqual([error])
    expect((await post(limits.variables)).json.errors[0].message).toMatch(/String cannot represent/)
    const path = `/graphql?${new URLSearchParams({ query, variables: `{"name":${nested(101)}}` })}`
    expect((await platform.ask(path)).json.errors).toEqual([error])
    const { socket, messages } = await dial()
    socket.send(`{"id":"1","type":"subscribe","payload":${body(101)}}`)
    await expect.poll(() => messages.length).toBe(2)
    socket.terminate()
    expect(messages[1]).toMatchObject({ type: 'error', payload: [error] })
  })

  test('limits members of variables over all protocols', async () => {
    const query = 'query ($name: String) { hello(name: $name) }'
    const variables = { name: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, 1])) }
    const posted = await platform.gql(query, {}, variables)
    const [error] = posted.json.errors
    expect([posted.status, error.extensions]).toEqual([200, { code: 'BAD_USER_INPUT', limit: 'members', most: limits.members }])
    const { socket, messages } = await dial()
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }))
    await expect.poll(() => messages.length).toBe(2)
    socket.terminate()
    expect(messages[1]).toMatchObject({ type: 'error', payload: [error] })
  })

  test('accepts variables up to the maximum depth', async () => {
    expect((await platform.gql(`{ hello(name: ${nested(limits.values)}) }`)).json.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
  })

  test('answers 431 to an address that is too long, on IPv4 and IPv6, and says what to do', async () => {
    for (const url of platform.urls) {
      const answer = await fetch(`${url}/graphql?query=${'%20'.repeat(10_000)}`)
      expect(answer.status).toBe(431)
      expect(await answer.json()).toMatchObject({ status: 431, code: 'BAD_USER_INPUT', detail: expect.stringMatching(/at most 16384 bytes.*by POST/) })
    }
  })

  test('answers 415, not a JSON error, to a compressed body', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const answer = await platform.ask('/graphql', { method: 'POST', headers, body: gzipSync('{"query":"{ hello }"}') })
    expect([answer.status, answer.json.errors[0].message]).toEqual([415, expect.stringContaining('Content-Encoding gzip')])
  })
})

describe('S-10 a document may reach each limit exactly', () => {
  const documents = createDocuments(smallGraph(), { introspection: true })
  /** The limit that a document passes; null when it passes none. */
  const passedBy = (text: string) => {
    const read = documents.read(text)
    const { limit = null, most = null } = 'errors' in read ? (read.errors[0]!.extensions as { limit?: string; most?: number }) : {}
    return [limit, most]
  }
  const again = (levels: number) => `{ viewer { ${'again { '.repeat(levels - 2)} kind ${'} '.repeat(levels - 2)} } }`
  const leaves = ['kind', 'userId', 'organizationId', 'roles', 'scopes']
  /** Four operations with so many fields together, none of them more than fifty times at one place. */
  const fields = (count: number) => times(4, n => `query Q${n} { viewer { ${times(n === 0 ? count - 3 * 250 - 1 : 249, m => leaves[m % 5]!)} } }`)

  test.each<[string, number, (count: number) => string]>([
    ['characters', 100_000, count => '{ hello } #'.padEnd(count, 'x')],
    ['tokens', 5000, count => `{ hello(name: [${times(count - 9, () => '1')}]) }`],
    ['depth', 20, again],
    ['aliases', 100, count => `{ ${times(count, n => `a${n}: hello`)} }`],
    ['values', 20, count => `{ hello(name: ${nested(count)}) }`],
    ['fields', 1000, fields],
    ['fragments', 50, count => `{ viewer { ...F0 } } ${times(count, n => `fragment F${n} on Viewer { kind ${n < count - 1 ? `...F${n + 1}` : ''} }`)}`],
    ['repeats', 50, count => `{ ${times(count, () => 'hello')} }`],
  ])('%s: %i, and not one more', (limit, most, document) => {
    expect(passedBy(document(most))).toEqual([null, null])
    expect(passedBy(document(most + 1))).toEqual([limit, most])
  })

  test('of variables: 100 levels, and deeper values are not examined', () => {
    let looks = 0
    const below = {
      get inner() {
        looks += 1
        return {}
      },
    }
    const around = (value: object, levels: number): object => (levels === 0 ? value : around({ value }, levels - 1))
    expect(refusedValues(around({}, 100))).toBeUndefined()
    expect(refusedValues(around(below, 101))).toMatchObject({ extensions: { limit: 'variables', most: 100 } })
    expect(looks).toBe(0)
  })

  test('of variables: members of an object, and values', () => {
    const wide = (members: number) => Object.fromEntries(Array.from({ length: members }, (_, n) => [`k${n}`, 1]))
    expect(refusedValues({ input: wide(limits.members) })).toBeUndefined()
    for (const given of [wide(limits.members + 1), { input: wide(60_000) }, { input: [{ inner: wide(limits.members + 1) }] }])
      expect(refusedValues(given)).toMatchObject({ message: expect.stringContaining('more than 1000 members'), extensions: { limit: 'members', most: 1000 } })
    const long = (values: number) => ({ list: Array.from({ length: values - 2 }, () => 1) })
    expect(refusedValues(long(limits.variableValues))).toBeUndefined()
    expect(refusedValues(long(limits.variableValues + 1))).toMatchObject({ extensions: { limit: 'variableValues', most: limits.variableValues } })
    let looks = 0
    const counted = Array.from({ length: 50_000 }, () => ({
      get inner() {
        looks += 1
        return 1
      },
    }))
    expect(refusedValues({ counted })).toMatchObject({ extensions: { limit: 'variableValues' } })
    expect(looks).toBeLessThan(limits.variableValues)
  })
})

describe('S-10 messages about mistakes are bounded', () => {
  test('cuts a message that repeats a large value', async () => {
    const { text, json } = await platform.gql('query ($name: String) { hello(name: $name) }', {}, { name: ['x'.repeat(500_000)] })
    expect(json.errors[0].extensions.code).toBe('BAD_USER_INPUT')
    expect(text.length).toBeLessThan(2000)
  })

  test('lists the first ten places of a mistake that occurs in a thousand', async () => {
    const { json } = await platform.gql(`{ hello(${times(1000, () => 'name: "a"')}) }`)
    expect(json.errors).toMatchObject([{ locations: [{ line: 1, column: 9 }, ...Array.from({ length: 9 }, () => ({ line: 1 }))] }])
    expect(json.errors[0].locations.length).toBe(10)
  })
})

test('S-10 documents that clients invent without end take bounded memory, however large each is', () => {
  const documents = createDocuments(smallGraph(), { introspection: true })
  const wide = (tag: number) => `query Q${tag} { ${times(90, n => `a${n}: viewer { kind userId organizationId roles scopes again { kind userId roles } }`)} }`
  const read = (from: number, count: number) => {
    for (let n = from; n < from + count; n += 1) expect(documents.read(wide(n))).toHaveProperty('document')
  }
  const first = documents.read(wide(0))
  read(0, 150)
  expect(documents.read(wide(0))).toBe(first)
  read(1, 400)
  expect(documents.read(wide(0))).not.toBe(first)
})

test('answers in HTTP/1.1 when a client offers HTTP/2', async () => {
  const answer = await new Promise<number>((resolve, reject) => {
    const headers = { host: `localhost:${platform.port}`, connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }
    const path = `/graphql?query=${encodeURIComponent('{ hello }')}`
    httpRequest({ host: '127.0.0.1', port: platform.port, path, headers, agent: false }, response => resolve(response.resume().statusCode!))
      .on('error', reject)
      .end()
  })
  expect(answer).toBe(200)
})

test('closes with 4429 when a client sends too many messages, and reads a burst within the limit', async () => {
  const messagesAtOnce = socketLimits.messages * socketLimits.messagesAtOnceSeconds
  const { socket } = await dial()
  let pongs = 0
  socket.removeAllListeners('message')
  socket.on('message', () => {
    pongs += 1
  })
  const closed = new Promise(resolve => socket.on('close', (code, reason) => resolve([code, String(reason)])))
  for (let n = 0; n < messagesAtOnce - 1; n += 1) socket.send('{"type":"ping"}')
  await expect.poll(() => pongs).toBe(messagesAtOnce - 1)
  const began = performance.now()
  for (let n = 0; n < 3 * messagesAtOnce; n += 1) socket.send('{"type":"ping"}')
  expect(await closed).toEqual([4429, 'too many messages'])
  // Apart from what was returned meanwhile.
  expect(pongs).toBeLessThanOrEqual(2 * messagesAtOnce + ((performance.now() - began) * socketLimits.messages) / 1000)
})

test('a flood of messages on one socket lets other requests through', async () => {
  const { socket, messages } = await dial()
  let pongs = 0
  socket.removeAllListeners('message')
  socket.on('message', () => {
    pongs += 1
  })
  const flood = socketLimits.messages * socketLimits.messagesAtOnceSeconds
  for (let n = 0; n < flood; n += 1) socket.send('{"type":"ping"}')
  await expect.poll(() => pongs).toBeGreaterThan(0)
  const before = pongs
  // Calls the handler directly, so that only the router's own work is measured.
  await new Promise<void>((resolve, reject) => {
    const wire = connect(platform.port, '127.0.0.1', () => wire.write('GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'))
    wire.once('data', () => resolve()).once('error', reject)
  })
  expect(pongs - before).toBeLessThan(flood / 2)
  expect(messages.length).toBe(1)
  socket.terminate()
})

test('without authentication, one address with endless operations does not take every slot', async () => {
  const engine = schemaEngine(smallGraph())
  let begun = 0
  const counting: typeof engine = {
    ...engine,
    execute(request) {
      begun += 1
      return engine.execute(request)
    },
  }
  await using bare = await openRouter(counting, { authority: null })
  const leaving = new AbortController()
  const ask = (host: string, query: string, signal?: AbortSignal) =>
    fetch(`http://${host}:${bare.port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
      ...(signal && { signal }),
    })
  const asked = Array.from({ length: operationShare.all + 50 }, () => ask('127.0.0.1', '{ hang }', leaving.signal).catch(() => null))
  for (let before = -1; before < 100 || before !== begun; await new Promise(resolve => setTimeout(resolve, 300))) before = begun
  expect(begun).toBeLessThan(operationShare.all)
  expect(await (await ask('[::1]', '{ hello }')).json()).toEqual({ data: { hello: 'Hello world' } })
  leaving.abort()
  await Promise.all(asked)
})
