import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { until } from '../supergraph-fixture.ts'
import { http, okay, type RawRequest, serveRaw, transportTo } from './raw-server.ts'

const name = { data: { name: 'x' } }
const failure = (stage: string) => expect.objectContaining({ name: 'UpstreamFailure', stage })

describe('an answer on the wire', () => {
  const chunk = (bytes: Buffer | string) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')])
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n'

  test.for<[string, (request: RawRequest) => void]>([
    ['begins with a byte order mark', ({ socket }) => socket.write(http(`\ufeff${okay}`))],
    ['comes after an early hint', ({ socket }) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n${http(okay)}`)],
    [
      'has trailers',
      ({ socket }) => socket.write(Buffer.concat([Buffer.from(`${head}trailer: x-sum\r\n\r\n`), chunk(okay), Buffer.from('0\r\nx-sum: 1\r\n\r\n')])),
    ],
    ['has no length and ends with the connection', ({ socket }) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${okay}`)],
    ['comes from a server of HTTP/1.0', ({ socket }) => socket.end(`HTTP/1.0 200 OK\r\n\r\n${okay}`)],
    [
      'comes in chunks of a byte',
      ({ socket }) => {
        const body = Buffer.from(`{"data":{"name":"x"},"extensions":"${'ä'.repeat(3000)}"}`)
        socket.write(Buffer.concat([Buffer.from(`${head}\r\n`), ...[...body].map(byte => chunk(Buffer.from([byte]))), Buffer.from('0\r\n\r\n')]))
      },
    ],
  ])('that %s is read', async ([, answer]) => {
    await using server = await serveRaw(answer)
    await using remote = transportTo(server.url)
    expect(await remote.ask()).toMatchObject(name)
    expect(server.requests).toHaveLength(1)
  })

  test('of a thousand small pieces is assembled where characters were split', async () => {
    const text = '👋ä'.repeat(2000)
    const body = Buffer.from(JSON.stringify({ data: { name: text } }))
    await using server = await serveRaw(({ socket }) => {
      const chunks = [...body].map(byte => chunk(Buffer.from([byte])))
      socket.write(Buffer.concat([Buffer.from(`${head}\r\n`), ...chunks, Buffer.from('0\r\n\r\n')]))
    })
    await using remote = transportTo(server.url)
    expect((await remote.ask()).data).toEqual({ name: text })
  })

  test.for<[string, (request: RawRequest) => void]>([
    ['says 204', ({ socket }) => socket.write('HTTP/1.1 204 No Content\r\n\r\n')],
    ['says 304', ({ socket }) => socket.write('HTTP/1.1 304 Not Modified\r\n\r\n')],
    [
      'is compressed, though nobody asked for that',
      ({ socket }) => socket.write(http(gzipSync(okay).toString('latin1'), '200 OK', 'content-encoding: gzip\r\n')),
    ],
    ['has headers of 100 kB', ({ socket }) => socket.write(http(okay, '200 OK', `x-large: ${'x'.repeat(100_000)}\r\n`))],
    ['goes on after the JSON', ({ socket }) => socket.write(http(`${okay}garbage`))],
    ['is shorter than it says', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{')],
    ['has two lengths', ({ socket }) => socket.write(http(okay, '200 OK', 'content-length: 3\r\n'))],
    ['begins as HTTP and ends as nonsense', ({ socket }) => socket.write('HTTP/1.1 2oo OK\r\n\r\n')],
    ['breaks off within its first line', ({ socket }) => socket.end('HTTP/1.')],
    ['changes the protocol', ({ socket }) => socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
  ])('that %s is a failure, and is not asked for again', async ([, answer]) => {
    await using server = await serveRaw(answer)
    await using remote = transportTo(server.url)
    await expect(remote.ask()).rejects.toEqual(failure('answered'))
    expect(server.requests).toHaveLength(1)
  })

  test('that is followed by an unrequested one closes the connection, and the second is delivered to nobody', async () => {
    await using server = await serveRaw(({ socket, turn }) => socket.write(turn === 1 ? http(okay) + http('{"data":{"name":"of somebody else"}}') : http(okay)))
    await using remote = transportTo(server.url, { connections: 1 })
    for (let turn = 0; turn < 3; turn++) expect(await remote.ask()).toMatchObject(name)
    expect(server.accepted).toBe(2)
  })

  test.for([301, 302, 303, 307, 308])('%i to another host is not followed, and that host receives nothing', async status => {
    await using elsewhere = await serveRaw(({ socket }) => socket.write(http(okay)))
    await using server = await serveRaw(({ socket }) => socket.write(http('', `${status} Moved`, `location: ${elsewhere.url}\r\n`)))
    await using remote = transportTo(server.url, { headers: [{ name: 'authorization' }], seal: async () => 'sealed' })
    await expect(remote.ask('query', { headers: new Headers({ authorization: 'Bearer abc' }) })).rejects.toEqual(failure('answered'))
    expect([server.requests.length, elsewhere.accepted]).toEqual([1, 0])
  })
})

describe('a connection', () => {
  test('that is closed after each answer fails neither query nor mutation', async () => {
    await using server = await serveRaw(({ socket }) => socket.end(http(okay)))
    await using remote = transportTo(server.url, { connections: 2 })
    for (let turn = 0; turn < 10; turn++) expect(await remote.ask(turn % 2 ? 'mutation' : 'query')).toMatchObject(name)
    expect(server.requests).toHaveLength(10)
  })

  test.for<['query' | 'mutation', number]>([
    ['query', 2],
    ['mutation', 1],
  ])('that is half closed under a %s lets it be sent %i times in all', async ([kind, times]) => {
    await using server = await serveRaw(({ socket }) => socket.end())
    await using remote = transportTo(server.url)
    await expect(remote.ask(kind)).rejects.toEqual(failure('cut'))
    expect(server.requests).toHaveLength(times)
  })

  test('that cannot be established lets both be tried twice', async () => {
    const server = await serveRaw(() => {})
    await server[Symbol.asyncDispose]()
    await using remote = transportTo(server.url)
    for (const kind of ['query', 'mutation'] as const) await expect(remote.ask(kind)).rejects.toEqual(failure('unsent'))
  })

  test('works to an IPv6 address, with a path and a query string', async ({ skip }) => {
    const server = await serveRaw(({ socket }) => socket.write(http(okay)), '::1').catch(() => null)
    if (!server) return skip('this machine has no IPv6')
    await using running = server
    await using remote = transportTo(`http://[::1]:${running.port}/a%20path/graphql?tenant=1&x=%2F#part`)
    expect(await remote.ask()).toMatchObject(name)
    expect(running.requests[0]!.head).toMatch(/^POST \/a%20path\/graphql\?tenant=1&x=%2F HTTP\/1\.1\r\nhost: \[::1\]:\d+\r\n/)
  })

  test('with TLS to a server without it is a failure that sent nothing', async () => {
    await using server = await serveRaw(() => {})
    await using remote = transportTo(`https://127.0.0.1:${server.port}/graphql`, { timeoutMs: 300 })
    await expect(remote.ask('mutation')).rejects.toMatchObject({ name: 'UpstreamFailure' })
    expect(server.requests).toEqual([])
  })

  test('to an address with a user name and a password sends them, in place of the client’s', async () => {
    await using server = await serveRaw(({ socket }) => socket.write(http(okay)))
    await using remote = transportTo(server.url.replace('//', '//graph:p%40ss@'), { headers: [{ name: 'authorization' }] })
    await remote.ask('query', { headers: new Headers({ authorization: 'Bearer abc' }) })
    expect(server.requests[0]!.head.match(/authorization: .*/g)).toEqual([`authorization: Basic ${btoa('graph:p@ss')}`])
  })
})

describe('many concurrent requests', () => {
  test('wait for a connection, in their order, and every one is answered', async () => {
    let most = 0
    await using server = await serveRaw(({ socket, turn }) => {
      most = Math.max(most, server.connections.size)
      setImmediate(() => socket.write(http(JSON.stringify({ data: { name: turn } }))))
    })
    await using remote = transportTo(server.url, { connections: 64, timeoutMs: 10_000 })
    const answers = await Promise.all(Array.from({ length: 2000 }, () => remote.ask()))
    expect(new Set(answers.map(({ data }) => data!.name)).size).toBe(2000)
    expect([most, server.accepted]).toEqual([64, 64])
  })

  test('cost neither a connection nor a request when their callers leave while waiting', async () => {
    let release = () => {}
    await using server = await serveRaw(({ socket, turn }) => {
      const answer = () => socket.write(http(okay))
      if (turn === 1) release = answer
      else answer()
    })
    await using remote = transportTo(server.url, { connections: 1 })
    const first = remote.ask()
    await until(() => server.requests.length === 1)
    const leaving = new AbortController()
    const left = Array.from({ length: 50 }, () => remote.ask('mutation', { signal: leaving.signal }))
    const last = remote.ask()
    leaving.abort()
    for (const { errors } of await Promise.all(left)) expect(errors).toHaveLength(1)
    release()
    expect(await Promise.all([first, last])).toMatchObject([name, name])
    expect([server.requests.length, server.accepted]).toEqual([2, 1])
  })

  test('to a server that never answers end in time, and leave the connection free for later ones', async () => {
    let silent = true
    await using server = await serveRaw(({ socket }) => void (silent || socket.write(http(okay))))
    await using remote = transportTo(server.url, { connections: 2, timeoutMs: 100 })
    const lost = await Promise.allSettled(Array.from({ length: 300 }, () => remote.ask()))
    expect(lost.every(({ status }) => status === 'rejected')).toBe(true)
    silent = false
    const { accepted } = server
    expect(await remote.ask()).toMatchObject(name)
    expect(server.accepted - accepted).toBeLessThan(10)
  })

  test('are rejected when too many wait', async () => {
    await using server = await serveRaw(() => {})
    await using remote = transportTo(server.url, { connections: 1, timeoutMs: 300 })
    const all = await Promise.allSettled(Array.from({ length: 10_011 }, () => remote.ask()))
    const reasons = all.map(each => (each as PromiseRejectedResult).reason.message as string)
    expect(reasons.filter(reason => reason.startsWith('10000 requests wait for')).length).toBe(10)
  })
})

describe('equal requests with de-duplication', () => {
  test('fail together, after one more attempt for all of them', async () => {
    await using server = await serveRaw(({ socket }) => setTimeout(() => socket.destroy(), 20))
    await using remote = transportTo(server.url, { deduplicate: true })
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => remote.ask()))
    expect(all.every(({ status }) => status === 'rejected')).toBe(true)
    expect(server.requests).toHaveLength(2)
  })

  test('share an error message, but no object', async () => {
    const answer = '{"data":{"name":null},"errors":[{"message":"No.","path":["name"],"extensions":{"code":"CONFLICT"}}]}'
    await using server = await serveRaw(({ socket }) => setTimeout(() => socket.write(http(answer)), 20))
    await using remote = transportTo(server.url, { deduplicate: true })
    const [one, other] = await Promise.all([remote.ask(), remote.ask()])
    expect(one).toEqual(other)
    expect(one.errors![0]).not.toBe(other.errors![0])
    expect(server.requests).toHaveLength(1)
  })

  test('have each its own time limit; one that runs out of time does not affect the others', async () => {
    await using server = await serveRaw(({ socket }) => setTimeout(() => socket.write(http(okay)), 150))
    await using remote = transportTo(server.url, { deduplicate: true })
    const hurried = remote.ask('query', { deadline: performance.now() + 50 })
    const patient = remote.ask()
    await expect(hurried).rejects.toEqual(failure('late'))
    expect(await patient).toMatchObject(name)
    expect(server.requests).toHaveLength(1)
  })

  test('are aborted when the last caller leaves, and a later one is sent again', async () => {
    await using server = await serveRaw(({ socket, turn }) => void (turn > 1 && socket.write(http(okay))))
    await using remote = transportTo(server.url, { deduplicate: true })
    const leaving = [new AbortController(), new AbortController()]
    const left = leaving.map(({ signal }) => remote.ask('query', { signal }))
    await until(() => server.requests.length === 1)
    leaving[0]!.abort()
    await left[0]
    const { socket } = server.requests[0]!
    expect(socket.destroyed).toBe(false)
    leaving[1]!.abort()
    await left[1]
    await until(() => socket.destroyed)
    expect(await remote.ask()).toMatchObject(name)
  })
})

