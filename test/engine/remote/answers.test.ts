import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { readAnswer } from '../../../router/engine/transport/answer.ts'
import { codesOf, pathsOf, testGraph } from '../supergraph-fixture.ts'
import { shop } from './parts.ts'
import { type Fault, remoteGraph } from './remote-graph.ts'

const graph = await remoteGraph(shop, { mostBytes: 100_000, timeoutMs: 300 })
const { catalogue, stock } = graph.servers as Record<'catalogue' | 'stock', (typeof graph.servers)[string]>
afterAll(() => graph[Symbol.asyncDispose]())
beforeEach(() => {
  catalogue.fault = null
  stock.fault = null
  catalogue.asked.length = 0
  stock.asked.length = 0
  graph.logged.length = 0
})

const query = '{ products { name count } }'

test('answers an operation over two subgraphs over HTTP', async () => {
  expect(await graph.run(query)).toMatchObject({
    data: {
      products: [
        { name: 'Pen', count: 2 },
        { name: 'Paper', count: 2 },
      ],
    },
  })
  expect(stock.asked[0]!.variables).toEqual({
    representations: [
      { __typename: 'Product', id: 'p1' },
      { __typename: 'Product', id: 'p2' },
    ],
  })
  expect(catalogue.asked[0]!.variables).toBeUndefined()
})

test('requests both JSON media types from a subgraph, under the id of the request', async () => {
  await graph.run(query, {}, { requestId: 'request-of-this-test' })
  expect(stock.asked[0]!.headers).toMatchObject({
    accept: 'application/graphql-response+json, application/json;q=0.9',
    'content-type': 'application/json',
    'x-request-id': 'request-of-this-test',
  })
})

describe('a subgraph fails its own fields only, with UPSTREAM_FAILED and its name, when', () => {
  const html: Fault = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>')
  const answering =
    (status: number, body: string): Fault =>
    (_request, response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  test.for<[string, Fault]>([
    ['it answers a page', html],
    ['it answers nothing', answering(200, '')],
    ['it answers JSON that is no result', answering(200, '{"ok":true}')],
    ['it answers a list', answering(200, '[]')],
    ['it opens lists without an end', answering(200, `{"data":{"_entities":${'['.repeat(50_000)}`)],
    ['it answers null', answering(200, 'null')],
    ['it answers neither data nor errors', answering(200, '{"data":null}')],
    ['its errors are no errors', answering(200, '{"errors":[1]}')],
    ['it answers 500 with a result that says nothing else', answering(500, '{"errors":[{"message":"Out of memory"}]}')],
    ['it answers 502 from a proxy', answering(502, 'Bad Gateway')],
    ['it answers 301', (_request, response) => void response.writeHead(301, { location: 'http://localhost:1/' }).end()],
    ['it does not know a field of the supergraph', answering(400, '{"errors":[{"message":"Cannot query field \\"count\\" on type \\"Product\\"."}]}')],
    ['its answer is larger than the bound', answering(200, JSON.stringify({ data: { _entities: [{ where: 'x'.repeat(200_000) }] } }))],
    [
      'its answer breaks off',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
        response.write('{"data":{"_entities":[', () => response.socket!.destroy())
      },
    ],
    ['it cuts the connection', request => void request.socket.destroy()],
    ['it speaks something else', request => void request.socket.end('SSH-2.0-OpenSSH\r\n')],
    ['it never answers', () => {}],
    [
      'it answers a byte now and then',
      (_request, response) => {
        response.writeHead(200)
        const drip = setInterval(() => response.write(' '), 20)
        response.once('close', () => clearInterval(drip))
      },
    ],
  ])('%s', async ([, fault]) => {
    stock.fault = fault
    const answer = await graph.run('{ products { name count } name }')
    expect(answer.data).toEqual({
      products: [
        { name: 'Pen', count: null },
        { name: 'Paper', count: null },
      ],
      name: 'catalogue',
    })
    expect(pathsOf(answer)).toEqual(['products.0.count', 'products.1.count'])
    expect(answer.errors!.map(error => error.extensions)).toEqual([
      { code: 'UPSTREAM_FAILED', service: 'stock' },
      { code: 'UPSTREAM_FAILED', service: 'stock' },
    ])
    expect(JSON.stringify(answer.errors)).not.toMatch(/localhost|memory|ECONN/)
  })

  test('it is down; and it is called again when it is back', async () => {
    await stock.stop()
    const answer = await graph.run('{ products { name count } total }')
    expect(answer.data).toEqual({
      products: [
        { name: 'Pen', count: null },
        { name: 'Paper', count: null },
      ],
      total: null,
    })
    expect(new Set(codesOf(answer))).toEqual(new Set(['UPSTREAM_FAILED']))
    expect(graph.logged[0]).toMatchObject({
      service: 'stock',
      requestId: 'request-1',
      err: expect.objectContaining({ name: 'UpstreamFailure', stage: 'unsent' }),
    })
    await stock.start()
    expect((await graph.run('{ total }')).data).toEqual({ total: 7 })
  })
})

