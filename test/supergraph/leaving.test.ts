import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { parse } from 'graphql'
import { afterEach, expect, test } from 'vitest'
import { rememberSeals } from '../../router/apart/ask.ts'
import { serveSubgraph } from '../../router/apart/server.ts'
import type { Fetch, ResultStream } from '../../router/engine/engine.ts'
import { createRemoteTransport } from '../../router/engine/transport/remote.ts'
import { createSeal, publicHalf } from '../../router/engine/transport/seal.ts'
import { Work } from '../../router/engine/work.ts'
import { createRouter } from '../../router/router.ts'
import { createSealReader } from '../../subgraphs/seal.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { freePort } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'

let opened = new AsyncDisposableStack()
afterEach(async () => {
  const closing = opened
  opened = new AsyncDisposableStack()
  await closing.disposeAsync()
})

const fetchOf = (kind: Fetch['kind'], text: string): Fetch => ({ subgraph: 'publishing', document: parse(text), text, kind })

/** Publishing at several addresses, and a router's way to them. */
async function replicas(count: number, drainMs: number, firstIsAheadMs = 0) {
  const graph = opened.use(await supergraph())
  const key = { id: 'test', key: randomBytes(32) }
  const serve = (at: number) => {
    const clock = { now: () => new Date(graph.clock.now().getTime() + (at === 0 ? firstIsAheadMs : 0)) }
    const seals = rememberSeals(createSealReader({ audience: 'publishing', keys: [publicHalf(key)], clock }))
    return serveSubgraph({ subgraph: graph.platform.publishing, seals, host: '127.0.0.1', port: 0, publicUrl: '', readiness: [], log: graph.job.log, drainMs })
  }
  const servers = await Promise.all(Array.from({ length: count }, (_, at) => serve(at)))
  for (const server of servers) opened.defer(() => server.close())
  const url = servers.map(({ port }) => `http://127.0.0.1:${port}/graphql`)
  const transport = createRemoteTransport({ subgraphs: new Map([['publishing', { url }]]), seal: createSeal(key, graph.clock) })
  opened.defer(() => transport.close())
  const call = (viewer: Viewer, variables = {}) => ({
    variables,
    viewer,
    requestId: 'request',
    operation: new Work('request', undefined, undefined, () => performance.now()),
  })
  return { graph, servers, url, transport, call }
}

test('a stopping replica reports it: another one answers new requests, mutations too; streams end with an error and restart there', async () => {
  const { graph, servers, url, transport, call } = await replicas(2, 1_500)
  const { owner, brand } = await graph.seed.owner().brand()
  const subscribe = async () =>
    (await transport.subscribe(
      fetchOf('subscription', 'subscription($id: ID!) { postStatusChanged(brandId: $id) { id } }'),
      call(owner, { id: brand.id }),
    )) as ResultStream
  const streams = [await subscribe(), await subscribe()]
  const ends = streams.map(stream => stream.next())
  let closed = false
  const closing = servers[0]!.close().then(() => (closed = true))
  const create = fetchOf('mutation', 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }')
  let made = 0
  for (; !closed; made++) {
    const { errors } = await transport.fetch(create, call(owner, { input: { brandId: brand.id, platform: 'X', copy: `post ${made}` } }))
    expect(errors).toBe(undefined)
    if (made === 0) expect((await fetch(url[0]!.replace('/graphql', '/health/ready'))).status).toBe(503)
  }
  await closing
  expect(made).toBeGreaterThan(2)
  expect(await graph.rows('select id from publishing.posts')).toHaveLength(made)
  const first = await Promise.race(ends)
  expect(first.value.data ?? first.value.errors).toBeDefined()
  // Both begin anew at the one that is left.
  const again = [await subscribe(), await subscribe()]
  const events = again.map(stream => stream.next())
  await transport.fetch(create, call(owner, { input: { brandId: brand.id, platform: 'X', copy: 'told' } }))
  for (const event of events) expect((await event).value.data.postStatusChanged.id).toEqual(expect.any(String))
  for (const stream of [...streams, ...again]) await stream.return()
})

test.for([
  600_000, -600_000,
])('a replica whose clock is %d ms off does nothing for routers that it does not believe, and another one does all of it', async aheadMs => {
  const { graph, transport, call } = await replicas(2, 0, aheadMs)
  const { owner, brand } = await graph.seed.owner().brand()
  const create = fetchOf('mutation', 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }')
  for (let made = 0; made < 6; made++) {
    const { errors } = await transport.fetch(create, call(owner, { input: { brandId: brand.id, platform: 'X', copy: `post ${made}` } }))
    expect(errors).toBe(undefined)
  }
  expect(await graph.rows('select id from publishing.posts')).toHaveLength(6)
  const listened = fetchOf('subscription', 'subscription($id: ID!) { postStatusChanged(brandId: $id) { id } }')
  for (let stream = 0; stream < 3; stream++) {
    const begun = await transport.subscribe(listened, call(owner, { id: brand.id }))
    expect(Symbol.asyncIterator in begun).toBe(true)
    await (begun as ResultStream).return()
  }
})

