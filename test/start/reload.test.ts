import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from 'graphql-ws'
import { afterAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { events, shop } from '../engine/remote/parts.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose, type Part } from '../engine/supergraph-fixture.ts'
import { freePort, launch, readyLine, until } from '../kit/launch.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

const extra: Part = {
  sdl: 'type Query { extra: String } type Subscription { added: String }',
  resolvers: { Query: { extra: () => 'more' }, Subscription: { added: { subscribe: () => events.listen(['added']) } } },
}
const parts: Readonly<Record<string, Part>> = { ...shop, extra }
const servers = new Map(await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await serveSubgraph(part)] as const)))
afterAll(() => Promise.all([...servers.values()].map(server => server.stop())))

const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'reload-'))
const file = join(folder, 'supergraph.graphql')
const graphOf = (...names: readonly string[]) =>
  names.reduce(
    (sdl, name) => sdl.replace(`http://${name}.invalid`, servers.get(name)!.url),
    compose(Object.fromEntries(names.map(name => [name, parts[name]!]))),
  )
/** The graph with another type of the field that the streams listen to. */
const strict = (sdl: string) => sdl.replace(/renamed: Product(?!!)/, 'renamed: Product!')
/** Beside it and into its place, as tools that deploy write. */
const put = (text: string) => {
  writeFileSync(`${file}.next`, text)
  renameSync(`${file}.next`, file)
}

test('S-12 a changed supergraph is used without a restart: no operation fails under load, streams of changed and removed fields end with SUPERGRAPH_CHANGED, and an invalid file is one log line', async () => {
  put(graphOf('catalogue', 'stock'))
  const port = String(await freePort())
  const router = launch(process.execPath, ['router/main.ts', 'router', '--supergraph', file, '--port', port], { npm_lifecycle_event: 'start' })
  const [, url = ''] = await router.printed(readyLine)
  const post = async (query: string) => {
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) })
    return { status: answer.status, text: await answer.text() }
  }
  const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 })
  try {
    let over = false
    const [wrong, asked] = [new Set<string>(), { count: 0 }]
    const note = (text: string, right: string) => {
      asked.count++
      if (text !== right) wrong.add(text)
    }
    const answer = '{"data":{"name":"catalogue","total":7}}'
    const load = [
      // What is planned, what has to be planned, what Apollo Server reads, and whether it is ready.
      async () => note((await post('{ name total }')).text, answer),
      async () => note((await post(`{ name total # ${asked.count}\n}`)).text, answer),
      async () => note((await post(`query Q${asked.count} { name total }`)).text, answer),
      async () => note(await (await fetch(`${url}?query={name,total}`, { headers: { 'content-type': 'application/json' } })).text(), answer),
      async () => note(String((await fetch(new URL('/health/ready', url))).status), '200'),
    ].map(async ask => {
      while (!over) await ask()
    })
    try {
      expect((await post('{ extra }')).text).toContain('GRAPHQL_VALIDATION_FAILED')
      for (const [graph, isThere] of [
        [strict(graphOf('catalogue', 'stock', 'extra')), true],
        [graphOf('catalogue', 'stock'), false],
        [strict(graphOf('catalogue', 'stock', 'extra')), true],
      ] as const) {
        const query = isThere ? 'subscription { renamed { name count } }' : 'subscription { added }'
        const stream = new Promise(resolve => {
          client.subscribe({ query }, { next() {}, error: resolve, complete: () => resolve('complete') })
        })
        const overHttp = await Promise.all(
          ['text/event-stream', 'multipart/mixed;subscriptionSpec="1.0", application/json'].map(accept =>
            fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', accept }, body: JSON.stringify({ query }) }),
          ),
        )
        expect(overHttp.map(({ status }) => status)).toEqual([200, 200])
        const ended = Promise.all(overHttp.map(each => each.text()))
        await until('it listens', () => events.listenerCount() > 0)
        const before = asked.count
        put(graph)
        await until('the graph is another one', async () => (await post('{ extra }')).text.includes('more') === isThere)
        expect(await stream).toMatchObject([{ extensions: { code: 'SUPERGRAPH_CHANGED' } }])
        for (const text of await ended) expect(text).toContain('"code":"SUPERGRAPH_CHANGED"')
        await until('nobody listens', () => events.listenerCount() === 0)
        await until('more was asked', () => asked.count > before + 100)
      }
      // By GET as well, which Apollo Server answers.
      expect(await (await fetch(`${url}?query={extra}`, { headers: { 'content-type': 'application/json' } })).json()).toEqual({ data: { extra: 'more' } })

      put('type Query { this is no supergraph')
      await until('the log says so', () => router.said().includes('the former graph stays in use'))
      put(graphOf('catalogue', 'stock').replace('total: Int', 'total: Nowhere'))
      await until('the log says so again', () => router.said().match(/"level":50.*the former graph stays in use/g)?.length === 2)
      expect((await post('{ extra }')).text).toBe('{"data":{"extra":"more"}}')
    } finally {
      over = true
    }
    await Promise.all(load)
    expect([...wrong]).toEqual([])
    expect(router.said().match(/the new graph is in use/g)).toHaveLength(3)

    // By the signal, before the file is polled.
    put(graphOf('catalogue', 'stock'))
    router.child.kill('SIGHUP')
    await until('the graph is another one', async () => !(await post('{ extra }')).text.includes('more'))
    expect(router.child.exitCode).toBe(null)
  } finally {
    await client.dispose()
    router.child.kill('SIGTERM')
    await router.ended
  }
})

test('keeps a stream when a supergraph changes only in comments, spaces or order, or in parts that the stream does not read, and ends it otherwise', async () => {
  const graph = graphOf('catalogue', 'stock')
  put(graph)
  const port = String(await freePort())
  const router = launch(process.execPath, ['router/main.ts', 'router', '--supergraph', file, '--port', port], { npm_lifecycle_event: 'start' })
  const [, url = ''] = await router.printed(readyLine)
  const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 })
  try {
    let ended: unknown = null
    const end = (by: unknown) => {
      ended = by
    }
    const listeners = events.listenerCount()
    const told: unknown[] = []
    const query = 'subscription { renamed { name count } }'
    client.subscribe({ query }, { next: event => void told.push(event), error: end, complete: () => end('complete') })
    await until('it listens', () => events.listenerCount() > listeners)
    put(`# Made today.\n\n${graph}\n`)
    await until('it was read', () => router.said().includes('the graph is unchanged'))
    expect(ended).toBe(null)
    expect(events.listenerCount()).toBe(listeners + 1)
    const reloads = () => router.said().match(/the new graph is in use/g)?.length ?? 0
    for (const [at, next] of [graphOf('catalogue', 'stock', 'extra'), graph, graphOf('catalogue', 'stock', 'extra')].entries()) {
      put(next)
      await until('another graph is in use', () => reloads() === at + 1)
      events.announce('renamed', { id: `p${at}` })
      await until('the stream has the event', () => told.length === at + 1)
      expect(told[at]).toMatchObject({ data: { renamed: { name: `new p${at}` } } })
      expect(ended).toBe(null)
    }
    put(strict(graph))
    await until('the stream has ended', () => ended !== null)
    expect(ended).toMatchObject([{ extensions: { code: 'SUPERGRAPH_CHANGED' } }])
    expect(events.listenerCount()).toBe(listeners)
    expect(reloads()).toBe(4)
  } finally {
    await client.dispose()
    router.child.kill('SIGTERM')
    await router.ended
  }
})
