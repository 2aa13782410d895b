import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createMemoryEvents } from '../../platform/events.ts'
import { smallGraph } from '../door/graph.ts'
import { openRouter, schemaEngine } from '../door/platform.ts'

test.each([
  'text/event-stream',
  'multipart/mixed;subscriptionSpec="1.0", application/json',
])('S-11 a stream (%s) that its client leaves, as most end, has its line in the log and counts once, like any other request', async accept => {
  const metrics = new Registry()
  const platform = await openRouter(schemaEngine(smallGraph(createMemoryEvents())), { metrics })
  await using _ = { [Symbol.asyncDispose]: () => platform.close() }
  const leaving = new AbortController()
  const { status } = await fetch(`${platform.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query: 'subscription { tick }' }),
    signal: leaving.signal,
  })
  expect(status).toBe(200)
  leaving.abort()
  const lines = () => platform.lines.map(line => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === 'answered')
  await expect.poll(lines).toEqual([expect.objectContaining({ route: '/graphql', method: 'POST', status: 200 })])
  expect(await metrics.metrics()).toMatch(/^http_requests_total\{class="graphql",method="POST",status="200"\} 1$/m)

  // A stream that ends normally counts once, too.
  await platform.gql('{ hello }')
  await expect.poll(() => lines().length).toBe(2)
  expect(await metrics.metrics()).toMatch(/^http_requests_total\{class="graphql",method="POST",status="200"\} 2$/m)
})
