import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { until } from '../supergraph-fixture.ts'
import { shop } from './parts.ts'
import { type Fault, remoteGraph } from './remote-graph.ts'

describe('a connection that breaks', () => {
  const once = (fault: Fault): Fault => {
    let done = false
    return (request, response, body) => {
      if (!done) {
        done = true
        return fault(request, response, body)
      }
      response.end('{"data":{"name":"second attempt","rename":{"id":"p1"}}}')
    }
  }
  const cut: Fault = request => void request.socket.destroy()

  test('before an answer lets a query be repeated once', async () => {
    await using graph = await remoteGraph(shop)
    graph.servers.catalogue!.fault = once(cut)
    expect((await graph.run('{ name }')).data).toEqual({ name: 'second attempt' })
    expect(graph.servers.catalogue!.asked).toHaveLength(2)
  })

  test('twice is not tried a third time', async () => {
    await using graph = await remoteGraph(shop)
    graph.servers.catalogue!.fault = cut
    expect((await graph.run('{ name }')).data).toEqual({ name: null })
    expect(graph.servers.catalogue!.asked).toHaveLength(2)
  })

  test('within an answer lets nothing be repeated', async () => {
    await using graph = await remoteGraph(shop)
    graph.servers.catalogue!.fault = once((_request, response) => {
      response.writeHead(200, { 'content-length': '99' })
      response.write('{', () => response.socket!.destroy())
    })
    expect((await graph.run('{ name }')).data).toEqual({ name: null })
    expect(graph.servers.catalogue!.asked).toHaveLength(1)
  })

  test('never lets a mutation that was sent be repeated', async () => {
    await using graph = await remoteGraph(shop)
    graph.servers.catalogue!.fault = once(cut)
    expect((await graph.run('mutation { rename(id: "p1", name: "x") { id } }')).data).toEqual({ rename: null })
    expect(graph.servers.catalogue!.asked).toHaveLength(1)
  })

  test('while it is idle affects no mutation', async () => {
    await using graph = await remoteGraph(shop)
    const { catalogue } = graph.servers
    await graph.run('{ name }')
    for (const socket of catalogue!.connections) socket.end()
    await until(() => catalogue!.connections.size === 0)
    expect((await graph.run('mutation { rename(id: "p1", name: "x") { id } }')).data).toEqual({ rename: { id: 'p1' } })
  })
})

test('keeps connections, up to the maximum', async () => {
  await using graph = await remoteGraph(shop, { connections: 3 })
  const { catalogue } = graph.servers
  let most = 0
  catalogue!.fault = async (_request, response) => {
    most = Math.max(most, catalogue!.connections.size)
    await wait(5)
    response.end('{"data":{"name":"x"}}')
  }
  const answers = await Promise.all(Array.from({ length: 30 }, () => graph.run('{ name }')))
  expect(answers.every(({ data }) => data.name === 'x')).toBe(true)
  expect(most).toBe(3)
  expect(catalogue!.connections.size).toBe(3)
})

describe('the time limit', () => {
  test('applies to one subgraph', async () => {
    await using graph = await remoteGraph(shop, { timeoutMs: 100 })
    graph.servers.stock!.fault = () => {}
    const began = performance.now()
    const answer = await graph.run('{ name total }')
    expect(answer.data).toEqual({ name: 'catalogue', total: null })
    expect(performance.now() - began).toBeLessThan(1000)
    await until(() => graph.servers.stock!.abandoned === 1)
    expect(graph.servers.stock!.asked).toHaveLength(1)
  })

  test('applies to one operation over all its fetches', async () => {
    await using graph = await remoteGraph(shop, { timeoutMs: 5000, operationTimeoutMs: 150 })
    graph.servers.stock!.fault = () => {}
    const began = performance.now()
    const answer = await graph.run('{ products { name count } }')
    expect(answer.data.products[0]).toEqual({ name: 'Pen', count: null })
    expect(performance.now() - began).toBeLessThan(1000)
  })

  test('is not used up for a caller who left: the connection is cut, and nothing is logged as a failure', async () => {
    await using graph = await remoteGraph(shop)
    const { catalogue } = graph.servers
    catalogue!.fault = () => {}
    const leaving = new AbortController()
    const answering = graph.run('{ name }', {}, { signal: leaving.signal })
    await until(() => catalogue!.asked.length === 1)
    leaving.abort()
    expect((await answering).errors![0]!.extensions).toMatchObject({ code: 'UPSTREAM_FAILED' })
    await until(() => catalogue!.abandoned === 1)
    expect(graph.logged).toEqual([])
  })
})

