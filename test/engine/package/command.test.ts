import { once } from 'node:events'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { version } from '../../../router/engine/package/version.ts'
import { runCommand, type Started } from '../../../router/start/mode/packaged/command.ts'
import { composeShop, type Shop, startShop } from './shop.ts'

let shop: Shop
let folder: string
let file: string
let open: Started[] = []
const lines: string[] = []

beforeAll(async () => {
  shop = await startShop()
  folder = mkdtempSync(join(tmpdir(), 'command-'))
  file = join(folder, 'supergraph.graphql')
  writeFileSync(file, shop.supergraphSdl)
})
afterEach(async () => {
  await Promise.all(open.map(each => each.stop()))
  open = []
})
afterAll(async () => {
  await shop.close()
  rmSync(folder, { recursive: true, force: true })
})

async function run(words: string[], settings: Record<string, string> = {}) {
  lines.length = 0
  const started = await runCommand(words, { print: line => void lines.push(line), complain: line => void lines.push(`! ${line}`), settings })
  if (started) open.push(started)
  return started!
}

const failure = (words: string[], settings?: Record<string, string>) =>
  run(words, settings).then(
    () => 'started',
    (cause: Error) => cause.message,
  )

async function ask(url: string, query: string, headers: Record<string, string> = {}, init: RequestInit = {}) {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ query }), ...init })
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type'), text, json: text.startsWith('{') ? JSON.parse(text) : null }
}

