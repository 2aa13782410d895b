import { spawnSync } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { isRefusedAddress, OutboundFailure } from '../../../platform/outbound/failure.ts'
import type { ResolveName } from '../../../platform/outbound/names.ts'
import { createOutbound, type OutboundOptions } from '../../../platform/outbound/outbound.ts'
import { isPublicAddress, onlyPublic } from '../../../platform/outbound/public.ts'

describe('a private address', () => {
  test.each([
    ['this host', '0.0.0.0', '0.1.2.3', '::'],
    ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
    ['private networks', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
    ['carriers’ networks', '100.64.0.1', '100.127.255.255'],
    ['links, where clouds keep their metadata', '169.254.169.254', 'fe80::1', 'febf::1', 'fec0::1'],
    ['protocols and documentation', '192.0.0.1', '192.0.2.1', '192.88.99.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '100::1'],
    ['benchmarks', '198.18.0.1', '198.19.255.255'],
    ['multicast and reserved', '224.0.0.1', '240.0.0.1', '255.255.255.255', 'ff02::1'],
    [
      'IPv4 within IPv6',
      '::ffff:127.0.0.1',
      '::FFFF:10.0.0.1',
      '::ffff:192.168.17.42',
      '0:0:0:0:0:ffff:10.0.0.1',
      '::ffff:7f00:1',
      '::ffff:a9fe:a9fe',
      '::127.0.0.1',
      '::7f00:1',
    ],
    ['translated to IPv4', '64:ff9b::7f00:1', '64:ff9b::127.0.0.1', '64:ff9b:1::1', '2002:7f00:1::', '2001::1'],
    ['no address at all', '', 'localhost', '127.1', '1.2.3.4.5', '0x7f000001'],
  ])('%s', (_what, ...addresses) => {
    for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, false])
  })

  test.each([
    ['93.184.216.34'],
    ['8.8.8.8'],
    ['100.63.255.255'],
    ['100.128.0.1'],
    ['172.15.255.255'],
    ['172.32.0.1'],
    ['169.253.0.1'],
    ['198.17.0.1'],
    ['198.20.0.1'],
    ['223.255.255.255'],
    ['2606:4700::1'],
    ['2a00:1450:4001::200e'],
    ['::ffff:8.8.8.8'],
    ['::FFFF:93.184.216.34'],
    ['::ffff:808:808'],
  ])('unlike %s', address => expect(isPublicAddress(address)).toBe(true))
})

/** A resolver whose answers a test writes, one for each question. */
const answering = (...answers: string[][]): ResolveName & { asked: string[] } => {
  const asked: string[] = []
  return Object.assign(
    ((hostname, _options, done) => {
      asked.push(hostname)
      const addresses = (answers[asked.length - 1] ?? answers.at(-1))!
      done(
        null,
        addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      )
    }) satisfies ResolveName,
    { asked },
  )
}

