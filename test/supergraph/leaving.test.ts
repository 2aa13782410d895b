import { randomBytes } from 'node:crypto'
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
async function replicas(count: number, drainMs: number) {
  const graph = opened.use(await supergraph())
  const key = { id: 'test', key: randomBytes(32) }
  const seals = rememberSeals(createSealReader({ audience: 'publishing', keys: [publicHalf(key)], clock: graph.clock }))
  const serve = () =>
    serveSubgraph({ subgraph: graph.platform.publishing, seals, host: '127.0.0.1', port: 0, publicUrl: '', readiness: [], log: graph.job.log, drainMs })
  const servers = await Promise.all(Array.from({ length: count }, serve))
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

test('a replica that stops says so: what is asked meanwhile another one answers, mutations too; streams end with an error and begin there', async () => {
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

test('a router that stops is not ready, and serves meanwhile; its clients come by another connection next time', async () => {
  const graph = opened.use(await supergraph())
  const port = await freePort()
  const router = await createRouter({
    engine: graph.platform.engine,
    authority: graph.platform.identity.authority,
    subgraphs: graph.platform.subgraphs,
    host: 'localhost',
    port,
    publicUrl: `http://localhost:${port}`,
    environment: 'development',
    clock: graph.clock,
    log: graph.job.log,
    readiness: [],
    drainMs: 2_000,
  })
  await router.listen()
  const url = `http://127.0.0.1:${port}`
  const ask = () => fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ __typename }"}' })
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
