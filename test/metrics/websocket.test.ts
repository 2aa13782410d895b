import { createClient } from 'graphql-ws'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { causeNow } from '../../platform/caller/cause.ts'
import { type Span, traceparentNow } from '../../platform/caller/trace.ts'
import { createMemoryEvents } from '../../platform/events.ts'
import { measureOperations } from '../../router/metrics/operations.ts'
import { smallGraph } from '../door/graph.ts'
import { openRouter, schemaEngine } from '../door/platform.ts'

class NamedSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { headers: { 'apollographql-client-name': 'app', 'apollographql-client-version': '3' } })
  }
}

class TracedSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { headers: { 'apollographql-client-name': 'app', 'apollographql-client-version': '3', traceparent: 'of the client' } })
  }
}

test('S-11 a WebSocket operation is counted, and has a log line with its name, client and errors', async () => {
  const metrics = new Registry()
  const platform = await openRouter(measureOperations(metrics).watchEngine(schemaEngine(smallGraph(createMemoryEvents()))), { metrics })
  await using _ = { [Symbol.asyncDispose]: () => platform.close() }
  const client = createClient({ url: `ws://127.0.0.1:${platform.port}/graphql`, webSocketImpl: NamedSocket })
  for await (const _ of client.iterate({ query: 'query Who { viewer { kind } }' }));
  await expect(
    client.iterate({ query: 'query Nothing($secret: String) { nothing(secret: $secret) }', variables: { secret: 'swordfish' } }).next(),
  ).rejects.toBeDefined()
  const ticks = client.iterate({ query: 'subscription Ticks { tick }' })
  void ticks.next()
  const lines = () => platform.lines.map(line => JSON.parse(line)).filter(({ door }) => door === 'websocket')
  await expect.poll(lines).toHaveLength(2)
  expect(lines()).toMatchObject([
    { msg: 'answered', operation: 'Who', client: 'app@3', requestId: expect.any(String), ms: expect.any(Number) },
    { msg: 'answered', operation: 'Ticks', client: 'app@3', requestId: expect.any(String) },
  ])
  const text = await (await fetch(`${platform.url}/metrics`)).text()
  expect(text).toContain('supergraph_operations_total{operation="Who",type="query",client="app",outcome="success"} 1')
  expect(text).toContain('supergraph_operations_total{operation="Ticks",type="subscription",client="app",outcome="success"} 1')
  expect(text).toContain('supergraph_errors_total{code="GRAPHQL_VALIDATION_FAILED"} 1')
  expect(text).toMatch(/^supergraph_subscriptions\{operation="\w+"\} 1$/m)
  expect(platform.lines.join('')).not.toContain('swordfish')
  await client.dispose()
})

test('S-11 a WebSocket operation is a trace of its own, which may continue that of the upgrade’s header', async () => {
  const begun: unknown[] = []
  let ended = 0
  const span: Span = { traceparent: 'the trace', kept: false, begin: () => span, end: () => void ended++ }
  const tracing = {
    begin(name: string, _kind: string, traceparent: unknown) {
      begun.push([name, traceparent])
      return span
    },
    close: async () => {},
  }
  const inside: unknown[] = []
  const engine = schemaEngine(smallGraph(createMemoryEvents()))
  const looking = {
    ...engine,
    execute(request: Parameters<typeof engine.execute>[0]) {
      inside.push([traceparentNow(), causeNow()?.client])
      return engine.execute(request)
    },
  }
  const platform = await openRouter(looking, { tracing })
  await using _ = { [Symbol.asyncDispose]: () => platform.close() }
  const client = createClient({ url: `ws://127.0.0.1:${platform.port}/graphql`, webSocketImpl: TracedSocket })
  for await (const _ of client.iterate({ query: 'query Who { viewer { kind } }' }));
  expect(begun).toEqual([['query Who', 'of the client']])
  expect(inside).toEqual([['the trace', 'app@3']])
  expect(ended).toBe(1)
  await client.dispose()
})
