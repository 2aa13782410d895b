import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { people } from '../engine/caching/graph.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose } from '../engine/supergraph-fixture.ts'
import { startMachine } from '../kit/apart.ts'
import { freePort, launch, newDataFolder, readyLine, until } from '../kit/launch.ts'
import { hasRedis, noRedis, redisServer } from '../kit/redis.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

const project = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'response-cache-'))
const { parts, names } = people()
const [a, b] = [await serveSubgraph(parts.a), await serveSubgraph(parts.b)]
afterAll(() => Promise.all([a.stop(), b.stop()]))
const file = join(folder, 'people.graphql')
writeFileSync(file, compose(parts).replace('http://a.invalid', a.url).replace('http://b.invalid', b.url))

/** Starts a router before the people, as its users do. */
async function start(environment: Record<string, string>, words: readonly string[] = []) {
  const port = await freePort()
  const router = launch(
    'npm',
    ['run', '--silent', '--prefix', project, 'start:router', '--', '--supergraph', file, ...words, '--port', String(port)],
    environment,
  )
  const url = `http://localhost:${port}`
  return {
    ...router,
    url,
    async ask(query: string, headers: Record<string, string> = {}) {
      // A connection of its own, so that each question may come to another worker.
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close', ...headers },
        body: JSON.stringify({ query }),
      })
      const { data } = (await response.json()) as { data: Record<string, { name: string }> }
      return { state: response.headers.get('x-response-cache'), control: response.headers.get('cache-control'), name: data?.person?.name }
    },
    async [Symbol.asyncDispose]() {
      if (router.child.exitCode === null) process.kill(-router.child.pid!, 'SIGTERM')
      await router.ended
    },
  }
}

const person = '{ person(id: "1") { name } }'

test('a router keeps answers, reads its own writes, and drops by POST /invalidation and in /metrics', async () => {
  await using router = await start({ RESPONSE_CACHE: 'memory', INVALIDATION_TOKEN: 'a-token-of-the-test' })
  await router.printed(readyLine)
  expect([await router.ask(person), await router.ask(person)]).toEqual([
    { state: 'miss', control: 'max-age=60, public', name: 'Ann' },
    { state: 'hit', control: expect.stringMatching(/^max-age=(59|60), public$/), name: 'Ann' },
  ])
  await router.ask('mutation { rename(id: "1", name: "Anna") { id } }')
  expect(await router.ask(person)).toMatchObject({ state: 'miss', name: 'Anna' })
  names[1] = 'Ann'
  expect(await router.ask(person)).toMatchObject({ state: 'hit', name: 'Anna' })
  const invalidation = await fetch(`${router.url}/invalidation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'a-token-of-the-test' },
    body: JSON.stringify([{ kind: 'type', subgraph: 'a', type: 'Person' }]),
  })
  expect([invalidation.status, await invalidation.json()]).toEqual([202, { count: 1 }])
  expect(await router.ask(person)).toMatchObject({ state: 'miss', name: 'Ann' })
  const figures = await (await fetch(`${router.url}/metrics`)).text()
  expect(figures).toContain('supergraph_response_cache_hits_total{type="Query"} 2')
  expect(figures).toContain('supergraph_response_cache_misses_total{type="Query"} 3')
  expect(figures).toContain('supergraph_response_cache_invalidations_total{cause="mutation"} 1')
  expect(figures).toContain('supergraph_response_cache_invalidations_total{cause="request"} 1')
  expect(figures).toMatch(/^supergraph_response_cache_entries 1$/m)
  expect(figures).toMatch(/^supergraph_response_cache_bytes [1-9]\d+$/m)
})

test('a router keeps what mutations change where it is told to, and nothing is kept by default', async () => {
  await using router = await start({ RESPONSE_CACHE: 'memory', RESPONSE_CACHE_ON_MUTATION: 'off', RESPONSE_CACHE_MAX_AGE: '5' })
  await router.printed(readyLine)
  expect((await router.ask(person)).control).toBe('max-age=5, public')
  await router.ask('mutation { rename(id: "2", name: "Bert") { id } }')
  expect((await router.ask(person)).state).toBe('hit')
  expect((await fetch(`${router.url}/invalidation`, { method: 'POST' })).status).toBe(404)
  await using usual = await start({})
  await usual.printed(readyLine)
  expect(await usual.ask(person)).toMatchObject({ state: null, control: 'max-age=60, public' })
})

test('workers of one port drop what one of them drops', async () => {
  await using router = await start({ RESPONSE_CACHE: 'memory' }, ['--workers', '2'])
  await router.printed(readyLine)
  const isHeld = async () => {
    const states = []
    for (let count = 0; count < 4; count++) states.push((await router.ask(person)).state)
    return states.every(state => state === 'hit')
  }
  for (let round = 0; round < 3; round++) {
    await expect.poll(isHeld).toBe(true)
    const name = `name ${round}`
    await router.ask(`mutation { rename(id: "1", name: "${name}") { id } }`)
    await expect.poll(async () => [(await router.ask(person)).name, (await router.ask(person)).name], { timeout: 1000 }).toEqual([name, name])
  }
})

test('routers with one Redis server share answers and drops, and answer without it', async ({ skip }) => {
  if (!hasRedis) return skip(noRedis)
  names[1] = 'Ann'
  await using server = await redisServer()
  const environment = { RESPONSE_CACHE: server.url, INVALIDATION_TOKEN: 'a-token-of-the-test' }
  await using one = await start(environment)
  await using two = await start(environment, ['--workers', '2'])
  await Promise.all([one.printed(readyLine), two.printed(readyLine)])
  await expect.poll(async () => (await one.ask(person)).state, { timeout: 5000 }).toBe('hit')
  // Both workers of the other router find what the first one has kept.
  for (let count = 0; count < 4; count++) await expect.poll(async () => (await two.ask(person)).state, { timeout: 5000 }).toBe('hit')
  await two.ask('mutation { rename(id: "1", name: "Anna") { id } }')
  await expect.poll(async () => (await one.ask(person)).name, { timeout: 1000 }).toBe('Anna')
  names[1] = 'Annika'
  const invalidation = await fetch(`${one.url}/invalidation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'a-token-of-the-test' },
    body: JSON.stringify([{ kind: 'type', subgraph: 'a', type: 'Person' }]),
  })
  expect(invalidation.status).toBe(202)
  await expect.poll(async () => new Set([(await two.ask(person)).name, (await two.ask(person)).name]), { timeout: 1000 }).toEqual(new Set(['Annika']))
  await server.kill()
  names[1] = 'Ann'
  await expect.poll(async () => await one.ask(person), { timeout: 5000 }).toMatchObject({ state: 'bypass', name: 'Ann' })
  expect(await (await fetch(`${one.url}/metrics`)).text()).toMatch(/^supergraph_response_cache_store_errors_total [1-9]/m)
})

