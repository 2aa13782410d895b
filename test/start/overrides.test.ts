import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose, eventSource, type Part } from '../engine/supergraph-fixture.ts'
import { freePort, launch, readyLine } from '../kit/launch.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

const events = eventSource()
const refer = { __resolveReference: (reference: object) => reference }
const parts: Record<string, Part> = {
  a: {
    sdl: 'type Query { item: Item } type Subscription { changed: Item } type Item @key(fields: "id") { id: ID! moved: String half: String }',
    resolvers: {
      Query: { item: () => ({ id: '1' }) },
      Subscription: { changed: { subscribe: () => events.listen(['changed']), resolve: () => ({ id: '1' }) } },
      Item: { ...refer, moved: () => 'a', half: () => 'a' },
    },
  },
  b: {
    sdl: `type Item @key(fields: "id") { id: ID! moved: String @override(from: "a", label: "new-home")
      half: String @override(from: "a", label: "percent(50)") }`,
    resolvers: { Item: { ...refer, moved: () => 'b', half: () => 'b' } },
  },
}
const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'overrides-'))
const [graph, rules] = [join(folder, 'graph.graphql'), join(folder, 'rules.json')]
const servers = new Map(await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await serveSubgraph(part)] as const)))
writeFileSync(
  graph,
  [...servers].reduce((sdl, [name, { url }]) => sdl.replace(`http://${name}.invalid`, url), compose(parts)),
)

/** Starts a router of the graph. */
async function start(environment: Record<string, string>) {
  const router = launch(process.execPath, ['router/main.ts', 'router', '--supergraph', graph, '--port', String(await freePort())], {
    npm_lifecycle_event: 'start',
    ...environment,
  })
  const [, url = ''] = await router.printed(readyLine)
  const post = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ query }) })
    return { status: answer.status, json: await answer.json() }
  }
  return {
    ...router,
    url,
    post,
    moved: async (headers?: Record<string, string>) => (await post('{ item { moved } }', headers)).json.data?.item.moved,
    half: async (headers?: Record<string, string>) => (await post('{ item { half } }', headers)).json.data?.item.half,
    stop: async () => {
      router.child.kill('SIGTERM')
      await router.ended
    },
  }
}

let router: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  router = await start({ OVERRIDE_LABELS_FILE: rules, OVERRIDE_STICKY_HEADER: 'X-User', OVERRIDE_SALT: 'pepper', ENVIRONMENT: 'development' })
})
afterAll(async () => {
  await router.stop()
  await Promise.all([...servers.values()].map(server => server.stop()))
})
const appears = (moved: string) => expect.poll(() => router.moved(), { timeout: 10_000 }).toBe(moved)

