import { afterAll, expect, test } from 'vitest'
import { shop } from '../../engine/remote/parts.ts'
import { serveSubgraph } from '../../engine/remote/remote-graph.ts'
import { compose } from '../../engine/supergraph-fixture.ts'
import { freePort, launch, readyLine } from '../../kit/launch.ts'
import { newFolder, published } from './stage.ts'

const catalogue = await serveSubgraph(shop.catalogue)
const stock = await serveSubgraph(shop.stock)
afterAll(() => Promise.all([catalogue.stop(), stock.stop()]))
const supergraph = compose(shop).replace('http://catalogue.invalid', catalogue.url).replace('http://stock.invalid', stock.url)
/** The same graph, whose field `total` has another name. */
const renamed = supergraph.replaceAll(/\btotal\b/g, 'sum')

/** Starts a router on a free port. */
async function start(words: readonly string[], environment: Readonly<Record<string, string>>) {
  const port = String(await freePort())
  const router = launch(process.execPath, ['router/main.ts', 'router', ...words, '--port', port], { npm_lifecycle_event: 'start', ...environment })
  const post = async (query: string) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`http://localhost:${port}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).json()
  }
  return {
    ...router,
    post,
    figures: async () => (await fetch(`http://localhost:${port}/metrics`)).text(),
    async [Symbol.asyncDispose]() {
      router.child.kill('SIGTERM')
      await router.ended
    },
  }
}

/** Processes of a busy machine need their time. */
const patient = { timeout: 60_000 }
const fields = '{ __type(name: "Query") { fields { name } } }'

test('a router swaps the graph of an address when it changes, stays ready with a bad one, and starts without the network', async () => {
  const at = await published(supergraph)
  const environment = { SUPERGRAPH: at.url, SUPERGRAPH_POLL_MS: '1000', SUPERGRAPH_CACHE_DIR: newFolder() }
  {
    await using router = await start([], environment)
    await router.printed(readyLine)
    expect(router.said()).toContain(`2 subgraphs of ${at.url}: catalogue, stock`)
    expect(await router.post('{ name total }')).toEqual({ data: { name: 'catalogue', total: 7 } })
    Object.assign(at.state, { sdl: 'type Query { this is no supergraph', tag: '"bad"' })
    await expect.poll(() => router.said(), patient).toMatch(/is no supergraph: Syntax Error.*; the former graph stays in use/)
    expect(await router.post('{ total }')).toEqual({ data: { total: 7 } })
    expect(await router.figures()).toContain('supergraph_source_polls_total{outcome="refused"} 1')
    // Its subgraph does not know the name: that the graph is another one is what is asked here.
    Object.assign(at.state, { sdl: renamed, tag: '"2"' })
    await expect.poll(async () => JSON.stringify(await router.post(fields)), patient).toContain('"sum"')
  }
  await at.stop()
  await using router = await start(['--supergraph', at.url], environment)
  await router.printed(readyLine)
  expect(router.said()).toMatch(/cannot be read \(.*\): starts with the supergraph of 20\d\d-\S+, which was kept/)
  expect(JSON.stringify(await router.post(fields))).toContain('"sum"')
  expect(await router.post('{ name }')).toEqual({ data: { name: 'catalogue' } })
})

test('a first start without the network ends with one line', async () => {
  const router = await start(['--supergraph', 'http://127.0.0.1:9/supergraph'], { SUPERGRAPH_CACHE_DIR: newFolder() })
  expect(await router.ended).toBe(1)
  expect(router.complained()).toMatch(
    /^http:\/\/127\.0\.0\.1:9\/supergraph cannot be read \(.*ECONNREFUSED\), and no supergraph of it is kept in \S+: make it reachable\n$/,
  )
})

test('an address whose graph is bad at the start gives the last one that was in use', async () => {
  const at = await published(supergraph)
  const environment = { SUPERGRAPH_CACHE_DIR: newFolder() }
  {
    await using router = await start(['--supergraph', at.url], environment)
    await router.printed(readyLine)
  }
  Object.assign(at.state, { sdl: shop.stock.sdl, tag: '"bad"' })
  await using router = await start(['--supergraph', at.url], environment)
  await router.printed(readyLine)
  expect(router.said()).toMatch(/is no supergraph: it names no subgraphs.*; starts with the supergraph of 20\d\d-\S+, which was kept/)
  expect(await router.post('{ name total }')).toEqual({ data: { name: 'catalogue', total: 7 } })
})

test('all workers of a router take the changed graph', async () => {
  const at = await published(supergraph)
  const environment = { SUPERGRAPH_POLL_MS: '1000', SUPERGRAPH_CACHE_DIR: newFolder() }
  await using router = await start(['--supergraph', at.url, '--workers', '2'], environment)
  await router.printed(readyLine)
  Object.assign(at.state, { sdl: renamed, tag: '"2"' })
  const answers = async () => Promise.all(Array.from({ length: 8 }, () => router.post(fields)))
  await expect.poll(async () => (await answers()).every(answer => JSON.stringify(answer).includes('"sum"')), patient).toBe(true)
})