test('accepts a result whatever its status', async () => {
  stock.fault = (_request, response) => void response.writeHead(422).end('{"data":{"total":8}}')
  expect(await graph.run('{ total }')).toMatchObject({ data: { total: 8 } })
})

test('assembles an answer in several pieces that split a character', async () => {
  const body = Buffer.from(JSON.stringify({ data: { name: 'Ärger 👋' } }))
  catalogue.fault = (_request, response) => {
    let at = 0
    const step = () => (at < body.length ? response.write(body.subarray(at, ++at), () => setImmediate(step)) : response.end())
    step()
  }
  expect((await graph.run('{ name }')).data).toEqual({ name: 'Ärger 👋' })
})

describe('errors are reported as for subgraphs in one process', () => {
  const embedded = testGraph(shop, { unvalidatedFetches: true })
  test.for([
    ['a refusal', '{ refused }', {}],
    ['an accident', '{ crashed name }', {}],
    ['a variable that the subgraph cannot read', 'query ($moment: Moment) { since(moment: $moment) }', { moment: 'then' }],
    ['a value in the text that the subgraph cannot read', '{ since(moment: "then") name }', {}],
  ] as const)('%s', async ([, source, variables]) => {
    const [apart, inside] = await Promise.all([graph.run(source, variables), embedded.run(source, variables)])
    const codes = (answer: typeof apart) => [...new Set(codesOf(answer))]
    expect(codes(apart)).toEqual(codes(inside))
    expect(apart.errors![0]!.extensions?.service).toBe('catalogue')
    expect(JSON.stringify(apart)).not.toContain('secrets')
    if (source === '{ refused }') expect(apart.errors).toEqual(inside.errors)
  })
})

test.each([
  ['in a text', `{"data":{"a":"${'['.repeat(1000)}"}}`, null],
  ['in a text behind escaped quotation marks', `{"data":{"a":"\\"\\\\\\"${'['.repeat(1000)}"}}`, null],
  ['in a text, then outside it', `{"data":{"a":"${'['.repeat(1000)}","b":${'['.repeat(1000)}`, /nest deeper/],
  ['behind a text', `{"data":{"a":"\\\\","b":${'['.repeat(1000)}${']'.repeat(1000)}}}`, /nest deeper/],
  ['in a text without an end', `{"data":{"a":"${'['.repeat(1000)}`, /not JSON/],
  ['fewer', `{"data":{"a":${'['.repeat(999)}${']'.repeat(999)}}}`, null],
])('a thousand brackets that open lists, %s', (_where, text, refused) => {
  const read = () => readAnswer({ status: 200, text })
  if (refused) expect(read).toThrow(refused)
  else expect(read()).toEqual(JSON.parse(text))
})