test('a caller that leaves, at any moment, leaves no busy connection and no unhandled rejection', async () => {
  await using server = await serveRaw(({ socket, turn }) => {
    const answer = http(okay)
    const at = turn % answer.length
    setTimeout(() => socket.write(answer.slice(0, at)), turn % 7)
    setTimeout(() => socket.write(answer.slice(at)), (turn % 11) + 7)
  })
  await using remote = transportTo(server.url, { connections: 8 })
  const all = Array.from({ length: 300 }, (_, turn) => {
    const leaving = new AbortController()
    if (turn % 5 === 0) leaving.abort()
    else setTimeout(() => leaving.abort(), turn % 30)
    return remote.ask(turn % 2 ? 'query' : 'mutation', { signal: leaving.signal })
  })
  for (const answer of await Promise.all(all)) expect(answer.data ?? answer.errors).toBeDefined()
  expect(await Promise.all(Array.from({ length: 8 }, () => remote.ask()))).toEqual(Array.from({ length: 8 }, () => name))
  // The server hears of connections that were cut when its turn comes.
  await expect.poll(() => server.connections.size).toBeLessThanOrEqual(8)
})

describe('the time of a request', () => {
  test('that is over before a mutation is sent prevents the sending', async () => {
    await using server = await serveRaw(({ socket }) => socket.write(http(okay)))
    await using remote = transportTo(server.url)
    for (const kind of ['query', 'mutation'] as const) {
      await expect(remote.ask(kind, { deadline: performance.now() - 1 })).rejects.toEqual(failure('unsent'))
    }
    expect(server.accepted).toBe(0)
  })

  test('of a second attempt is the rest of the first one’s', async () => {
    await using server = await serveRaw(({ socket, turn }) => void (turn === 1 && setTimeout(() => socket.destroy(), 100)))
    await using remote = transportTo(server.url, { timeoutMs: 500 })
    const began = performance.now()
    await expect(remote.ask()).rejects.toEqual(failure('late'))
    expect(performance.now() - began).toBeLessThan(900)
    expect(server.requests).toHaveLength(2)
  })

  test('and its signals leave nothing behind, whatever the outcome', async () => {
    await using server = await serveRaw(({ socket, turn }) => void (turn % 3 && (turn % 2 ? socket.write(http(okay)) : socket.destroy())))
    const signal = new AbortController().signal
    let listening = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = ((...given: Parameters<typeof addEventListener>) => {
      listening++
      addEventListener.apply(signal, given)
    }) as typeof addEventListener
    signal.removeEventListener = ((...given: Parameters<typeof removeEventListener>) => {
      listening--
      removeEventListener.apply(signal, given)
    }) as typeof removeEventListener
    const timers = () => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length
    const before = timers()
    {
      await using remote = transportTo(server.url, { timeoutMs: 300 })
      await Promise.allSettled(Array.from({ length: 30 }, () => remote.ask('query', { signal })))
      expect(listening).toBe(0)
    }
    await until(() => timers() <= before && server.connections.size === 0)
  })
})

