import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, createClient } from 'graphql-ws'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { identify, isAlive, type ProcessIdentity } from '../../db/process-table.ts'
import { events, shop } from '../engine/remote/parts.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose, type Part } from '../engine/supergraph-fixture.ts'
import { freePort, gone, launch, readyLine, until } from '../kit/launch.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

const slowly = { waiting: 0, go: () => {} }
const parts: Readonly<Record<string, Part>> = {
  catalogue: {
    sdl: shop.catalogue.sdl.replace('type Query {', 'type Query { slow: String'),
    resolvers: {
      ...shop.catalogue.resolvers,
      Query: {
        ...(shop.catalogue.resolvers!.Query as object),
        slow() {
          slowly.waiting++
          return new Promise(resolve => {
            slowly.go = () => resolve('at last')
          })
        },
      },
      Mutation: {
        rename: (_: unknown, product: { id: string }) => {
          events.announce('renamed', { id: product.id })
          return product
        },
      },
    },
  },
  stock: shop.stock,
  extra: { sdl: 'type Query { extra: String }', resolvers: { Query: { extra: () => 'more' } } },
}
const servers = new Map(await Promise.all(Object.entries(parts).map(async ([name, part]) => [name, await serveSubgraph(part)] as const)))
afterAll(() => Promise.all([...servers.values()].map(server => server.stop())))

const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'workers-'))
const graphOf = (...names: readonly string[]) =>
  names.reduce(
    (sdl, name) => sdl.replace(`http://${name}.invalid`, servers.get(name)!.url),
    compose(Object.fromEntries(names.map(name => [name, parts[name]!]))),
  )
const file = join(folder, 'supergraph.graphql')
const put = (text: string) => {
  writeFileSync(`${file}.next`, text)
  renameSync(`${file}.next`, file)
}

/** A router as several processes. */
async function startWorkers(environment: Record<string, string> = {}, count = '2') {
  put(graphOf('catalogue', 'stock'))
  const port = await freePort()
  const words = ['router/main.ts', 'router', '--supergraph', file, '--workers', count, '--port', String(port)]
  const router = launch(process.execPath, words, { npm_lifecycle_event: 'start', ...environment })
  const url = `http://localhost:${port}`
  /** Asks by a connection of its own: which worker takes it is its turn. */
  const askAnew = (path: string, init: { readonly query?: string } = {}) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const address = init.query === undefined ? `${url}${path}` : `${url}${path}?query=${encodeURIComponent(init.query)}`
      get(address, { agent: false, headers: { 'content-type': 'application/json' } }, response => {
        let text = ''
        response.on('error', reject)
        response.on('data', chunk => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode!, text }))
      }).on('error', reject)
    })
  const seen: ProcessIdentity[] = []
  return {
    ...router,
    url,
    askAnew,
    ask: (query: string) => askAnew('/graphql', { query }),
    figures: async () => (await askAnew('/metrics')).text,
    /** Its workers, by their numbers. */
    workers() {
      const said = router.said()
      const pids = new Map(
        [...said.matchAll(/worker (\d+) is (?:process|ready again after [\d.]+ s, as process) (\d+)/g)].map(([, n, pid]) => [Number(n), Number(pid)]),
      )
      const found = new Map([...pids].map(([number, pid]) => [number, identify(pid)!] as const))
      seen.push(...[...found.values()].filter(Boolean))
      return found
    },
    seen,
    async [Symbol.asyncDispose]() {
      slowly.go()
      router.child.kill('SIGTERM')
      await router.ended
    },
  }
}

type Workers = Awaited<ReturnType<typeof startWorkers>>

/** How often each worker says that it answered a request for a path. */
function answeredBy(router: Workers, path: string): ReadonlyMap<number, number> {
  const lines = router
    .said()
    .split('\n')
    .filter(line => line.startsWith('{') && line.includes('"answered"') && line.includes(path))
  return new Map([...Map.groupBy(lines, line => (JSON.parse(line) as { worker: number }).worker)].map(([worker, all]) => [worker, all.length]))
}