describe('a name', () => {
  const look = (resolve: ResolveName, all: boolean) =>
    new Promise<unknown>((done, fail) => onlyPublic(resolve)('name.test', { all }, (error, ...found) => (error ? fail(error) : done(found))))

  test('leads to its public addresses only, and nowhere when it has none', async () => {
    const resolve = answering(['127.0.0.1', '93.184.216.34', 'fd00::1'])
    expect(await look(resolve, true)).toEqual([[{ address: '93.184.216.34', family: 4 }]])
    expect(await look(resolve, false)).toEqual(['93.184.216.34', 4])
    await expect(look(answering(['10.0.0.1', '::1']), true)).rejects.toMatchObject({ code: 'ENOTPUBLIC', message: 'name.test has no public address' })
  })

  test('that changes its address in between is checked by the one that is connected to', async () => {
    const rebound = answering(['93.184.216.34'], ['127.0.0.1'])
    await look(rebound, true)
    await expect(look(rebound, true)).rejects.toMatchObject({ code: 'ENOTPUBLIC' })
  })

  test('that cannot be resolved is reported as such', async () => {
    const failing: ResolveName = (_hostname, _options, done) => done(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), [])
    await expect(look(failing, true)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  test('is resolved to all its addresses, even when one would do, and otherwise as the connection wants', async () => {
    const wanted: unknown[] = []
    const noting: ResolveName = (hostname, options, done) => {
      wanted.push([hostname, options])
      done(null, [{ address: '93.184.216.34', family: 4 }])
    }
    await new Promise<void>(done => onlyPublic(noting)('name.test', { family: 4, hints: 1024, all: false }, () => done()))
    expect(wanted).toEqual([['name.test', { family: 4, hints: 1024, all: true }]])
  })
})

/** A server on loopback that notes what reaches it. */
async function serve(answer: RequestListener) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** A key and the certificate that it signed for itself, in one text; null without openssl. */
function selfSigned(): string | null {
  const options =
    '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout - -out - -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1'
  const made = spawnSync('openssl', ['req', ...options.split(' ')], { encoding: 'utf8' })
  return made.status === 0 ? made.stdout : null
}

/** Any server on loopback, whose connections end with it. */
async function listen(server: Server) {
  const open = new Set<Socket>()
  server.on('connection', socket => open.add(socket.on('error', () => {})))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: (protocol: string) => `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

describe('a request to a third party', () => {
  const fail = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('it was answered'),
      error => error as { name: string; message: string; sent: boolean },
    )

  test.each([
    ['a private address', (port: number) => `http://127.0.0.1:${port}/`],
    ['the same within IPv6', (port: number) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['the same as a number', (port: number) => `http://2130706433:${port}/`],
    ['the same in short', (port: number) => `http://127.1:${port}/`],
    ['a name that resolves there', (port: number) => `http://name.test:${port}/`],
    ['localhost', (port: number) => `http://localhost:${port}/`],
  ])('does not reach %s', async (_what, url) => {
    await using server = await serve((_request, response) => response.end('secret'))
    await using outbound = disposable(createOutbound([], answering(['127.0.0.1'])))
    const failure = await fail(outbound.send(url(server.port)))
    expect([failure.name, failure.sent, server.asked]).toEqual(['OutboundFailure', false, []])
    const fresh = await fail(outbound.send(url(server.port), { freshConnection: true }))
    expect([fresh.sent, server.asked]).toEqual([false, []])
  })

  test('reaches configured origins, and nothing beside them', async () => {
    await using server = await serve((_request, response) => response.writeHead(201, { 'x-answer': 'yes' }).end('made'))
    await using other = await serve((_request, response) => response.end('secret'))
    await using outbound = disposable(createOutbound([`${server.origin}/some/path`]))
    const answer = await outbound.send(`${server.origin}/things`, { method: 'POST', body: '{}' })
    expect([answer.status, answer.text, answer.headers.get('x-answer'), server.asked]).toEqual([201, 'made', 'yes', ['POST /things']])
    expect((await fail(outbound.send(other.origin))).sent).toBe(false)
    expect(other.asked).toEqual([])
  })

  test('follows no redirect', async () => {
    await using inner = await serve((_request, response) => response.end('secret'))
    await using server = await serve((_request, response) => response.writeHead(302, { location: `${inner.origin}/inside` }).end())
    await using outbound = disposable(createOutbound([server.origin, inner.origin]))
    expect(await outbound.send(server.origin)).toMatchObject({ status: 302, text: '' })
    expect(inner.asked).toEqual([])
  })

  test('accepts an answer of a mebibyte and not a byte more', async () => {
    const most = 1024 * 1024
    await using server = await serve((request, response) => response.end(Buffer.alloc(request.url === '/most' ? most : most + 1, 'x')))
    await using outbound = disposable(createOutbound([server.origin]))
    expect((await outbound.send(`${server.origin}/most`)).text).toHaveLength(most)
    const failure = await fail(outbound.send(`${server.origin}/more`))
    expect(failure).toMatchObject({ name: 'OutboundFailure', sent: true, cause: undefined, message: expect.stringContaining('more than 1048576 bytes') })
  })

  test('is a GET by default, and carries its body and the answer’s', async () => {
    const got: unknown[] = []
    await using server = await serve(async (request, response) => {
      got.push([request.method, request.headers['user-agent'], request.headers['x-own'], await text(request)])
      response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'], 'x-one': 'one' }).end('né')
    })
    await using outbound = disposable(createOutbound([server.origin]))
    const answer = await outbound.send(new URL(server.origin))
    expect([answer.text, answer.headers.getSetCookie(), answer.headers.get('x-one')]).toEqual(['né', ['a=1', 'b=2'], 'one'])
    await outbound.send(server.origin, { method: 'PUT', headers: { 'user-agent': 'another', 'x-own': 'yes' }, body: 'wörds' })
    expect(got).toEqual([
      ['GET', 'supergraph', undefined, ''],
      ['PUT', 'another', 'yes', 'wörds'],
    ])
  })

  test('reuses an open connection unless it must not be repeated: then it opens a new one', async () => {
    const ports = new Set<number | undefined>()
    await using server = await serve((request, response) => {
      ports.add(request.socket.remotePort)
      response.end()
    })
    await using outbound = disposable(createOutbound([server.origin]))
    const connectionsOf = async (options?: OutboundOptions) => {
      ports.clear()
      for (let call = 0; call < 5; call++) await outbound.send(server.origin, options)
      return ports.size
    }
    expect(await connectionsOf()).toBeLessThan(5)
    expect(await connectionsOf({ freshConnection: true })).toBe(5)
  })

  test('that hangs does not hold up the way out when that closes', async () => {
    const server = createServer(() => {})
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const send = createOutbound([origin])
    const asked = send(origin, { timeoutMs: 15_000 }).catch(error => error)
    await new Promise(resolve => server.once('request', resolve))
    const began = performance.now()
    await send.close()
    expect(performance.now() - began).toBeLessThan(3_000)
    expect(await asked).toMatchObject({ name: 'OutboundFailure', sent: true })
    server.close()
  })

  test('fails once the client is closed', async () => {
    await using server = await serve((_request, response) => response.end())
    const send = createOutbound([server.origin])
    await send.close()
    for (const freshConnection of [false, true]) expect(await fail(send(server.origin, { freshConnection }))).toMatchObject({ name: 'OutboundFailure' })
    expect(server.asked).toEqual([])
  })

  test('that fails keeps what it failed by', async () => {
    await using outbound = disposable(createOutbound(['http://127.0.0.1:1']))
    expect(await fail(outbound.send('http://127.0.0.1:1/'))).toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })

  test('without an answer in time may have been received; one to a closed port was surely not', async () => {
    await using server = await serve(() => {})
    await using outbound = disposable(createOutbound([server.origin, 'http://127.0.0.1:1']))
    expect(await fail(outbound.send(server.origin, { timeoutMs: 50 }))).toMatchObject({
      sent: true,
      message: expect.stringContaining('no answer within 50 ms'),
    })
    expect(await fail(outbound.send('http://127.0.0.1:1/'))).toMatchObject({ sent: false, message: expect.stringContaining('ECONNREFUSED') })
  })

  test('that fails before a connection is established was surely not sent, for any cause', async ({ skip }) => {
    const pem = selfSigned()
    if (!pem) return skip('there is no openssl here to make a certificate with')
    await using untrusted = await listen(createTlsServer({ key: pem, cert: pem }, (_request, response) => response.end('secret')))
    // The reset comes after the client's first words of TLS, which hold nothing of the request.
    await using resetting = await listen(createTcpServer(socket => socket.once('data', () => socket.resetAndDestroy())))
    const noRoom: ResolveName = (_hostname, _options, done) => done(Object.assign(new Error('getaddrinfo EMFILE'), { code: 'EMFILE' }), [])
    await using outbound = disposable(createOutbound([untrusted.origin('https'), resetting.origin('https'), 'http://127.0.0.1:1'], noRoom))
    for (const [url, reason] of [
      [untrusted.origin('https'), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
      [resetting.origin('https'), 'ECONNRESET'],
      ['https://name.test', 'EMFILE'],
      ['http://127.0.0.1:1', 'ECONNREFUSED'],
    ] as const)
      for (const freshConnection of [false, true]) {
        const failure = await fail(outbound.send(url, { method: 'POST', body: '{}', freshConnection }))
        expect(failure).toMatchObject({ sent: false, message: expect.stringContaining(reason) })
      }
  })

  test('whose connection is reset after it was established may have been received', async () => {
    await using resetting = await listen(createTcpServer(socket => socket.once('data', () => socket.resetAndDestroy())))
    await using outbound = disposable(createOutbound([resetting.origin('http')]))
    for (const freshConnection of [false, true])
      expect(await fail(outbound.send(resetting.origin('http'), { method: 'POST', body: '{}', freshConnection }))).toMatchObject({ sent: true })
  })

  test('reports whether the address itself is rejected, or only this attempt failed', async () => {
    await using server = await serve(() => {})
    await using outbound = disposable(createOutbound(['http://127.0.0.1:1', server.origin], answering(['10.0.0.1'])))
    const refused = async (url: string) => isRefusedAddress(await fail(outbound.send(url, { timeoutMs: 500 })))
    for (const url of ['http://10.0.0.1/', 'http://[::1]/', 'http://name.test/', 'file:///etc/passwd']) expect([url, await refused(url)]).toEqual([url, true])
    for (const url of ['http://127.0.0.1:1/', server.origin]) expect([url, await refused(url)]).toEqual([url, false])
    for (const other of [
      null,
      new Error('another'),
      new OutboundFailure('without a cause', true),
      Object.assign(new Error('x'), { cause: { code: 'ENOTPUBLIC' } }),
    ])
      expect(isRefusedAddress(other)).toBe(false)
  })

  test('knows HTTP alone', async () => {
    await using outbound = disposable(createOutbound([]))
    for (const url of ['file:///etc/passwd', 'ftp://name.test/', 'gopher://name.test/']) expect((await fail(outbound.send(url))).sent).toBe(false)
  })
})

const disposable = (send: ReturnType<typeof createOutbound>) => ({ send, [Symbol.asyncDispose]: () => send.close() })
