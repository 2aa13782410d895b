import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { readTarget } from '../../router/target.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

type Platform = Awaited<ReturnType<typeof openRouter>>
let platform: Platform
beforeAll(async () => {
  platform = await openRouter(schemaEngine(smallGraph()))
  platform.signIn('one')
})
afterAll(() => platform.close())

const query = 'query=%7Bhello%7D'
const hello = { data: { hello: 'Hello world' } }

/** What comes back for bytes that no client library would send. */
const written = (text: string) =>
  new Promise<string>((resolve, reject) => {
    let all = ''
    const socket = connect(platform.port, '127.0.0.1', () => socket.write(text))
    socket.on('data', part => {
      all += part
    })
    socket.on('close', () => resolve(all)).on('error', reject)
  })

describe('the request line', () => {
  test.for([
    '/publishing/../graphql',
    '/publishing/./graphql',
    '/graphql/..',
    '/..',
    '//graphql',
    '/publishing//graphql',
    '///graphql',
    '/publishing/%2e%2e/graphql',
    '/publishing/%2E./graphql',
    '/publishing/..%2fgraphql',
    '/publishing/..%5cgraphql',
    '/publishing\\..\\graphql',
    '/graphql%00',
    '/graphql%0a',
    '/graphql%7f',
    '/graph%71l',
    '/%67raphql',
    '/graphql#fragment',
    `/graphql?${query}#fragment`,
    '/gr"aphql',
    '/graphql|x',
    '/publishing/%zz',
    '/providers/api/ai/models/openai%2f..%2fcredentials',
    '/providers/api/ai/models/%2fcredentials',
    '/providers/api/ai/models/openai%2Fa/credentials%2Fb',
    '/providers/api/ai/models/openai%5ca',
    '/providers/api/credentials/openai%2Fa',
  ])('%s has no second reading: 400 with a sentence, before any handler', async target => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const answer = await platform.ask(target, { method, headers: { origin: platform.origin, 'content-type': 'application/json' } })
      expect([method, answer.status, answer.json.code]).toEqual([method, 400, 'BAD_USER_INPUT'])
      expect(answer.json.detail).toMatch(/^(The path|The address) .*(send|check)/)
      expect(answer.headers['access-control-allow-origin']).toBe(platform.origin)
    }
  })

  test.for([
    '/publishing/api/posts/a%20b',
    '/publishing/api/posts/%E2%80%99',
    '/publishing/api/posts/a:b@c;d=e,f!g$h&i(j)*k+l~m._-',
    '/publishing/api/posts/%252e%252e',
    '/publishing/api/posts/...',
    '/publishing/api/posts/',
    '/',
  ])('%s is read as it stands', target => {
    expect(readTarget({ method: 'GET', url: target, headers: {}, rawHeaders: [] }, () => false)).toEqual({ url: target, host: undefined })
  })

  test('may contain characters in its query that a path must not', async () => {
    expect((await platform.ask('/graphql?query={hello(name:"a//../%2e%2e\\\\n")}')).status).toBe(200)
  })
})

describe('a token in an address', () => {
  const secret = 'eyJhbGciOiJub25lIn0.planted'

  test.for([
    `/graphql?${query}&access_token=${secret}`,
    `/graphql?ACCESS_TOKEN=${secret}&${query}`,
    `/graphql?access%5Ftoken=${secret}`,
    `/graphql?+bearer=${secret}`,
    `/publishing/api/widget?bearer=${secret}`,
    `/identity/login?refresh_token=${secret}`,
    `/identity/api/auth/me?id_token=${secret}&id_token=`,
    `/health/live?access_token=`,
    `/nowhere?a=1&&access_token=${secret}`,
  ])('%s is refused before anything runs, on every host and by every method, and is neither repeated nor logged', async target => {
    for (const host of [`localhost:${platform.port}`, 'publishing.localhost', 'api.example', 'nobody.example'])
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await platform.ask(target, { method, headers: { host, authorization: 'Bearer nonsense' } })
        expect([host, method, answer.status, answer.json.code]).toEqual([host, method, 400, 'BAD_USER_INPUT'])
        expect(JSON.stringify([answer.json, answer.headers])).not.toContain(secret)
      }
    expect(JSON.stringify(platform.lines)).not.toContain(secret)
  })

  test.for([
    '/health/live?token_hint=x',
    '/health/live?my_access_token=x',
    '/health/live?q=access_token',
    '/health/live?id_token_hint=x',
  ])('%s holds none', async target => {
    expect((await platform.ask(target)).status).toBe(200)
  })
})

