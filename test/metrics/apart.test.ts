import { Counter, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { serveSubgraph } from '../../router/apart/server.ts'
import { supergraph } from '../kit/supergraph.ts'

const token = 'a token for the tests'

test('S-11 the process of a distributed subgraph serves its figures to its own machine and to callers with the token', async () => {
  await using graph = await supergraph()
  const registry = new Registry()
  new Counter({ name: 'things_total', help: 'Things.', registers: [registry] }).inc(3)
  const served = await serveSubgraph({
    subgraph: graph.platform.payments,
    seals: { read: () => Promise.reject(new Error('nobody shows a seal here')), streaming: () => Promise.reject(new Error('nor here')) } as never,
    host: '127.0.0.1',
    port: 0,
    publicUrl: graph.publicUrl,
    readiness: [],
    metrics: { registry, token },
    log: graph.job.log,
  })
  await using _ = { [Symbol.asyncDispose]: () => served.close() }
  const read = (headers: Record<string, string> = {}) => fetch(`http://127.0.0.1:${served.port}/metrics`, { headers })
  const answer = await read()
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await answer.text()).toContain('things_total 3')
  expect((await read({ 'x-forwarded-for': '203.0.113.7' })).status).toBe(401)
  expect((await read({ 'x-forwarded-for': '203.0.113.7', authorization: `Bearer ${token}` })).status).toBe(200)
  expect((await read({ authorization: 'Bearer another' })).status).toBe(401)
})
