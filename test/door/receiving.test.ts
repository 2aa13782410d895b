import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mostBodyBytes, readBody, readingLimits } from '../../router/door/body.ts'
import { refusalOfThrown } from '../../router/door/errors.ts'
import { mostAtOnce, piecesLimits, WatchedRequest } from '../../router/door/receiving/pieces.ts'
import { pageRows } from '../../router/rest/identity/pages.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

let platform: Awaited<ReturnType<typeof openRouter>>
beforeAll(async () => {
  platform = await openRouter(schemaEngine(smallGraph()))
})
afterAll(() => platform.close())

/** Begins to send a body, and holds its last byte back. */
async function begin(host = '127.0.0.1') {
  const body = `{"query":"{ hello }"${' '.repeat(mostBodyBytes - 22)}}`
  const socket: Socket = connect({ port: platform.port, host })
  let text = ''
  socket.setEncoding('utf8').on('data', part => (text += part))
  socket.on('error', () => undefined)
  const head = `POST /graphql HTTP/1.1\r\nhost: localhost:${platform.port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  await new Promise(resolve => socket.write(head + body.slice(0, -1), resolve))
  return {
    status: () => Number(text.split(' ')[1] ?? 0),
    text: () => text,
    end: () => void socket.write(body.slice(-1)),
    leave: () => socket.destroy(),
  }
}

/** Sends a body in pieces. @returns what is answered once the connection is over, or the body is */
async function inPieces(pieces: number, bytes: number) {
  const socket = connect({ port: platform.port, host: '127.0.0.1' })
  let text = ''
  socket.setEncoding('utf8').on('data', part => (text += part))
  socket.on('error', () => undefined)
  const body = `{"query":"{ hello }"${' '.repeat(pieces * bytes - 21)}}`
  const chunks = Array.from({ length: pieces }, (_, at) => `${bytes.toString(16)}\r\n${body.slice(at * bytes, (at + 1) * bytes)}\r\n`)
  const head = `POST /graphql HTTP/1.1\r\nhost: localhost:${platform.port}\r\nconnection: close\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
  const gone = new Promise(resolve => socket.once('close', resolve))
  socket.write(`${head}${chunks.join('')}0\r\n\r\n`)
  await gone
  return text
}

test('accepts a body in some small pieces or in many larger ones, and answers 413 to one that arrives byte by byte', async () => {
  const { small, bytes } = piecesLimits
  expect(await inPieces(small, 1)).toMatch(/^HTTP\/1.1 200/)
  expect(await inPieces(4000, bytes)).toMatch(/^HTTP\/1.1 200/)
  for (const [pieces, each] of [
    [small + 3, 1],
    [100_000, 1],
    [2 * small + 2, bytes / 2],
  ] as const) {
    const refused = await inPieces(pieces, each)
    expect(refused).toMatch(/^HTTP\/1.1 413/)
    expect(refused).toContain('too many small pieces')
  }
})

test('reads a connection no further once its body came in too many small pieces, even before anybody reads the body', async () => {
  const { small } = piecesLimits
  let pieces = 0
  const asked: string[] = []
  const server = createServer({ IncomingMessage: WatchedRequest }, async (request, response) => {
    asked.push(request.url!)
    // As a request that waits for its turn: Node buffers what arrives meanwhile.
    await new Promise(resolve => setTimeout(resolve, 20))
    request.on('data', () => (pieces += 1))
    const body = await readBody(request, mostBodyBytes).catch(error => refusalOfThrown(error)!)
    response.writeHead(Buffer.isBuffer(body) ? 200 : body.status, { connection: 'close' }).end(Buffer.isBuffer(body) ? body : undefined)
    if (!Buffer.isBuffer(body)) response.once('finish', () => request.socket.destroy())
  }).listen(0)
  const { port } = server.address() as AddressInfo
  const send = async (body: string, after = '') => {
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
    let text = ''
    socket.setEncoding('utf8').on('data', part => (text += part))
    socket.write(`POST /first HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n${body}${after}`)
    await new Promise(resolve => socket.once('close', resolve))
    return text
  }
  const count = 20
  const next = 'POST /second HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n'
  const answers = await Promise.all(Array.from({ length: count }, () => send('1\r\nx\r\n'.repeat(small + 1000), `0\r\n\r\n${next}`)))
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 413/)
  expect([pieces, new Set(asked)]).toEqual([count * (small + 3), new Set(['/first'])])
  // Parsers of closed connections are used again.
  const whole = await Promise.all(Array.from({ length: count }, () => send(`${'2\r\nab\r\n'.repeat(small)}0\r\n\r\n`)))
  for (const answer of whole) expect(answer).toContain('ab'.repeat(small))
  server.close()
})