describe('the command of the package', () => {
  it('refuses operations that take long to validate, before they are validated', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'])
    const large = [`{ ${'products { name } '.repeat(1000)} }`, `{ ${'products { name } '.repeat(50_000)} }`, '{ products '.repeat(20_000)]
    for (const query of large) {
      const { status, json } = await ask(url, query)
      expect([status, json.errors[0].extensions.code]).toEqual([400, 'BAD_USER_INPUT'])
    }
    expect(await ask(url, '{ products(first: 1) { name } }')).toMatchObject({ status: 200, json: { data: { products: [{ name: 'table' }] } } })
  })

  it('serves a file, and says where', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'])
    expect(lines).toEqual([`ready: ${url}`])
    expect(await ask(url, '{ products(first: 1) { name stock } }')).toMatchObject({ status: 200, json: { data: { products: [{ name: 'table', stock: 10 }] } } })
    expect(await ask(url, '{ nothing }', { accept: 'application/graphql-response+json' })).toMatchObject({
      status: 400,
      type: expect.stringContaining('graphql-response+json'),
    })
    expect((await ask(url, '{ broken }')).json).toMatchObject({ data: { broken: null }, errors: [{ extensions: { code: 'BROKEN', serviceName: 'catalog' } }] })
    expect(await (await fetch(`${url}?query={warehouse{city}}`)).json()).toEqual({ data: { warehouse: { city: 'Rotterdam' } } })
    expect((await fetch(new URL('/health/ready', url))).status).toBe(200)
  })

  it('refuses what is no operation', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'])
    const status = async (init: RequestInit, path = url) => (await fetch(path, init)).status
    expect(await status({ method: 'POST', body: 'query=1' })).toBe(415)
    expect(await status({ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' })).toBe(400)
    expect(await status({ method: 'POST', headers: { 'content-type': 'application/json' }, body: '[]' })).toBe(400)
    expect(await status({ method: 'POST', headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(1024 * 1024)}"` })).toBe(413)
    expect(await status({}, `${url}?query=mutation{rename(id:1,name:"a"){id}}`)).toBe(405)
    expect(await status({ method: 'PUT' })).toBe(405)
    expect(await status({}, new URL('/other', url).href)).toBe(404)
  })

  it('answers @defer in each form, and at once to others', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'])
    const query = '{ products(first: 1) { name ... @defer { stock } } }'
    const multipart = await ask(url, query, { accept: 'multipart/mixed;incrementalSpec=v0.2,application/json;q=0.9' })
    expect(multipart).toMatchObject({ status: 200, type: 'multipart/mixed;boundary="-";incrementalSpec=v0.2' })
    expect(multipart.text).toMatch(/"pending":.*"hasNext":true[\s\S]*"completed":.*"hasNext":false}\r\n-----\r\n$/)
    expect((await ask(url, query, { accept: 'multipart/mixed;deferSpec=20220824' })).text).toMatch(
      /"incremental":\[\{"path":\["products",0\],"data":\{"stock":10\}/,
    )
    expect((await ask(url, query, { accept: 'text/event-stream' })).text).toMatch(/^event: next\ndata: [\s\S]*event: complete\ndata:\n\n$/)
    expect((await ask(url, query)).json).toEqual({ data: { products: [{ name: 'table', stock: 10 }] } })
  })

  it('serves WebSocket', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'])
    const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket })
    const results = client.iterate({ query: '{ warehouse { city } }' })
    expect((await results.next()).value).toEqual({ data: { warehouse: { city: 'Rotterdam' } } })
    for (const query of [`{ ${'warehouse { city } '.repeat(1000)} }`, '{ warehouse '.repeat(20_000), '{ nothing }', '{'])
      await expect(client.iterate({ query }).next()).rejects.toMatchObject([{ extensions: { code: expect.stringMatching(/^BAD_USER_INPUT$|^GRAPHQL_/) } }])
    const named = client.iterate({
      query: 'query A { warehouse { city } } query B($first: Int) { products(first: $first) { name } }',
      operationName: 'B',
      variables: { first: 1 },
    })
    expect((await named.next()).value).toEqual({ data: { products: [{ name: 'table' }] } })
    await client.dispose()
  })

  it('passes headers of a WebSocket on', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'], { PROPAGATE_HEADERS: 'x-who' })
    class Dialing extends WebSocket {
      constructor(address: string, protocols: string | string[]) {
        super(address, protocols, { headers: { 'x-who': 'ben' } })
      }
    }
    const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: Dialing })
    shop.asked.length = 0
    await client.iterate({ query: '{ warehouse { city } }' }).next()
    expect(shop.asked.map(({ headers }) => headers['x-who'])).toEqual(['ben'])
    await client.dispose()
  })

  it('names no address and no code of a subgraph to clients, and says them itself', async () => {
    const failing = createServer((_request, response) => void response.writeHead(503, { 'content-type': 'text/plain' }).end('secret body')).listen(
      0,
      '127.0.0.1',
    )
    const throwing = createServer((_request, response) => {
      const errors = [
        { message: 'no', path: ['warehouse'], extensions: { code: 'NOT_FOUND', stacktrace: ['at secret.js:1'], exception: { stacktrace: ['x'] } } },
      ]
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: { warehouse: null }, errors }))
    }).listen(0, '127.0.0.1')
    await Promise.all([failing, throwing].map(server => server.listening || once(server, 'listening')))
    const addressOf = (server: typeof failing) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    try {
      const expected: readonly (readonly [string, object])[] = [
        [addressOf(failing), { message: 'A subgraph could not be asked.', extensions: { code: 'UPSTREAM_FAILED' } }],
        ['http://127.0.0.1:9/', { message: 'A subgraph could not be asked.', extensions: { code: 'UPSTREAM_FAILED' } }],
        [addressOf(throwing), { message: 'no', path: ['warehouse'], extensions: { code: 'NOT_FOUND', serviceName: 'stock' } }],
      ]
      for (const [STOCK_URL, error] of expected) {
        const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'], { STOCK_URL })
        for (const query of ['{ warehouse { city } }', '{ __typename ... @defer { warehouse { city } } }']) {
          const { text } = await ask(url, query, query.includes('@defer') ? { accept: 'multipart/mixed' } : {})
          expect(text).not.toMatch(/127\.0\.0\.1|secret|stacktrace/)
          for (const [key, value] of Object.entries(error)) expect(text).toContain(JSON.stringify({ [key]: value }).slice(1, -1))
        }
        if (STOCK_URL !== addressOf(throwing)) expect(lines.join('\n')).toContain('! a subgraph failed: ')
      }
    } finally {
      failing.close()
      throwing.close()
    }
  })

  it('says in one line that its port is taken', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'])
    expect(await failure([file, '--port', new URL(url).port, '--host', '127.0.0.1'])).toBe(`port ${new URL(url).port} of 127.0.0.1 cannot be used: EADDRINUSE`)
    expect(lines).toEqual([])
  })

  it('passes headers on, and asks subgraphs where it is told', async () => {
    const { url } = await run([file, '--port', '0', '--host', '127.0.0.1'], { PROPAGATE_HEADERS: 'X-Who, x-other', STOCK_URL: `${shop.urls.stock}?mine` })
    shop.asked.length = 0
    await ask(url, '{ warehouse { city } }', { 'x-who': 'ann', 'x-secret': 'no' })
    expect(shop.asked.map(({ headers }) => [headers['x-who'], headers['x-secret']])).toEqual([['ann', undefined]])
    expect(await failure([file, '--port', '0'], { STOCK_URL: 'ftp://x' })).toContain(
      'the subgraph "stock" has no address that can be asked over HTTP: set STOCK_URL',
    )
  })

  it('follows a file, and keeps the former graph where the new text cannot be served', async () => {
    const other = join(folder, 'other.graphql')
    writeFileSync(other, shop.supergraphSdl)
    const { url } = await run([other, '--port', '0', '--host', '127.0.0.1'])
    writeFileSync(other, 'type Query {')
    utimesSync(other, new Date(), new Date(1))
    await expect.poll(() => lines.join('\n'), { timeout: 10_000 }).toContain('the former graph stays in use')
    expect((await ask(url, '{ warehouse { city } }')).status).toBe(200)
    writeFileSync(other, composeShop(shop.urls, { catalog: ' extend type Query { fresh: Int }' }))
    await expect.poll(async () => (await ask(url, '{ fresh }')).json.data, { timeout: 10_000 }).toEqual({ fresh: null })
  })

  it('follows an address by its ETag, and tries the next one', async () => {
    const asked: unknown[] = []
    let [sdl, tag] = [shop.supergraphSdl, '"one"']
    const store = createServer((request, response) => {
      asked.push([request.headers['x-hive-cdn-key'], request.headers['x-mine'], request.headers['if-none-match']])
      if (request.headers['if-none-match'] === tag) response.writeHead(304).end()
      else response.writeHead(200, { etag: tag }).end(sdl)
    })
    await new Promise<void>(listening => store.listen(0, '127.0.0.1', () => listening()))
    const address = `http://127.0.0.1:${(store.address() as AddressInfo).port}/supergraph`
    const settings = { HIVE_CDN_KEY: 'key', SUPERGRAPH_HEADERS: '{"x-mine":"1"}', SUPERGRAPH_POLL_MS: '1000' }
    const { url } = await run([`http://127.0.0.1:1/none,${address}`, '--port', '0', '--host', '127.0.0.1'], settings)
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBeGreaterThan(1)
    expect(asked.slice(0, 2)).toEqual([
      ['key', '1', undefined],
      ['key', '1', '"one"'],
    ])
    ;[sdl, tag] = [composeShop(shop.urls, { catalog: ' extend type Query { fresh: Int }' }), '"two"']
    await expect.poll(async () => (await ask(url, '{ fresh }')).json.data, { timeout: 10_000 }).toEqual({ fresh: null })
    store.closeAllConnections()
    store.close()
  })

  it('tells what is wrong in one line', async () => {
    expect(await failure([])).toBe('name one supergraph: npx supergraph-gateway SOURCE [--port 4000] [--host localhost]')
    expect(await failure([file, '--wrong'])).toMatch(/^Unknown option '--wrong': npx/)
    expect(await failure([file, '--port', 'x'])).toMatch(/^--port must be a number/)
    expect(await failure([join(folder, 'none.graphql')])).toMatch(/none\.graphql cannot be read \(ENOENT\)/)
    expect(await failure(['s3://bucket/key'])).toMatch(/is not understood/)
    expect(await failure(['uplink'])).toBe('the source uplink needs APOLLO_KEY and APOLLO_GRAPH_REF')
    expect(await failure(['http://127.0.0.1:1/x'], { SUPERGRAPH_HEADERS: '[' })).toMatch(/^SUPERGRAPH_HEADERS must be/)
    expect(await failure([file, '--port', '0'], { ANSWER_BYTES: 'many' })).toBe('ANSWER_BYTES must be a whole number, at least 1')
  })

  it('prints its help and its version', async () => {
    await run(['--help'])
    expect(lines[0]).toContain('npx supergraph-gateway SOURCE')
    await run(['--version'])
    expect(lines).toEqual([version])
  })
})
