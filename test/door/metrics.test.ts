import Fastify from 'fastify'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { refusalOfThrown } from '../../router/door/errors.ts'
import { type Figure, registerFigures } from '../../router/metrics/figure.ts'
import { serveMetrics } from '../../router/metrics/metrics.ts'
import { openRegistry } from '../../router/metrics/process.ts'

const theToken = 'a token for the tests'

async function open(figures: readonly Figure[] = [], registry = new Registry(), token: string | null = theToken) {
  const app = Fastify()
  app.setErrorHandler((error, _request, reply) => reply.code(refusalOfThrown(error)?.status ?? 500).send())
  registerFigures(registry, figures)
  serveMetrics(app, { registry, token })
  app.get('/publishing/api/posts/:id', async () => 'a post')
  app.post('/graphql', async (_request, reply) => reply.code(400).send())
  const read = async (headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') => app.inject({ url: '/metrics', headers, remoteAddress })
  return { app, read, [Symbol.asyncDispose]: () => app.close() }
}

test('G-11 requests are counted by their class, never by paths that callers invent', async () => {
  await using door = await open()
  for (const url of ['/publishing/api/posts/1', '/publishing/api/posts/2', '/no/such/place']) await door.app.inject({ url })
  await door.app.inject({ url: '/graphql', method: 'POST' })
  const { body, headers } = await door.read()
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(body).toContain('http_requests_total{class="rest",method="GET",status="200"} 2')
  expect(body).toContain('http_requests_total{class="graphql",method="POST",status="400"} 1')
  expect(body).toContain('http_requests_total{class="none",method="GET",status="404"} 1')
  expect(body).toContain('http_request_duration_seconds_count{class="rest"} 2')
  expect(body).not.toContain('such')
})

test('a process reports its processor time, memory, heap, event loop and garbage collection', async () => {
  await using door = await open([], openRegistry())
  const { body } = await door.read()
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
    'nodejs_heap_size_used_bytes',
    'nodejs_external_memory_bytes',
    'nodejs_eventloop_lag_seconds',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_eventloop_utilization_ratio',
  ])
    expect(body).toMatch(new RegExp(`^${name} \\d`, 'm'))
  expect(body).toContain('# TYPE nodejs_gc_duration_seconds histogram')
  expect(body).toContain('nodejs_active_resources{type=')
})

test('reads figures when they are requested, and drops removed labels', async () => {
  let pools: readonly string[] = ['requests', 'jobs']
  await using door = await open([
    { name: 'db_pool_waiting', help: 'Who waits.', labels: ['pool'], read: () => pools.map((pool, value) => ({ labels: { pool }, value })) },
    { name: 'plans_total', help: 'Plans.', read: () => pools.length },
  ])
  expect((await door.read()).body).toContain('db_pool_waiting{pool="jobs"} 1')
  pools = ['requests']
  const { body } = await door.read()
  expect(body).not.toContain('pool="jobs"')
  expect(body).toMatch(/# TYPE plans_total counter\nplans_total 1\n/)
})

test('two applications of one process have separate counters', async () => {
  await using one = await open()
  await using other = await open()
  await one.app.inject({ url: '/publishing/api/posts/1' })
  expect((await other.read()).body).not.toContain('class="rest"')
})

test.each([
  ['this machine', {}, '127.0.0.1', 200],
  ['this machine by IPv6', {}, '::1', 200],
  ['this machine as IPv6 writes IPv4', {}, '::ffff:127.0.0.1', 200],
  ['this machine by its address', { host: '127.0.0.1:4000' }, '127.0.0.1', 200],
  ['this machine by its address of IPv6', { host: '[::1]:4000' }, '::1', 200],
  ['this machine by the name of a service', { host: 'publishing.localhost:4000' }, '127.0.0.1', 200],
  ['a page on this machine, by a name that was made to lead here', { host: 'page.example:4000' }, '127.0.0.1', 401],
  ['a page by a name that only looks like this machine’s', { host: '127.0.0.1.page.example' }, '127.0.0.1', 401],
  ['this machine by another name, with the token', { host: 'page.example', authorization: `Bearer ${theToken}` }, '127.0.0.1', 200],
  ['a proxy on this machine, for somebody', { 'x-forwarded-for': '203.0.113.7' }, '127.0.0.1', 401],
  ['a proxy on this machine that says so by its newer name', { forwarded: 'for=203.0.113.7' }, '127.0.0.1', 401],
  ['elsewhere', {}, '203.0.113.7', 401],
  ['an address that only begins like this machine’s', {}, '12.0.0.1', 401],
  ['elsewhere by IPv6', {}, '2001:db8::1', 401],
  ['elsewhere with the token', { authorization: `Bearer ${theToken}` }, '203.0.113.7', 200],
  ['elsewhere with the token and blanks around it, by the scheme in another case', { authorization: `BEARER   ${theToken}  ` }, '203.0.113.7', 200],
  ['a proxy with the token', { authorization: `Bearer ${theToken}`, 'x-forwarded-for': '203.0.113.7' }, '127.0.0.1', 200],
  ['elsewhere with the token by another scheme', { authorization: `Basic ${theToken}` }, '203.0.113.7', 401],
  ['elsewhere with another token', { authorization: 'Bearer another' }, '203.0.113.7', 401],
  ['this machine with another token', { authorization: 'Bearer another' }, '127.0.0.1', 401],
] as const)('%s', async (_who, headers, from, status) => {
  await using door = await open()
  expect((await door.read(headers, from)).statusCode).toBe(status)
})

test('without a token only this machine may read metrics, whatever the caller sends', async () => {
  await using door = await open([], undefined, null)
  expect((await door.read({ authorization: 'Bearer null' }, '203.0.113.7')).statusCode).toBe(401)
  expect((await door.read({ authorization: 'Bearer whatever' })).statusCode).toBe(200)
})

test('derives the class of a request from its route', async () => {
  await using door = await open()
  for (const path of ['/health/live', '/docs', '/publishing/api/:id/more', '/publishing/page', '/x/publishing/api/y']) door.app.get(path, async () => 'here')
  for (const url of ['/health/live', '/docs', '/publishing/api/1/more', '/publishing/page', '/x/publishing/api/y']) await door.app.inject({ url })
  await door.read()
  const { body } = await door.read()
  const counted = [...body.matchAll(/^http_requests_total\{class="(\w+)",method="GET",status="200"\} (\d+)$/gm)].map(([, kind, count]) => `${kind} ${count}`)
  expect(counted.sort()).toEqual(['health 1', 'metrics 1', 'page 3', 'rest 1'])
})
