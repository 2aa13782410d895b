import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { events, shop } from '../engine/remote/parts.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose, type Part, until } from '../engine/supergraph-fixture.ts'
import { freePort, launch, readyLine } from '../kit/launch.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

const project = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'bare-'))
const catalogue = await serveSubgraph(shop.catalogue)
const stock = await serveSubgraph(shop.stock)
afterAll(() => Promise.all([catalogue.stop(), stock.stop()]))

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
const supergraph = compose(shop).replace('http://catalogue.invalid', catalogue.url).replace('http://stock.invalid', stock.url)
const file = write('shop.graphql', supergraph)

/** Starts the router as its users do, through npm. */
async function start(words: readonly string[], environment: Record<string, string> = {}, cwd = project) {
  const port = await freePort()
  const router = launch('npm', ['run', '--silent', '--prefix', project, 'start:router', '--', ...words, '--port', String(port)], environment, { cwd })
  const url = `http://localhost:${port}`
  return {
    ...router,
    url,
    post: async (body: object, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: response.status, json: await response.json() }
    },
    async [Symbol.asyncDispose]() {
      if (router.child.exitCode === null) process.kill(-router.child.pid!, 'SIGTERM')
      await router.ended
    },
  }
}

test('S-12 any supergraph is served before its subgraphs: HTTP, WebSocket, landing page, introspection, health', async () => {
  await using router = await start(['--supergraph', file])
  expect((await router.printed(readyLine))[1]).toBe(`${router.url}/graphql`)
  expect(await router.post({ query: '{ products { name count } }' })).toEqual({
    status: 200,
    json: {
      data: {
        products: [
          { name: 'Pen', count: 2 },
          { name: 'Paper', count: 2 },
        ],
      },
    },
  })
  expect((await router.post({ query: '{ __schema { queryType { name } } }' })).json).toEqual({ data: { __schema: { queryType: { name: 'Query' } } } })
  expect((await router.post({ query: '{ nothing }' })).json.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
  for (const path of ['/health/live', '/health/ready']) expect((await fetch(router.url + path)).status).toBe(200)
  expect(await (await fetch(`${router.url}/graphql`, { headers: { accept: 'text/html' } })).text()).toContain('Apollo Sandbox')

  const client = createClient({ url: `${router.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 })
  const stream = client.iterate({ query: 'subscription { renamed { name count } }' })
  const first = stream.next()
  await until(() => events.listenerCount() > 0)
  events.announce('renamed', { id: 'p1' })
  expect((await first).value).toEqual({ data: { renamed: { name: 'new p1', count: 2 } } })
  await stream.return!()
  await until(() => events.listenerCount() === 0)
})

test('a router starts before its subgraphs, and uses them as soon as they are available', async () => {
  await catalogue.stop()
  await using router = await start(['--supergraph', file], { LOG_LEVEL: 'fatal' })
  await router.printed(readyLine)
  const { json } = await router.post({ query: '{ name total }' })
  expect(json).toMatchObject({ data: { name: null, total: 7 }, errors: [{ path: ['name'], extensions: { code: 'UPSTREAM_FAILED', service: 'catalogue' } }] })
  await catalogue.start()
  expect((await router.post({ query: '{ name total }' })).json).toEqual({ data: { name: 'catalogue', total: 7 } })
})

test('S-07 a router without authentication refuses fields that require a caller, with either engine', async () => {
  const part: Part = {
    sdl: 'type Query { open: String closed: String @authenticated scoped: Secret } type Secret @requiresScopes(scopes: [["a:b"]]) { word: String }',
    resolvers: { Query: { open: () => 'open', closed: () => 'closed', scoped: () => ({ word: 'secret' }) } },
  }
  const guarded = await serveSubgraph(part)
  const text = compose({ guarded: part }).replace('http://guarded.invalid', guarded.url)
  for (const ROUTER_ENGINE of ['native', 'apollo']) {
    await using router = await start(['--supergraph', write('guarded.graphql', text)], { ROUTER_ENGINE, LOG_LEVEL: 'fatal' })
    await router.printed(readyLine)
    const { json } = await router.post({ query: '{ open closed scoped { word } }' })
    expect(json.data).toEqual({ open: 'open', closed: null, scoped: null })
    expect(json.errors.map((error: { path: string[]; extensions: { code: string } }) => `${error.path.join('.')} ${error.extensions.code}`)).toEqual([
      'closed UNAUTHORIZED_FIELD_OR_TYPE',
      'scoped UNAUTHORIZED_FIELD_OR_TYPE',
    ])
  }
  await guarded.stop()
})

test('passed headers reach the subgraphs; in development a subgraph’s own error messages are shown', async () => {
  await using router = await start(['--supergraph', file], { PROPAGATE_HEADERS: 'Authorization' })
  await router.printed(readyLine)
  catalogue.asked.length = 0
  const { json } = await router.post({ query: '{ crashed }' }, { authorization: 'Bearer of-another-issuer', 'x-tenant': 't1' })
  expect(json).toMatchObject({ data: { crashed: null }, errors: [{ message: 'select * from secrets', path: ['crashed'] }] })
  expect(catalogue.asked[0]!.headers.authorization).toBe('Bearer of-another-issuer')
  expect(catalogue.asked[0]!.headers['x-tenant']).toBeUndefined()
})

test('production needs no secrets of the platform, and reveals neither schema nor internal errors', async () => {
  await using router = await start(['--supergraph', file], { ENVIRONMENT: 'production', LOG_LEVEL: 'fatal' })
  await router.printed(readyLine)
  expect((await router.post({ query: '{ __schema { queryType { name } } }' })).json.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
  expect(JSON.stringify((await router.post({ query: '{ crashed }' })).json)).not.toContain('secrets')
})

test('an address of the environment overrides the one in the supergraph; a relative file is resolved where npm was called', async () => {
  mkdirSync(join(folder, 'elsewhere'))
  write('elsewhere/moved.graphql', supergraph.replace(catalogue.url, 'http://localhost:1/graphql'))
  await using router = await start(['--supergraph', 'moved.graphql'], { CATALOGUE_URL: catalogue.url }, join(folder, 'elsewhere'))
  await router.printed(readyLine)
  expect((await router.post({ query: '{ name }' })).json).toEqual({ data: { name: 'catalogue' } })
})

test('a subgraph may have its own time limit', async () => {
  stock.fault = () => {}
  await using router = await start(['--supergraph', file], { STOCK_TIMEOUT_MS: '200', FETCH_TIMEOUT_MS: '60000', LOG_LEVEL: 'fatal' })
  await router.printed(readyLine)
  const { json } = await router.post({ query: '{ name total }' })
  expect(json).toMatchObject({
    data: { name: 'catalogue', total: null },
    errors: [{ path: ['total'], extensions: { code: 'UPSTREAM_FAILED', service: 'stock' } }],
  })
  stock.fault = null
})

describe('one line and exit code 1 for', () => {
  test.for<[string, string[], RegExp]>([
    ['neither a supergraph nor a key to seal with', [], /^SEAL_PRIVATE_KEY: missing.* or name a supergraph with --supergraph\n$/],
    ['a file that is not there', ['--supergraph', join(folder, 'none')], /^.*none cannot be read \(ENOENT\): .*\n$/],
    ['a file that is no SDL', ['--supergraph', write('broken', 'type Query {')], /^.*broken is no supergraph: Syntax Error.*\n$/],
    ['the SDL of a subgraph', ['--supergraph', write('subgraph', shop.stock.sdl)], /^.*subgraph is no supergraph: it names no subgraphs.*\n$/],
    [
      'a subgraph without an address',
      ['--supergraph', write('nowhere', supergraph.replace(stock.url, ''))],
      /^.*nowhere gives the subgraph "stock" no address.*\n$/,
    ],
    ['an option that means nothing', ['--what'], /^Unknown option '--what': .*\n$/],
  ])('%s', async ([, words, line]) => {
    const router = await start(words)
    expect(await router.ended).toBe(1)
    expect([router.said(), router.complained()]).toEqual(['', expect.stringMatching(line)])
  })
})