describe('headers of the client', () => {
  const sent = { authorization: 'Bearer abc', 'x-tenant': 't1', cookie: 'a=b', connection: 'keep-alive' }

  test('do not pass unless a rule lets them', async () => {
    await using graph = await remoteGraph(shop)
    await graph.run('{ name }', {}, { headers: sent })
    const { headers } = graph.servers.catalogue!.asked[0]!
    expect([headers.authorization, headers['x-tenant'], headers.cookie]).toEqual([undefined, undefined, undefined])
  })

  test('pass to the subgraphs that a rule names', async () => {
    await using graph = await remoteGraph(shop, { headers: [{ name: 'authorization', to: ['stock'] }, { name: 'x-tenant' }] })
    await graph.run('{ products { count } }', {}, { headers: sent })
    expect(graph.servers.catalogue!.asked[0]!.headers).toMatchObject({ 'x-tenant': 't1' })
    expect(graph.servers.catalogue!.asked[0]!.headers.authorization).toBeUndefined()
    expect(graph.servers.stock!.asked[0]!.headers).toMatchObject({ authorization: 'Bearer abc', 'x-tenant': 't1' })
  })

  test('pass once, though two rules name them, and not if the client declares them for its connection', async () => {
    await using graph = await remoteGraph(shop, { headers: [{ name: 'x-tenant' }, { name: 'x-tenant', to: ['catalogue'] }, { name: 'x-other' }] })
    await graph.run('{ name }', {}, { headers: { 'x-tenant': 't1', 'x-other': 'o1', connection: 'close, X-Other' } })
    const { headers } = graph.servers.catalogue!.asked[0]!
    expect([headers['x-tenant'], headers['x-other']]).toEqual(['t1', undefined])
  })

  test('cannot identify the caller: the seal is the router’s, whatever the client sends', async () => {
    const sent = { headers: { 'x-viewer-seal': 'forged', 'x-tenant': 't1' } }
    await using open = await remoteGraph(shop, { headers: [{ name: 'x-tenant' }] })
    await open.run('{ name }', {}, sent)
    expect(open.servers.catalogue!.asked[0]!.headers['x-viewer-seal']).toBeUndefined()
    await using graph = await remoteGraph(shop, { seal: async (_viewer, subgraph) => `for ${subgraph}` })
    await graph.run('{ name total }', {}, sent)
    expect(graph.servers.catalogue!.asked[0]!.headers['x-viewer-seal']).toBe('for catalogue')
    expect(graph.servers.stock!.asked[0]!.headers['x-viewer-seal']).toBe('for stock')
  })

  test.for([
    'connection',
    'host',
    'content-length',
    'transfer-encoding',
    'sec-websocket-key',
    'x-viewer-seal',
    'x-request-id',
    'X-Tenant',
    'a b',
    '',
  ])('cannot pass by the name %s', async name => {
    await expect(remoteGraph(shop, { headers: [{ name }] })).rejects.toThrow(/header/)
  })
})

describe('equal queries at the same time', () => {
  const slow: Fault = async (_request, response) => {
    await wait(30)
    response.end('{"data":{"name":"x","rename":{"id":"p1"},"products":[{"__typename":"Product","id":"p1"}]}}')
  }
  const many = (run: (turn: number) => Promise<unknown>) => Promise.all(Array.from({ length: 5 }, (_, turn) => run(turn)))

  test('are each sent unless de-duplication is on', async () => {
    await using graph = await remoteGraph(shop)
    graph.servers.catalogue!.fault = slow
    await many(() => graph.run('{ name }'))
    expect(graph.servers.catalogue!.asked).toHaveLength(5)
  })

  test('are sent once with de-duplication; a later one is sent again', async () => {
    await using graph = await remoteGraph(shop, { deduplicate: true })
    graph.servers.catalogue!.fault = slow
    await many(() => graph.run('{ name }'))
    expect(graph.servers.catalogue!.asked).toHaveLength(1)
    await graph.run('{ name }')
    expect(graph.servers.catalogue!.asked).toHaveLength(2)
  })

  test('receive answers without shared objects', async () => {
    await using graph = await remoteGraph(shop, { deduplicate: true })
    graph.servers.catalogue!.fault = slow
    const [first, second] = (await many(() => graph.run('{ products { id count } }'))) as { data: { products: { count: number }[] } }[]
    expect(first!.data.products[0]!.count).toBe(2)
    expect(second!.data.products[0]).not.toBe(first!.data.products[0])
  })

  test('are each sent when variables, a passed header, or a sealed viewer differ; and mutations always', async () => {
    await using graph = await remoteGraph(shop, { deduplicate: true, headers: [{ name: 'x-tenant' }], seal: async () => 'sealed' })
    const { asked } = graph.servers.catalogue!
    graph.servers.catalogue!.fault = slow
    await many(turn => graph.run('query ($id: ID!) { product(id: $id) { id } }', { id: `p${turn}` }))
    expect(asked.splice(0)).toHaveLength(5)
    await many(turn => graph.run('{ name }', {}, { headers: { 'x-tenant': `t${turn}` } }))
    expect(asked.splice(0)).toHaveLength(5)
    await many(turn => graph.run('{ name }', {}, { viewer: { ...anonymous, userId: `u${turn}` } }))
    expect(asked.splice(0)).toHaveLength(5)
    await many(() => graph.run('mutation { rename(id: "p1", name: "x") { id } }'))
    expect(asked).toHaveLength(5)
  })

  test('are not ended when one caller leaves', async () => {
    await using graph = await remoteGraph(shop, { deduplicate: true })
    const { catalogue } = graph.servers
    catalogue!.fault = slow
    const leaving = new AbortController()
    const one = graph.run('{ name }', {}, { signal: leaving.signal })
    const other = graph.run('{ name }')
    await until(() => catalogue!.asked.length === 1)
    leaving.abort()
    expect((await other).data).toEqual({ name: 'x' })
    expect((await one).errors).toHaveLength(1)
    expect(catalogue!.asked).toHaveLength(1)
  })
})