test.each([
  ['no address of a store', { RESPONSE_CACHE: 'redis:somewhere' }, 'RESPONSE_CACHE: must be one of off, memory, or an address'],
  ['an engine that keeps no answers', { RESPONSE_CACHE: 'memory', ROUTER_ENGINE: 'apollo' }, 'RESPONSE_CACHE: a cache needs ROUTER_ENGINE=native'],
])('%s is refused with a sentence', async (_, environment, sentence) => {
  await using router = await start(environment)
  expect(await router.ended).not.toBe(0)
  expect(router.complained()).toContain(sentence)
})

test('a router apart from its subgraphs needs a transport of events for its cache', async () => {
  const environment = { RESPONSE_CACHE: 'memory', SEAL_PRIVATE_KEY: `k1:${randomBytes(32).toString('base64')}`, DATABASE_URL: '', NATS_URL: '' }
  const router = launch(process.execPath, [join(project, 'router/main.ts'), 'router', '--port', String(await freePort())], environment)
  expect(await router.ended).not.toBe(0)
  expect(router.complained()).toContain('RESPONSE_CACHE: a router apart from its subgraphs hears of changes by events')
})

test("the platform's routers keep what everybody may read, apart from its subgraphs", { timeout: 300_000 }, async () => {
  await using data = newDataFolder()
  await using machine = await startMachine(data, 'router=2', {
    EVENT_CARRIER: 'notify',
    DEMO: '0',
    RESPONSE_CACHE: 'memory',
    METRICS_TOKEN: 'a-token-of-the-test',
  })
  const ask = async () => {
    const response = await fetch(`${machine.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ query: '{ service(slug: "publishing") { title } }' }),
    })
    expect(((await response.json()) as { data: unknown }).data).toEqual({ service: { title: 'Publishing' } })
    return response.headers.get('x-response-cache')
  }
  const isKept = async () => {
    const states = []
    for (let count = 0; count < 6; count++) states.push(await ask())
    return states.every(state => state === 'hit')
  }
  await until('both routers have it', isKept)
  // A restart of identity registers the services anew, which changes nothing of them: what is kept stays.
  await machine.replace('identity 1')
  expect(await ask()).toBe('hit')
})
