import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSilent, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Tracing } from '../../platform/caller/trace.ts'
import { openTracing, readTraceparent } from '../../router/tracing/otlp.ts'
import { compose } from '../engine/supergraph-fixture.ts'
import { startMachine } from '../kit/apart.ts'
import { signIn } from '../kit/client.ts'
import { freePort, launch, launchPlatform, newDataFolder, platformEnvironment, readyLine, until } from '../kit/launch.ts'

interface SpanSeen {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  /** Of the process that sent it. */
  readonly instance: string
}

/** What a span notes, by name; a whole number is text on this wire, or a number. */
const notes = ({ attributes }: SpanSeen) => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** A collector that takes OTLP over HTTP, and all the text that came. */
async function collector() {
  const spans: SpanSeen[] = []
  let text = ''
  const server = createServer((request, response) => {
    let body = ''
    request
      .on('data', part => (body += part))
      .on('end', () => {
        text += body
        const { resourceSpans } = JSON.parse(body) as {
          resourceSpans: { resource: { attributes: { key: string; value: { stringValue?: string } }[] }; scopeSpans: { spans: SpanSeen[] }[] }[]
        }
        for (const { resource, scopeSpans } of resourceSpans) {
          const told = (name: string) => resource.attributes.find(({ key }) => key === name)?.value.stringValue ?? ''
          const [service, instance] = [told('service.name'), told('service.instance.id')]
          for (const each of scopeSpans) spans.push(...each.spans.map(span => ({ ...span, service, instance })))
        }
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => text,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

/** The names from a span up to the beginning of its trace. */
function way(spans: readonly SpanSeen[], last: SpanSeen): string[] {
  const above = spans.find(({ spanId }) => spanId === last.parentSpanId)
  return above ? [...way(spans, above), last.name] : [last.name]
}

/** Writes a post that is due at once, as part of the trace, and waits until all of that has come. */
async function publish(url: string, spans: readonly SpanSeen[]) {
  const owner = await signIn(url)
  const { viewer } = await owner.query<{ viewer: { organization: { brands: { nodes: { id: string; approvalMode: string }[] } } } }>(
    '{ viewer { organization { brands(first: 10) { nodes { id approvalMode } } } } }',
  )
  // The demo also has a brand that publishes only approved posts.
  const brand = viewer.organization.brands.nodes.find(({ approvalMode }) => approvalMode === 'NONE')!
  const query = 'mutation Publish($input: CreatePostInput!) { createPost(input: $input) { id author { name } } }'
  const input = { brandId: brand.id, platform: 'X', copy: 'swordfish is the word', scheduledAt: new Date(Date.now() + 2_000).toISOString() }
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${owner.token}`, traceparent },
    body: JSON.stringify({ query, variables: { input } }),
  })
  expect(await answer.json()).toMatchObject({ data: { createPost: { id: expect.any(String) } } })
  const ours = () => spans.filter(span => span.traceId === traceId)
  await until(
    'the outgoing call of the job has come',
    () => ours().some(({ name }) => name === 'POST') && ours().some(({ name }) => /^process /.test(name)),
    30,
  )
  return ours()
}

test('S-11 one trace leads from a request through operation, plan, fetches and statements, and through a job to the outgoing call', async () => {
  await using sink = await collector()
  await using folder = newDataFolder()
  const environment = { ...(await platformEnvironment(folder)), OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_SAMPLER_ARG: '1' }
  const [, url] = await launchPlatform({ ...environment, PUBLIC_URL: `http://localhost:${environment.PORT}` }).printed(readyLine)
  const spans = await publish(url!, sink.spans)
  const ways = spans.map(span => way(spans, span).join(' > '))
  expect(ways).toContain('POST /graphql > mutation Publish > plan')
  expect(ways).toContain('POST /graphql > mutation Publish > fetch publishing > INSERT posts')
  expect(ways).toContain('POST /graphql > mutation Publish > fetch identity > SELECT users')
  expect(ways.find(each => /^POST \/graphql > .*process .* > POST$/.test(each))).toBeDefined()
  expect(new Set(sink.spans.map(({ service }) => service))).toEqual(new Set(['supergraph']))
  const noted = (name: string) => notes(spans.find(span => span.name === name)!)
  expect(noted('POST /graphql')).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/graphql',
    'url.path': '/graphql',
    'http.response.status_code': 200,
    requestId: expect.any(String),
  })
  expect(noted('mutation Publish')).toMatchObject({ 'graphql.operation.name': 'Publish', 'graphql.operation.type': 'mutation' })
  expect(noted('fetch publishing')).toMatchObject({ subgraph: 'publishing', 'graphql.operation.type': 'mutation' })
  expect(noted('INSERT posts')).toMatchObject({
    'db.system.name': 'postgresql',
    'db.operation.name': 'INSERT',
    'db.collection.name': 'posts',
    'db.query.text': expect.stringMatching(/^insert into publishing\.posts .*\$1/s),
    subgraph: 'publishing',
  })
  expect(noted('POST')).toEqual({
    'http.request.method': 'POST',
    'server.address': 'localhost',
    'server.port': expect.any(Number),
    'http.response.status_code': expect.any(Number),
  })
  for (const secret of ['swordfish', 'Bearer', 'eyJ']) expect(sink.text()).not.toContain(secret)

  const owner = await signIn(url!)
  expect(await begin(url!, owner.token, 'subscription Watch { widgetUpdated { app } }')).toBe(200)
  const began = () => sink.spans.filter(({ name }) => name === 'subscription Watch').map(span => way(sink.spans, span).join(' > '))
  await until('the subscription has come, and its request, which ends when its client leaves', () => began().includes('POST /graphql > subscription Watch'), 20)

  const headers = { authorization: `Bearer ${owner.token}` }
  const paths = ['/publishing/api/brands/01890000-0000-7000-8000-000000000000', '/publishing/calendar/swordfish.ics', '/nothing/swordfish']
  for (const path of paths) await fetch(url! + path, { headers })
  const requests = () => sink.spans.filter(({ name, kind }) => kind === server && name.startsWith('GET')).map(span => [span.name, notes(span)['url.path']])
  await until('they have come', () => requests().length >= paths.length, 20)
  expect(requests()).toEqual(
    expect.arrayContaining([
      ['GET /publishing/api/brands/:brandId', paths[0]],
      // These paths contain secrets or caller input.
      ['GET /publishing/calendar/:token.ics', '/publishing/calendar/:token.ics'],
      ['GET', undefined],
    ]),
  )
  expect(sink.text()).not.toContain('swordfish')
}, 60_000)

/** The kind of spans that answer somebody, as the wire has it. */
const server = 2

/** Begins a subscription by server-sent events, and leaves. @returns its status */
async function begin(url: string, token: string, query: string): Promise<number> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` }
  const leaving = new AbortController()
  const { status } = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }), signal: leaving.signal })
  leaving.abort()
  return status
}

test('S-11 a trace continues through distributed processes', async () => {
  await using sink = await collector()
  await using folder = newDataFolder()
  await using machine = await startMachine(folder, '', { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_SAMPLER_ARG: '1' })
  const spans = await publish(machine.url, sink.spans)
  const ways = spans.map(span => way(spans, span).join(' > '))
  expect(ways).toContain('POST /graphql > mutation Publish > fetch publishing > POST /graphql > INSERT posts')
  expect(ways.find(each => /^POST \/graphql > .*process .* > POST$/.test(each))).toBeDefined()
  const instances = new Map(sink.spans.map(({ service, instance }) => [service, instance]))
  const services = ['supergraph-identity', 'supergraph-publishing', 'supergraph-router']
  expect([...instances.keys()]).toEqual(expect.arrayContaining(services))
  expect(new Set(services.map(service => instances.get(service))).size).toBe(services.length)
  const serviceOf = (name: string) => new Set(spans.filter(span => span.name === name).map(({ service }) => service))
  expect([serviceOf('mutation Publish'), serviceOf('INSERT posts')]).toEqual([new Set(['supergraph-router']), new Set(['supergraph-publishing'])])
  expect(sink.text()).not.toContain('swordfish')
}, 240_000)

test('a silent collector does not delay the process’s end', async () => {
  const sockets: Socket[] = []
  const server = createSilent(socket => sockets.push(socket.on('error', () => {}).resume())).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const folder = newDataFolder()
  try {
    const file = join(folder.path, 'supergraph.graphql')
    writeFileSync(file, compose({ lone: { sdl: 'type Query { hello: String }' } }))
    const port = String(await freePort())
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const router = launch(process.execPath, ['router/main.ts', 'router', '--supergraph', file, '--port', port], {
      npm_lifecycle_event: 'start',
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_TRACES_SAMPLER_ARG: '1',
    })
    const [, url] = await router.printed(readyLine)
    await fetch(`${url}?query={__typename}`, { headers: { 'content-type': 'application/json' } })
    await until('spans are on their way', () => sockets.length > 0)
    router.child.kill('SIGTERM')
    expect(await router.ended).toBe(0)
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
    await folder[Symbol.asyncDispose]()
  }
}, 60_000)

test('a span names its parent, and the first one the client’s span', async () => {
  await using sink = await collector()
  const tracing = openTracing({ endpoint: sink.url, share: 1, service: 'test' })
  const request = tracing.begin('POST /graphql', 'server', traceparent)
  const operation = request.begin('query Feed', 'internal')
  for (const each of [operation.begin('SELECT posts', 'client'), operation, request]) each.end()
  await tracing.close()
  expect(sink.spans.map(span => [span.traceId, way(sink.spans, span).join(' > ')])).toEqual([
    [traceId, 'POST /graphql > query Feed > SELECT posts'],
    [traceId, 'POST /graphql > query Feed'],
    [traceId, 'POST /graphql'],
  ])
  expect(sink.spans.at(-1)!.parentSpanId).toBe('b7ad6b7169203331')
})

test('a span records the kind of a failure, and never its message', async () => {
  await using sink = await collector()
  const tracing = openTracing({ endpoint: sink.url, share: 1, service: 'test' })
  const words = 'swordfish was the word'
  const failures = [
    new TypeError(words),
    Object.assign(new Error(words), { code: 'ECONNREFUSED' }),
    Object.assign(new Error(words), { code: 'OTHER', extensions: { code: 'NOT_FOUND' } }),
    words,
    null,
  ]
  for (const failure of failures) tracing.begin('one', 'server', undefined).end({}, failure)
  await tracing.close()
  const kinds = [...sink.text().matchAll(/"key":"error.type","value":\{"stringValue":"([^"]*)"\}/g)].map(([, kind]) => kind)
  expect(kinds).toEqual(['TypeError', 'ECONNREFUSED', 'NOT_FOUND', 'Error', 'Error'])
  expect(sink.text()).not.toContain('swordfish')
})

test('samples traces by their ids only: a caller that requests sampling gets no more', async () => {
  const tracing = openTracing({ endpoint: 'http://127.0.0.1:9', share: 0.1, service: 'test' })
  let kept = 0
  for (let number = 0; number < 1000; number++) {
    const id = [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('')
    const span = tracing.begin('one', 'server', `00-${id}-b7ad6b7169203331-01`)
    expect(span.traceparent).toContain(id)
    if (span.kept) kept++
  }
  expect(kept).toBeGreaterThan(50)
  expect(kept).toBeLessThan(160)
})

test('a new trace has a random id, by which every process decides the same on sampling', () => {
  const [one, other] = [0, 1].map(() => openTracing({ endpoint: 'http://127.0.0.1:9', share: 0.1, service: 'test' })) as [Tracing, Tracing]
  const spans = Array.from({ length: 2000 }, () => one.begin('one', 'server', undefined))
  const read = spans.map(span => readTraceparent(span.traceparent)!)
  expect(new Set(read.map(({ traceId }) => traceId)).size).toBe(2000)
  for (const [index, { kept, traceparent }] of spans.entries()) {
    expect(read[index]!.traceFlags).toBe(kept ? 1 : 0)
    expect(spans[index]!.traceparent).toBe(traceparent)
    const next = other.begin('next', 'server', traceparent)
    expect([next.kept, readTraceparent(next.traceparent)?.traceId]).toEqual([kept, read[index]!.traceId])
  }
  const kept = spans.filter(span => span.kept).length
  expect(kept).toBeGreaterThan(120)
  expect(kept).toBeLessThan(300)
})

test.each([
  [traceparent, traceId],
  ['00-00000000000000000000000000000000-b7ad6b7169203331-01', undefined],
  [`ff-${traceId}-b7ad6b7169203331-01`, undefined],
  [`00-${traceId}-b7ad6b7169203331-01\r\nx: y`, undefined],
  [undefined, undefined],
])('%s leads to the trace %s', (written, found) => expect(readTraceparent(written)?.traceId).toBe(found))
