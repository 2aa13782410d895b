import { randomBytes } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { parse, print } from 'graphql'
import pino from 'pino'
import { Agent as Dispatcher } from 'undici'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Ask } from '../../../platform/ask.ts'
import { createBoundClock, systemClock } from '../../../platform/clock.ts'
import { createRemoteAsk, rememberSeals } from '../../../router/apart/ask.ts'
import { authorityPath, createRemoteAuthority } from '../../../router/apart/authority.ts'
import { createRemoteTarget } from '../../../router/apart/http.ts'
import { serveSubgraph } from '../../../router/apart/server.ts'
import { openOrigin } from '../../../router/engine/transport/exchange.ts'
import { createSeal, publicHalf } from '../../../router/engine/transport/seal.ts'
import type { Slug } from '../../../subgraphs/scopes.ts'
import { createSealReader, forAsk, forForward, forOperation, isFor, type Purpose, sealHeader } from '../../../subgraphs/seal.ts'
import type { Registration } from '../../../subgraphs/subgraph.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { schemaOf, until } from '../supergraph-fixture.ts'
import { shop } from './parts.ts'
import { http, type RawRequest, serveRaw } from './raw-server.ts'

const key = { id: 'one', key: randomBytes(32) }
const seal = createSeal(key, systemClock)
const none = async () => {}
const logged: Record<string, unknown>[] = []
const log = pino({ level: 'error' }, { write: line => void logged.push(JSON.parse(line)) })
let abandoned = 0

const server = await serveSubgraph({
  subgraph: {
    registration: { slug: 'catalogue' as Slug } as Registration,
    schema: schemaOf(shop.catalogue),
    open: () => ({}),
    async http(request, viewer) {
      if (request.url.endsWith('/stream')) {
        const body = new ReadableStream({
          start: controller => controller.enqueue(new Uint8Array(1000)),
          cancel: () => void abandoned++,
        })
        return new Response(body)
      }
      return Response.json({ kind: viewer.kind, headers: Object.fromEntries(request.headers), method: request.method, url: request.url })
    },
    start: none,
    stop: none,
  },
  seals: rememberSeals(createSealReader({ audience: 'catalogue', keys: [publicHalf(key)], clock: systemClock })),
  host: '127.0.0.1',
  port: 0,
  publicUrl: 'http://localhost:4000',
  readiness: [],
  internal: new Map([['/internal/echo', async (_viewer, asked) => asked]]),
  log,
})
const origin = `http://127.0.0.1:${server.port}`
afterAll(() => server.close())

/** Asks with node:http, which sends what it is told. */
function send(path: string, body: string | Buffer | null, headers: Record<string, string | string[]> = {}, method = 'POST') {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asked = httpRequest({ host: '127.0.0.1', port: server.port, path, method, headers, agent: new Agent({ keepAlive: false }) }, async response => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode!, text })
    })
    asked.on('error', reject)
    asked.end(body ?? undefined)
  })
}
const sealed = async (more: Record<string, string> = {}, purpose: Purpose = forOperation) => ({
  [sealHeader]: await seal(anonymous, 'catalogue', purpose),
  ...more,
})
/** What the router seals a request with whose caller has no address, and a question. */
const passed = (method: string, target: string, body = '') => forForward({ method, target, address: '' }, body)
const asked = (method: string, target: string, body = '') => forAsk(method, target, body)
const nameQuery = '{"query":"{ name }"}'
const graphql = async (body: unknown) => send('/graphql', JSON.stringify(body), await sealed())