describe('a router of a graph with labelled overrides', () => {
  it('reports a missing file of rules in one line, and reads it as soon as it is there', async () => {
    await router.printed(/OVERRIDE_LABELS_FILE: .*rules\.json cannot be read: ENOENT/)
    expect(await router.moved()).toBe('a')
    writeFileSync(rules, '{ "new-home": true }')
    await appears('b')
    expect(`${router.said()}${router.complained()}`.match(/OVERRIDE_LABELS_FILE/g)).toHaveLength(1)
  })

  it('keeps the former rules when the file is broken or gone', async () => {
    writeFileSync(rules, '{ "new-home": "sometimes" }')
    await router.printed(/OVERRIDE_LABELS_FILE: .*rules\.json cannot be read: the rule of .*new-home/)
    rmSync(rules)
    expect(await router.moved()).toBe('b')
    writeFileSync(rules, '{ "new-home": { "header": "x-beta" } }')
    await appears('a')
    expect(await router.moved({ 'x-beta': 'on' })).toBe('b')
  })

  it('takes the header of one request in development, and refuses a malformed one with 400', async () => {
    expect([await router.moved({ 'x-graphql-override': 'new-home=on' }), await router.moved()]).toEqual(['b', 'a'])
    expect(await router.moved({ 'x-beta': 'on', 'x-graphql-override': 'new-home=off' })).toBe('a')
    for (const accept of ['application/json', 'application/graphql-response+json', 'multipart/mixed'])
      expect(await router.post('{ item { moved } }', { accept, 'x-graphql-override': 'new-home' })).toMatchObject({
        status: 400,
        json: { errors: [{ extensions: { code: 'BAD_REQUEST' } }] },
      })
    const shown = await router.post('{ item { id } }', { 'x-graphql-plan': 'show', 'x-graphql-override': 'new-home=on,percent(50)=off' })
    expect(shown.json.extensions.overrides).toEqual({ 'new-home': true, 'percent(50)': false })
  })

  it('decides percentages by the sticky header, for each value once and for all', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => router.half({ 'x-user': `u${n}` })))
    expect(new Set(answers)).toEqual(new Set(['a', 'b']))
    const again = await start({
      OVERRIDE_STICKY_HEADER: 'x-user',
      OVERRIDE_SALT: 'pepper',
      ENVIRONMENT: 'production',
      OVERRIDE_HEADER: 'off',
      LOG_LEVEL: 'warn',
    })
    try {
      expect(await Promise.all(answers.map((_, n) => again.half({ 'x-user': `u${n}` })))).toEqual(answers)
      expect(await again.moved({ 'x-graphql-override': 'new-home=on' })).toBe('a')
      expect(await again.moved({ 'x-graphql-override': 'malformed' })).toBe('a')
    } finally {
      await again.stop()
    }
  })

  it('keeps the decision of an open subscription when the rules change', async () => {
    const client = createClient({ url: router.url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 })
    const open = () => client.iterate<{ changed: { moved: string } }>({ query: 'subscription { changed { moved } }' })
    const earlier = open()
    const movedIn = async (stream: typeof earlier, next = stream.next()) => (await next).value?.data.changed.moved
    const first = earlier.next()
    await expect.poll(() => events.listenerCount()).toBe(1)
    events.announce('changed', { id: '1' })
    expect(await movedIn(earlier, first)).toBe('a')
    writeFileSync(rules, '{ "new-home": true }')
    await appears('b')
    const later = open()
    const [nextEarlier, nextLater] = [earlier.next(), later.next()]
    // Another stream, because the decision is another one.
    await expect.poll(() => events.listenerCount()).toBe(2)
    events.announce('changed', { id: '1' })
    expect([await movedIn(earlier, nextEarlier), await movedIn(later, nextLater)]).toEqual(['a', 'b'])
    await Promise.all([earlier.return!(), later.return!()])
    await client.dispose()
  })

  it('keeps its rules when the graph is replaced while their file cannot be read', async () => {
    writeFileSync(rules, '{ "new-home": true }')
    await appears('b')
    rmSync(rules)
    writeFileSync(graph, readFileSync(graph, 'utf8').replaceAll('percent(50)', 'percent(100)'))
    const decided = async () => (await router.post('{ item { id } }', { 'x-graphql-plan': 'show' })).json.extensions.overrides
    await expect.poll(decided, { timeout: 30_000 }).toEqual({ 'new-home': true, 'percent(100)': true })
    expect([await router.moved(), await router.half()]).toEqual(['b', 'b'])
  })

  it('counts requests by label and decision', async () => {
    const text = await (await fetch(new URL('/metrics', router.url))).text()
    for (const active of ['true', 'false'])
      expect(text).toMatch(new RegExp(`^supergraph_override_requests_total\\{label="new-home",active="${active}"\\} [1-9]`, 'm'))
  })
})

it('keeps every field where it was with the stock engine', async () => {
  writeFileSync(rules, '{ "new-home": true, "percent(50)": true }')
  const stock = await start({ ROUTER_ENGINE: 'apollo', OVERRIDE_LABELS_FILE: rules, LOG_LEVEL: 'fatal' })
  try {
    expect([await stock.moved(), await stock.half()]).toEqual(['a', 'a'])
  } finally {
    await stock.stop()
  }
})