/** A client with a socket of its own that follows what is renamed. */
function follow(router: Workers, heard: string[], { dials = 0 } = {}) {
  const closed: number[] = []
  const client: Client = createClient({
    url: `${router.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    retryAttempts: dials,
    retryWait: () => wait(50),
    shouldRetry: () => true,
    onNonLazyError: () => {},
    on: { closed: event => closed.push((event as { code: number }).code) },
  })
  client.subscribe<{ renamed: { name: string } }>(
    { query: 'subscription { renamed { name } }' },
    { next: ({ data }) => heard.push(data!.renamed.name), error: () => {}, complete: () => {} },
  )
  return { client, closed, heard }
}

const figureIn = (figures: string, line: string): number => Number(new RegExp(`^${line} (\\S+)$`, 'm').exec(figures)?.[1])

test('all workers share requests and streams, an event reaches every stream, and one scrape has the sums of all', async () => {
  await using router = await startWorkers({ LOG_LEVEL: 'info' })
  await router.printed(readyLine)
  expect(router.workers().size).toBe(2)
  await until('it is ready', async () => (await router.askAnew('/health/ready')).status === 200)
  for (let time = 0; time < 20; time++) expect((await router.ask('query Counted { name total }')).text).toBe('{"data":{"name":"catalogue","total":7}}')
  const shares = await until('it is in the log', () => {
    const found = [...answeredBy(router, 'Counted').values()]
    return found.reduce((sum, each) => sum + each, 0) === 20 && found
  })
  expect(shares).toHaveLength(2)
  // One after the other, so that neither benefits from the other's idleness.
  expect(Math.min(...shares)).toBeGreaterThan(5)

  const followers = Array.from({ length: 6 }, () => follow(router, []))
  // Equal streams of one worker are one stream upstream.
  await until('both workers listen', () => events.listenerCount() === 2)
  await until('all are open', async () => figureIn(await router.figures(), 'supergraph_subscriptions\\{operation="anonymous"\\}') === 6)
  expect((await router.askAnew('/graphql?query=mutation{rename(id:"p1",name:"x"){id}}')).status).toBe(405)
  await fetch(`${router.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'mutation { rename(id: "p1", name: "x") { id } }' }),
  })
  await until('everybody heard of it', () => followers.every(({ heard }) => heard.length === 1))
  expect(followers.flatMap(({ heard }) => heard)).toEqual(Array(6).fill('new p1'))

  const figures = await router.figures()
  expect(figureIn(figures, 'supergraph_operations_total\\{operation="Counted",type="query",client="[^"]*",outcome="success"\\}')).toBe(20)
  expect(figureIn(figures, 'supergraph_operation_duration_seconds_count\\{operation="Counted",[^}]*\\}')).toBe(20)
  expect(figureIn(figures, 'websockets_open')).toBe(6)
  expect(figureIn(figures, 'supergraph_subscription_upstreams')).toBe(2)
  expect(figureIn(figures, 'supergraph_subscription_deliveries_total')).toBe(6)
  expect(figureIn(figures, 'supergraph_processes')).toBe(2)
  expect(figures.match(/^# TYPE (\S+)/gm)!.length).toBe(new Set(figures.match(/^# TYPE (\S+)/gm)).size)
  await Promise.all(followers.map(({ client }) => client.dispose()))
}, 60_000)

test('hands the calls of a subgraph to the worker that subscribed', async () => {
  const begun: { callbackUrl: string; subscriptionId: string; verifier: string; answer(): void }[] = []
  const catalogue = servers.get('catalogue')!
  catalogue.fault = (_request, response, body) => {
    const { subscription } = JSON.parse(body).extensions
    begun.push({ ...subscription, answer: () => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":null}') })
  }
  try {
    await using router = await startWorkers({ CATALOGUE_SUBSCRIPTIONS: 'callback', SUBSCRIPTION_HEARTBEAT_MS: '0' })
    await router.printed(readyLine)
    const clients = Array.from({ length: 6 }, () => follow(router, []))
    // Equal streams of one worker are one stream upstream.
    await until('both workers have subscribed', () => begun.length === 2)
    expect(new Set(begun.map(({ subscriptionId }) => subscriptionId.slice(9, 13)))).toEqual(new Set(['0001', '0002']))
    // Each call has a connection of its own, so the workers get them in turn.
    const call = ({ callbackUrl, subscriptionId: id, verifier }: (typeof begun)[number], action: string, more: object = {}) =>
      fetch(callbackUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ kind: 'subscription', action, id, verifier, ...more }),
      })
    for (const each of begun) for (let time = 0; time < 4; time++) expect((await call(each, 'check')).status).toBe(204)
    for (const each of begun) each.answer()
    const ids = begun.map(({ subscriptionId }) => subscriptionId)
    for (let time = 0; time < 4; time++) expect((await call(begun[0]!, 'heartbeat', { ids })).status).toBe(204)
    for (let time = 0; time < 4; time++)
      for (const each of begun) expect((await call(each, 'next', { payload: { data: { renamed: { name: `event ${time}` } } } })).status).toBe(200)
    await until('everybody heard of all', () => clients.every(({ heard }) => heard.length === 4))
    expect(clients.map(({ heard }) => heard)).toEqual(Array(6).fill([0, 1, 2, 3].map(time => `event ${time}`)))
    for (let time = 0; time < 4; time++)
      expect((await fetch(begun[0]!.callbackUrl.replace(/[^/]*$/, crypto.randomUUID()), { method: 'POST', headers: { connection: 'close' } })).status).toBe(404)
    await Promise.all(clients.map(({ client }) => client.dispose()))
  } finally {
    catalogue.fault = null
  }
}, 60_000)