describe('D3 a distributed subgraph', () => {
  test.for<[string, string, string, Purpose?]>([
    ['a query', '/graphql', '{"query":"{ name }"}'],
    ['entities', '/graphql', '{"query":"{ _entities(representations: [{ __typename: \\"Product\\", id: \\"1\\" }]) { __typename } }"}'],
    ['its own schema', '/graphql', '{"query":"{ _service { sdl } }"}'],
    ['a forwarded request', '/anything', '', passed('POST', '/anything')],
    ['a question of the router', '/internal/echo', '{}', asked('POST', '/internal/echo', '{}')],
  ])('answers %s to nobody without a seal, with one for another, or with two', async ([, path, body, purpose = forOperation]) => {
    const good = await seal(anonymous, 'catalogue', purpose)
    const other = await seal(anonymous, 'stock', purpose)
    const old = await createSeal(key, createBoundClock(new Date(Date.now() - 61_000)))(anonymous, 'catalogue', purpose)
    expect((await send(path, body, { [sealHeader]: good })).status).toBe(200)
    for (const headers of [{}, { [sealHeader]: other }, { [sealHeader]: old }, { [sealHeader]: [good, good] }, { [`${sealHeader}-x`]: good }]) {
      const { status, text } = await send(path, body, headers)
      expect([status, JSON.parse(text).code]).toEqual([401, 'UNAUTHENTICATED'])
    }
    // What the router made, too long ago or too far ahead, it may show to another replica, whose clock is right perhaps.
    for (const [token, untimely] of [
      [old, true],
      [other, undefined],
    ]) {
      expect(JSON.parse((await send(path, body, { [sealHeader]: String(token) })).text).untimely).toBe(untimely)
    }
  })

  test('closes a socket without a seal for it, and runs nothing', async () => {
    for (const payload of [
      undefined,
      null,
      'x',
      {},
      { [sealHeader]: await seal(anonymous, 'stock', forOperation) },
      { [sealHeader]: [await seal(anonymous, 'catalogue', forOperation)] },
      { [sealHeader]: await seal(anonymous, 'catalogue', passed('POST', '/graphql')) },
      { [sealHeader]: await seal(anonymous, 'catalogue', asked('POST', '/graphql')) },
    ]) {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers: await sealed() })
      const heard: string[] = []
      socket.on('message', data => heard.push(String(data)))
      socket.on('open', () => {
        socket.send(JSON.stringify({ type: 'connection_init', payload }))
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ name }' } }))
      })
      const code = await new Promise(resolve => socket.once('close', resolve))
      expect([4400, 4401, 4403]).toContain(code)
      expect(heard).toEqual([])
    }
  })

  test('answers a request of any form with a message, and continues', async () => {
    const deep = `{ ${'product(id: "1") { '.repeat(20_000)}id${' }'.repeat(20_000)} }`
    for (const body of [null, 1, 'x', [], {}, { query: 1 }, { query: '' }, { query: '{' }, { query: 'subscription { twice }' }, { query: deep }]) {
      const { status, text } = await graphql(body)
      expect(status).toBe(200)
      expect(JSON.parse(text).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
    }
    for (const variables of [null, 1, 'x', [], { id: { a: 1 } }]) {
      const { status, text } = await graphql({ query: 'query ($id: ID!) { product(id: $id) { id } }', variables })
      expect([status, JSON.parse(text).errors?.[0].extensions.code]).toEqual([200, 'BAD_USER_INPUT'])
    }
    expect((await send('/graphql', '{', await sealed())).status).toBe(400)
    expect((await send('/graphql', Buffer.alloc(17 * 1024 * 1024), await sealed())).status).toBe(413)
    expect((await send('/graphql', null, await sealed(), 'GET')).status).toBe(405)
    expect(JSON.parse((await graphql({ query: '{ name }' })).text)).toEqual({ data: { name: 'catalogue' } })
  })

  test.for<[string, string, Purpose]>([
    ['POST', '/graphql', passed('POST', '/graphql', nameQuery)],
    ['POST', '/graphql', asked('POST', '/graphql', nameQuery)],
    ['POST', '/anything', forOperation],
    ['POST', '/anything', asked('POST', '/anything', nameQuery)],
    ['POST', '/anything', passed('GET', '/anything', nameQuery)],
    ['POST', '/anything', passed('POST', '/anything/else', nameQuery)],
    ['POST', '/anything?b', passed('POST', '/anything', nameQuery)],
    ['GET', '/internal/echo', passed('GET', '/internal/echo')],
    ['POST', '/internal/echo', forOperation],
    ['POST', '/internal/echo', passed('POST', '/internal/echo', nameQuery)],
    ['POST', '/internal/echo', asked('POST', '/internal/other', nameQuery)],
    ['POST', '/internal/echo/', asked('POST', '/internal/echo/', nameQuery)],
  ])('%s %s is not opened by a seal for something else', async ([method, path, purpose]) => {
    const { status, text } = await send(path, method === 'GET' ? null : nameQuery, await sealed({}, purpose), method)
    expect([status, JSON.parse(text).code]).toEqual([401, 'UNAUTHENTICATED'])
  })

  test.for([
    '/anything/../graphql',
    '/anything/%2e%2e/graphql',
    '//graphql',
    '/./graphql',
    '/anything/..%2fgraphql',
    '/\\graphql',
    '/graph%71l',
    'http://localhost:4000/graphql',
    '/anything#/graphql',
  ])('reads %s in no second way: it is refused whatever it was sealed for', async path => {
    for (const purpose of [forOperation, passed('POST', path, nameQuery), passed('POST', '/graphql', nameQuery), asked('POST', path, nameQuery)]) {
      const { status, text } = await send(path, nameQuery, await sealed({}, purpose))
      expect([status, JSON.parse(text).code]).toEqual([400, 'BAD_USER_INPUT'])
    }
  })

  test('receives the routed path of a forwarded request, not the one that a URL parser makes of it', async () => {
    await using service = await serveRaw(({ socket }) => socket.write(http('{}')))
    const dispatcher = new Dispatcher()
    const target = createRemoteTarget('catalogue' as Slug, [service.url], seal, dispatcher)
    for (const path of ['/a/../b', '/a/%2e%2e/b?c=../d', '//b', '/a\\b'])
      await (await target.http!(new Request(`http://localhost:4000${path}`), anonymous, path)).text()
    expect(service.requests.map(({ head }) => head.split(' ', 2)[1])).toEqual(['/a/../b', '/a/%2e%2e/b?c=../d', '//b', '/a\\b'])
    await dispatcher.destroy()
  })

  test('accepts headers as large as the router does, beside its seal', async () => {
    const { status } = await send('/anything', '', await sealed({ cookie: `a=${'x'.repeat(15_500)}` }, passed('POST', '/anything')))
    expect(status).toBe(200)
  })

  test('does not pass the seal to its handler of forwarded requests', async () => {
    const { text } = await send('/a/b?c=d', null, await sealed({ 'x-other': '1' }, passed('GET', '/a/b?c=d')), 'GET')
    expect(JSON.parse(text)).toMatchObject({ kind: 'anonymous', method: 'GET', url: 'http://localhost:4000/a/b?c=d', headers: { 'x-other': '1' } })
    expect(text).not.toContain('x-viewer-seal')
  })

  test('ends a stream whose reader leaves without logging an error', async () => {
    logged.length = 0
    const socket = connect(server.port, '127.0.0.1')
    const { [sealHeader]: token } = await sealed({}, passed('GET', '/stream'))
    socket.write(`GET /stream HTTP/1.1\r\nhost: x\r\n${sealHeader}: ${token}\r\n\r\n`)
    await new Promise(resolve => socket.once('data', resolve))
    socket.destroy()
    await until(() => abandoned === 1)
    expect(logged).toEqual([])
  })

  test('accepts an intercepted seal with the very request that it was made for only, and with no other address or body', async () => {
    await using wire = await serveRaw(({ socket }) => socket.write(http('{}')))
    const dispatcher = new Dispatcher()
    const target = createRemoteTarget('catalogue' as Slug, [wire.url], seal, dispatcher)
    const address = '203.0.113.7'
    const sent = new Request('http://localhost:4000/sign-in', { method: 'POST', headers: { 'x-client-address': address }, body: 'email=a&password=b' })
    await (await target.http!(sent, anonymous, '/sign-in')).text()
    await dispatcher.destroy()
    const [{ head, body }] = wire.requests as [RawRequest]
    const token = new RegExp(`${sealHeader}: (.*)\r`, 'i').exec(head)![1]!
    const replay = async (address: string | null, text: string | null) =>
      (await send('/sign-in', text, { [sealHeader]: token, ...(address !== null && { 'x-client-address': address }) })).status
    expect(body).toBe('email=a&password=b')
    expect([await replay(address, body), await replay(address, body)]).toEqual([200, 200])
    for (const other of ['email=a&password=c', `${body}&`, body.slice(1), '', null]) expect([other, await replay(address, other)]).toEqual([other, 401])
    for (const other of ['203.0.113.8', `${address}, 10.0.0.1`, '', null]) expect([other, await replay(other, body)]).toEqual([other, 401])
  })

  test('reads no body without a seal for the address, and otherwise up to the usual limit', async () => {
    const hold = async (token: string, path: string) => {
      const socket = connect(server.port, '127.0.0.1')
      // The body is never sent: an answer must not depend on it.
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${sealHeader}: ${token}\r\ncontent-length: 100\r\n\r\n`)
      const answer = await new Promise<string>(resolve => socket.once('data', data => resolve(String(data))))
      socket.destroy()
      return answer.split(' ', 2)[1]
    }
    const { [sealHeader]: token } = await sealed({}, forForward({ method: 'POST', target: '/a', address: '' }, ''))
    const large = Buffer.alloc(33 * 1024 * 1024)
    expect((await send('/a', large, await sealed({}, forForward({ method: 'POST', target: '/a', address: '' }, large)))).status).toBe(413)
    expect(await hold(token, '/b')).toBe('401')
    expect(await hold(token, '/internal/echo')).toBe('401')
  })

  test('answers a request of the router with the sealed body only', async () => {
    const headers = await sealed({}, forAsk('POST', '/internal/echo', '{"ask":"ready"}'))
    expect((await send('/internal/echo', '{"ask":"ready"}', headers)).status).toBe(200)
    for (const other of ['{"ask":"keys"}', '{"ask":"ready"} ', '']) expect((await send('/internal/echo', other, headers)).status).toBe(401)
  })

  test('receives forwarded requests unchanged, without headers about the client’s connection or viewer', async () => {
    const dispatcher = new Dispatcher()
    const target = createRemoteTarget('catalogue' as Slug, [`${origin}/graphql`], seal, dispatcher)
    const headers = { [sealHeader]: 'forged', host: 'elsewhere', expect: '100-continue', 'proxy-authorization': 'Basic x', 'x-other': '1', cookie: 'a=b' }
    const answer = await target.http!(new Request('http://localhost:4000/a', { method: 'POST', headers, body: 'text' }), anonymous, '/a')
    const heard = (await answer.json()) as { headers: Record<string, string> }
    expect(heard).toMatchObject({ kind: 'anonymous', headers: { cookie: 'a=b', 'x-other': '1', host: `127.0.0.1:${server.port}` } })
    expect([heard.headers.expect, heard.headers[sealHeader], heard.headers['proxy-authorization']]).toEqual([undefined, undefined, undefined])
    await dispatcher.destroy()
    await expect(target.http!(new Request('http://localhost:4000/a'), anonymous, '/a')).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
  })
})

test('rejects a forwarded request in time, whether it waits for an answer or a connection; streamed ones may take longer', async () => {
  const part = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'
  await using service = await serveRaw(({ socket, head }) => {
    if (!head.startsWith('GET /stream')) return
    socket.write(part)
    setTimeout(() => socket.write('1\r\nb\r\n0\r\n\r\n'), 400)
  })
  const dispatcher = new Dispatcher({ connections: 1 })
  const target = createRemoteTarget('catalogue' as Slug, [service.url], seal, dispatcher, 200)
  const ask = (path: string) => target.http!(new Request(`http://localhost:4000${path}`), anonymous, path)
  expect(await (await ask('/stream')).text()).toBe('ab')
  // Nothing else would end them: the service never answers, and neither client nor connection has a deadline of its own.
  const all = await Promise.allSettled([ask('/a'), ask('/b'), ask('/c')])
  expect(all.map(each => (each as PromiseRejectedResult).reason.code)).toEqual(['UPSTREAM_FAILED', 'UPSTREAM_FAILED', 'UPSTREAM_FAILED'])
  expect(await (await ask('/stream')).text()).toBe('ab')
  await dispatcher.destroy()
})

test('sends a forwarded request to another replica after a broken connection if it changes nothing, and never repeats it otherwise', async () => {
  await using broken = await serveRaw(({ socket }) => void socket.destroy())
  await using well = await serveRaw(({ socket }) => socket.write(http('{}')))
  const dispatcher = new Dispatcher()
  const urls = [broken, well].map(({ port }) => `http://127.0.0.1:${port}/graphql`)
  const send = async (method: string, order: readonly string[]) => {
    const target = createRemoteTarget('catalogue' as Slug, order, seal, dispatcher)
    const before = well.requests.length
    const status = await target.http!(new Request('http://localhost:4000/a', { method }), anonymous, '/a').then(
      answer => answer.status,
      error => error.code,
    )
    return [status, well.requests.length - before]
  }
  const orders = [urls, [...urls].reverse()]
  expect([await send('GET', orders[0]!), await send('GET', orders[1]!)]).toEqual([
    [200, 1],
    [200, 1],
  ])
  const changing = [await send('POST', orders[0]!), await send('POST', orders[1]!)]
  expect(changing).toContainEqual(['UPSTREAM_FAILED', 0])
  expect(changing).toContainEqual([200, 1])
  await dispatcher.destroy()
})

const json = (value: unknown, status = '200 OK') => http(JSON.stringify(value), status)

describe('a call of a distributed subgraph to the router', () => {
  const query = parse('query ($id: ID!) { product(id: $id) { name } }') as Parameters<Ask>[0]
  const askingAt = async (url: string) => {
    const seals = rememberSeals(createSealReader({ audience: 'catalogue', keys: [publicHalf(key)], clock: systemClock }))
    const token = await seal(anonymous, 'catalogue', forOperation)
    const viewer = await seals.read(token, isFor(forOperation))
    const ask = createRemoteAsk([url], seals)
    return {
      token,
      ask: (document = query) => ask(document, { id: '1' }, { appId: 'app_catalogue', viewer }),
      unknown: () => ask(query, {}, { appId: 'app_catalogue', viewer: anonymous }),
    }
  }

  test('carries the seal that the viewer arrived with, and fails without one', async () => {
    await using router = await serveRaw(({ socket }) => socket.write(json({ data: { product: { name: 'Pen' } } })))
    const { token, ask, unknown } = await askingAt(`http://127.0.0.1:${router.port}/base/`)
    expect(await ask()).toEqual({ product: { name: 'Pen' } })
    expect(router.requests[0]!.head).toMatch(/^POST \/base\/internal\/ask HTTP/)
    expect(router.requests[0]!.head).toContain(`${sealHeader}: ${token}`)
    expect(JSON.parse(router.requests[0]!.body)).toEqual({ query: print(query), variables: { id: '1' } })
    await expect(unknown()).rejects.toThrow(/did not send/)
    expect(router.requests).toHaveLength(1)
  })

  test('uses a seal made for the viewer of the socket, and no other one', async () => {
    await using router = await serveRaw(({ socket }) => socket.write(json({ data: {} })))
    const clock = createBoundClock(new Date())
    const seals = rememberSeals(createSealReader({ audience: 'catalogue', keys: [publicHalf(key)], clock }))
    const ask = createRemoteAsk([`http://127.0.0.1:${router.port}`], seals)
    const sealNow = (to = anonymous) => createSeal(key, clock)(to, 'catalogue', forOperation)
    const came = await seals.read(await sealNow(), isFor(forOperation))
    let given: unknown
    const viewer = seals.streaming(came, async () => given)
    const asking = () => ask(query, {}, { appId: 'app_catalogue', viewer })
    clock.advance(3_600_000)
    given = await sealNow()
    await asking()
    expect(router.requests[0]!.head).toContain(`${sealHeader}: ${given}`)
    given = await sealNow({ ...anonymous, scopes: ['publishing:posts.read'] })
    await expect(asking()).rejects.toThrow(/somebody else/)
    for (given of [undefined, '', await seal({ ...anonymous }, 'stock', forOperation)])
      await expect(asking()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(router.requests).toHaveLength(1)
    // A request over HTTP with the same seal does not affect the socket.
    await ask(query, {}, { appId: 'app_catalogue', viewer: came })
    expect(router.requests).toHaveLength(2)
  })

  test('fails with the error received, or with a description of what arrived instead; it is not sent again', async () => {
    const refusal = { message: 'No.', extensions: { code: 'CONFLICT' } }
    const answers = [json({ error: refusal }), json({ code: 'UNAUTHENTICATED' }, '401 Unauthorized'), http('<html>', '502 Bad Gateway'), json(null, '500 Oh')]
    await using router = await serveRaw(({ socket, turn }) => socket.write(answers[turn - 1]!))
    const { ask } = await askingAt(`http://127.0.0.1:${router.port}`)
    await expect(ask()).rejects.toMatchObject(refusal)
    await expect(ask()).rejects.toThrow('The router answered 401 to app_catalogue')
    await expect(ask()).rejects.toThrow('not JSON')
    await expect(ask()).rejects.toThrow('The router answered 500 to app_catalogue')
    expect(router.requests).toHaveLength(4)
  })

  test('is sent once more when its connection closes, as a stopping router does; a mutation is not, because it may have been done', async () => {
    const answers = ['', json({ data: { product: { name: 'Pen' } } }), '', '', '']
    await using router = await serveRaw(({ socket, turn }) => void (answers[turn - 1] ? socket.write(answers[turn - 1]!) : socket.destroy()))
    const { ask } = await askingAt(`http://127.0.0.1:${router.port}`)
    expect(await ask()).toEqual({ product: { name: 'Pen' } })
    await expect(ask()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', message: 'The router did not answer; try again in a moment.' })
    expect(router.requests).toHaveLength(4)
    await expect(ask(parse('mutation { rename }') as typeof query)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' })
    expect(router.requests).toHaveLength(5)
  })
})

describe('a request of the router to identity about credentials', () => {
  const authorityAt = (url: string) => {
    const asked = openOrigin(new URL(url).origin, { connections: 2, mostWaiting: 10, mostBytes: 1_000_000 })
    const authority = createRemoteAuthority({ origin: asked, seal, issuer: 'i', audience: 'a', hashKey: clear => clear })
    return { authority, [Symbol.asyncDispose]: () => asked.close() }
  }

  test('is repeated when a kept-alive connection closes', async () => {
    await using identity = await serveRaw(({ socket, turn }) => void (turn === 1 ? socket.destroy() : socket.write(json({ keys: [] }))))
    await using remote = authorityAt(identity.url)
    expect(await remote.authority.jwks()).toEqual({ keys: [] })
    expect(identity.requests.map(({ head }) => head.split(' ', 2)[1])).toEqual([authorityPath, authorityPath])
  })

  test('about memberships and people of another issuer is answered as identity itself answers it', async () => {
    const answers = [
      { ask: 'standings', answer: [['org user', { organization: true, roles: ['member'] }]] },
      { ask: 'foreigners', answer: [['ada', { userId: 'u', suspended: false, memberships: { org: ['owner'] } }]] },
      { ask: 'admit', answer: null },
    ] as const
    await using identity = await serveRaw(({ socket, turn }) => void socket.write(json(answers[turn - 1]!.answer)))
    await using remote = authorityAt(identity.url)
    const { authority } = remote
    expect(await authority.standings(['org user'])).toEqual(new Map(answers[0].answer))
    expect(await authority.foreigners(['ada'])).toEqual(new Map(answers[1].answer))
    await authority.admit({ subject: 'ada', name: null, email: null })
    expect(identity.requests.map(({ body }) => JSON.parse(String(body)).ask)).toEqual(answers.map(({ ask }) => ask))
  })

  test('fails when identity answers garbage, rejects, is down, or is silent; the caller never becomes anonymous', async () => {
    await using identity = await serveRaw(({ socket, turn }) => {
      if (turn === 1) socket.write(json({}, '401 Unauthorized'))
      else if (turn === 2) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx')
      else if (turn < 5) socket.destroy()
    })
    await using remote = authorityAt(identity.url)
    for (let turn = 0; turn < 3; turn++) await expect(remote.authority.keys(['a'])).rejects.toThrow()
    expect(identity.requests).toHaveLength(4)
    await expect(remote.authority.sessions(['a'])).rejects.toMatchObject({ stage: 'late' })
    await identity[Symbol.asyncDispose]()
    await expect(remote.authority.jwks()).rejects.toMatchObject({ stage: 'unsent' })
    remote.authority.touchKeys(['a'])
  })
})
