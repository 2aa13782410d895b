import { expect, test } from 'vitest'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { answerOf, until } from '../supergraph-fixture.ts'
import { events, shop } from './parts.ts'
import { type RemoteGraph, remoteGraph } from './remote-graph.ts'

async function open(graph: RemoteGraph, source: string, headers: Record<string, string> = {}): Promise<ResultStream> {
  const stream = await graph.subscribe(source, {}, { headers })
  if (Symbol.asyncIterator in stream) return stream
  throw new Error(JSON.stringify(stream))
}

const listening = () => until(() => events.listenerCount() > 0)

test('completes an event of a remote subgraph by the other subgraphs', async () => {
  await using graph = await remoteGraph(shop)
  const stream = await open(graph, 'subscription { renamed { name count } }')
  await listening()
  events.announce('renamed', { id: 'p1' })
  expect(answerOf((await stream.next()).value).data).toEqual({ renamed: { name: 'new p1', count: 2 } })
  await stream.return()
  await until(() => events.listenerCount() === 0)
})

test('completes an event an hour after the stream was opened within its own time', async () => {
  let hours = 0
  await using graph = await remoteGraph(shop, { now: () => performance.now() + hours * 3_600_000 })
  const stream = await open(graph, 'subscription { renamed { name count } }')
  await listening()
  hours++
  events.announce('renamed', { id: 'p1' })
  expect(answerOf((await stream.next()).value)).toMatchObject({ data: { renamed: { name: 'new p1', count: 2 } } })
  await stream.return()
})

test('return() ends the upstream at once, although no event comes', async () => {
  await using graph = await remoteGraph(shop)
  const stream = await open(graph, 'subscription { renamed { name } }')
  await listening()
  const pending = stream.next()
  await stream.return()
  expect(await pending).toEqual({ value: undefined, done: true })
  await until(() => events.listenerCount() === 0)
  await until(() => graph.servers.catalogue!.connections.size === 0)
})

test('sends passed headers in the upgrade and in connection_init', async () => {
  await using graph = await remoteGraph(shop, { headers: [{ name: 'x-tenant' }] })
  const stream = await open(graph, 'subscription { renamed { name } }', { 'x-tenant': 't1', authorization: 'Bearer abc' })
  const [{ payload, headers }] = graph.servers.catalogue!.connected as [{ payload: unknown; headers: Record<string, string> }]
  expect(payload).toEqual({ 'x-request-id': 'request-1', 'x-tenant': 't1' })
  expect([headers['x-tenant'], headers.authorization]).toEqual(['t1', undefined])
  await stream.return()
})

test('a stream that the subgraph ends normally ends without an error', async () => {
  await using graph = await remoteGraph(shop)
  const stream = await open(graph, 'subscription { twice }')
  const results = [await stream.next(), await stream.next(), await stream.next()]
  expect(results.map(({ value }) => value && answerOf(value).data)).toEqual([{ twice: 1 }, { twice: 2 }, undefined])
  expect(results[2]!.done).toBe(true)
})

test('a subscription that the subgraph rejects ends with its reason', async () => {
  await using graph = await remoteGraph(shop)
  const stream = await open(graph, 'subscription { picky(at: "then") }')
  const { errors } = answerOf((await stream.next()).value)
  expect(errors![0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT', service: 'catalogue' } })
  expect((await stream.next()).done).toBe(true)
})

test('rejects the subscription with UPSTREAM_FAILED when a subgraph is down', async () => {
  await using graph = await remoteGraph(shop)
  await graph.servers.catalogue!.stop()
  const refused = await graph.subscribe('subscription { renamed { name } }')
  expect(Symbol.asyncIterator in refused).toBe(false)
  expect(answerOf(refused as never)).toMatchObject({ data: { renamed: null }, errors: [{ extensions: { code: 'UPSTREAM_FAILED', service: 'catalogue' } }] })
})

test('a connection that breaks ends the stream with an error', async () => {
  await using graph = await remoteGraph(shop)
  const stream = await open(graph, 'subscription { renamed { name } }')
  await listening()
  const pending = stream.next()
  for (const socket of graph.servers.catalogue!.connections) socket.destroy()
  expect(answerOf((await pending).value).errors![0]!.extensions).toMatchObject({ code: 'UPSTREAM_FAILED', service: 'catalogue' })
  expect((await stream.next()).done).toBe(true)
  expect(graph.servers.catalogue!.connected).toHaveLength(1)
  await until(() => events.listenerCount() === 0)
})

test('ends the stream with an error when too many events wait unread', async () => {
  await using graph = await remoteGraph(shop)
  const stream = await open(graph, 'subscription { endless }')
  await until(() => graph.servers.catalogue!.connections.size === 0)
  let last = await stream.next()
  let count = 0
  while (!last.done && !last.value.errors) {
    count++
    last = await stream.next()
  }
  expect(count).toBe(1000)
  expect(answerOf(last.value).errors![0]!.extensions).toMatchObject({ code: 'UPSTREAM_FAILED' })
})
