import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { localOrigins } from '../../config/hosts.ts'
import { DomainError } from '../../platform/errors.ts'
import { canonicalPath, createHosts, hostsOf } from '../../router/hosts.ts'
import { nounRoutes } from '../../router/rest/derive/route.ts'
import type { RouteTable } from '../../router/rest/row.ts'
import type { Subgraph } from '../../subgraphs/subgraph.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { smallGraph } from './graph.ts'
import { openRouter, schemaEngine } from './platform.ts'

const twoParts = () =>
  new ReadableStream({
    start(controller) {
      for (const part of ['one ', 'two']) controller.enqueue(new TextEncoder().encode(part))
      controller.close()
    },
  })

/** A subgraph that serves HTTP only, and tells what reached it. */
const echo = {
  registration: { slug: 'publishing' },
  async http(request: Request, viewer: Viewer) {
    const url = new URL(request.url)
    if (url.pathname.endsWith('/crash')) throw new Error('secret inside')
    if (url.pathname.endsWith('/busy')) throw new DomainError('RATE_LIMITED', 'Too much at once: try again in 7 seconds.', { retryAfter: 7 })
    if (url.pathname.endsWith('/sign-out'))
      return new Response(null, {
        status: 302,
        headers: [
          ['location', '/somewhere'],
          ['set-cookie', 'a=1; Path=/'],
          ['set-cookie', 'b=2; Path=/'],
        ],
      })
    if (url.pathname.endsWith('/stream'))
      return new Response(twoParts(), {
        headers: { 'content-type': 'text/event-stream', 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' },
      })
    return Response.json({
      url: request.url,
      method: request.method,
      viewer: viewer.kind,
      body: await request.text(),
      headers: Object.fromEntries(request.headers),
    })
  },
} as unknown as Subgraph

/** The same under the name of who makes sessions and ends them. */
const identity = { ...echo, registration: { slug: 'identity' } } as unknown as Subgraph

const documented = (name: string, at?: `POST /${string}`) => [{ name, does: 'A test.', ...(at && { at }), answers: { 200: 'Well.' } }] as const

const tables: readonly RouteTable[] = [
  {
    slug: 'publishing',
    rows: [
      {
        kind: 'forward',
        method: '*',
        path: '/open/*',
        access: { public: 'a test' },
        limit: 1000,
        to: 'publishing',
        why: 'foreign handler',
        describes: documented('open', 'POST /one'),
      },
      {
        kind: 'forward',
        method: 'GET',
        path: '/guarded',
        access: { scope: 'publishing:posts.read' },
        limit: 0,
        to: 'publishing',
        why: 'page',
        describes: documented('guarded'),
      },
    ],
  },
  {
    slug: 'identity',
    rows: [
      {
        kind: 'forward',
        method: 'POST',
        path: '/sign-out',
        access: { public: 'a test' },
        limit: 1000,
        to: 'identity',
        why: 'foreign handler',
        describes: documented('leave'),
      },
    ],
  },
]

type Platform = Awaited<ReturnType<typeof openRouter>>
let platform: Platform
const database = { up: true }
beforeAll(async () => {
  platform = await openRouter(schemaEngine(smallGraph()), {
    subgraphs: [echo, identity],
    tables,
    readiness: [
      { name: 'database', check: async () => (database.up ? undefined : Promise.reject(new Error('down'))) },
      { name: 'publishing', check: async () => undefined },
    ],
  })
  platform.signIn('one')
})
afterAll(() => platform.close())

describe('hosts', () => {
  const hosts = createHosts('http://localhost:4000', localOrigins('http://localhost:4000'))
  test.each([
    ['publishing.localhost:4000', '/api/posts?x=1', '/publishing/api/posts?x=1'],
    ['Publishing.LOCALHOST', '/api/posts', '/publishing/api/posts'],
    ['web.publishing.localhost', '/api/posts', '/publishing/api/posts'],
    ['marketing.launcher.localhost', '/apps', '/marketing/apps'],
    ['marketing.launcher.localhost', '/api/contact', '/launcher/api/contact'],
    ['marketing.launcher.localhost', '/identity/login', '/identity/login'],
    ['publishing.localhost', '/publishing/api/posts', '/publishing/api/posts'],
    ['publishing.localhost', '/identity/api/auth/token', '/identity/api/auth/token'],
    ['agents.localhost', '/agents?status=paused', '/agents/agents?status=paused'],
    ['agents.localhost', '/agents/01a218c6-7599-7355-8085-d247a83546cc', '/agents/agents/01a218c6-7599-7355-8085-d247a83546cc'],
    ['agents.localhost', '/agents/overview', '/agents/overview'],
    ['publishing.localhost', '/publishings', '/publishing/publishings'],
    ['publishing.localhost', '/graphql?query={a}', '/graphql?query={a}'],
    ['publishing.localhost', '/health/ready', '/health/ready'],
    ['publishing.localhost', '/openapi.json', '/openapi.json'],
    ['publishing.localhost', '/.well-known/x', '/.well-known/x'],
    ['publishing.localhost', '/', '/'],
    ['publishing.localhost', '/?a', '/?a'],
    ['publishing.localhost', '/graphqlx', '/publishing/graphqlx'],
    ['localhost:4000', '/api/posts', '/api/posts'],
    ['elsewhere.example', '/api/posts', '/api/posts'],
    [undefined, '/api/posts', '/api/posts'],
  ])('S-14 %s%s means %s', (host, url, canonical) => expect(canonicalPath(hosts, host, url)).toBe(canonical))

  test('a service’s host answers with and without the prefix, and serves GraphQL too', async () => {
    const host = `publishing.localhost:${platform.port}`
    for (const path of ['/open/x?y=1', '/publishing/open/x?y=1'])
      expect((await platform.ask(path, { headers: { host } })).json.url).toBe(`${platform.origin}/publishing/open/x?y=1`)
    expect((await platform.gql('{ hello }', { host })).json.data).toEqual({ hello: 'Hello world' })
    expect((await platform.ask('/open/x')).status).toBe(404)
  })
})

describe('CORS', () => {
  const ours = () => `http://publishing.localhost:${platform.port}`
  test('names a trusted origin on every answer, errors included; a foreign one never', async () => {
    const asked: (Parameters<Platform['ask']> | [string])[] = [
      ['/publishing/open/x'],
      ['/publishing/open/stream'],
      ['/publishing/open/crash'],
      ['/publishing/guarded'],
      ['/nowhere'],
      ['/publishing/%E0%A4%A'],
      ['/health/live'],
      ['/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }],
      ['/graphql', { method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer x' }, body: '{"query":"{hello}"}' }],
    ]
    for (const [path, request] of asked) {
      const known = await platform.ask(path, { ...request, headers: { ...request?.headers, origin: ours() } })
      expect([path, known.headers['access-control-allow-origin'], known.headers['access-control-allow-credentials']]).toEqual([path, ours(), 'true'])
      const foreign = await platform.ask(path, { ...request, headers: { ...request?.headers, origin: 'https://evil.example' } })
      expect([path, foreign.headers['access-control-allow-origin']]).toEqual([path, undefined])
    }
  })

  test('answers a preflight of a trusted origin with the requested headers', async () => {
    const preflight = (origin: string) =>
      platform.ask('/publishing/guarded', {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization,if-match' },
      })
    const known = await preflight(ours())
    expect(known.status).toBe(204)
    expect(known.headers).toMatchObject({
      'access-control-allow-origin': ours(),
      'access-control-allow-headers': 'authorization,if-match',
      vary: expect.stringContaining('Origin'),
    })
    expect(known.headers['access-control-allow-methods']).toContain('PUT')
    const foreign = await preflight('https://evil.example')
    expect(Object.keys(foreign.headers).filter(name => name.startsWith('access-control'))).toEqual([])
  })

  const readable = async (router: Platform, origin: string) => {
    const named = await Promise.all(
      ['/health/live', '/publishing/guarded', '/nowhere'].map(
        async path => (await router.ask(path, { headers: { origin } })).headers['access-control-allow-origin'],
      ),
    )
    expect(new Set(named).size).toBe(1)
    return named[0] === origin
  }

  test.each([
    'http://localhost:5173',
    'http://LOCALHOST:3000',
    'https://localhost',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'http://app.localhost:5173',
    'http://web.publishing.localhost:1',
  ])('in development pages of this machine may read everything: %s', async origin => {
    expect(await readable(platform, origin)).toBe(true)
    for (const environment of ['staging', 'production'] as const) {
      await using other = await openRouter(schemaEngine(smallGraph()), { subgraphs: [echo, identity], tables, environment })
      expect(await readable(other, origin)).toBe(false)
    }
  })

  test.each([
    'http://localhost.evil.example',
    'http://evil.example:5173',
    'http://127.0.0.1.evil.example',
    'http://evillocalhost:80',
    'http://128.0.0.1',
    'ftp://localhost',
    'http://localhost:5173/path',
    'http://localhost:5173, http://evil.example',
    'null',
  ])('and pages of another may not: %s', async origin => {
    expect(await readable(platform, origin)).toBe(false)
  })

  test('allows the pages of CORS_ORIGINS and no others', async () => {
    const settings = {
      publicUrl: 'https://platform.example',
      environment: 'production',
      corsOrigins: ['https://app.example', 'capacitor://localhost'],
      serviceOrigins: [],
    } as const
    await using router = await openRouter(schemaEngine(smallGraph()), {
      subgraphs: [echo, identity],
      tables,
      environment: 'production',
      hosts: hostsOf(settings),
    })
    for (const origin of ['https://app.example', 'https://APP.example', 'capacitor://localhost', 'https://platform.example'])
      expect([origin, await readable(router, origin)]).toEqual([origin, true])
    for (const origin of [
      'http://app.example',
      'https://app.example:8443',
      'https://other.app.example',
      'http://localhost:5173',
      'http://publishing.localhost',
    ])
      expect([origin, await readable(router, origin)]).toEqual([origin, false])
  })
})

describe('a route of an operation', () => {
  test('is served where the graph supports it, and otherwise left out with a line in the log', async () => {
    const routes = { 'GET /api/viewer': 'viewer', 'GET /api/brands/:id': 'brand' } as const
    const rows = nounRoutes({ select: { Viewer: 'kind roles' }, routes })
    await using router = await openRouter(schemaEngine(smallGraph()), { tables: [{ slug: 'publishing', rows }] })
    const found = await router.ask('/publishing/api/viewer')
    expect([found.status, found.json]).toEqual([200, { kind: 'anonymous', roles: [] }])
    expect((await router.ask('/publishing/api/brands/1')).status).toBe(404)
    expect(router.lines.filter(line => line.includes('route not served'))).toEqual([expect.stringContaining('GET /publishing/api/brands/:id')])
  })
})

describe('forwarded routes', () => {
  test('pass method, query, headers and the untouched body, with the address of the connection only', async () => {
    const answer = await platform.ask('/publishing/open/x?a=1&a=2', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-odd',
        'x-client-address': '6.6.6.6',
        'x-forwarded-for': '7.7.7.7',
        'x-extra': 'kept',
        cookie: 'session=one',
        'x-request-id': 'request-1',
      },
      body: '{"not": json',
    })
    expect(answer.json).toMatchObject({ url: `${platform.origin}/publishing/open/x?a=1&a=2`, method: 'POST', body: '{"not": json' })
    expect(answer.json.headers).toMatchObject({
      'content-type': 'application/x-odd',
      'x-client-address': '127.0.0.1',
      'x-extra': 'kept',
      cookie: 'session=one',
      'x-request-id': 'request-1',
    })
  })

  test('believe a forwarding header only behind a proxy that is trusted', async () => {
    await using behind = await openRouter(schemaEngine(smallGraph()), { subgraphs: [echo, identity], tables, trustProxy: '127.0.0.1' })
    expect((await behind.ask('/publishing/open/x', { headers: { 'x-forwarded-for': '7.7.7.7' } })).json.headers['x-client-address']).toBe('7.7.7.7')
  })

  test('warn once when a proxy names callers and no proxy is trusted', async () => {
    await using alone = await openRouter(schemaEngine(smallGraph()), { subgraphs: [echo, identity], tables })
    await using behind = await openRouter(schemaEngine(smallGraph()), { subgraphs: [echo, identity], tables, trustProxy: true })
    const warnings = (lines: readonly string[]) => lines.filter(line => line.includes('TRUST_PROXY')).length
    await alone.ask('/health/live')
    expect(warnings(alone.lines)).toBe(0)
    for (const each of [alone, alone, behind]) await each.ask('/publishing/open/x', { headers: { 'x-forwarded-for': '7.7.7.7' } })
    expect([warnings(alone.lines), warnings(behind.lines)]).toEqual([1, 0])
  })

  test('without credentials never read any, not even wrong ones', async () => {
    const asked = platform.asked.cookie
    const wrong = [{ authorization: 'Bearer nonsense' }, { 'x-api-key': 'guess' }, { 'x-service-token': 'guess', 'x-app-id': 'a' }, { cookie: 'session=gone' }]
    for (const headers of wrong as Record<string, string>[]) expect((await platform.ask('/publishing/open/x', { headers })).json.viewer).toBe('anonymous')
    expect(platform.asked.cookie).toBe(asked)
  })

  test('answer with every Set-Cookie, redirects unfollowed, and streams as they come', async () => {
    const out = await platform.ask('/publishing/open/sign-out', { method: 'POST' })
    expect([out.status, out.headers.location, out.headers['set-cookie']]).toEqual([302, '/somewhere', ['a=1; Path=/', 'b=2; Path=/']])
    const stream = await platform.ask('/publishing/open/stream')
    expect([stream.text, stream.headers['content-type']]).toEqual(['one two', 'text/event-stream'])
    expect(
      Object.keys(stream.headers).filter(name => name.startsWith('access-control-')),
      'who may read it is the door’s to say',
    ).toEqual([])
  })

  test('with a scope require it of the caller', async () => {
    const guarded = (headers: Record<string, string>) => platform.ask('/publishing/guarded', { headers })
    expect((await guarded({})).json).toMatchObject({ status: 401, code: 'UNAUTHENTICATED', requiredScopes: [['publishing:posts.read']] })
    expect((await guarded({ authorization: `Bearer ${await platform.token('one')}` })).json).toMatchObject({ viewer: 'user' })
    platform.keys.set('hash of narrow', { keyId: 'n', organizationId: 'org-1', userId: null, rateLimit: 600, scopes: [], expiresAt: null })
    expect((await guarded({ 'x-api-key': 'narrow' })).json).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    const stale = await guarded({ cookie: 'session=gone' })
    expect([stale.status, stale.headers['set-cookie']?.length]).toEqual([401, 2])
  })

  test('reject a body over their limit, and methods other than theirs', async () => {
    expect((await platform.ask('/publishing/open/x', { method: 'POST', body: 'x'.repeat(1001) })).json).toMatchObject({ status: 413, code: 'BAD_USER_INPUT' })
    const answer = await platform.ask('/publishing/guarded', { method: 'DELETE' })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  test('that change sessions at identity clear the router’s cache: after a sign-out the next request is anonymous', async () => {
    platform.signIn('leaving')
    const headers = { authorization: `Bearer ${await platform.token('leaving')}` }
    expect((await platform.gql('{ hello }', headers)).status).toBe(200)
    platform.sessions.delete('leaving')
    const left = await platform.ask('/identity/sign-out', { method: 'POST' })
    expect(left.headers['cache-control'], 'what credentials make is one caller’s alone').toBe('no-store')
    expect((await platform.gql('{ hello }', headers)).status).toBe(401)
  })
})

describe('errors outside GraphQL', () => {
  test.each([
    ['/nowhere', {}, 404, 'NOT_FOUND'],
    ['/publishing/%E0%A4%A', {}, 400, 'BAD_USER_INPUT'],
    ['/publishing/open/crash', {}, 500, 'INTERNAL_SERVER_ERROR'],
  ])('%s is a problem with its code and request id', async (path, request, status, code) => {
    const answer = await platform.ask(path, request)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(answer.json).toMatchObject({
      type: 'about:blank',
      status,
      code,
      title: expect.any(String),
      detail: expect.any(String),
      requestId: expect.any(String),
    })
    expect(answer.text).not.toMatch(/stack|\.ts/)
  })

  test('contain the text of an internal error in development only', async () => {
    expect((await platform.ask('/publishing/open/crash')).json.detail).toBe('secret inside')
    for (const environment of ['staging', 'production'] as const) {
      await using other = await openRouter(schemaEngine(smallGraph()), { subgraphs: [echo, identity], tables, environment })
      expect((await other.ask('/publishing/open/crash')).text).not.toContain('secret inside')
    }
  })

  test('report that identity does not answer, where a route needs the caller', async () => {
    platform.signIn('never asked about before')
    const token = `Bearer ${await platform.token('never asked about before')}`
    platform.fail(true)
    const [guarded, open] = [await platform.ask('/publishing/guarded', { headers: { authorization: token } }), await platform.ask('/publishing/open/x')]
    platform.fail(false)
    expect([guarded.status, guarded.json]).toEqual([502, expect.objectContaining({ code: 'UPSTREAM_FAILED', service: 'identity' })])
    expect(open.status).toBe(200)
  })

  test('contain Retry-After where there is a time', async () => {
    const busy = await platform.ask('/publishing/open/busy')
    expect([busy.status, busy.headers['retry-after'], busy.json.retryAfter]).toEqual([429, '7', 7])
    expect((await platform.ask('/nowhere')).headers['retry-after']).toBeUndefined()
  })

  test('answers bytes that are no HTTP request, and closes the connection', async () => {
    const text = await new Promise<string>(resolve => {
      const socket = connect(platform.port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
      let all = ''
      socket.on('data', part => {
        all += part
      })
      socket.on('close', () => resolve(all))
    })
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*application\/problem\+json[\s\S]*"requestId"/)
  })
})

test('S-11 /health/live reports that the process answers, /health/ready that all its dependencies work', async () => {
  expect((await platform.ask('/health/live')).status).toBe(200)
  expect((await platform.ask('/health/ready')).json).toEqual({
    status: 'ready',
    checks: [
      { name: 'database', ready: true },
      { name: 'publishing', ready: true },
    ],
  })
  database.up = false
  const answer = await platform.ask('/health/ready')
  expect([answer.status, answer.json.code, answer.json.detail]).toEqual([503, 'NOT_READY', expect.stringContaining('database')])
  expect((await platform.ask('/health/live', { headers: { authorization: 'Bearer nonsense' } })).status).toBe(200)
  database.up = true
})

test.each(['127.0.0.1', '::1'])('a port that is taken on %s is an error with its code, and nothing stays half open', async host => {
  const holder = createServer()
  await new Promise<void>(resolve => holder.listen(0, host, resolve))
  const { port } = holder.address() as AddressInfo
  await expect(openRouter(schemaEngine(smallGraph()), { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  const other = createServer()
  await new Promise<void>((resolve, reject) => other.on('error', reject).listen(port, host === '::1' ? '127.0.0.1' : '::1', resolve))
  await Promise.all([holder, other].map(server => new Promise(resolve => server.close(resolve))))
})