test('answers some requests that are sent without waiting for answers, and closes a connection that sends too many', async () => {
  const pipelined = async (requests: number, request: (at: number) => string) => {
    const socket = connect({ port: platform.port, host: '127.0.0.1' }).on('error', () => undefined)
    let text = ''
    socket.setEncoding('utf8').on('data', part => (text += part))
    const over = new Promise(resolve => socket.once('close', resolve))
    socket.write(Array.from({ length: requests }, (_, at) => request(at)).join(''))
    await over
    return text
      .split(/(?=HTTP\/1\.1 )/)
      .filter(Boolean)
      .map(answer => [Number(answer.split(' ')[1]), /"data":\{"(a\d+)"/.exec(answer)?.[1]])
  }
  const asking = (count: number) => (at: number) => {
    const body = JSON.stringify({ query: `{ a${at}: __typename }` })
    const connection = at === count - 1 ? 'close' : 'keep-alive'
    return `POST /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: ${connection}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  }
  const answered = () => platform.lines.filter(line => line.includes('"msg":"answered"')).length
  const inOrder = Array.from({ length: mostAtOnce }, (_, at) => [200, `a${at}`])
  const before = answered()
  expect(await pipelined(mostAtOnce, asking(mostAtOnce))).toEqual(inOrder)
  expect(await pipelined(5_000, asking(5_000))).toEqual([...inOrder, [429, undefined]])
  expect(await pipelined(5_000, () => 'GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n')).toEqual([
    ...inOrder.map(() => [200, undefined]),
    [429, undefined],
  ])
  expect(answered() - before).toBeLessThanOrEqual(3 * (mostAtOnce + 1))
  // Parsers of closed connections are used again.
  for (let at = 0; at < 20; at += 1) expect((await platform.gql('{ hello }')).status).toBe(200)
})

test('rejects a long body that nests deeper than any request before it is parsed, and reads brackets in texts', async () => {
  const ask = async (body: string) => {
    const answer = await fetch(`http://localhost:${platform.port}/graphql`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    return [answer.status, await answer.text()] as const
  }
  const brackets = '['.repeat(500_000)
  for (const body of [brackets, `{"query":"{ hello }","variables":{"a":${brackets}`, '{"a":'.repeat(100_000)])
    expect(await ask(body)).toEqual([400, expect.stringContaining('nests lists and objects deeper than 100 levels')])
  expect((await ask('[,'.repeat(1000)))[1]).toContain('not valid JSON')
  expect(await ask(JSON.stringify({ query: '{ hello }', variables: { a: brackets } }))).toEqual([200, expect.stringContaining('hello')])
})

test.each(['{', '', '{"__proto__":1}', 'x'])('where nothing is, nobody reads what is sent there: %j', async body => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const answer = await fetch(`http://localhost:${platform.port}/nowhere`, { method, body, headers: { 'content-type': 'application/json' } })
    expect(answer.status).toBe(404)
  }
})