test('an invalid header is a failure, not a second request within the first', async () => {
  await using server = await serveRaw(({ socket }) => socket.write(http(okay)))
  await using remote = transportTo(server.url, { headers: [{ name: 'x-tenant' }] })
  await expect(remote.ask('query', { requestId: 'a\r\nx-viewer-seal: b' })).rejects.toEqual(failure('unsent'))
  await expect(remote.ask('query', { headers: new Headers([['x-tenant', 'a\u0001']]) })).rejects.toEqual(failure('unsent'))
  expect(() => new Headers([['x-tenant', 'a\r\nb: c']])).toThrow()
  expect(server.requests).toEqual([])
  expect(await remote.ask('query', { headers: new Headers([['x-tenant', 'gr\u00fcn']]) })).toMatchObject(name)
  expect(server.requests[0]!.head).toContain('x-tenant: gr\u00fcn')
})

test('closing ends requests in progress and waiting ones, and rejects later ones', async () => {
  await using server = await serveRaw(() => {})
  const remote = transportTo(server.url, { connections: 1 })
  const running = [remote.ask(), remote.ask('mutation'), remote.ask()]
  await until(() => server.requests.length === 1)
  const settled = Promise.allSettled(running)
  await remote.transport.close()
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await expect(remote.ask()).rejects.toEqual(failure('unsent'))
  await remote.transport.close()
  expect(server.requests).toHaveLength(1)
})