test('finds a registered document at each worker, also at one that began later', async () => {
  await using router = await startWorkers({ LOG_LEVEL: 'info' })
  await router.printed(readyLine)
  const extensionsOf = (query: string) =>
    encodeURIComponent(JSON.stringify({ persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') } }))
  const byHash = (query: string) => router.askAnew(`/graphql?extensions=${extensionsOf(query)}`)
  const queries = Array.from({ length: 10 }, (_, at) => `query Registered${at} { name }`)
  for (const query of queries) {
    expect((await byHash(query)).text).toContain('PERSISTED_QUERY_NOT_FOUND')
    expect((await router.askAnew(`/graphql?query=${encodeURIComponent(query)}&extensions=${extensionsOf(query)}`)).status).toBe(200)
    for (let time = 0; time < 3; time++) expect((await byHash(query)).text).toBe('{"data":{"name":"catalogue"}}')
  }
  const shares = await until('it is in the log', () => {
    const found = [...answeredBy(router, '/graphql').values()]
    return found.reduce((sum, each) => sum + each, 0) === 50 && found
  })
  expect(Math.min(...shares)).toBeGreaterThan(15)

  process.kill(router.workers().get(1)!.pid, 'SIGKILL')
  await until('it is there again', () => router.said().includes('worker 1 is ready again'))
  for (const query of queries) for (let time = 0; time < 2; time++) expect((await byHash(query)).text).toBe('{"data":{"name":"catalogue"}}')
}, 60_000)

test('no requests arrive before all workers serve', async () => {
  await using router = await startWorkers()
  const first = await until('one of them answers', () => router.askAnew('/health/ready').catch(() => null))
  expect(first.status).toBe(503)
  expect(first.text).toMatch(/processes \([01] of 2 serve\)/)
  await until('it is ready', async () => (await router.askAnew('/health/ready')).status === 200)
}, 60_000)

test('a killed worker affects no other: its clients reconnect, it restarts, and no count is lost', async () => {
  await using router = await startWorkers()
  await router.printed(readyLine)
  const followers = Array.from({ length: 4 }, () => follow(router, [], { dials: 100 }))
  await until('both workers listen', () => events.listenerCount() === 2)
  await until('all are open', async () => figureIn(await router.figures(), 'supergraph_subscriptions\\{operation="anonymous"\\}') === 4)
  for (let time = 0; time < 10; time++) await router.ask('query Before { name }')
  const counted = 'supergraph_operations_total\\{operation="Before",type="query",client="[^"]*",outcome="success"\\}'
  expect(figureIn(await router.figures(), counted)).toBe(10)

  const first = router.workers().get(1)!
  process.kill(first.pid, 'SIGKILL')
  await gone(first)
  const cut = () => followers.filter(({ closed }) => closed.length > 0).length
  await until('its clients noticed', cut)
  const ready = await until('the others say so', async () => {
    const { status, text } = await router.askAnew('/health/ready')
    expect(status).toBe(200)
    return (JSON.parse(text) as { checks: { name: string; notice?: string }[] }).checks.find(({ notice }) => notice)
  })
  expect(ready).toEqual({ name: 'processes', ready: true, notice: '1 of 2 serve: what ended is started again' })
  let asked = 0
  await until('it is there again', async () => {
    expect((await router.ask('{ name }')).text).toContain('catalogue')
    asked++
    return router.said().includes('worker 1 is ready again')
  })
  expect(asked).toBeGreaterThan(0)
  expect(router.said()).toContain('worker 1 ended (SIGKILL): it is started again')
  await until('all are open again', async () => figureIn(await router.figures(), 'supergraph_subscriptions\\{operation="anonymous"\\}') === 4)
  events.announce('renamed', { id: 'p2' })
  await until('everybody heard of it', () => followers.every(({ heard }) => heard.includes('new p2')))
  // Streams of the other worker did not end.
  expect(cut()).toBeLessThan(4)

  const figures = await router.figures()
  expect(figureIn(figures, counted)).toBe(10)
  expect(figureIn(figures, 'supergraph_process_ends_total')).toBe(1)
  expect(figureIn(figures, 'supergraph_processes')).toBe(2)
  const again = router.workers().get(1)!
  expect(again).not.toEqual(first)
  await Promise.all(followers.map(({ client }) => client.dispose()))
}, 60_000)

test('a worker that does not answer is represented by its last figures, and delays no other', async () => {
  await using router = await startWorkers()
  await router.printed(readyLine)
  for (let time = 0; time < 10; time++) await router.ask('query Before { name }')
  const counted = 'supergraph_operations_total\\{operation="Before",type="query",client="[^"]*",outcome="success"\\}'
  expect(figureIn(await router.figures(), counted)).toBe(10)
  const { pid } = router.workers().get(2)!
  process.kill(pid, 'SIGSTOP')
  try {
    // A connection may be passed to the paused worker: that one waits.
    const told = await Promise.any([router.figures(), router.figures()])
    expect(figureIn(told, counted)).toBe(10)
    expect(figureIn(told, 'supergraph_processes')).toBe(2)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}, 60_000)

test('restarts a worker that hangs: its clients reconnect, and its connections go to another one', async () => {
  await using router = await startWorkers()
  await router.printed(readyLine)
  const followers = Array.from({ length: 4 }, () => follow(router, [], { dials: 100 }))
  await until('both workers listen', () => events.listenerCount() === 2)
  const first = router.workers().get(1)!
  process.kill(first.pid, 'SIGSTOP')
  // Two connections: one of them goes to that worker.
  const asked = [router.ask('{ name }'), router.ask('{ name }')]
  await until('it is gone', () => !isAlive(first), 60)
  expect((await Promise.all(asked)).map(({ text }) => text)).toEqual(Array(2).fill('{"data":{"name":"catalogue"}}'))
  await router.printed(/worker 1 is ready again/)
  expect(router.said()).toContain('worker 1 has said nothing for 20 s: it is ended')
  expect(router.said()).not.toContain('worker 2 ended')
  expect(followers.some(({ closed }) => closed.length > 0)).toBe(true)
  await until('all are open again', async () => figureIn(await router.figures(), 'supergraph_subscriptions\\{operation="anonymous"\\}') === 4)
  await Promise.all(followers.map(({ client }) => client.dispose()))
}, 120_000)

test.runIf(process.platform === 'linux')(
  'a connection that a worker was handed, and did not take before it was killed, is another one’s',
  async () => {
    await using router = await startWorkers()
    await router.printed(readyLine)
    const [first, second] = [...router.workers().values()]
    const held = () => readdirSync(`/proc/${router.child.pid}/fd`).length
    let before = -1
    await until('nothing is on its way', () => {
      const last = before
      before = held()
      return before === last
    })
    process.kill(first!.pid, 'SIGSTOP')
    process.kill(second!.pid, 'SIGSTOP')
    const asked = [router.ask('{ name }'), router.ask('{ name }')]
    await until('each has one that it does not take', () => held() === before + 2)
    process.kill(first!.pid, 'SIGKILL')
    process.kill(second!.pid, 'SIGCONT')
    expect((await Promise.all(asked)).map(({ text }) => text)).toEqual(Array(2).fill('{"data":{"name":"catalogue"}}'))
  },
  60_000,
)

test('a changed supergraph reaches every worker, by the file and by the signal', async () => {
  await using router = await startWorkers()
  await router.printed(readyLine)
  const answers = async () => new Set(await Promise.all(Array.from({ length: 4 }, async () => (await router.ask('{ extra }')).text.includes('more'))))
  expect(await answers()).toEqual(new Set([false]))
  for (const isThere of [true, false]) {
    put(isThere ? graphOf('catalogue', 'stock', 'extra') : graphOf('catalogue', 'stock'))
    if (!isThere) router.child.kill('SIGHUP')
    await until('every worker has it', async () => {
      const found = await answers()
      return found.size === 1 && found.has(isThere)
    })
  }
  expect(router.said().match(/the new graph is in use/g)).toHaveLength(4)

  put(graphOf('catalogue', 'stock', 'extra'))
  await until('every worker has it', async () => !(await answers()).has(false))
  put('type Query { this is no supergraph')
  await until('both say so', () => router.said().match(/the former graph stays in use/g)?.length === 2)
  // A new worker gets the graph that the others use.
  process.kill(router.workers().get(1)!.pid, 'SIGKILL')
  await until('it is there again', () => router.said().includes('worker 1 is ready again'))
  expect(router.said()).toContain("workers' graph stays in use")
  expect(await answers()).toEqual(new Set([true]))
  put(graphOf('catalogue', 'stock'))
  await until('every worker has it', async () => !(await answers()).has(true))
  expect(router.said().match(/"worker":[12],/g)!.length).toBeGreaterThanOrEqual(4)
  expect(router.child.exitCode).toBe(null)
}, 60_000)

test('TERM lets requests in progress end at every worker, closes sockets with 1001, and leaves nothing behind', async () => {
  await using router = await startWorkers({ LOG_LEVEL: 'info' })
  await router.printed(readyLine)
  const workers = [...router.workers().values()]
  const followers = Array.from({ length: 2 }, () => follow(router, []))
  await until('both workers listen', () => events.listenerCount() === 2)
  slowly.waiting = 0
  const asked = router.ask('{ slow }')
  await until('it is on its way', () => slowly.waiting === 1)
  router.child.kill('SIGTERM')
  await until('sockets are closed', () => followers.every(({ closed }) => closed.includes(1001)))
  slowly.go()
  expect((await asked).text).toContain('at last')
  expect(await router.ended).toBe(0)
  expect(workers.filter(isAlive)).toEqual([])
  // The workers do not log it as well.
  expect(router.said().match(/^stopp(?:ing|ed)/gm)).toHaveLength(2)
  expect(router.said()).not.toContain('ended unexpectedly')
}, 60_000)

test('workers end in order with their parent process, also when it is killed', async () => {
  await using router = await startWorkers()
  await router.printed(readyLine)
  const workers = [...router.workers().values()]
  slowly.waiting = 0
  const asked = router.ask('{ slow }')
  await until('it is on its way', () => slowly.waiting === 1)
  router.child.kill('SIGKILL')
  await router.ended
  slowly.go()
  expect((await asked).text).toContain('at last')
  await Promise.all(workers.map(gone))
}, 60_000)

test('in production every line is JSON and names its worker', async () => {
  await using router = await startWorkers({ ENVIRONMENT: 'production' })
  await router.printed(/"ready in /)
  await router.ask('{ name }')
  router.child.kill('SIGTERM')
  expect(await router.ended).toBe(0)
  const lines = router
    .said()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { msg: string; worker?: number; workers?: number[] })
  const of = (msg: RegExp) => lines.filter(line => msg.test(line.msg)).map(({ worker }) => worker ?? 0)
  expect(of(/^stopping/).sort()).toEqual([0, 1, 2])
  expect(of(/^stopped/).sort()).toEqual([0, 1, 2])
  expect(of(/^ready in/)).toEqual([0])
  expect(lines.find(({ msg }) => msg.startsWith('ready in'))!.workers).toHaveLength(2)
  expect(of(/^answered/)).toEqual([expect.any(Number)])
}, 60_000)

describe('prints one line and exits with 1 for', () => {
  const run = (...words: string[]) => launch(process.execPath, ['router/main.ts', ...words], { npm_lifecycle_event: 'start' })
  test.for<[string, string[], RegExp]>([
    ['no worker', ['router', '--workers', '0'], /^--workers: "0" is not understood: write a number from 1 to 64, or auto for as many as there are cores\n$/],
    ['too many', ['router', '--workers', '65'], /^--workers: "65" is not understood/],
    ['what is no number', ['router', '--workers', 'two'], /^--workers: "two" is not understood/],
    ['the platform in one process', ['--workers', '2'], /^--workers: npm run start:router alone takes it: npm start is one process; .*\n$/],
    ['processes apart', ['apart', '--workers', '2'], /^--workers: .* --replicas router=2\n$/],
    ['a subgraph', ['subgraph', 'identity', '--workers', '2'], /^--workers: .* run a subgraph several times.*\n$/],
    ['what keeps every worker from starting', ['router', '--workers', '3'], /^SEAL_PRIVATE_KEY: missing.*\n$/],
    ['a supergraph that is not there', ['router', '--workers', '2', '--supergraph', join(folder, 'none')], /^.*none cannot be read \(ENOENT\): .*\n$/],
  ])('%s', async ([, words, line]) => {
    const router = run(...words)
    expect(await router.ended).toBe(1)
    expect([router.said(), router.complained()]).toEqual(['', expect.stringMatching(line)])
  })

  test('an occupied port', async () => {
    await using first = await startWorkers({}, '1')
    await first.printed(readyLine)
    const second = run('router', '--supergraph', file, '--workers', '2', '--port', new URL(first.url).port)
    expect(await second.ended).toBe(1)
    expect([second.said(), second.complained()]).toEqual(['', expect.stringMatching(/^port \d+ is taken: .*\n$/)])
  })
})