test.each([
  [20, 26, 20],
  [20, 1, '413'],
] as const)('one of %i MB where %i are taken is answered by what is taken, however much is read of what is refused', async (size, limit, expected) => {
  const stream = new PassThrough()
  const reading = readBody(stream, limit * mostBodyBytes).then(
    body => body.length / mostBodyBytes,
    error => String(refusalOfThrown(error)?.status),
  )
  for (let piece = 0; piece < size; piece += 1) stream.write(Buffer.alloc(mostBodyBytes))
  stream.end()
  expect(await reading).toBe(expected)
  stream.destroy()
})

test('drains a rejected body that arrives byte by byte, and stores nothing of it', async () => {
  const stream = new PassThrough()
  const reading = readBody(stream, mostBodyBytes).catch((error: Error) => error)
  for (let piece = 0; piece < 5000; piece += 1) stream.write('x')
  expect(String(await reading)).toContain('too many small pieces')
  await expect.poll(() => stream.readableLength + stream.writableLength).toBe(0)
  expect(stream.isPaused()).toBe(false)
  stream.destroy()
})

test('limits incomplete bodies of each address without affecting others', async () => {
  const most = Math.floor(readingLimits.addressBytes / mostBodyBytes)
  const waiting = await Promise.all(Array.from({ length: most }, () => begin()))
  const more = async () => {
    const one = await begin()
    await expect.poll(one.status).toBe(429)
    return one
  }
  // By then all of it has been read.
  const probe = `{ hello }${' '.repeat(1000)}`
  await expect.poll(async () => (await platform.gql(probe)).status).toBe(429)
  expect(waiting.map(({ status }) => status())).toEqual(waiting.map(() => 0))
  const refused = await more()
  expect(refused.text()).toMatch(/^retry-after: 5\r$/im)
  expect(refused.text()).toContain('RATE_LIMITED')
  expect((await platform.gql(probe)).json.errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 5 })
  const other = await begin('::1')
  other.end()
  await expect.poll(other.status).toBe(200)
  for (const one of waiting.slice(1)) one.end()
  for (const one of waiting.slice(1)) await expect.poll(one.status).toBe(200)
  waiting[0]!.leave()
  await expect.poll(async () => (await platform.gql(probe)).status).toBe(200)
  const again = await Promise.all(Array.from({ length: most }, () => begin()))
  for (const one of again) one.end()
  for (const one of again) await expect.poll(one.status).toBe(200)
  for (const one of [...waiting, ...again, refused, other]) one.leave()
})

