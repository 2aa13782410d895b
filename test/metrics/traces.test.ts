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
}

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
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? ''
          for (const each of scopeSpans) spans.push(...each.spans.map(span => ({ ...span, service })))
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
  // The demo has one of which nothing is sent that nobody has approved, too.
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
    () => ours().some(({ name }) => name.startsWith('POST ')) && ours().some(({ name }) => /^job /.test(name)),
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
  expect(ways).toContain('HTTP POST > mutation Publish > plan')
  expect(ways).toContain('HTTP POST > mutation Publish > fetch publishing > SQL')
  expect(ways).toContain('HTTP POST > mutation Publish > fetch identity > SQL')
  expect(ways.find(each => /^HTTP POST > .*job .* > POST /.test(each))).toBeDefined()
  for (const secret of ['swordfish', 'Bearer', 'eyJ']) expect(sink.text()).not.toContain(secret)

  const owner = await signIn(url!)
  expect(await begin(url!, owner.token, 'subscription Watch { widgetUpdated { app } }')).toBe(200)
  const began = () => sink.spans.filter(({ name }) => name === 'subscription Watch').map(span => way(sink.spans, span).join(' > '))
  await until('the subscription has come, and its request, which ends when its client leaves', () => began().includes('HTTP POST > subscription Watch'), 20)
}, 60_000)

/** Begins a subscription by server-sent events, and leaves. @returns its status */
async function begin(url: string, token: string, query: string): Promise<number> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` }
  const leaving = new AbortController()
  const { status } = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }), signal: leaving.signal })
  leaving.abort()
  return status
}

test('S-11 so does one through processes apart', async () => {
  await using sink = await collector()
  await using folder = newDataFolder()
  await using machine = await startMachine(folder, '', { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_TRACES_SAMPLER_ARG: '1' })
  const spans = await publish(machine.url, sink.spans)
  const ways = spans.map(span => way(spans, span).join(' > '))
  expect(ways).toContain('HTTP POST > mutation Publish > fetch publishing > HTTP POST > SQL')
  expect(ways.find(each => /^HTTP POST > .*job .* > POST /.test(each))).toBeDefined()
  expect(sink.text()).not.toContain('swordfish')
}, 90_000)

test('a collector that takes connections and says nothing holds up no end', async () => {
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

test('a span says below which other one it began, and the first below which one of the client’s', async () => {
  await using sink = await collector()
  const tracing = openTracing({ endpoint: sink.url, share: 1, service: 'test' })
  const request = tracing.begin('HTTP POST', 'server', traceparent)
  const operation = request.begin('query Feed', 'internal')
  for (const each of [operation.begin('SQL', 'client'), operation, request]) each.end()
  await tracing.close()
  expect(sink.spans.map(span => [span.traceId, way(sink.spans, span).join(' > ')])).toEqual([
    [traceId, 'HTTP POST > query Feed > SQL'],
    [traceId, 'HTTP POST > query Feed'],
    [traceId, 'HTTP POST'],
  ])
  expect(sink.spans.at(-1)!.parentSpanId).toBe('b7ad6b7169203331')
})

test('of what a span failed by its kind is told, and never its words', async () => {
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

test('which traces are kept follows from their ids alone: a caller who asks for all gets no more', async () => {
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

test('a trace that begins here has an id of its own, by which every process decides the same of it', () => {
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
