import { getEventListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { type ExecutionResult, parse, subscribe } from 'graphql'
import { createHandler } from 'graphql-sse/lib/use/http'
import { describe, expect, test } from 'vitest'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { openStreamAgent, subscribeOverHttp } from '../../../router/engine/transport/streams/http.ts'
import { answerOf, schemaOf, until } from '../supergraph-fixture.ts'
import { events, shop } from './parts.ts'
import { type Fault, type RemoteGraph, remoteGraph } from './remote-graph.ts'

const schema = schemaOf(shop.catalogue)
const isSubscription = (body: string) => /^\s*subscription\b/.test(JSON.parse(body).query)

/** Answers subscriptions by graphql-sse's own server. */
const overEvents: Fault = async (request, response, body) => {
  // It reads the body itself, which has been read here.
  const { method, url, headers } = request
  const asked = Object.assign(Readable.from([body]), { method, url, headers }) as unknown as IncomingMessage
  // Its writes fail once the connection is cut.
  await createHandler({ schema })(asked, response).catch(() => {})
}

/** Answers subscriptions as Apollo Router does: the delimiter follows each part, and an empty part is a sign of life. */
const overParts: Fault = async (_, response, body) => {
  const { query, variables } = JSON.parse(body)
  const stream = await subscribe({ schema, document: parse(query), variableValues: variables })
  if (!(Symbol.asyncIterator in stream)) return void response.setHeader('content-type', 'application/json').end(JSON.stringify(stream))
  response.writeHead(200, { 'content-type': 'multipart/mixed; boundary="graphql"; subscriptionSpec=1.0' })
  response.once('close', () => void stream.return?.())
  const part = (value: object) => response.write(`content-type: application/json\r\n\r\n${JSON.stringify(value)}\r\n--graphql`)
  response.write('\r\n--graphql\r\n')
  part({})
  for await (const payload of stream as AsyncGenerator<ExecutionResult>) {
    response.write('\r\n')
    part({ payload })
  }
  response.end('--\r\n')
}

/** A graph whose catalogue streams over HTTP. @param fault answers its subscriptions */
async function graphWith(subscriptions: 'sse' | 'multipart', fault: Fault = subscriptions === 'sse' ? overEvents : overParts) {
  const graph = await remoteGraph(shop, { subscriptions })
  const asked: IncomingMessage['headers'][] = []
  graph.servers.catalogue!.fault = (request, response, body) => {
    asked.push(request.headers)
    if (isSubscription(body)) return fault(request, response, body)
    response.setHeader('content-type', 'application/json').end('{"data":null}')
  }
  return Object.assign(graph, { asked })
}

async function open(graph: RemoteGraph, source: string, more = {}): Promise<ResultStream> {
  const stream = await graph.subscribe(source, {}, more)
  if (Symbol.asyncIterator in stream) return stream
  throw new Error(JSON.stringify(stream))
}

describe.each(['sse', 'multipart'] as const)('subscriptions over %s', form => {
  test('bring events, completed by other subgraphs, with passed headers', async () => {
    await using graph = await graphWith(form)
    const stream = await open(graph, 'subscription { renamed { name count } }', { headers: { 'x-tenant': 't1' } })
    await until(() => events.listenerCount() > 0)
    for (const id of ['p1', 'p2']) {
      events.announce('renamed', { id })
      expect(answerOf((await stream.next()).value).data).toEqual({ renamed: { name: `new ${id}`, count: 2 } })
    }
    expect(graph.asked[0]).toMatchObject({ 'content-type': 'application/json', 'x-request-id': 'request-1' })
    expect(graph.asked[0]!.accept).toContain(form === 'sse' ? 'text/event-stream' : 'multipart/mixed;subscriptionSpec="1.0"')
    await stream.return()
    await until(() => events.listenerCount() === 0)
  })

  test('end at once when their reader leaves, although no event comes', async () => {
    await using graph = await graphWith(form)
    const stream = await open(graph, 'subscription { renamed { name } }')
    await until(() => events.listenerCount() > 0)
    const pending = stream.next()
    await stream.return()
    expect(await pending).toEqual({ value: undefined, done: true })
    await until(() => events.listenerCount() === 0)
    await until(() => graph.servers.catalogue!.connections.size === 0)
  })

  test('end without an error where the subgraph ends them', async () => {
    await using graph = await graphWith(form)
    const stream = await open(graph, 'subscription { twice }')
    const results = [await stream.next(), await stream.next(), await stream.next()]
    expect(results.map(({ value }) => value && answerOf(value).data)).toEqual([{ twice: 1 }, { twice: 2 }, undefined])
    expect(results[2]!.done).toBe(true)
  })

  test('that are cut off end with an error, and are lost', async () => {
    await using graph = await graphWith(form)
    const stream = await open(graph, 'subscription { renamed { name } }')
    await until(() => events.listenerCount() > 0)
    events.announce('renamed', { id: 'p1' })
    expect(answerOf((await stream.next()).value).data).toEqual({ renamed: { name: 'new p1' } })
    for (const socket of graph.servers.catalogue!.connections) socket.destroy()
    expect(answerOf((await stream.next()).value).errors![0]).toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
    expect((await stream.next()).done).toBe(true)
  })

  test('whose events nobody reads end with an error, in bounded memory', async () => {
    await using graph = await graphWith(form)
    const stream = await open(graph, 'subscription { endless }')
    await until(() => graph.servers.catalogue!.connections.size === 0)
    let last: ExecutionResult | undefined
    let count = 0
    for (let each = await stream.next(); !each.done; each = await stream.next()) [last, count] = [each.value, count + 1]
    expect(count).toBeLessThan(1100)
    expect(answerOf(last!).errors![0]).toMatchObject({ message: expect.stringContaining('faster'), extensions: { code: 'UPSTREAM_FAILED' } })
  })

  test.for<[string, (response: ServerResponse) => void, object]>([
    ['a rejection', response => response.end('{"errors":[{"message":"no such moment"}]}'), { code: 'BAD_USER_INPUT' }],
    ['a page', response => response.writeHead(404, { 'content-type': 'text/html' }).end('<html>'), { code: 'UPSTREAM_FAILED' }],
    ['data in place of a stream', response => response.end('{"data":{"renamed":null}}'), { code: 'UPSTREAM_FAILED' }],
    ['a cut connection', response => response.destroy(), { code: 'UPSTREAM_FAILED' }],
  ])('that meet %s are refused', async ([, answer, extensions]) => {
    await using graph = await graphWith(form, (_, response) => void answer(response.setHeader('content-type', 'application/json')))
    const refused = await graph.subscribe('subscription { renamed { name } }')
    expect(Symbol.asyncIterator in refused).toBe(false)
    expect(answerOf(refused as ExecutionResult)).toMatchObject({ errors: [{ extensions: { ...extensions, service: 'catalogue' } }] })
  })

  test('that nobody answers are refused in time', async () => {
    await using graph = await graphWith(form, () => {})
    const leaving = new AbortController()
    const pending = graph.subscribe('subscription { renamed { name } }', {}, { signal: leaving.signal })
    await until(() => graph.asked.length > 0)
    leaving.abort()
    expect(Symbol.asyncIterator in (await pending)).toBe(false)
    await until(() => graph.servers.catalogue!.connections.size === 0)
  })

  test.for(['no JSON', '[1]', '7'])('that bring %s are lost', async text => {
    const type = form === 'sse' ? 'text/event-stream' : 'multipart/mixed;boundary=-'
    const wire = form === 'sse' ? `event: next\ndata: ${text}\n\n` : `---\r\ncontent-type: application/json\r\n\r\n${text}\r\n---\r\n`
    await using graph = await graphWith(form, (_, response) => void response.writeHead(200, { 'content-type': type }).write(wire))
    const stream = await open(graph, 'subscription { renamed { name } }')
    expect(answerOf((await stream.next()).value).errors![0]).toMatchObject({ extensions: { code: 'UPSTREAM_FAILED' } })
    await until(() => graph.servers.catalogue!.connections.size === 0)
  })
})

test('a refused subscription leaves no listener behind at the router’s end', async () => {
  await using graph = await graphWith('sse', (_, response) => void response.setHeader('content-type', 'application/json').end('{"errors":[{"message":"no"}]}'))
  const [closing, dispatcher] = [new AbortController(), openStreamAgent(1_000)]
  const start = { url: graph.servers.catalogue!.url, payload: { query: 'subscription { twice }', variables: {} }, headers: [], timeoutMs: 5_000 }
  const refused = await subscribeOverHttp({ ...start, form: 'sse', dispatcher, signal: closing.signal })
  expect(refused).toMatchObject({ errors: [{ message: 'no' }] })
  expect(getEventListeners(closing.signal, 'abort')).toEqual([])
  await dispatcher.destroy()
})

test('errors beside the payload of a part are the last event', async () => {
  const part = JSON.stringify({ payload: null, errors: [{ message: 'The price feed is closed.', extensions: { code: 'NOT_FOUND' } }] })
  const wire = `--x\r\nContent-Type: application/json\r\n\r\n{}\r\n--x\r\nContent-Type: application/json\r\n\r\n${part}\r\n--x--`
  await using graph = await graphWith('multipart', (_, response) => void response.writeHead(200, { 'content-type': 'multipart/mixed; boundary=x' }).end(wire))
  const stream = await open(graph, 'subscription { renamed { name } }')
  expect(answerOf((await stream.next()).value).errors![0]).toMatchObject({ message: 'The price feed is closed.', extensions: { code: 'NOT_FOUND' } })
  expect((await stream.next()).done).toBe(true)
})
