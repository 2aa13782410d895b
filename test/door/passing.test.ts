import { randomBytes } from 'node:crypto'
import { type ClientRequest, createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import pino from 'pino'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { rememberSeals } from '../../router/apart/ask.ts'
import { createRemoteTarget } from '../../router/apart/http.ts'
import { type SubgraphServer, serveSubgraph } from '../../router/apart/server.ts'
import { mustArriveWithin } from '../../router/door/receiving/passing.ts'
import { createSeal, publicHalf } from '../../router/engine/transport/seal.ts'
import type { ForwardRow, RouteTable } from '../../router/rest/row.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { createSealReader, forForward, forStream, sealHeader } from '../../subgraphs/seal.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

const mib = 1024 * 1024
/** What the service has been told to do with a body, and what it has seen of bodies. */
let goOn = Promise.withResolvers<void>()
let seen = 0
let ended: unknown

/** Takes a body as a stream: it counts what comes, waits where it is told to, or refuses it unread. */
const sink = {
  registration: { slug: 'publishing' as Slug },
  schema: smallGraph(),
  open: () => ({}),
  streams: ['/publishing/up/'],
  async http(request: Request) {
    if (request.url.endsWith('/refuse')) return Response.json({ refused: true }, { status: 403 })
    const [first, bytes] = [seen, request.headers.get('content-length')]
    try {
      for await (const piece of request.body ?? []) {
        seen += piece.byteLength
        if (request.url.endsWith('/slow')) await goOn.promise
      }
    } catch (error) {
      ended = error
      throw error
    }
    return Response.json({ seen: seen - first, told: bytes })
  },
  start: async () => {},
  stop: async () => {},
} as unknown as Subgraph

const row = (path: string, more: Partial<ForwardRow> = {}): ForwardRow => ({
  kind: 'forward',
  method: '*',
  path,
  access: { public: 'a test' },
  limit: 64 * mib,
  to: 'publishing' as Slug,
  why: 'stream',
  describes: [{ name: `up${path.length}`, does: 'A test.', at: 'POST /one', answers: { 200: 'Well.' } }],
  ...more,
})
const tables: readonly RouteTable[] = [{ slug: 'publishing' as Slug, rows: [row('/up/*', { streams: 'up', timeoutMs: Number.POSITIVE_INFINITY })] }]

const key = { id: 'one', key: randomBytes(32) }
const seal = createSeal(key, systemClock)

describe.each(['in one process', 'apart'])('a body that streams to a service %s', mode => {
  let platform: Awaited<ReturnType<typeof openRouter>>
  let server: SubgraphServer | undefined
  const dispatcher = new Agent()
  beforeAll(async () => {
    if (mode === 'apart') {
      const seals = rememberSeals(createSealReader({ audience: 'publishing', keys: [publicHalf(key)], clock: systemClock }))
      const log = pino({ level: 'silent' })
      server = await serveSubgraph({ subgraph: sink, seals, host: '127.0.0.1', port: 0, publicUrl: 'http://localhost:4000', readiness: [], log })
    }
    const target = server ? createRemoteTarget('publishing' as Slug, [`http://127.0.0.1:${server.port}/graphql`], seal, dispatcher) : sink
    platform = await openRouter(schemaEngine(smallGraph()), { subgraphs: [target as Subgraph], tables })
  })
  afterAll(async () => {
    await platform.close()
    await server?.close()
    await dispatcher.destroy()
  })

  const post = (path: string, headers: Record<string, string | number> = {}): ClientRequest =>
    httpRequest({ host: '127.0.0.1', port: platform.port, path, method: 'POST', headers, agent: false })
  const answerOf = async (sent: ClientRequest) => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => sent.once('response', resolve).once('error', reject))
    let text = ''
    for await (const part of answer) text += part
    return { status: answer.statusCode, headers: answer.headers, json: JSON.parse(text) }
  }

  test('arrives whole, with its length, or in chunks without one', async () => {
    const told = post('/publishing/up/one', { 'content-length': 3 * mib })
    told.end(Buffer.alloc(3 * mib))
    expect(await answerOf(told)).toMatchObject({ status: 200, json: { seen: 3 * mib, told: String(3 * mib) } })
    const chunked = post('/publishing/up/one')
    for (let piece = 0; piece < 3; piece++) chunked.write(Buffer.alloc(mib))
    chunked.end()
    expect(await answerOf(chunked)).toMatchObject({ status: 200, json: { seen: 3 * mib, told: null } })
    const empty = post('/publishing/up/one', { 'content-length': 0 })
    empty.end()
    expect(await answerOf(empty)).toMatchObject({ status: 200, json: { seen: 0 } })
    const unannounced = post('/publishing/up/one', { 'transfer-encoding': 'chunked' })
    unannounced.end()
    expect(await answerOf(unannounced)).toMatchObject({ status: 200, json: { seen: 0 } })
  })

  test('without bytes but with a content type is accepted as an empty body', async () => {
    const empty = post('/publishing/up/one', { 'content-type': 'video/mp4', 'content-length': 0, 'content-range': 'bytes */100' })
    empty.end()
    expect(await answerOf(empty)).toMatchObject({ status: 200, json: { seen: 0 } })
  })

  test('is streamed while it is sent, and pauses its client while the service is slow', async () => {
    goOn = Promise.withResolvers()
    const before = seen
    const sent = post('/publishing/up/slow', { 'content-length': 48 * mib })
    let written = 0
    const write = () => {
      while (written < 48) {
        written += 1
        if (!sent.write(Buffer.alloc(mib))) return void sent.once('drain', write)
      }
      sent.end()
    }
    write()
    await expect.poll(() => seen - before).toBeGreaterThan(0)
    const held = await settled(() => written)
    // Of 48 MiB only a few are buffered in sockets, and no process in between buffers the rest.
    expect(held).toBeLessThan(24)
    expect(seen - before).toBeLessThan(2 * mib)
    goOn.resolve()
    expect(await answerOf(sent)).toMatchObject({ status: 200, json: { seen: 48 * mib } })
  })

  test('is rejected when it is too large: at once by its announced length, else when it exceeds the limit', async () => {
    const told = post('/publishing/up/one', { 'content-length': 65 * mib })
    told.flushHeaders()
    expect((await answerOf(told)).status).toBe(413)
    const chunked = post('/publishing/up/one')
    const answer = answerOf(chunked)
    for (let piece = 0; piece < 70; piece++) if (!chunked.write(Buffer.alloc(mib))) await new Promise(resolve => chunked.once('drain', resolve))
    chunked.end()
    expect((await answer).status).toBe(413)
  })

  test('is rejected when it arrives byte by byte', async () => {
    const socket = connect({ port: platform.port, host: '127.0.0.1' })
    let text = ''
    socket.setEncoding('utf8').on('data', part => (text += part))
    const gone = new Promise(resolve => socket.on('error', () => undefined).once('close', resolve))
    socket.write(`POST /publishing/up/one HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(10_000)}0\r\n\r\n`)
    await gone
    expect(text).toMatch(/^HTTP\/1.1 413/)
    expect(text).toContain('too many small pieces')
  })

  test('that is rejected unread gets an answer nevertheless, and its connection closes', async () => {
    const sent = post('/publishing/up/refuse', { 'content-length': 8 * mib })
    sent.end(Buffer.alloc(8 * mib))
    expect(await answerOf(sent)).toMatchObject({ status: 403, headers: { connection: 'close' }, json: { refused: true } })
  })

  test('ends at the service when its client leaves before its end', async () => {
    ended = undefined
    const before = seen
    const socket = connect({ port: platform.port, host: '127.0.0.1' })
    socket.write('POST /publishing/up/one HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nabc')
    await expect.poll(() => seen - before).toBe(3)
    socket.destroy()
    await expect.poll(() => ended !== undefined).toBe(true)
  })

  test.runIf(mode === 'apart')('comes with a seal that opens once, for its own address, at a place that streams and with a body', async () => {
    const send = async (path: string, token: string, body: string | undefined, address = '') => {
      const asked = fetch(`http://127.0.0.1:${server!.port}${path}`, {
        method: 'POST',
        headers: { [sealHeader]: token, 'x-client-address': address },
        ...(body !== undefined && { body }),
      })
      return (await asked).status
    }
    const head = { method: 'POST', target: '/publishing/up/one', address: '' }
    const token = () => seal(anonymous, 'publishing', forStream(head))
    const once = await token()
    expect([await send(head.target, once, 'abc'), await send(head.target, once, 'abc')]).toEqual([200, 401])
    // A signature has several spellings, which count as one.
    const [, , signature = ''] = once.split('.')
    const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].map(last => once.slice(0, -1) + last)
    expect(new Set(await Promise.all(others.map(other => send(head.target, other, 'abc'))))).toEqual(new Set([401]))
    expect(signature).not.toBe('')
    expect(await send('/publishing/up/other', await token(), 'abc')).toBe(401)
    expect(await send(head.target, await token(), 'abc', '203.0.113.7')).toBe(401)
    expect(await send(head.target, await token(), undefined)).toBe(401)
    const elsewhere = { ...head, target: '/publishing/elsewhere' }
    expect(await send(elsewhere.target, await seal(anonymous, 'publishing', forStream(elsewhere)), 'abc')).toBe(401)
    expect(await send(head.target, await seal(anonymous, 'publishing', forForward(head, 'abc')), 'abc')).toBe(401)
  })
})