/** Routers that listen on one port. */
async function routers(count: number, drainMs: number) {
  const graph = opened.use(await supergraph())
  const port = await freePort()
  const open = async () => {
    const router = await createRouter({
      engine: graph.platform.engine,
      authority: graph.platform.identity.authority,
      subgraphs: graph.platform.subgraphs,
      host: 'localhost',
      port,
      sharePort: count > 1,
      publicUrl: `http://localhost:${port}`,
      environment: 'development',
      clock: graph.clock,
      log: graph.job.log,
      readiness: [],
      drainMs,
    })
    await router.listen()
    opened.defer(() => router.close())
    return router
  }
  const url = `http://127.0.0.1:${port}`
  const ask = () => fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ __typename }"}' })
  return { port, url, ask, routers: [await open(), ...(await Promise.all(Array.from({ length: count - 1 }, open)))] as const }
}

test('a stopping router is not ready, and serves meanwhile; its clients use another connection next time', async () => {
  const {
    url,
    ask,
    routers: [router],
  } = await routers(1, 2_000)
  expect([(await fetch(`${url}/health/ready`)).status, (await ask()).headers.get('connection')]).toEqual([200, 'keep-alive'])
  const closing = router.close()
  const health = await fetch(`${url}/health/ready`)
  expect([health.status, await health.text()]).toEqual([503, expect.stringContaining('it is stopping')])
  const answer = await ask()
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  expect((await fetch(`${url}/health/live`)).status).toBe(200)
  await closing
  await expect(ask()).rejects.toThrow()
})

test('a stopping router leaves new connections to those that share its port, and continues to serve its own', async () => {
  const {
    port,
    ask,
    routers: [router],
  } = await routers(2, 2_000)
  const before = await Promise.all(Array.from({ length: 40 }, () => knock(port)))
  // Until it has been answered once, a connection may be one that only the kernel has taken.
  await Promise.all(before.map(wire => wire.ask()))
  const closing = router.close()
  const answers = await Promise.all(before.map(wire => wire.ask()))
  expect(new Set(answers.map(({ connection }) => connection))).toEqual(new Set(['keep-alive', 'close']))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const after = await Promise.all(Array.from({ length: 40 }, () => knock(port)))
  expect(new Set((await Promise.all(after.map(wire => wire.ask()))).map(({ connection }) => connection))).toEqual(new Set(['keep-alive']))
  await closing
  expect((await ask()).status).toBe(200)
})

test('a request in progress when the server closes is answered, and never with unavailable', async () => {
  const {
    port,
    routers: [router],
  } = await routers(1, 0)
  const wires = [await knock(port), await knock(port, '::1')]
  for (const wire of wires) await wire.begin()
  const closing = router.close()
  // By now nobody comes in any more.
  await expect
    .poll(() =>
      knock(port).then(
        () => true,
        () => false,
      ),
    )
    .toBe(false)
  for (const wire of wires) expect(await wire.end()).toEqual({ status: 200, connection: 'close' })
  await closing
})

/** A connection that is held, on which one request is sent. */
async function knock(port: number, host = '127.0.0.1') {
  const wire = connect(port, host)
  await new Promise((resolve, reject) => wire.once('connect', resolve).once('error', reject))
  opened.defer(() => void wire.destroy())
  let text = ''
  wire.on('data', chunk => (text += chunk))
  wire.on('error', () => {})
  const body = '{"query":"{ __typename }"}'
  const head = `POST /graphql HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n`
  const answer = async () => {
    await expect.poll(() => text.includes('\r\n\r\n') || wire.destroyed).toBe(true)
    return { status: Number(text.slice(9, 12)), connection: /^connection: (.*)\r$/im.exec(text)?.[1]?.toLowerCase() }
  }
  return {
    async ask() {
      text = ''
      wire.write(`${head}\r\n${body}`)
      return answer()
    },
    /** Sends a request and the first half of another: that one has been read when the first is answered. */
    async begin() {
      wire.write(`${head}\r\n${body}${head}`)
      expect((await answer()).status).toBe(200)
      text = ''
    },
    async end() {
      wire.write(`\r\n${body}`)
      return answer()
    },
  }
}