test('a client that leaves during its request or answer causes no error', async () => {
  const body = JSON.stringify({ query: 'query($name: String) { hello(name: $name) }', variables: { name: 'x'.repeat(500_000) } })
  const asked = `POST /graphql HTTP/1.1\r\nhost: localhost:${platform.port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const answered = () => platform.lines.filter(line => line.includes('"route":"/graphql"')).length
  const before = answered()
  const reader = connect({ port: platform.port, host: '127.0.0.1' }).on('error', () => undefined)
  reader.write(asked.repeat(8))
  await new Promise(resolve => reader.once('data', resolve))
  reader.destroy()
  const writer = connect({ port: platform.port, host: '127.0.0.1' }).on('error', () => undefined)
  await new Promise(resolve => writer.write(asked.slice(0, -1000), resolve))
  await expect.poll(answered).toBeGreaterThan(before)
  writer.resetAndDestroy()
  await expect.poll(() => platform.lines.filter(line => line.includes('client disconnected')).length).toBeGreaterThan(0)
  expect(platform.lines.filter(line => JSON.parse(line).level >= 50)).toEqual([])
  expect((await platform.ask('/metrics')).text).not.toMatch(/supergraph_errors_total\{code="INTERNAL_SERVER_ERROR"\} [1-9]/)
})

test('a client that leaves while a subgraph works for it causes no error, and the subgraph aborts', async () => {
  let began = () => {}
  const reached = new Promise<void>(resolve => (began = resolve))
  const http = async (request: Request) => {
    began()
    await new Promise(resolve => request.signal.addEventListener('abort', resolve))
    request.signal.throwIfAborted()
    return new Response()
  }
  const subgraph = { registration: { slug: 'identity' }, http } as unknown as Subgraph
  await using door = await openRouter(schemaEngine(smallGraph()), { subgraphs: [subgraph], tables: [{ slug: 'identity', rows: pageRows }] })
  const head = `POST /identity/login HTTP/1.1\r\nhost: localhost:${door.port}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 3\r\n\r\n`
  const client = connect({ port: door.port, host: '127.0.0.1' }).on('error', () => undefined)
  client.write(`${head}a=b`)
  await reached
  client.destroy()
  await expect.poll(() => door.lines.some(line => line.includes('client disconnected'))).toBe(true)
  expect(door.lines.filter(line => JSON.parse(line).level >= 50)).toEqual([])
})

/** Breaks off what is sent, and waits until nothing of it counts any more. */
async function leaveAll(all: readonly { readonly stream: PassThrough; readonly read: Promise<unknown> }[]): Promise<void> {
  for (const { stream } of all) stream.destroy()
  await Promise.allSettled(all.map(({ read }) => read))
}

test('limits incomplete bodies of the process over all senders', async () => {
  const piece = Buffer.alloc(mostBodyBytes)
  const pieces = 16
  const begun = Array.from({ length: readingLimits.processBytes / (pieces * piece.length) }, (_, at) => {
    const stream = new PassThrough()
    const read = readBody(stream, pieces * piece.length, `10.0.0.${at}`)
    read.catch(() => {})
    for (let n = 0; n < pieces; n += 1) stream.write(piece)
    return { stream, read }
  })
  await expect.poll(() => begun.every(({ stream }) => stream.readableLength === 0)).toBe(true)
  const one = () => {
    const stream = new PassThrough()
    const read = readBody(stream, mostBodyBytes, '10.1.0.1')
    stream.end('x')
    return read
  }
  const refused = await one().catch((error: unknown) => error)
  expect(refusalOfThrown(refused)).toMatchObject({ status: 503 })
  begun[0]!.stream.destroy()
  await expect.poll(() => one().then(String, () => 'refused')).toBe('x')
  await leaveAll(begun)
})

describe('counting of incomplete bodies', () => {
  const piece = Buffer.alloc(mostBodyBytes)
  const sent = async (ip: string, pieces: number, limit: number) => {
    const stream = new PassThrough()
    const read = readBody(stream, limit, ip)
    read.catch(() => {})
    for (let n = 0; n < pieces; n += 1) stream.write(piece)
    await expect.poll(() => stream.readableLength === 0 || stream.isPaused()).toBe(true)
    return { stream, read }
  }
  const most = readingLimits.addressBytes / piece.length

  test('adds up all addresses of an IPv6 network', async () => {
    const all = await Promise.all(['2001:db8:1:2::1', '2001:db8:1:2::2'].map(ip => sent(ip, most / 2, readingLimits.addressBytes / 2)))
    const [same, other] = [await sent('2001:db8:1:2::7', 1, piece.length), await sent('2001:db8:1:3::1', 1, piece.length)]
    await expect(same.read).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    other.stream.end()
    expect((await other.read).length).toBe(piece.length)
    await leaveAll([...all, same])
  })

  test('counts stored bytes, not those of an oversized body that is drained', async () => {
    const large = [await sent('10.2.0.1', 15, piece.length), await sent('10.2.0.1', 15, piece.length), await sent('10.2.0.1', 15, piece.length)]
    const next = await sent('10.2.0.1', 3, 3 * piece.length)
    next.stream.end()
    expect((await next.read).length).toBe(3 * piece.length)
    await leaveAll(large)
  })

  test('drains only a limited part of an endless body', async () => {
    const { stream, read } = await sent('10.3.0.1', 17, piece.length)
    await expect(read).rejects.toMatchObject({ extensions: { limit: piece.length } })
    expect(stream.isPaused()).toBe(true)
    stream.destroy()
  })
})