/** A figure once it has stayed the same for a while. */
async function settled(figure: () => number): Promise<number> {
  for (let before = figure(), alike = 0; ; ) {
    await new Promise(resolve => setTimeout(resolve, 20))
    alike = figure() === before ? alike + 1 : 0
    before = figure()
    if (alike === 10) return before
  }
}

test('reports a body that does not arrive in time once; one that arrived or was not announced is not reported', async () => {
  const told: string[] = []
  const server = createServer((request, response) => {
    mustArriveWithin(request, 30, () => {
      told.push(request.url!)
      request.socket.destroy()
    })
    if (request.url === '/refused') response.setHeader('connection', 'close').end('no')
    else request.resume().once('end', () => response.end('well'))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1' })
  socket.resume().on('error', () => {})
  const closed = new Promise(resolve => socket.once('close', resolve))
  // What was answered before it had come, on a connection that has ended, waits for nothing.
  const refused = connect({ port, host: '127.0.0.1' })
  const ended = new Promise(resolve => refused.resume().once('close', resolve))
  refused.write('POST /refused HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc')
  await ended
  socket.write('POST /late HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nabc')
  for (const path of ['/whole', '/none']) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, path === '/none' ? {} : { method: 'POST', body: 'abc' })
    expect(await answer.text()).toBe('well')
  }
  await closed
  expect(told).toEqual(['/late'])
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})