describe('RFC 9112 §3.2.2 a request line in absolute form', () => {
  test('is answered, and its host replaces the Host header', async () => {
    for (const own of [platform.origin, `http://127.0.0.1:${platform.port}`, `http://publishing.localhost:${platform.port}`, 'https://LOCALHOST'])
      expect((await platform.ask(`${own}/graphql?${query}`, { headers: { host: 'elsewhere.example' } })).json).toEqual(hello)
    expect((await platform.ask(`${platform.origin}/health/live`)).status).toBe(200)
    // On a service's host the prefix may be omitted; the cookie is accepted if the host serves pages.
    const service = `http://publishing.localhost:${platform.port}`
    expect((await platform.ask(`${service}/api/nothing`)).json.detail).toContain('/publishing/api/nothing')
    const whose = async (host: string, line: string) =>
      (
        await platform.ask(`${line}/graphql`, {
          method: 'POST',
          headers: { host, cookie: 'session=one', origin: platform.origin, 'content-type': 'application/json' },
          body: '{"query":"{ viewer { kind } }"}',
        })
      ).json.data.viewer.kind
    expect(await whose('api.example', platform.origin)).toBe('user')
    expect(await whose('api.example', '')).toBe('anonymous')
  })

  test.for([
    'http://evil.example/graphql',
    'http://evil.example',
    'http://localhost.evil.example/graphql',
    'http://localhost@evil.example/graphql',
    'http://evil.example@localhost/graphql',
    'http:///graphql',
    'http://localhost:4000:1/graphql',
    'ftp://localhost/graphql',
    'http://localhost/publishing/../graphql',
    'http://localhost//graphql',
    'http://localhost\\graphql',
  ])('%s is 400', async target => {
    const answer = await platform.ask(target)
    expect([answer.status, answer.json.code]).toEqual([400, 'BAD_USER_INPUT'])
  })
})

test('the other forms of a request line are answered according to the standard', async () => {
  const star = await platform.ask('*', { method: 'OPTIONS' })
  expect([star.status, star.headers.allow]).toEqual([204, expect.stringContaining('POST')])
  expect((await platform.ask('*')).status).toBe(400)
  expect(await written(`CONNECT localhost:${platform.port} HTTP/1.1\r\nhost: localhost:${platform.port}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 [\s\S]*not a proxy/)
  expect(await written(`GET localhost:${platform.port} HTTP/1.1\r\nhost: localhost\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /)
  expect(await written('GET /health/live HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*several Host headers/,
  )
})

test.for<[string, number]>([
  ['/graphql', 101],
  ['/graphql?a=/../', 101],
  ['/identity/api/auth/../../../graphql', 400],
  ['//graphql', 400],
  ['/%67raphql', 400],
  ['http://evil.example/graphql', 400],
  ['http://localhost/graphql', 101],
  ['/graphql/', 101],
  ['/graphql?access_token=x', 400],
])('an upgrade to WebSocket at %s is answered %i', async ([target, status]) => {
  const seen = await new Promise<number>((resolve, reject) => {
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-protocol': 'graphql-transport-ws',
    }
    httpRequest({ host: '127.0.0.1', port: platform.port, path: target, headers, agent: false })
      .on('upgrade', (_response, socket) => {
        socket.destroy()
        resolve(101)
      })
      .on('response', response => resolve(response.resume().statusCode!))
      .on('error', reject)
      .end()
  })
  expect(seen).toBe(status)
})

test('the host of an absolute form decides whether the cookie of an upgrade is accepted', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${platform.port}/graphql`, 'graphql-transport-ws', {
    headers: { host: 'api.example', cookie: 'session=one', origin: platform.origin },
    finishRequest: request => {
      request.path = `${platform.origin}/graphql`
      request.end()
    },
  })
  socket.on('open', () => socket.send('{"type":"connection_init"}'))
  const said = await new Promise<string>(resolve =>
    socket.on('message', data => {
      const message = JSON.parse(String(data))
      if (message.type === 'connection_ack') socket.send('{"type":"subscribe","id":"1","payload":{"query":"{ viewer { kind } }"}}')
      if (message.type === 'next') resolve(message.payload.data.viewer.kind)
    }),
  )
  expect(said).toBe('user')
  socket.terminate()
})
